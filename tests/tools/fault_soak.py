"""A soak among bots that fault: `python -m tests.tools.fault_soak [GAMES] [--seed S] [--workers N]
[--isolation LEVEL]`.

Every game's course is foretold from its seeds (`tests/tools/fault_oracle.py`) and compared with its record:
who was blamed, as what, at which move, and that nobody else was hurt. Now and then it is counted what the
referee and its workers hold. Ends with an error where a game went otherwise, or anything is left behind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.errors import RecordError
from referee.core.seeds import Stream, derive
from referee.core.settings import LEVELS
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.launcher import IDLE_WARDENS
from referee.processes.program import Program
from referee.records.replay import verify
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Backend, Finished, Report, Task, Void
from tests.command import ROOT
from tests.holdings import Holdings, Process, holdings, marked, temporary_files_in
from tests.tools.fault_oracle import DRAWN, Foretold, course_of, foretell
from tests.waiting import POLL_S, TOO_LONG_S

STRETCH = 1000
"""Games, after which nothing is played until it was counted what is held."""

WARM_UP = 10
"""Games a worker, after which it has all that it needs and should hold no more later."""

CALM_LOOKS = 20
"""So many looks have to find the same: what a bot has left may still be being removed after its last game."""

SLOPE_KIB = 1024
"""So much more memory a stretch may cost, of all processes together."""

LONG, SHORT = TimeControl.parse("60s"), TimeControl.parse("50ms")

PROGRAM = ("{python}", "-I", "-S", str(ROOT / "tests" / "bots" / "faulty_bot.py"))


def command(kind: str, mark: str) -> tuple[str, ...]:
    """How a kind of bot is started. The steady and the hasty draw what they do, and the hasty have a short
    clock; the lame and the lost never start.
    """
    if kind == "lost":
        return ("/no/such/program", mark)
    if kind == "lame":
        return (*PROGRAM, "exits at once", mark)
    return (*PROGRAM, "seeded", mark, *("|".join(vices) for vices in DRAWN))


TABLES = [
    *[("blooms", {"size": "3"}, ("steady", "steady"))] * 9,
    *[("floral", {}, ("steady", "steady"))] * 4,
    *[("thetree", {"players": "3"}, ("steady", "steady", "steady"))] * 2,
    ("thetree", {"players": "4"}, ("steady", "steady", "steady", "steady")),
    ("blooms", {"size": "3"}, ("hasty", "steady")),
    ("floral", {}, ("hasty", "steady")),
    ("thetree", {"players": "3"}, ("hasty", "steady", "steady")),
    ("blooms", {"size": "3"}, ("lame", "steady")),
    ("floral", {}, ("lost", "lame")),
    ("thetree", {"players": "3"}, ("lost", "steady", "steady")),
]
"""Games with their options, and the bots that meet at them; one is drawn for each encounter."""


class Meeting(NamedTuple):
    """An encounter, and how its games have to go."""

    task: Task
    foretold: dict[str, Foretold]


def meeting(seed: str, number: int, mark: str, level: str = "none") -> Meeting:
    """The encounter of a number; mark and number are on the command lines of its bots, which are isolated at
    a level.
    """
    slug, given, kinds = Stream(derive(seed.encode(), "table", str(number))).choice(TABLES)
    game = GAMES[slug]
    entrants = []
    for place, kind in enumerate(kinds, 1):
        bot = Program(f"{kind}-{place}", command(kind, f"{mark}{number}"), Path("/"), isolation=level)
        entrants.append(Entrant(bot, SHORT if kind == "hasty" else LONG))
    plan = Plan(game, game.settle(given), tuple(entrants), f"{seed} {number}")
    pairings = encounter(number, plan.names).games
    never_start = [name for name in plan.names if name.startswith(("lame", "lost"))]
    foretold = foretell(map(plan.terms, pairings), never_start)
    task = Task(plan, tuple((pairing, 1) for pairing in pairings), "faults")
    return Meeting(task, {pairing.id: told for pairing, told in zip(pairings, foretold, strict=True)})


class Pause(NamedTuple):
    """What is held while nothing is played."""

    games: int
    seconds: float
    held: Holdings
    bots: list[Process]
    """And what they left."""

    @property
    def counts(self) -> tuple[object, ...]:
        """What is compared from look to look: all but time and memory."""
        return (self.held._replace(rss_kib=0), self.bots)


class Checker:
    """Compares what is reported with what was foretold."""

    def __init__(self) -> None:
        self.mark = f"soak-{os.getpid()}-"
        """On the command lines of the bots."""
        self.began = time.monotonic()
        self.games = 0
        self.complaints: list[str] = []
        self.foretold: dict[str, Foretold] = {}
        """The games that are to be reported."""
        self.seen: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        """By vice: seats at which it came up, and of these those whose game went as foretold."""

    def take(self, reports: Sequence[Report]) -> None:
        """What the workers say."""
        for report in reports:
            match report:
                case Finished(game):
                    self.games += 1
                    if foretold := self.foretold.pop(game.id, None):
                        self.compare(report.record(), foretold)
                    else:
                        self.complain(game.id, "was reported twice")
                case Void(void, error=error):
                    self.foretold.pop(void, None)
                    self.complain(void, f"the referee itself failed: {error}")

    def compare(self, record: dict[str, object], foretold: Foretold) -> None:
        """One game."""
        course = course_of(record)
        if course != foretold.course:
            self.complain(str(record["id"]), f"expected {foretold.course} by {foretold.vices}, got {course}")
        for vice in foretold.vices:
            self.seen[vice] += 1
            self.right[vice] += course == foretold.course
        try:
            verify(record)
        except RecordError as error:
            self.complain(str(record["id"]), f"does not verify: {error}")

    def has(self, games: int) -> bool:
        """Whether so many games were reported or will be."""
        return self.games + len(self.foretold) >= games

    def miss(self) -> None:
        """Nothing more will be reported for now."""
        for game in self.foretold:
            self.complain(game, "was never reported")
        self.foretold.clear()

    def look(self) -> Pause:
        """What is held now."""
        return Pause(self.games, time.monotonic() - self.began, holdings(), marked(self.mark))

    def pause(self, base: Pause | None = None) -> Pause:
        """What is held when nothing is played, once that stays the same and is not more than at the
        beginning, or after a long wait.
        """
        deadline = time.monotonic() + TOO_LONG_S
        found, calm = self.look(), 1
        while time.monotonic() < deadline and (calm < CALM_LOOKS or (base and any(beyond(found, base)))):
            time.sleep(POLL_S)
            before, found = found, self.look()
            calm = calm + 1 if found.counts == before.counts else 1
        return found

    def complain(self, where: str, what: str) -> None:
        """Something is not as it should be."""
        self.complaints.append(f"{where}: {what}")
        print(self.complaints[-1], file=sys.stderr)


def play_stretch(pool: Backend, tasks: Iterator[Task], enough: Callable[[], bool]) -> None:
    """Starts tasks until it is enough, and plays those that were started to their end."""
    while True:
        while pool.has_room and not enough():
            pool.play(next(tasks))
        if not pool.busy:
            break
        pool.take_reports(0.1)


def play(seed: str, games: int, workers: int, checker: Checker, level: str = "none") -> Iterator[Pause]:
    """Plays so many games, or a few more; what is held in the pauses."""

    def tasks() -> Iterator[Task]:
        for number in count(1):
            following = meeting(seed, number, checker.mark, level)
            checker.foretold.update(following.foretold)
            yield following.task

    todo = tasks()
    warm: Pause | None = None
    pool = local_backend(workers)(checker.take, lambda: False)
    try:
        while (so_far := checker.games) < games:
            stretch = STRETCH if so_far else WARM_UP * workers
            play_stretch(pool, todo, partial(checker.has, min(games, so_far + stretch)))
            checker.miss()
            print(f"{checker.games} games", file=sys.stderr)
            now = checker.pause(warm)
            warm = warm or now
            yield now
    finally:
        pool.close()


def leaks(pauses: list[Pause], workers: int) -> Iterator[str]:
    """What is left of bots, and what the referee and its workers hold more than at the beginning."""
    before, warm, *others, after = pauses
    for one, base in [(warm, warm), *((other, warm) for other in others), (after, before)]:
        yield from beyond(one, base)
        if (free := one.held.wardens) > workers * IDLE_WARDENS:
            yield f"{free} wardens are free, of {workers} workers"
    if (slope := slope_kib(others)) > SLOPE_KIB:
        yield f"{slope} KiB of memory more for each {STRETCH} games"


def beyond(one: Pause, base: Pause) -> Iterator[str]:
    """What is held beyond what was held at the beginning."""
    if one.bots:
        yield f"{len(one.bots)} processes of bots are left, such as `{one.bots[0].command}`"
    for name in ("children", "zombies", "descriptors", "threads"):
        if (has := getattr(one.held, name)) > (had := getattr(base.held, name)):
            yield f"{has} {name}, {had} at the beginning"


def slope_kib(pauses: list[Pause]) -> int:
    """How much memory a stretch cost, the first one left out, in which caches fill."""
    if len(pauses) < 2:
        return 0
    return (pauses[-1].held.rss_kib - pauses[0].held.rss_kib) // (len(pauses) - 1)


def show(checker: Checker, pauses: list[Pause]) -> None:
    """The figures."""
    rows = [(vice, seen, checker.right[vice]) for vice, seen in sorted(checker.seen.items())]
    print(tabulate(rows, ["vice", "came up", "as foretold"]), end="\n\n")
    held = [(p.games, round(p.seconds), len(p.bots), *p.held) for p in pauses]
    print(tabulate(held, ["games", "s", "bots", *Holdings._fields]), end="\n\n")
    seconds = pauses[-1].seconds
    print(
        f"{checker.games} games in {seconds:.0f} s, {checker.games / seconds:.1f} a second; "
        f"memory {slope_kib(pauses[2:-1])} KiB a stretch; {len(checker.complaints)} complaints"
    )


def main(games: int, seed: str, workers: int, level: str = "none") -> list[str]:
    """Plays and prints; what there is to complain of."""
    checker = Checker()
    with tempfile.TemporaryDirectory() as folder, temporary_files_in(Path(folder)):
        local_backend(workers)(checker.take, lambda: False).close()  # what is made once for all is made
        before = checker.pause()
        pauses = [before, *play(seed, games, workers, checker, level), checker.pause(before)]
        left = [path.name for path in Path(folder).iterdir()]
    for leak in leaks(pauses, workers):
        checker.complain("leak", leak)
    if left:
        checker.complain("leak", f"temporary files {', '.join(left)}")
    show(checker, pauses)
    return checker.complaints


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", default="soak")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--isolation", choices=LEVELS, default="none")
    given = parser.parse_args()
    os.environ["REFEREE_TRACEABLE"] = "1"  # what its processes hold is counted, as any user
    sys.exit(bool(main(given.games, given.seed, given.workers, level=given.isolation)))
