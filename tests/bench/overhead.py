"""What the referee costs per move, beside the least that a referee can do, in one run.

    python -m tests.bench.overhead [--games N] [--rounds N]

Both play Blooms on side 5 with the same instant bot in C (`sample_bots/c_bot.c`). The referee does all it
does in a tournament: rules, clocks, stderr, dialogue, a record of each game on the disk. The other one
(`minimal_referee.c`) relays moves and knows no rules. They take turns, pinned to one core and free; what
counts are the ratios, since a machine's speed drifts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from referee.core.timecontrol import TimeControl
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.records.journal import Journal
from referee.records.record import to_json
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.tournament import Tournament
from referee.tournament.workers.encounter import play_encounter
from referee.tournament.workers.task import Transcript
from tests.needed import compiled

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TURNS = 28
"""Of a game of the minimal referee: two stones a turn leave no capture room for more on 61 cells."""


def ours(bot: Path, games: int, isolation: str = "none") -> tuple[float, float]:
    """Microseconds per move of the referee, and of its own processor time."""
    game = GAMES["blooms"]
    bots = [Bot(name, (str(bot),), Path("/"), isolation=isolation) for name in "ab"]
    entrants = [Entrant(one, TimeControl.parse("10s")) for one in bots]
    options = game.settle({"size": "5", "target": "100"})
    plan = Plan(game, options, tuple(entrants), "bench")
    transcript = Transcript()
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal.create(Path(folder) / "run")
        journal.append(Tournament((plan,), RoundRobin()).header())
        terms = [plan.terms(encounter(number, ("a", "b")).games[0]) for number in range(1, games + 1)]
        moves = 0
        began, cpu = 0.0, 0.0
        for record in play_encounter([e.bot for e in entrants], terms, tap=transcript):
            if not began:  # the first game has the start of the processes in it
                began, cpu = time.perf_counter(), time.process_time()
                continue
            journal.append(to_json(record))
            moves += len(record.events)
            transcript.clear()
            ended, cpu_ended = time.perf_counter(), time.process_time()
        journal.close()
    return (ended - began) / moves * 1e6, (cpu_ended - cpu) / moves * 1e6


def minimal(program: Path, bot: Path, games: int) -> float:
    """Microseconds per move of the minimal referee."""
    done = subprocess.run([program, bot, str(games), str(TURNS)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bot = compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))
        program = compiled(HERE / "minimal_referee.c", Path(folder))
        for how, affinity in (
            ("pinned to one core", {min(cores)} if cores else None),
            ("free", cores or None),
        ):
            if affinity:
                os.sched_setaffinity(0, affinity)
            pairs = [
                (ours(bot, arguments.games), minimal(program, bot, arguments.games))
                for _ in range(arguments.rounds)
            ]
            rows.append(
                [
                    how,
                    f"{statistics.median(wall for (wall, _), _ in pairs):.1f}",
                    f"{statistics.median(cpu for (_, cpu), _ in pairs):.1f}",
                    f"{statistics.median(least for _, least in pairs):.1f}",
                    f"{statistics.median(wall / least for (wall, _), least in pairs):.2f}",
                ]
            )
    headers = ["µs per move, median", "referee", "its own CPU", "minimal, in C", "ratio"]
    print(tabulate(rows, headers, disable_numparse=True))
    played = f"{arguments.rounds} rounds of {arguments.games} games each; isolation none"
    print(f"{played}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
