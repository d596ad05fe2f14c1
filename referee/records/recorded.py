"""A wire that replays a record: the same questions get the same answers, at the same times. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.errors import RecordError
from referee.core.text import shown
from referee.gameplay.api import (
    READY,
    RESIGNED,
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    Question,
    Reply,
    Silence,
)
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Unplayed
from referee.games.api import Outcome, Seat, State


class RecordedWire:
    """Answers for the bots of a recorded game. Raises `RecordError` where the record has no answer."""

    def __init__(self, events: Sequence[Event], begin: int = 0) -> None:
        """`begin`: how many events come first that the game loop makes itself, those of a start."""
        self._events = list(events)
        self._next = begin
        self._opening: list[Seat] = []
        self._wait_us: dict[Seat, int] = {}
        """The time available to each seat that was asked, in µs."""

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Opens a seat, which is ready unless the record says that it failed to start."""
        self._opening.append(seat)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Does nothing: the record has unasked lines with the question that follows them."""

    def post(self, seat: Seat, question: Question) -> None:
        """Takes a question. Raises `RecordError` where a recorded move is rejected now."""
        if question.rejected and not isinstance(self._events[self._next - 1], Rejected):
            raise RecordError(
                f"event {self._next} is rejected when the game is played again: {shown(question.rejected[1])}"
            )
        self._wait_us[seat] = question.wait_us

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Does nothing: requests are not in the record."""

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Does nothing: there are no bots."""

    def dice(self, state: State[object]) -> str:
        """Returns the recorded chance outcome at this point."""
        match self._take("a chance outcome"):
            case Drawn(text):
                return text
        raise RecordError(f"event {self._next} is not a chance outcome, expected one")

    def next_reply(self) -> Reply:
        """Returns the next recorded reply of a seat."""
        if self._opening:
            return self._opened(self._opening.pop(0))
        while True:
            event = self._take("an answer")
            if isinstance(event, Retired) and event.ending is Ending.ILLEGAL:
                continue  # it follows again from the rejections before it
            wait_us = None if isinstance(event, Drawn) else self._wait_us.pop(event.seat, None)
            if wait_us is None:
                raise RecordError(f"event {self._next} belongs to a seat that was not to move")
            match event:
                case Moved(seat, text, charge, defaulted, info, timing):
                    if defaulted:
                        return self._silence(Reply(seat, Silence(""), charge.used_us, timing), wait_us)
                    return Reply(seat, Answer(text, info), charge.used_us, timing)
                case Rejected(seat, text, used_us=used_us) | Unplayed(seat, text, used_us):
                    return Reply(seat, Answer(text), used_us, event.timing)
                case Retired(seat, Ending.TIME, detail, used_us, timing, hint):
                    return self._silence(Reply(seat, Silence(detail, hint), used_us, timing), wait_us)
                case Retired(seat, Ending.RESIGNED, _, used_us, timing):
                    return Reply(seat, RESIGNED, used_us, timing)
                case Retired(seat, ending, detail, used_us, timing, hint) if ending.is_fault:
                    return Reply(seat, Failure(ending, detail, hint), used_us, timing)
            raise RecordError(f"event {self._next} is not possible here")

    def _take(self, expected: str) -> Event:
        event = self._peek()
        if event is None:
            raise RecordError(f"the record ends after event {self._next}, expected {expected}")
        self._next += 1
        return event

    def _peek(self) -> Event | None:
        """The next event that is not an opening move, which the game loop makes itself; None at the end."""
        while self._next < len(self._events) and isinstance(self._events[self._next], Preset):
            self._next += 1
        return self._events[self._next] if self._next < len(self._events) else None

    def _opened(self, seat: Seat) -> Reply:
        match self._peek():
            case Retired(
                failed, Ending.START | Ending.VOID | Ending.OUT as ending, detail, used_us, timing, hint
            ) if failed == seat:
                self._next += 1
                return Reply(seat, Failure(ending, detail, hint), used_us, timing)
        return Reply(seat, READY)

    def _silence(self, silence: Reply, wait_us: int) -> Reply:
        if silence.used_us <= wait_us:
            raise RecordError(
                f"event {self._next}: seat {silence.seat + 1} ran out of time after "
                f"{silence.used_us} µs, but had {wait_us} µs"
            )
        return silence
