"""What seats did in a game, as a diagnosis looks at it. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from referee.analysis.kinds import SeatDecisions
from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.gameplay.events import Ending
from referee.games.api import Seat
from referee.records.record import Summary

_ENDINGS = [ending.word for ending in Ending]

_BEFORE_MOVES = (Ending.START.word, Ending.VOID.word, Ending.OUT.word)
"""How a seat leaves that was asked for no move."""


class SeatPlay(NamedTuple):
    """What a seat did in a game. Moves of the opening are not its own."""

    times_us: tuple[int, ...]  # of each of its moves, also of the one for which its time was up
    left: str  # the word of the ending with which it left the game; empty where it stayed
    move: int  # the number of the move at which it left, from 1; 0 where it was asked for none
    judged: SeatDecisions | None = None  # its moves as the analysis judges them; None without one


class DiagnosedGame(NamedTuple):
    """A game of a bot as it is looked at."""

    game: Summary
    seat: Seat  # the bot's
    plays: tuple[SeatPlay, ...]  # by seat

    @property
    def own(self) -> SeatPlay:
        """What the bot did."""
        return self.plays[self.seat]


def seat_plays(value: dict[str, Any], seats: int) -> tuple[SeatPlay, ...]:
    """What each seat did, from the object on a game's line. Raises `RecordError`."""
    times: list[list[int]] = [[] for _ in range(seats)]
    left = [("", 0)] * seats
    fields = Fields(value, "", RecordError)
    events, timings = [*fields.objects("events")], [*fields.object("measured").objects("events")]
    if len(events) != len(timings):
        raise RecordError(f"there are {len(events)} `events`, but {len(timings)} `measured.events`")
    for event, timing in zip(events, timings, strict=True):
        is_asked = event.has("move") or event.has("default")
        if not (is_asked or event.has("left")):
            continue
        seat = event.number("seat", 1, seats) - 1
        word = event.one_of("left", _ENDINGS) if event.has("left") else ""
        if word:
            left[seat] = word, 0 if word in _BEFORE_MOVES else len(times[seat]) + 1
        if is_asked or word == Ending.TIME.word:
            times[seat].append(max(1, timing.number("used_us")))
    return tuple(SeatPlay(tuple(of_seat), *how) for of_seat, how in zip(times, left, strict=True))
