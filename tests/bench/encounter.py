"""What an encounter of two quick games costs, beside the bare start and end of the same bots, in one run.

    python -m tests.bench.encounter [--encounters N] [--rounds N]

Two bots play Blooms on side 4 twice, in the same processes: once two instant bots in C
(`sample_bots/c_bot.c`), once two in Python (`sample_bots/random_bot.py`). Most of a quick game is the
start and the end of its processes. Bare is the same program started and asked to quit twice, without a
warden, limits or a game. Computing time is that of all processes together; the launcher's start is in it,
shared among the encounters of a round. What counts are the ratios, since a machine's speed drifts.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.timecontrol import TimeControl
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.processes.launcher import Launcher
from referee.records.record import to_json
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.encounter import play_encounter
from tests.needed import compiled

ROOT = Path(__file__).parent.parent.parent

LEVEL = "none"
"""The isolation of the bots; `tests.bench.isolation` measures what the other levels cost."""


class Cost(NamedTuple):
    """Milliseconds."""

    wall: float
    cpu: float
    """Of this process and of all that it started and that have ended."""


def cost(work: Callable[[], None], times: int) -> Cost:
    """What it costs once, as the mean of so many times."""
    began, cpu = time.perf_counter(), _computed_s()
    for _ in range(times):
        work()
    Launcher.close()  # with its end, what it computed is known
    return Cost((time.perf_counter() - began) * 1000 / times, (_computed_s() - cpu) * 1000 / times)


def _computed_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def ours(command: tuple[str, ...]) -> Callable[[], None]:
    """An encounter of two games."""
    game = GAMES["blooms"]
    entrants = [Entrant(Bot(name, command, ROOT, isolation=LEVEL), TimeControl.parse("10s")) for name in "ab"]
    plan = Plan(game, game.settle({"size": "4"}), tuple(entrants), "bench")
    terms = [plan.terms(pairing) for pairing in encounter(1, ("a", "b")).games]

    def work() -> None:
        for record in play_encounter([entrant.bot for entrant in entrants], terms):
            assert not any(to_json(record).get("faults", ()))

    return work


def bare(command: tuple[str, ...]) -> Callable[[], None]:
    """Both bots started and ended, without anything else."""
    argv = [word.replace("{python}", sys.executable) for word in command]

    def work() -> None:
        bots = [subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "ab"]
        for bot in bots:
            assert bot.stdin and bot.stdout
            bot.stdin.write(b"hello 1\n")
            bot.stdin.flush()
        for bot in bots:
            assert bot.stdin and bot.stdout
            bot.stdout.readline()
            bot.communicate(b"quit\n")

    return work


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--encounters", type=int, default=20, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = str(compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder)))
        for name, command in (
            ("c_bot", (program,)),
            ("random_bot.py", ("{python}", "sample_bots/random_bot.py")),
        ):
            cost(ours(command), 1)  # what is compiled and computed once
            pairs = [
                (cost(ours(command), arguments.encounters), cost(bare(command), arguments.encounters))
                for _ in range(arguments.rounds)
            ]
            rows += [
                [
                    name,
                    what,
                    f"{statistics.median(each(whole) for whole, _ in pairs):.1f}",
                    f"{statistics.median(each(least) for _, least in pairs):.1f}",
                    f"{statistics.median(each(whole) / each(least) for whole, least in pairs):.1f}",
                ]
                for what, each in (
                    ("elapsed", attrgetter("wall")),
                    ("computed by all processes", attrgetter("cpu")),
                )
            ]
    headers = ["two bots of", "ms, median", "encounter of two games", "bare start and end", "ratio"]
    print(tabulate(rows, headers, disable_numparse=True))
    played = f"{arguments.rounds} rounds of {arguments.encounters}; isolation {LEVEL}"
    print(f"{played}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
