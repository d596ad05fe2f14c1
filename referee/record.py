"""A finished game as one JSON line, and back. `RECORD.md` describes it for people.

Nothing here believes what it reads: a record may come from anybody. Every field is checked for its type
and its bounds, and `RecordError` says which one is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.bots import NAME
from referee.clock import Charge, TimeControl
from referee.errors import RecordError, UsageError
from referee.events import Drawn, Ending, Event, Left, Moved, Rejected, Unplayed
from referee.games import GAMES
from referee.games.api import Outcome
from referee.match import Terms, Verdict
from referee.text import shown

FORMAT = 1
"""Version of the record; the first line of a file has it."""

LINE_CAP = 64 << 20
"""Bytes of a line that is read at all. A game of a thousand moves takes about a hundred thousand."""

_LARGEST = 1 << 62


@dataclass(frozen=True)
class GameRecord:
    """A finished game with everything that decided it."""

    terms: Terms
    events: tuple[Event, ...]
    verdict: Verdict
    measured: dict[str, Any]
    """What no replay can bring back: when and where, what the bots said beside their answers."""
    rules: int
    """The version of the game's rules that it was played under."""
    attempt: int = 1
    """Counts how often the referee tried to have this game played."""


def to_json(record: GameRecord) -> dict[str, Any]:
    """The record as JSON has it; what an index of games needs comes before `events`."""
    terms, verdict = record.terms, record.verdict
    return {
        "kind": "game",
        "id": terms.id,
        "attempt": record.attempt,
        "game": terms.game.slug,
        "rules": record.rules,
        "options": dict(terms.options),
        "bots": list(terms.bots),
        "clocks": [str(control) for control in terms.controls],
        "margin_us": terms.margin_us,
        "rejections": terms.rejections,
        "seed": terms.seed.hex(),
        "ranks": list(verdict.outcome.ranks),
        "scores": list(verdict.outcome.scores),
        "ending": verdict.ending.word,
        "sentence": verdict.outcome.sentence,
        "rated": verdict.rated,
        "events": [_event_json(event) for event in record.events],
        "measured": {"events": [_event_measured(event) for event in record.events], **record.measured},
    }


def _event_json(event: Event) -> dict[str, Any]:
    match event:
        case Drawn(text):
            return {"chance": text}
        case Moved(seat, text, defaulted=True):
            return {"seat": seat + 1, "default": text}
        case Moved(seat, text):
            return {"seat": seat + 1, "move": text}
        case Unplayed(seat, text):
            return {"seat": seat + 1, "unplayed": text}
        case Rejected(seat, text, reason, sentence):
            return {"seat": seat + 1, "rejected": text, "reason": reason, "sentence": sentence}
        case Left(seat, ending):
            return {"seat": seat + 1, "left": ending.word}


def _event_measured(event: Event) -> dict[str, Any]:
    match event:
        case Drawn():
            return {}
        case Moved(charge=charge, info=info):
            return {**charge._asdict(), **({"info": info} if info else {})}
        case Left(used_us=used_us, detail=detail):
            return {"used_us": used_us, "detail": detail}
        case Unplayed(used_us=used_us) | Rejected(used_us=used_us):
            return {"used_us": used_us}


class _Fields:
    """One JSON object, read field by field."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise RecordError(f"{where} is no object")
        self._value = value
        self._where = where

    def _get(self, name: str, kind: type, expected: str) -> Any:
        value = self._value.get(name)
        # bool is an int to Python, and neither to JSON.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise RecordError(f"{self._where}`{name}` is {shown(repr(value), 60)}, expected {expected}")
        return value

    def has(self, name: str) -> bool:
        return name in self._value

    def text(self, name: str) -> str:
        value = self._get(name, str, "a text")
        assert isinstance(value, str)
        return value

    def number(self, name: str, low: int = 0, high: int = _LARGEST) -> int:
        value = self._get(name, int, "a number")
        if not low <= value <= high:
            raise RecordError(f"{self._where}`{name}` is {shown(str(value), 40)}, expected {low} to {high}")
        return int(value)

    def flag(self, name: str) -> bool:
        return bool(self._get(name, bool, "true or false"))

    def list(self, name: str) -> list[Any]:
        value = self._get(name, list, "a list")
        assert isinstance(value, list)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.list(name)
        if not all(isinstance(value, str) for value in values):
            raise RecordError(f"{self._where}`{name}` has other things than texts")
        return tuple(values)

    def numbers(self, name: str) -> tuple[int, ...]:
        values = self.list(name)
        if not all(type(value) is int and abs(value) <= _LARGEST for value in values):
            raise RecordError(f"{self._where}`{name}` has other things than numbers")
        return tuple(values)

    def object(self, name: str) -> _Fields:
        return _Fields(self._value.get(name), f"{self._where}`{name}`")

    def options(self, name: str) -> dict[str, str]:
        self.object(name)
        given = self._value[name]
        if not all(isinstance(v, int | str) and not isinstance(v, bool) for v in given.values()):
            raise RecordError(f"{self._where}`{name}` has other things than numbers and texts")
        return {key: str(value) for key, value in given.items()}

    def hex(self, name: str) -> bytes:
        try:
            return bytes.fromhex(self.text(name))
        except ValueError:
            raise RecordError(f"{self._where}`{name}` is no hexadecimal number") from None


class Summary(NamedTuple):
    """The head of a record: what a list of games shows."""

    id: str
    game: str
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    ending: str
    sentence: str


def parse_json(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises `RecordError`."""
    if len(line) > LINE_CAP:
        raise RecordError(f"the line has more than {LINE_CAP} bytes")
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the line is no JSON: {shown(str(error), 100)}") from None
    if not isinstance(value, dict):
        raise RecordError("the line is no JSON object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def summary(value: dict[str, Any]) -> Summary:
    """The head of a game's record. Raises `RecordError`."""
    fields = _Fields(value, "")
    return Summary(
        fields.text("id"),
        fields.text("game"),
        fields.texts("bots"),
        fields.numbers("ranks"),
        fields.text("ending"),
        fields.text("sentence"),
    )


def from_json(value: dict[str, Any]) -> GameRecord:
    """A game's record from what `to_json` gave. Raises `RecordError`."""
    fields = _Fields(value, "")
    terms = _terms(fields)
    seats = len(terms.bots)
    ranks, scores = fields.numbers("ranks"), fields.numbers("scores")
    if len(ranks) != seats or len(scores) != seats:
        raise RecordError(f"`ranks` and `scores` are not {seats} each")
    verdict = Verdict(
        Outcome(ranks, scores, fields.text("sentence")), _ending(fields, "ending"), fields.flag("rated")
    )
    measured = dict(value["measured"]) if isinstance(value.get("measured"), dict) else {}
    times = fields.object("measured").list("events")
    events = fields.list("events")
    if len(times) != len(events):
        raise RecordError(f"there are {len(events)} `events`, and {len(times)} in `measured`")
    del measured["events"]
    return GameRecord(
        terms,
        tuple(
            _event(
                _Fields(event, f"event {number}: "), _Fields(times[number - 1], f"event {number}: "), seats
            )
            for number, event in enumerate(events, 1)
        ),
        verdict,
        measured,
        fields.number("rules"),
        fields.number("attempt", 1),
    )


def _terms(fields: _Fields) -> Terms:
    slug = fields.text("game")
    if slug not in GAMES:
        raise RecordError(f"`game` is `{shown(slug, 40)}`, expected one of {', '.join(GAMES)}")
    game = GAMES[slug]
    try:
        options = game.settle(fields.options("options"))
        controls = tuple(TimeControl.parse(text) for text in fields.texts("clocks"))
    except UsageError as error:
        raise RecordError(str(error)) from None
    bots = fields.texts("bots")
    if not len(bots) == len(controls) == game.seats(options):
        raise RecordError(f"`bots` and `clocks` are not {game.seats(options)} each")
    if not all(NAME.fullmatch(name) for name in bots):
        raise RecordError("`bots` has what is no name")
    return Terms(
        fields.text("id"),
        game,
        options,
        bots,
        controls,
        fields.hex("seed"),
        fields.number("margin_us"),
        fields.number("rejections", 1),
    )


def _ending(fields: _Fields, name: str) -> Ending:
    try:
        return Ending.of(fields.text(name))
    except KeyError:
        words = ", ".join(ending.word for ending in Ending)
        raise RecordError(f"`{name}` is no ending, expected one of {words}") from None


def _event(fields: _Fields, times: _Fields, seats: int) -> Event:
    if fields.has("chance"):
        return Drawn(fields.text("chance"))
    seat = fields.number("seat", 1, seats) - 1
    if fields.has("move") or fields.has("default"):
        names: Iterable[str] = Charge._fields
        charge = Charge(*(times.number(name) for name in names))
        defaulted = not fields.has("move")
        info = times.text("info") if times.has("info") else ""
        return Moved(seat, fields.text("default" if defaulted else "move"), charge, defaulted, info)
    if fields.has("unplayed"):
        return Unplayed(seat, fields.text("unplayed"), times.number("used_us"))
    if fields.has("rejected"):
        return Rejected(
            seat,
            fields.text("rejected"),
            fields.text("reason"),
            fields.text("sentence"),
            times.number("used_us"),
        )
    return Left(seat, _ending(fields, "left"), times.text("detail"), times.number("used_us"))
