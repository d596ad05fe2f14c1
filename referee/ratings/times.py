"""Times of moves, and numbers of bots' own, from their records. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from referee.core.errors import RecordError
from referee.core.fields import LARGEST
from referee.ratings.metrics import Metrics
from referee.records.record import is_late, is_timed, waited_long
from referee.viewing.info import METRIC, read_info

_WRONG = RecordError("`events` and `measured` are not those of a game")


@dataclass(slots=True)
class MoveTimes:
    """The times of one bot, in microseconds."""

    moves: int = 0  # its moves, those included that the referee made for it when its time was up
    longest_us: int = 0
    over: int = 0  # the moves that took longer than their allowance, so that the reserve paid for them
    late: int = 0  # how often its time was up
    used_us: int = 0  # the time of all moves together
    waits: int = 0
    """The slow moves in which it was ready to run and waited long for a processor, also those that lost."""
    longest_wait_us: int = 0
    cpu_us: int = 0  # the processor time of all its games, on its own turns and on others'
    metrics: Metrics = field(default_factory=Metrics)  # what the bot said of its moves in numbers of its own
    _counts: dict[int, int] = field(default_factory=dict)
    """The moves by their time, which is rounded to three figures: so the memory is bounded."""

    def add(self, used_us: int) -> None:
        """Adds a move."""
        self.moves += 1
        self.used_us += used_us
        self.longest_us = max(self.longest_us, used_us)
        self._count(_three_figures(used_us), 1)

    def _count(self, used_us: int, moves: int) -> None:
        self._counts[used_us] = self._counts.get(used_us, 0) + moves

    def update(self, other: MoveTimes) -> None:
        """Adds the moves of another one."""
        self.moves += other.moves
        self.longest_us = max(self.longest_us, other.longest_us)
        self.over += other.over
        self.late += other.late
        self.waits += other.waits
        self.longest_wait_us = max(self.longest_wait_us, other.longest_wait_us)
        self.used_us += other.used_us
        self.cpu_us += other.cpu_us
        self.metrics.update(other.metrics)
        for used_us, moves in other._counts.items():
            self._count(used_us, moves)

    def quantile(self, share: float) -> int:
        """The time, to three figures, that this share of the moves did not exceed; 0 without moves."""
        missing = share * self.moves
        for used_us, count in sorted(self._counts.items()):
            missing -= count
            if missing <= 0:
                return min(used_us, self.longest_us)
        return 0


class Times:
    """The times of all bots of a run, added game by game."""

    def __init__(self) -> None:
        self.by_bot: dict[str, MoveTimes] = {}
        self.moves = 0
        """Everything that was timed: moves, rejected answers and departures of seats that were asked."""
        self.stopped = 0  # how many of `moves` there were during which the referee itself was not running

    def add(self, bots: tuple[str, ...], line: bytes) -> None:
        """Adds a game from its line in the file of records. Reads only what comes after its head.

        Raises `RecordError` where that is not what a record has.
        """
        try:
            value = json.loads(b'{"events":' + line.partition(b',"events":')[2])
        except (ValueError, RecursionError):
            raise _WRONG from None
        self.add_game(bots, value)

    def add_game(self, bots: tuple[str, ...], value: dict[str, Any]) -> None:
        """Adds a game from the object on its line. Raises `RecordError` as `add` does."""
        try:
            self._add(bots, value["events"], value["measured"])
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _WRONG from None

    def update(self, other: Times) -> None:
        """Adds the games of another one."""
        for name, times in other.by_bot.items():
            self.by_bot.setdefault(name, MoveTimes()).update(times)
        self.moves += other.moves
        self.stopped += other.stopped

    def _add(self, bots: tuple[str, ...], events: list[Any], measured: dict[str, Any]) -> None:
        seats = [self.by_bot.setdefault(name, MoveTimes()) for name in bots]
        for found, seat in zip(seats, measured["seats"], strict=True):
            found.cpu_us += _checked(seat.get("cpu_us", 0))
        own_moves = [0] * len(bots)
        for event, time in zip(events, measured["events"], strict=True):
            if not is_timed(event, time):
                continue
            self.moves += 1
            self.stopped += "stopped_us" in time
            found = seats[event["seat"] - 1]
            if waited_long(event, time):
                found.waits += 1
                found.longest_wait_us = max(found.longest_wait_us, _checked(time["waited_us"]))
            if "move" in event or "default" in event:
                found.add(_checked(time["used_us"]))
                found.over += _checked(time["over_us"]) > 0
                own_moves[event["seat"] - 1] += 1
                if METRIC in (info := time.get("info", "")):
                    found.metrics.add(own_moves[event["seat"] - 1], read_info(info).metrics)
            found.late += is_late(event)


def _checked(us: object) -> int:
    if not isinstance(us, int) or not 0 <= us <= LARGEST:
        raise ValueError
    return us


def _three_figures(us: int) -> int:
    if us < 1000:
        return us
    unit: int = 10 ** (len(str(us)) - 3)
    return (us + unit // 2) // unit * unit
