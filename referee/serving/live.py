"""Computes the content of the live page of a run, from the lines that are appended to the run's files.

It is made of parts, which are HTML: a browser that follows the run is sent those that changed. Nothing of it
is made before somebody looks. Ratings and the order of the bots, which take long where there are many games,
are computed less often than the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import by_name
from referee.core.this_machine import usable_cores
from referee.core.work import DutyCycle
from referee.games.api import Game
from referee.pages.environment import fragment
from referee.pages.report.front import lead_text
from referee.ratings.columns import (
    counts_text,
    faults_text,
    fitted,
    rank_text,
    rating_text,
    results_heading,
    score_text,
)
from referee.ratings.standings import NextInRank
from referee.ratings.tally import Tallies
from referee.records.header import SectionGame
from referee.serving.follower import RunFollower
from referee.tournament.run.durations import TimedGame
from referee.tournament.run.lock import is_locked
from referee.tournament.run.progress import BotOrder, RunProgress, is_over, order_of, progress_of
from referee.tournament.run.run import PlacedGame, StoredRun
from referee.tournament.run.run_state import Scheduled
from referee.viewing.words import placings

LIMIT = 0.005
"""The share of the time of the usable cores that the server takes at most while a referee is running. Where
it takes more, it looks later at the run's files; what it was asked for it makes nevertheless.
"""

LOOK_S = 1.0  # the time between two looks at the run's files, at the least

LONGEST_PAUSE_S = 5.0  # the time between two looks at the most, whatever the server took

CATCHING_UP = 0.25
"""The share of the time of a core that the server takes at most while a referee is running and it has not yet
read what the referee wrote before.
"""

ORDER_SHARE = 0.15
"""The share of the server's processor time that the order of the bots takes at most while a referee is
running.
"""

BOTS = 50  # maximum number of bots that a part lists

GAMES = 30  # maximum number of games that a part lists

REPORTED = 20_000  # A run with more games has a report only as a folder, which takes minutes

FAULTY = 20  # maximum number of games with a fault that a part lists


class GameRow(NamedTuple):
    """A game in a list."""

    number: int  # counted from 1, in the order in which the games ended
    id: str
    result: str
    sentence: str
    ended: str  # the time of day; empty where it is not at hand
    faults: Sequence[str]  # the bots that committed a fault
    counts: bool  # whether it counts: it is not annulled
    may_show: bool  # whether it may be looked at


class BotRow(NamedTuple):
    """A bot in the standings."""

    rank: str
    bot: str
    cells: Sequence[str]  # one for each of the `headings`


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known about a run at one moment."""

    version: int  # counted from 1
    name: str  # the name of the run's folder
    parts: Mapping[str, str]  # the HTML of the parts, by name
    changed: Mapping[str, int]  # by the name of a part, the version in which it changed last
    run: StoredRun | None  # the run; None as long as it has no first line
    played: Sequence[PlacedGame]
    """The games in the order in which they ended; later ones may follow those that `count` says."""
    count: int  # how many games there are
    faulty: Sequence[int]  # the numbers of those with a fault, counted from 1; here too later ones may follow
    order: BotOrder | None  # the order with the results of all games
    ordered: int  # after how many games the order and the ratings were computed
    given: Game[Any] | None  # the game that the user named
    is_running: bool

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

    def rows(self, numbers: Sequence[int], ended: Mapping[str, str] | None = None) -> list[GameRow]:
        """The games with these numbers, counted from 1; `ended` has times of day by id."""
        if self.run is None:
            return []
        name = self.run.amendments.shown
        rows = []
        for number in numbers:
            game = self.played[number - 1].game
            bots = [*map(name, game.bots)]
            faults = [bot for bot, word in zip(bots, game.faults, strict=True) if word]
            rows.append(
                GameRow(
                    number,
                    game.id,
                    placings(bots, game.ranks),
                    by_name(game.sentence, bots),
                    (ended or {}).get(game.id, ""),
                    faults,
                    game.id not in self.run.annulled,
                    self.may_show(number),
                )
            )
        return rows

    def standings(self, most: int | None = None) -> str:
        """The standings as HTML, of at most this many bots."""
        places = self.order.places if self.order else []
        seats = max(self.run.seats.values()) if self.run else 2
        has_ratings = self.order is not None and self.order.pool is not None
        return fragment(
            "live_standings.html",
            headings=[*["Elo ± 95 %"][:has_ratings], "games", results_heading(seats), "score", "faults"],
            rows=[BotRow(rank_text(rank), bot, _cells(self.order, bot)) for rank, bot, _ in places[:most]]
            if self.order
            else [],
            more=max(0, len(places) - most) if most else 0,
            first=_first(self.order) if self.order else "",
            after=self.ordered if self.ordered < self.count else None,
            has_ratings=has_ratings,
            has_report=self.has_report,
        )


class LiveRun:
    """Follows a run, and makes snapshots for those who look at it. Any thread may ask for one."""

    def __init__(
        self, folder: Path, given: Game[Any] | None = None, used: Callable[[], float] = time.process_time
    ) -> None:
        """`given` is the game that the user named; `used` gives the seconds of processor time that this
        process has taken.
        """
        self._lock = threading.Lock()  # protects what follows
        self._follower = RunFollower(folder)
        self._given = given
        self.is_running = False  # whether a referee is running in the folder
        self._version = 1  # counts what was new to be seen
        self._snapshot: Snapshot | None = None  # the last that was made
        self._ordering = DutyCycle(used, ORDER_SHARE)
        self._order: BotOrder | None = None
        self._ordered = ("", 0)  # to which line, and to how many games, the order belongs
        self._faulty: list[int] = []  # the numbers of the games with a fault, counted from 1
        self._looked = 0  # how many games were looked at for faults
        self._played: list[PlacedGame] = self._follower.played
        fitted([], [], [])  # loads numpy, which takes longer than the first fits
        self.look()

    def pause_s(self, used_s: float) -> float:
        """The seconds from the beginning of a look until the next, if the server has taken this much
        processor time since.
        """
        is_behind = self._follower.unread > 0
        share = CATCHING_UP if is_behind else LIMIT * len(usable_cores())
        put_off_s = min(used_s / share, LONGEST_PAUSE_S) if self.is_running else 0.0
        return max(put_off_s, 0.0 if is_behind else LOOK_S)

    def look(self) -> bool:
        """Reads what is new; whether there is anything new to be seen."""
        with self._lock:
            was_running, self.is_running = self.is_running, is_locked(self._follower.folder)
            has_changed = self._follower.read() or self.is_running != was_running
            if has_changed or (self._is_shown() and self._is_order_due()):
                self._version += 1
                return True
            return False

    def snapshot(self) -> Snapshot:
        """What is known since the last look. It is made once, for all who ask."""
        with self._lock:
            if self._snapshot is None or not self._is_shown():
                run = self._follower.run
                if run:
                    self._put_in_order(run)
                self._snapshot = self._taken(run)
            return self._snapshot

    def _is_shown(self) -> bool:
        """Whether somebody has seen what the last look has found."""
        return self._snapshot is not None and self._snapshot.version == self._version

    def _is_order_due(self) -> bool:
        """Whether the order of the bots is that of earlier games, and may be computed."""
        return (
            self._ordered[0] != self._follower.last_hash
            and not self._follower.unread
            and (self._ordering.is_due or not self.is_running)
        )

    def _put_in_order(self, run: StoredRun) -> None:
        """Computes the order of the bots, if that is due, or else only counts the results of all games; not
        where the bots have other names now, or there is more to read.
        """
        order = self._order
        if self._is_order_due():
            with self._ordering.spent(), suppress(RecordError):  # the state says it
                self._order = order_of(run)
            self._ordered = (self._follower.last_hash, len(self._follower.played))
        elif order and not self._follower.unread and order.tallies.by_bot.keys() == {*run.names}:
            self._order = replace(order, tallies=Tallies(run.names, run.shown_games, order.facts.points))

    def _taken(self, run: StoredRun | None) -> Snapshot:
        """The snapshot of a run after the one before."""
        follower, before = self._follower, self._snapshot
        progress, trouble, last = None, follower.trouble, follower.last()
        try:
            if run:
                progress = progress_of(run, last, self.is_running)
        except RecordError as error:  # the header says something impossible
            run, trouble = None, str(error)
        self._look_for_faults()
        known = Snapshot(
            version=self._version,
            name=follower.folder.absolute().name,
            parts={},
            changed={},
            run=run,
            played=follower.played,
            count=len(follower.played),
            faulty=self._faulty,
            order=self._order,
            ordered=self._ordered[1],
            given=self._given,
            is_running=self.is_running,
        )
        parts = {
            "state": self._state(progress, trouble),
            "standings": known.standings(BOTS),
            "games": _games(known, last),
            "faults": self._faults(known),
        }
        changed = {
            name: before.changed[name] if before and before.parts[name] == html else known.version
            for name, html in parts.items()
        }
        return replace(known, parts=parts, changed=changed)

    def _look_for_faults(self) -> None:
        if self._played is not self._follower.played:
            self._played, self._faulty, self._looked = self._follower.played, [], 0
        for number, one in enumerate(self._played[self._looked :], self._looked + 1):
            if any(one.game.faults):
                self._faulty.append(number)
        self._looked = len(self._played)

    def _state(self, progress: RunProgress | None, trouble: str) -> str:
        follower = self._follower
        return fragment(
            "live_state.html",
            progress=progress,
            ended=None if progress is None or progress.ended_us is None else time_of_day(progress.ended_us),
            trouble=trouble,
            notice=follower.notice,
            read_percent=(
                100 * follower.read_bytes // (follower.read_bytes + follower.unread)
                if follower.unread
                else None
            ),
        )

    def _faults(self, known: Snapshot) -> str:
        numbers = self._faulty[: -FAULTY - 1 : -1]
        return fragment(
            "live_faults.html",
            counts=sorted(known.order.faults.items()) if known.order else [],
            rows=known.rows(numbers),
            more=len(self._faulty) - len(numbers),
        )


def follow(
    run: LiveRun,
    tell: Callable[[], object],
    clock: Callable[[], float] = time.monotonic,
    used: Callable[[], float] = time.process_time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Looks at a run again and again, and tells when there is something new to be seen. `clock` and `used`
    give seconds, `used` those of the processor time of all threads.
    """
    while True:
        began_s, began_used_s = clock(), used()
        if run.look():
            tell()
        while (rest_s := began_s + run.pause_s(used() - began_used_s) - clock()) > 0:
            sleep(rest_s)


def _games(known: Snapshot, last: Sequence[TimedGame]) -> str:
    ended = {one.id: time_of_day(one.ended_us) for one in last}
    more = max(0, known.count - GAMES)
    return fragment("live_games.html", rows=known.rows(range(known.count, more, -1), ended), more=more)


def _first(order: BotOrder) -> str:
    """How sure it is that the first bot is stronger than the second; empty where nobody knows, or where
    there is no first and second.
    """
    if order.shown_pool is None or [rank for rank, _, _ in order.places[:2]] != [1, 2]:
        return ""
    pair = order.bots[0], order.bots[1]
    compared = NextInRank(order.shown_pool.difference(*pair), order.shown_pool.superiority(*pair))
    is_by_rating = not (order.facts.by_points or any(order.facts.places.values()))
    return lead_text(pair[1], compared, is_by_rating)


def _cells(order: BotOrder, bot: str) -> list[str]:
    """Lists the cells after a bot's name in the standings."""
    tally = order.tallies[bot]
    rating = [rating_text(order.pool.ratings[bot])] if order.pool else []
    return [*rating, f"{tally.games:,}", counts_text(tally.counts), score_text(tally), faults_text(tally)]


def time_of_day(us: int) -> str:
    """A time in microseconds since 1970, as the time of day in UTC; empty where there is no such time."""
    try:
        return datetime.fromtimestamp(us // 1_000_000, UTC).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return ""


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
