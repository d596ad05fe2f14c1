"""How soon bots that do not answer free their place: `python -m tests.tools.liveness [TIMES] [OPTIONS]`.

In Blooms they lose at their deadline; in Floral Extract they are defaulted until the other seat resigns.
Measured is the time from the last deadline until the encounter has ended its processes. Ends with an error
where a game went otherwise or a process is left; with `--idle`, on a machine that does nothing else, also
where a place was not free within a second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.timecontrol import TimeControl
from referee.gameplay.events import Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.tournament.workers.encounter import play_encounter
from tests.holdings import marked
from tests.tools.fault_oracle import DRAWN
from tests.tools.fault_soak import PROGRAM

LONG, SHORT = TimeControl.parse("1h"), TimeControl.parse("100ms")

BOUND_US = 1_000_000

RESIGNS = 3
"""The turn on which the honest bot resigns."""

EXPECTED = {"blooms": [("silent", "time")], "floral": [("honest", "resigned")]}
"""By game, who leaves it and how."""

VICES = (*DRAWN[1], "never reads")


class Case(NamedTuple):
    """One game between an honest bot and one that does not answer."""

    slug: str
    vice: str
    number: int
    mark: str
    """On the command lines of the bots."""


class Freed(NamedTuple):
    """What came of it."""

    case: Case
    left: list[tuple[str, str]]
    after_us: int
    """When the processes were gone, counted from the last deadline."""


def play(case: Case) -> Freed:
    """Plays a game; the silent bot sits in either seat by turns."""
    honest = Bot("honest", (*PROGRAM, "none", case.mark, str(RESIGNS)), Path("/"))
    silent = Bot("silent", (*PROGRAM, case.vice, case.mark), Path("/"))
    seats = [(honest, LONG), (silent, SHORT)][:: 1 if case.number % 2 else -1]
    names, controls = zip(*((bot.name, control) for bot, control in seats), strict=True)
    game = GAMES[case.slug]
    terms = Terms(str(case.number), game, game.settle({}), names, controls, b"liveness")
    asked_ns = 0

    def tap(name: str, direction: str, data: bytes) -> None:
        nonlocal asked_ns
        if (name, direction) == ("silent", "<") and b"ask " in data:
            asked_ns = time.monotonic_ns()

    (record,) = play_encounter([honest, silent], [terms], tap=tap)
    deadline_ns = asked_ns + (SHORT.move_us + terms.margin_us) * 1000
    left = [(names[event.seat], event.ending.word) for event in record.events if isinstance(event, Retired)]
    return Freed(case, left, (time.monotonic_ns() - deadline_ns) // 1000)


def run(times: int, workers: int) -> list[Freed]:
    """Plays every case so many times."""
    mark = f"liveness-{os.getpid()}-"
    cases = [Case(slug, vice, n, mark) for n, slug, vice in product(range(times), EXPECTED, VICES)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return list(pool.map(play, cases))


def complaints(freed: list[Freed], idle: bool = False) -> list[str]:
    """What there is to complain of; `idle`: the machine does nothing else."""
    found = []
    for case, left, after_us in freed:
        if left != EXPECTED[case.slug]:
            found.append(f"{case.slug}, {case.vice}: {left}, expected {EXPECTED[case.slug]}")
        if idle and after_us > BOUND_US:
            found.append(f"{case.slug}, {case.vice}: its place was free after {after_us} µs")
    found += [f"left: {process.command}" for process in marked(freed[0].case.mark)]
    return found


def show(freed: list[Freed]) -> None:
    """The figures."""
    times: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for one in freed:
        times[one.case.slug, one.case.vice].append(one.after_us)
    rows = [
        (*key, len(us), statistics.median(us) / 1000, max(us) / 1000, sum(after > BOUND_US for after in us))
        for key, us in times.items()
    ]
    headers = ["game", "vice", "games", "median ms", "longest ms", "over 1 s"]
    print(tabulate(rows, headers, floatfmt=".1f"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("times", nargs="?", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--idle", action="store_true")
    given = parser.parse_args()
    freed = run(given.times, given.workers)
    show(freed)
    found = complaints(freed, given.idle)
    print("\n".join(found), file=sys.stderr)
    sys.exit(bool(found))
