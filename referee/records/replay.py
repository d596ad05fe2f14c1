"""Replays records: in the place of its bots, a game has a wire that gives the recorded answers at the
recorded times. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.text import shown, value_text
from referee.gameplay.api import (
    READY,
    RESIGNED,
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    Question,
    SeatReply,
    Silence,
)
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Unplayed
from referee.gameplay.loop import WatchEvent, play, seeded_dice
from referee.gameplay.openings import BadOpening, Openings
from referee.gameplay.terms import Verdict
from referee.games.api import BadChance, Outcome, Seat, State
from referee.records.header import Header
from referee.records.record import GameRecord, decided_json, from_json, parse_json


def replay(record: GameRecord, watch: WatchEvent, by_seed: bool = False) -> Verdict:
    """Replays a record through rules and clocks; `watch` is called with each event and the state after it.

    Chance outcomes are taken from the record; with `by_seed` they are also drawn from the seed and compared.
    Raises `RecordError`, naming the event, where the replay differs from the record.
    """
    wire = RecordedWire(record.events, len(record.terms.start))
    count = 0

    def compare(event: Event, state: State[Any]) -> None:
        nonlocal count
        if count == len(record.events):
            raise RecordError(f"the record ends after event {count}, but the game is not over")
        _compare_event(count + 1, record.events[count], event)
        count += 1
        watch(event, state)

    drawn = seeded_dice(record.terms)

    def dice(state: State[Any]) -> str:
        text, again = wire.dice(state), drawn(state)
        _compare(f"event {count + 1}: chance", text, again)
        return text

    try:
        verdict = play(record.terms, wire, dice if by_seed else wire.dice, compare)
    except (BadChance, BadOpening) as error:
        raise RecordError(f"event {count + 1}: {error}") from None
    if count != len(record.events):
        raise RecordError(f"the game is over after event {count}, but the record continues")
    _compare("ranks", record.verdict.outcome.ranks, verdict.outcome.ranks)
    _compare("scores", record.verdict.outcome.scores, verdict.outcome.scores)
    _compare("ending", record.verdict.ending.word, verdict.ending.word)
    _compare("sentence", record.verdict.outcome.sentence, verdict.outcome.sentence)
    _compare("rated", record.verdict.rated, verdict.rated)
    return verdict


def verify(value: dict[str, Any], openings: Openings | None = None) -> None:
    """Raises `RecordError` where the replay of a record, given as JSON, differs from it, or its opening from
    the one that the openings of its run give it, if these are given.
    """
    record = from_json(value)
    game = record.terms.game
    if record.rules != game.rules:
        raise RecordError(
            f"it was played with version {record.rules} of the rules of `{game.slug}`, but this "
            f"referee has version {game.rules}"
        )
    replay(record, lambda event, state: None, by_seed=True)
    if openings is not None:
        openings.check(record.terms)
    # What the replay did not compare is compared here, as well as the set of keys.
    again = decided_json(record)
    for name in value:
        if name not in again and name not in ("measured", "prev", "hash"):
            raise RecordError(f"unknown key `{shown(name, 60)}`")
    for name in again:
        _compare(name, value.get(name), again[name])


class ExaminedLine(NamedTuple):
    """A line of a run, examined by itself."""

    value: dict[str, Any]  # the object of the line, of a game its head; empty where the line is no object
    error: str
    """Why the line is no object, or how the game's replay differs from it; empty if nothing is wrong."""


OpeningsBySection = Mapping[str, Openings]  # how the games of a run begin, by section


def openings_of_run(first_line: bytes) -> OpeningsBySection:
    """Reads the openings of a run from its first line; none where that is damaged."""
    try:
        sections = Header.read(parse_json(first_line)).sections
    except RecordError:
        return {}
    return {name: section.openings for name, section in sections.items()}


def examined(line: bytes, openings: OpeningsBySection) -> ExaminedLine:
    """A line, after the replay of its game if it is a game's; `openings` are those of its run."""
    value: dict[str, Any] = {}
    try:
        value = parse_json(line)
        if value.get("kind") == "game":
            verify(value, openings.get(Pairing.parse(str(value.get("id"))).section))
    except RecordError as error:
        return ExaminedLine(_head(value), str(error))
    return ExaminedLine(_head(value), "")


def _head(value: dict[str, Any]) -> dict[str, Any]:
    return {name: what for name, what in value.items() if name not in ("events", "measured")}


class _Field(NamedTuple):
    name: str
    value: object


def _compare_event(number: int, recorded: Event, played: Event) -> None:
    if recorded == played:
        return
    if type(recorded) is not type(played):
        raise RecordError(
            f"event {number} is `{_words(recorded)}` in the record, but "
            f"`{_words(played)}` when the game is played again"
        )
    for one, other in zip(_fields(recorded), _fields(played), strict=True):
        _compare(f"event {number}: {one.name}", one.value, other.value)


def _fields(event: Event) -> Iterable[_Field]:
    for name, value in event._asdict().items():
        if hasattr(value, "_asdict"):
            yield from (_Field(*item) for item in value._asdict().items())
        else:
            yield _Field(name, value)


def _words(event: Event) -> str:
    values = " ".join(str(field.value) for field in _fields(event) if field.name in ("text", "sentence"))
    return shown(f"{type(event).__name__.lower()} {values}".strip(), 120)


def _compare(what: str, recorded: object, played: object) -> None:
    if recorded != played:
        raise RecordError(
            f"{what} is `{shown(value_text(recorded), 80)}` in the record, but "
            f"`{shown(value_text(played), 80)}` when the game is played again"
        )


class RecordedWire:
    """Answers for the bots of a recorded game. Raises `RecordError` where the record has no answer."""

    def __init__(self, events: Sequence[Event], begin: int = 0) -> None:
        """`begin`: how many events come first that the game loop makes itself, those of a start."""
        self._events = list(events)
        self._next = begin
        self._opening: list[Seat] = []
        self._wait_us: dict[Seat, int] = {}  # the time available to each seat that was asked, in µs

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

    def next_reply(self) -> SeatReply:
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
            if isinstance(event, Moved):  # nearly always: a pattern takes five times as long
                seat, text, charge, defaulted, info, timing = event
                if defaulted:
                    return self._silence(SeatReply(seat, Silence(""), charge.used_us, timing), wait_us)
                return SeatReply(seat, Answer(text, info), charge.used_us, timing)
            match event:
                case Rejected(seat, text, used_us=used_us) | Unplayed(seat, text, used_us):
                    return SeatReply(seat, Answer(text), used_us, event.timing)
                case Retired(seat, Ending.TIME, detail, used_us, timing, hint):
                    return self._silence(SeatReply(seat, Silence(detail, hint), used_us, timing), wait_us)
                case Retired(seat, Ending.RESIGNED, _, used_us, timing):
                    return SeatReply(seat, RESIGNED, used_us, timing)
                case Retired(seat, ending, detail, used_us, timing, hint) if ending.is_fault:
                    return SeatReply(seat, Failure(ending, detail, hint), used_us, timing)
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

    def _opened(self, seat: Seat) -> SeatReply:
        match self._peek():
            case Retired(
                failed, Ending.START | Ending.VOID | Ending.OUT as ending, detail, used_us, timing, hint
            ) if failed == seat:
                self._next += 1
                return SeatReply(seat, Failure(ending, detail, hint), used_us, timing)
        return SeatReply(seat, READY)

    def _silence(self, silence: SeatReply, wait_us: int) -> SeatReply:
        if silence.used_us <= wait_us:
            raise RecordError(
                f"event {self._next}: seat {silence.seat + 1} ran out of time after "
                f"{silence.used_us} µs, but had {wait_us} µs"
            )
        return silence
