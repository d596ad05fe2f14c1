"""What an encounter of two quick games costs at each level of isolation, beside the bare start and end of the
same bots, in one run.

    python -m tests.bench.encounter [--encounters N] [--rounds N] [--level LEVEL ...] [--beside DIR]

Two bots play Blooms on side 4 twice, in the same processes: instant bots in C (`sample_bots/c_bot.c`), or in
Python (`sample_bots/random_bot.py`). Most of a quick game is the start and the end of its processes. Bare is
the same program started and asked to quit twice, without a warden, limits or a game.

Each encounter is measured by itself, once launcher and wardens run: what is counted are the elapsed time, and
the processor time of the referee, the launcher, the wardens and all processes of the bots. The rows take
turns, all on one core. On a machine that does other work too, only the least figures mean much. Rows with a
pause wait that long before each encounter, since some system calls take longer after a pause; the row of bare
starts and ends among them tells how much longer all processes take then. `--beside` names another checkout,
with the same interpreter and packages, whose code takes turns with this one's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.settings import LEVELS
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes import levels, tree
from referee.processes.launcher import Launcher
from referee.processes.process import ExitReport
from referee.processes.program import Program
from referee.records.record import to_json
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.encounter import Hooks, play_encounter
from tests.needed import compiled

ROOT = Path(__file__).parent.parent.parent

BARE = "bare"
"""In the place of a level: nothing but start and end."""

PAUSE_MS = 30

WARM_UP = 2
"""Encounters before those of each turn, which are not counted."""


class Row(NamedTuple):
    """A row of the table."""

    bots: str
    command: tuple[str, ...]
    level: str
    pause_ms: int = 0


class Cost(NamedTuple):
    """Milliseconds of one encounter."""

    wall: float
    cpu: float


class Meter:
    """Measures the processor time of this process and of all that it started."""

    def __init__(self) -> None:
        self._bots_us = 0

    def add(self, _: str, report: ExitReport) -> None:
        """Adds the time of a bot whose processes have ended."""
        self._bots_us += report.cpu_us or 0

    def cpu_ms(self) -> float:
        """The time until now; that of bots counts when they have ended."""
        launcher = next(iter(Launcher.family()))
        running_ns = sum(map(_computed_ns, [launcher, *tree.children(launcher)]))
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        reaped_s = children.ru_utime + children.ru_stime
        return (time.process_time() + reaped_s) * 1e3 + running_ns / 1e6 + self._bots_us / 1e3


def _computed_ns(pid: int) -> int:
    """The processor time of a process with one thread, without that of its children."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def play(row: Row, encounters: int) -> list[Cost]:
    """Plays encounters of a row, and returns what each of them cost."""
    game, meter = GAMES["blooms"], Meter()
    level = "none" if row.level == BARE else row.level
    bots = [Program(name, row.command, ROOT, isolation=level) for name in "ab"]
    entrants = [Entrant(bot, TimeControl.parse("10s")) for bot in bots]
    plan = Plan(game, game.settle({"size": "4"}), tuple(entrants), "bench")
    terms = [plan.terms(pairing) for pairing in encounter(1, ("a", "b")).games]
    Launcher.get()
    costs = []
    for _ in range(WARM_UP + encounters):
        time.sleep(row.pause_ms / 1000)
        began, cpu_ms = time.perf_counter(), meter.cpu_ms()
        if row.level == BARE:
            start_and_end(bots)
        else:
            for record in play_encounter(bots, terms, hooks=Hooks(on_exit=meter.add)):
                assert not any(to_json(record).get("faults", ()))
        costs.append(Cost((time.perf_counter() - began) * 1e3, meter.cpu_ms() - cpu_ms))
    return costs[WARM_UP:]


def start_and_end(bots: list[Program]) -> None:
    """Starts and ends all bots, and does nothing else."""
    processes = [
        subprocess.Popen(bot.argv, cwd=bot.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for bot in bots
    ]
    for process in processes:
        assert process.stdin and process.stdout
        process.stdin.write(b"hello 1\n")
        process.stdin.flush()
    for process in processes:
        assert process.stdout
        process.stdout.readline()
        process.communicate(b"quit\n")


def serve() -> None:
    """Plays what the lines of stdin ask for."""
    for line in sys.stdin:
        (bots, command, *rest), encounters = json.loads(line)
        print(json.dumps(play(Row(bots, tuple(command), *rest), encounters)), flush=True)


class Checkout:
    """A process that plays with the code of a checkout."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.resolve().name
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder.resolve())},
        )

    def play(self, row: Row, encounters: int) -> list[Cost]:
        """Does what `play` does. Ends this program where that fails."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps((row, encounters)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        return [Cost(*cost) for cost in json.loads(answer)] if answer else sys.exit(f"{self.name}: failed")

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--encounters", type=int, default=10, help="of a turn")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--level", choices=LEVELS, nargs="+", default=LEVELS)
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    used = [BARE, *(level for level in arguments.level if not levels.reason(level))]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    checkouts = [Checkout(folder) for folder in (arguments.beside, ROOT) if folder]
    with tempfile.TemporaryDirectory() as folder:
        in_c = ("c_bot", (str(compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))),))
        in_python = ("random_bot.py", ("{python}", "sample_bots/random_bot.py"))
        rows = [Row(*in_c, level, pause_ms) for pause_ms in (0, PAUSE_MS) for level in used]
        rows += [Row(*in_python, level) for level in used]
        costs: dict[tuple[Row, Checkout], list[Cost]] = {(row, one): [] for row in rows for one in checkouts}
        for _ in range(arguments.rounds):
            for row, checkout in costs:
                costs[row, checkout] += checkout.play(row, arguments.encounters)
    for checkout in checkouts:
        checkout.close()
    table = [
        [
            *(row.bots, row.level, row.pause_ms or "", checkout.name),
            *(f"{of(cost.cpu for cost in found):.1f}" for of in (min, statistics.median)),
            *(f"{of(cost.wall for cost in found):.1f}" for of in (min, statistics.median)),
        ]
        for (row, checkout), found in costs.items()
    ]
    headers = ["two bots of", "isolation", "pause, ms", "checkout"]
    headers += ["computed, least", "computed, median", "elapsed, least", "elapsed, median"]
    print(tabulate(table, headers, disable_numparse=True))
    played = f"ms; {arguments.rounds} rounds of {arguments.encounters} encounters of two games"
    print(f"{played}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
