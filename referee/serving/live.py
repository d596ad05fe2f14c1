"""A run for those who look at it: what is known of it at one moment, from the lines that are appended to its
files.

Nothing of it is made before somebody looks. The order of the bots, which takes long, is computed less often
than the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.core.this_machine import usable_cores
from referee.core.work import DutyCycle
from referee.games.api import Game
from referee.ratings.columns import fitted
from referee.records.header import SectionGame
from referee.serving.follower import RunFollower
from referee.tournament.run.durations import TimedGame
from referee.tournament.run.lock import is_locked
from referee.tournament.run.progress import BotOrder, RunProgress, is_over, order_of, progress_of
from referee.tournament.run.run import PlacedGame, StoredRun
from referee.tournament.run.run_state import Scheduled

LIMIT = 0.0048
"""The share of the time of the usable cores that the server takes at most while a referee is running. Where
it would take more, it looks later at the run's files and at the games in play; what it is asked for it makes
nevertheless.
"""

READING_PART = 0.4  # the part of this that reading the run's files takes at most

ORDER_PART = 0.1  # the part that the order of the bots takes at most

SHOWING_PART = 0.3  # the part that the games in play get at least, and besides it what reading does not take

TIMES_PART = 0.05  # the part of it for reading when the last games ended

LOOK_S = 1.0  # the time between two looks at the run's files, at the least

READING_PAUSE_S = 60.0  # the time between two looks at the files at the most, whatever the server took

SHOWING_PAUSE_S = 10.0  # the same of the games in play: many viewers who come at once do not stop the boards

LEAST_REST_S = 0.05
"""How long the server sleeps at least while it rests: each time that it wakes takes some processor time, and
so makes the rest longer, which would otherwise go on and on.
"""

CATCHING_UP = 0.25
"""The share of the time of a core that the server takes at most while a referee is running and it has not yet
read what the referee wrote before.
"""

REPORTED = 20_000  # A run with more games has a report only as a folder, which takes minutes


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known about a run at one moment."""

    version: int  # counted from 1
    name: str  # the name of the run's folder
    run: StoredRun | None  # the run; None as long as it has no first line
    progress: RunProgress | None  # the same
    played: Sequence[PlacedGame]
    """The games in the order in which they ended; later ones may follow those that `count` says."""
    count: int  # how many games there are
    faulty: Sequence[int]  # the numbers of those with a fault, counted from 1; here too later ones may follow
    given: Game[Any] | None  # the game that the user named
    is_running: bool
    state: str  # how it is with the run, as a sentence for people
    trouble: str  # why nothing more can be read; empty where nothing is wrong
    notice: str  # what one should know of the files; empty where there is nothing

    @property
    def sentences(self) -> list[str]:
        """What there is to say of the run."""
        return [*filter(None, (self.state, self.trouble, self.notice))]

    @property
    def has_report(self) -> bool:
        """Whether there is a report: some game is over, and there are not too many of them."""
        return 0 < self.count <= REPORTED

    @cached_property
    def _secrecy(self) -> Secrecy | None:
        return Secrecy(self.run, self.given) if self.run else None

    def may_show(self, number: int) -> bool:
        """Whether the game with a number, counted from 1, may be looked at."""
        return self._secrecy is not None and self._secrecy.may_show(self.played[number - 1].game.id)

    def may_be_shown(self) -> list[int]:
        """The numbers of the games that may be looked at, counted from 1."""
        return [number for number in range(1, self.count + 1) if self.may_show(number)]


class OrderAt(NamedTuple):
    """The order of the bots as it was after so many games."""

    order: BotOrder
    games: int


class LiveRun:
    """Follows a run, and makes snapshots for those who look at it. Any thread may ask for one."""

    def __init__(
        self,
        folder: Path,
        given: Game[Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], float] = time.thread_time,
    ) -> None:
        """`given` is the game that the user named; `clock` gives seconds, `used` the seconds of processor
        time that the thread has taken that asks.
        """
        self.folder = folder
        self._limit = LIMIT * len(usable_cores())  # of the time of one core
        self._clock, self._used = clock, used
        self._looked_s = clock()  # when the files were last looked at
        self._reading_share = 0.0  # the share of the time of one core that reading took since the look before
        self._reading_s = 0.0  # the processor time that reading has taken
        self._lock = threading.Lock()  # protects the follower and the snapshot
        self._follower = RunFollower(folder)
        self._given = given
        self.is_running = False  # whether a referee is running in the folder
        self._version = 1  # counts what was new to be seen
        self._snapshot: Snapshot | None = None  # the last that was made
        self._faulty: list[int] = []  # the numbers of the games with a fault, counted from 1
        self._looked = 0  # how many games were looked at for faults
        self._played: list[PlacedGame] = self._follower.played
        self._last: Sequence[TimedGame] = ()  # the last games with their times, when these were last read
        self._timing = DutyCycle(clock, self._limit * TIMES_PART, used=used)
        self._order_lock = threading.Lock()  # protects what follows
        self._ordering = DutyCycle(clock, self._limit * ORDER_PART, used=used)
        self._ordered_hash = ""  # to which line the order belongs
        self.order: OrderAt | None = None
        """The last order of the bots that was computed; None where there is none, or the run began anew."""
        fitted([], [], [])  # loads numpy, which takes longer than the first fits
        self.look()

    def reading_pause_s(self, used_s: float) -> float:
        """The seconds from the beginning of a look at the files until the next, if reading has taken this
        much processor time since.
        """
        if self.has_unread:
            return self._pause_s(used_s / CATCHING_UP, 0.0, READING_PAUSE_S)
        return self._pause_s(used_s / (self._limit * READING_PART), LOOK_S, READING_PAUSE_S)

    def showing_pause_s(self, used_s: float, least_s: float) -> float:
        """The same of looks at the games in play, `used_s` as in `showing_s`."""
        left = self._limit * (1 - ORDER_PART) - self._reading_share
        return self._pause_s(used_s / max(left, self._limit * SHOWING_PART), least_s, SHOWING_PAUSE_S)

    def _pause_s(self, pause_s: float, least_s: float, most_s: float) -> float:
        return max(min(pause_s, most_s), least_s) if self.is_running else least_s

    def showing_s(self) -> float:
        """The seconds of processor time that the server has taken besides reading and ordering the bots."""
        return time.process_time() - self._reading_s - self._ordering.used_s

    @property
    def has_unread(self) -> bool:
        """Whether there is more in the run's files than was read."""
        return self._follower.unread > 0

    def look(self) -> bool:
        """Reads what is new; whether there is anything new to be seen."""
        with self._lock:
            began_s, before_s, self._looked_s = self._used(), self._looked_s, self._clock()
            was_running, self.is_running = self.is_running, is_locked(self.folder)
            has_changed = self._follower.read() or self.is_running != was_running
            self._version += has_changed
            took_s = self._used() - began_s
            self._reading_s += took_s
            self._reading_share = took_s / max(self._looked_s - before_s, LOOK_S)
            return has_changed

    @property
    def version(self) -> int:
        """That of the next snapshot."""
        return self._version

    def snapshot(self) -> Snapshot:
        """What is known since the last look. It is made once, for all who ask."""
        with self._lock:
            if self._snapshot is None or self._snapshot.version != self._version:
                self._snapshot = self._taken()
            return self._snapshot

    def _taken(self) -> Snapshot:
        follower = self._follower
        run, progress, trouble = follower.run, None, follower.trouble
        if self._timing.is_due or not self.is_running:
            with self._timing.spent():
                self._last = follower.last()
        try:
            if run:
                progress = progress_of(run, self._last, self.is_running)
        except RecordError as error:  # the header says something impossible
            run, trouble = None, str(error)
        self._look_for_faults()
        notice = follower.notice or follower.reading
        return Snapshot(
            version=self._version,
            name=follower.folder.absolute().name,
            run=run,
            progress=progress,
            played=follower.played,
            count=len(follower.played),
            faulty=self._faulty,
            given=self._given,
            is_running=self.is_running,
            state="" if trouble else _state_text(progress),
            trouble=trouble and f"The records cannot be read any further: {shown(trouble, 400)}.",
            notice=notice and f"{shown(notice, 400)}.",
        )

    def _look_for_faults(self) -> None:
        if self._played is not self._follower.played:
            self._played, self._faulty, self._looked = self._follower.played, [], 0
        for number, one in enumerate(self._played[self._looked :], self._looked + 1):
            if any(one.game.faults):
                self._faulty.append(number)
        self._looked = len(self._played)

    def put_in_order(self, snapshot: Snapshot) -> OrderAt | None:
        """The order of the bots, which is computed if that is due; not where there is more to read."""
        with self._order_lock:
            run = snapshot.run
            if self.order and run and {*self.order.order.tallies.by_bot} != {*run.names}:
                self.order = None  # the bots have other names now, or it is another run
            is_due = self.order is None or self._ordering.is_due or not snapshot.is_running
            if run and is_due and run.last_hash != self._ordered_hash and not self.has_unread:
                self._ordered_hash = run.last_hash
                with self._ordering.spent(), suppress(RecordError):  # the snapshot says it
                    self.order = OrderAt(order_of(run), snapshot.count)
            return self.order


def _state_text(progress: RunProgress | None) -> str:
    if progress is None:
        return "No run has started in this folder yet; it will appear here when it starts."
    if progress.is_running:
        return "A referee is playing."
    if progress.is_over:
        return "The tournament is over."
    return "No referee is running. The tournament is unfinished and can be continued."


def repeat(
    look: Callable[[], object],
    pause_s: Callable[[float], float],
    used: Callable[[], float],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Looks again and again. `pause_s` gives the seconds from the beginning of a look until the next, if so
    many seconds of processor time were used since; `clock` and `used` give seconds.
    """
    while True:
        began_s, began_used_s = clock(), used()
        look()
        while (rest_s := began_s + pause_s(used() - began_used_s) - clock()) > 0:
            sleep(max(rest_s, LEAST_REST_S))


def follow(
    run: LiveRun,
    used: Callable[[], float] = time.thread_time,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Looks at a run again and again; the rest as in `repeat`."""

    def pause_s(used_s: float) -> float:
        return run.reading_pause_s(used_s if is_locked(run.folder) else 0.0)

    repeat(run.look, pause_s, used, clock, lambda rest_s: sleep(min(rest_s, LOOK_S)))


class Secrecy:
    """Decides which games of a run may be looked at now: none that tells what is hidden in a game to come.

    The games of an encounter share chance, so that in a game with hidden information a game that is over can
    tell what is hidden in the others. It is kept back until all of them are over. Where all games of a run
    have the same start, they share what is hidden in it, and are kept back until the run is over.
    """

    def __init__(self, run: StoredRun, given: Game[Any] | None) -> None:
        """`given` is the game that the user named."""
        self._run = run
        self._scheduled = Scheduled(run.header)
        self._open = {name for name, section in run.header.sections.items() if _is_open(section, given)}
        """The sections whose games hide nothing."""
        self._started = {name for name, section in run.header.sections.items() if section.openings.start}
        """The sections whose games all have the same start."""

    @cached_property
    def _is_over(self) -> bool:
        return is_over(self._run)

    def may_show(self, game: str) -> bool:
        """Whether a game that is over may be looked at, given by its id. Raises `RecordError`."""
        pairing = Pairing.parse(game)
        if pairing.section in self._open or self._is_over:
            return True
        if pairing.section in self._started:  # guard: shared-start
            return False
        return not any(map(self._run.is_open, self._scheduled.sharing(pairing)))  # guard: shared-chance


def _is_open(section: SectionGame, given: Game[Any] | None) -> bool:
    """Whether the game of a section hides nothing; what is not available may hide something."""
    fitting = given if given and given.slug == section.game else None
    try:
        return section.available(fitting).is_open
    except UsageError:
        return False
