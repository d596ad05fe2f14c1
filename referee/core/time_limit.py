"""Until when games of a tournament begin: a moment, or a time of play. Pure."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.units import parse_period, show_period

KEYS = ("until", "time")
"""The keys of a tournament file, and the members of a header; a run may get other values at any time."""

CLOSED = "closed"
"""The member of a header that says that nothing more begins: which of the `KEYS` decided, with the `games`
that are played nevertheless or, where later rounds follow from results, the last of the `rounds` by section;
both in a stage that is a league.
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
        """Which of the `KEYS` is reached; empty where none is."""
        if self.until and now >= self.until:
            return "until"
        return "time" if self.time_us and played_us >= self.time_us else ""

    def text(self, key: str) -> str:
        """Says of one of the `KEYS` that it was reached."""
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
    closed.one_of("by", KEYS)
    if closed.has("rounds"):
        rounds = closed.object("rounds")
        for section in rounds.names():
            rounds.number(section)
    if closed.has("games") or not closed.has("rounds"):
        closed.texts("games")
