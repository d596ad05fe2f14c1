"""A wire made from a record: the same questions get the same answers, at the same times."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.errors import RecordError
from referee.core.text import shown
from referee.gameplay.api import (
    Answer,
    Broken,
    LegalMoves,
    Opened,
    Opening,
    Question,
    Resigned,
    Silence,
    WireEvent,
)
from referee.gameplay.events import Drawn, Ending, Event, Left, Moved, Rejected, Seat, Unplayed
from referee.games.api import Outcome, State


class RecordedWire:
    """Plays the bots' side of a recorded game. Raises `RecordError` where the record has no answer."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = list(events)
        self._next = 0
        self._opening: list[Seat] = []
        self._patience_us: dict[Seat, int] = {}
        """Of the seats that are asked."""

    def open(self, seat: Seat, opening: Opening) -> None:
        """A seat is ready unless the record says that it did not start."""
        self._opening.append(seat)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """What was said unasked is in the record of the question behind it."""

    def post(self, seat: Seat, question: Question) -> None:
        """What was played must not be rejected now; and an answer came within the patience, or none."""
        if question.rejected and not isinstance(self._events[self._next - 1], Rejected):
            raise RecordError(
                f"event {self._next} is rejected when played again: {shown(question.rejected[1])}"
            )
        self._patience_us[seat] = question.patience_us

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Requests are not in the record: they change nothing."""

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Nobody is there to be told."""

    def dice(self, state: State[object]) -> str:
        """What chance gave at this point."""
        match self._take("a chance outcome"):
            case Drawn(text):
                return text
        raise RecordError(f"event {self._next} is no chance outcome, expected one")

    def next_event(self) -> WireEvent:
        """The next thing that the record says of a seat."""
        if self._opening:
            return self._opened(self._opening.pop(0))
        while True:
            event = self._take("an answer")
            if isinstance(event, Left) and event.ending is Ending.ILLEGAL:
                continue  # the rejections before it lead there again
            patience_us = None if isinstance(event, Drawn) else self._patience_us.pop(event.seat, None)
            if patience_us is None:
                raise RecordError(f"event {self._next} is of a seat that was not asked")
            match event:
                case Moved(seat, text, charge, defaulted, info, timing):
                    if defaulted:
                        return self._silence(Silence(seat, charge.used_us, "", timing), patience_us)
                    return Answer(seat, charge.used_us, text, info, timing)
                case Rejected(seat, text, used_us=used_us) | Unplayed(seat, text, used_us):
                    return Answer(seat, used_us, text, timing=event.timing)
                case Left(seat, Ending.TIME, detail, used_us, timing, hint):
                    return self._silence(Silence(seat, used_us, detail, timing, hint), patience_us)
                case Left(seat, Ending.RESIGNED, _, used_us, timing):
                    return Resigned(seat, used_us, timing)
                case Left(seat, ending, detail, used_us, timing, hint) if ending.is_fault:
                    return Broken(seat, used_us, ending, detail, timing, hint)
            raise RecordError(f"event {self._next} cannot stand here")

    def _take(self, expected: str) -> Event:
        if self._next == len(self._events):
            raise RecordError(f"the record ends after event {self._next}, expected {expected}")
        self._next += 1
        return self._events[self._next - 1]

    def _opened(self, seat: Seat) -> WireEvent:
        if self._next < len(self._events):
            match self._events[self._next]:
                case Left(failed, Ending.START, detail, used_us, timing, hint) if failed == seat:
                    self._next += 1
                    return Broken(seat, used_us, Ending.START, detail, timing, hint)
        return Opened(seat)

    def _silence(self, silence: Silence, patience_us: int) -> Silence:
        if silence.used_us <= patience_us:
            raise RecordError(
                f"event {self._next}: seat {silence.seat + 1} is out of time after {silence.used_us} µs, "
                f"and had {patience_us} µs"
            )
        return silence
