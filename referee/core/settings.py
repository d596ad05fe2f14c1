"""Settings of a tournament in its file and its header, and what holds without them. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.units import parse_period, show_period

LEVELS = ("none", "basic", "landlock", "bwrap")  # of isolation, from the weakest to the strongest

CONFINED = ("landlock", "bwrap")  # the levels that confine the files of a bot

AUTO = "auto"  # stands for the strongest level that works on this machine

MARGIN_US = 10_000
"""Beyond allowance and reserve, what a referee on an ordinary machine may itself be late by."""

MATCH_GAMES = 2  # the games of a match

MAX_SPRT_GAMES = 20_000  # maximum number of games of a match with a sequential test

POSITION_SEED = "1"  # where none is given: a position that is tested is to be the same every time

REJECTIONS = 10  # A game's rejected moves of a seat; with the last of them the seat loses

START_US = 10_000_000  # the time a bot has to start: for its `hello`, and again for each `ready`

POINTS = "points"  # the key of a tournament file, and the member of a header

ORDER = "order"
"""The key of a tournament file, and the member of a header, that says what bots are ordered by."""

ORDERS = ("rating", "points")  # what bots can be ordered by; the first one is the default

MAX_POINTS = 1000


@dataclass(frozen=True, slots=True)
class PointScale:
    """The points of a tournament: whole numbers or halves, so that sums are exact."""

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    bye: float = 2.0  # the points of a round without a game; by default as many as two games won

    @classmethod
    def read(cls, fields: Fields) -> PointScale:
        """The scale from the table `[tournament]` of a tournament file, or from the header of a run. Raises
        the error of `fields`.
        """
        if not fields.has(POINTS):
            return STANDARD_POINTS
        table = fields.object(POINTS)
        table.only("win", "draw", "loss", "bye")
        win, draw = _points(table, "win"), _points(table, "draw")
        loss = _points(table, "loss", 0.0)
        if not loss <= draw <= win:
            raise table.wrong("draw", f"a number from {loss:g} to {win:g}, as a loss and a win give")
        if loss == win:
            raise table.wrong("win", f"more than a loss gives, which is {loss:g}")
        return cls(win, draw, loss, _points(table, "bye", 2 * win))

    def header(self) -> dict[str, Any]:
        """The member for the header of a run; none for the standard scale."""
        return {} if self == STANDARD_POINTS else {POINTS: asdict(self)}

    def halves(self, ranks: Sequence[int], seat: int) -> int:
        """Twice the points of a seat in a game, times the number of its opponents (1 if it plays alone):
        always a whole number.
        """
        own = ranks[seat]
        others = [rank for other, rank in enumerate(ranks) if other != seat]
        if not others:
            return round(2 * (self.win if own == 1 else self.loss))
        return round(
            2 * sum(self.win if own < rank else self.draw if own == rank else self.loss for rank in others)
        )

    def of(self, ranks: Sequence[int], seat: int) -> float:
        """The points of a seat in a game: with several opponents, the mean of what each of them gives."""
        return self.halves(ranks, seat) / (2 * max(1, len(ranks) - 1))


STANDARD_POINTS = PointScale()  # the scale of a tournament that names none


def _points(table: Fields, name: str, default: float | None = None) -> float:
    number = table.real(name, default)
    if not 0 <= number <= MAX_POINTS or 2 * number % 1:
        raise table.wrong(name, f"a whole number or a half from 0 to {MAX_POINTS}")
    return number


TIME_KEYS = ("until", "time")
"""The keys of a tournament file, and the members of a header; a run may get other values at any time."""

CLOSED = "closed"
"""The member of a header that says that nothing more begins: which of the `TIME_KEYS` decided, with the
`games` that are played nevertheless or, where later rounds follow from results, the last of the `rounds` by
section; both in a stage that is a league.
"""

PLAYED_US = "played_us"
"""The member of a header that says how long was played so far, of a tournament with a time of play."""

SHORTEST_US = 60_000_000  # shorter times are those of moves, written under the wrong key


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Until when encounters, or rounds that follow from results, begin."""

    until: datetime | None = None  # with its offset from UTC
    time_us: int = 0  # the time of play; 0 where it is not limited

    @classmethod
    def read(cls, fields: Fields) -> TimeLimit:
        """The limit from the table `[tournament]` of a tournament file, or from the header of a run. Raises
        the error of `fields`.
        """
        time_us = 0
        if fields.has("time"):
            text = fields.text("time", expected="a time")
            with contextlib.suppress(UsageError):  # told below: it may be a time control
                time_us = parse_period(text)
            if time_us < SHORTEST_US:
                raise fields.wrong(
                    "time",
                    "a time of at least `1m` for the whole tournament; that of moves is `clock`",
                )
        return cls(_moment(fields) if fields.has("until") else None, time_us)

    def header(self) -> dict[str, Any]:
        """The members for the header of a run; none without limits."""
        return {
            **({"until": self.until.isoformat()} if self.until else {}),
            **({"time": show_period(self.time_us)} if self.time_us else {}),
        }

    def reached(self, now: datetime, played_us: int) -> str:
        """Which of the `TIME_KEYS` is reached; empty where none is."""
        if self.until and now >= self.until:
            return "until"
        return "time" if self.time_us and played_us >= self.time_us else ""

    def text(self, key: str) -> str:
        """Says of one of the `TIME_KEYS` that it was reached."""
        if key == "until":
            moment = f" {self.until:%Y-%m-%d %H:%M}" if self.until else ""
            return f"closed: no more games begin since `until`{moment}"
        return f"closed: the `time` of {show_period(self.time_us)} is over, no more games begin"


UNLIMITED = TimeLimit()  # everything is played


def _moment(fields: Fields) -> datetime:
    text = fields.text("until", expected="a date and a time")
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.astimezone()).replace(microsecond=0)
    except (ValueError, OverflowError):
        raise fields.wrong_form("until", "a date and a time") from None


def check_closed(fields: Fields) -> None:
    """Checks the members of a header that say when the run was closed. Raises the error of `fields`."""
    if fields.has(PLAYED_US):
        fields.number(PLAYED_US)
    if not fields.has(CLOSED):
        return
    closed = fields.object(CLOSED)
    closed.one_of("by", TIME_KEYS)
    if closed.has("rounds"):
        rounds = closed.object("rounds")
        for section in rounds.names():
            rounds.number(section)
    if closed.has("games") or not closed.has("rounds"):
        closed.texts("games")


MAX_WORKERS = 1000  # maximum number of games that are played at a time on one machine
