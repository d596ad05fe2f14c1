"""A game as one JSON line, and back. `RECORD.md` describes it for people. Pure.

Records are untrusted input. Every field is checked for its type and its bounds, and `RecordError` says
which one is wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME
from referee.core.settings import LEVELS
from referee.core.text import by_name, shown
from referee.core.units import TimeControl
from referee.core.value import made
from referee.gameplay.clock import Charge
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Timing, Unplayed
from referee.gameplay.terms import Terms, Verdict
from referee.games import game_named
from referee.games.api import Outcome

FORMAT = 1  # version of the format; it stands in the first line of a file

OFF_TURN = ("off_turn_us", "off_turn_cpu_us")
"""For a seat, how long it was not asked in a game, and the processor time that its bot used then."""

STRAY = ("noise", "stale")
"""For a seat, the lines of its bot that were not messages, and its answers to closed questions."""

REJECTED = "rejected"  # the answers of a seat that were rejected

LABEL_CAP = 200  # maximum number of characters of each text that says where a game was played

BY_REFEREE = "0"  # the worker of games that the referee's own process played

LINE_CAP = 64 << 20
"""Maximum number of bytes of a line that is read. A game of a thousand moves takes about a hundred thousand.
"""


@dataclass(frozen=True)
class GameRecord:
    """A finished game with everything that decided it."""

    terms: Terms
    events: tuple[Event, ...]
    verdict: Verdict
    measured: dict[str, Any]
    """What a replay cannot reproduce: when and where it was played, what the bots wrote beside their answers.
    """
    rules: int  # the version of the game's rules that it was played under
    isolation: tuple[str, ...]  # the level of isolation of each bot, by seat
    attempt: int = 1  # counts how often the referee tried to have this game played

    def with_names(self, shown_name: Callable[[str], str]) -> GameRecord:
        """The same game with other names of the bots; `shown_name` gives them."""
        return replace(self, terms=self.terms.with_names(shown_name))

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """For each seat, the word of the fault by which it was retired, or an empty text."""
        words = [""] * len(self.terms.bots)
        for event in self.events:
            if isinstance(event, Retired) and event.ending.is_fault:
                words[event.seat] = event.ending.word
        return tuple(words)


def to_json(record: GameRecord) -> dict[str, Any]:
    """The record as a JSON object."""
    measured = {"events": [_event_measured(event) for event in record.events], **record.measured}
    return {**decided_json(record), "measured": measured}


def decided_json(record: GameRecord) -> dict[str, Any]:
    """The record as a JSON object without what was measured, so all that a replay reproduces; what an index
    of games needs comes before `events`.
    """
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
        "shared_seed": terms.shared_seed.hex(),
        "ranks": list(verdict.outcome.ranks),
        "scores": list(verdict.outcome.scores),
        "ending": verdict.ending.word,
        "sentence": verdict.outcome.sentence,
        "rated": verdict.rated,
        "faults": list(record.faults),
        "isolation": list(record.isolation),
        **({"start": len(terms.start)} if terms.start else {}),
        "events": [event_json(event) for event in record.events],
    }


def event_json(event: Event) -> dict[str, Any]:
    """Formats an event as it stands in a record."""
    if isinstance(event, Moved):  # of every turn: a pattern takes five times as long
        return {"seat": event.seat + 1, "default" if event.defaulted else "move": event.text}
    match event:
        case Drawn(text):
            return {"chance": text}
        case Preset(seat, text):
            return {"seat": seat + 1, "opening": text}
        case Unplayed(seat, text):
            return {"seat": seat + 1, "unplayed": text}
        case Rejected(seat, text, reason, sentence):
            return {"seat": seat + 1, "rejected": text, "reason": reason, "sentence": sentence}
        case Retired(seat, ending):
            return {"seat": seat + 1, "left": ending.word}


def event_data(event: Event) -> dict[str, Any]:
    """An event with what was measured of it, as one object of JSON."""
    return {**event_json(event), **_event_measured(event)}


_NOT_ASKED = (Ending.START.word, Ending.VOID.word, Ending.OUT.word)
"""How a seat leaves that was never asked for a move."""

_WAIT_DIVISOR = 10  # A bot waited long for a processor if it waited for this part of the time


def is_timed(event: dict[str, Any], measured: dict[str, Any]) -> bool:
    """Whether an event of a record is a move, a rejected answer, or how a seat that was asked left."""
    return "used_us" in measured and event.get("left") not in _NOT_ASKED


def waited_long(event: dict[str, Any], measured: dict[str, Any]) -> bool:
    """Whether a bot waited for a processor, beyond its allowance, for so long that it mattered: for a good
    part of the time, or for at least as long as its move exceeded the allowance.
    """
    waited_us = measured.get("waited_us", 0)
    matters_us = measured.get("wall_us", 0) // _WAIT_DIVISOR
    if "move" in event:
        if not measured["over_us"]:
            return False
        matters_us = min(matters_us, measured["over_us"])
    elif not is_late(event):  # of a move that never came, nobody knows how much longer it would have taken
        return False
    return bool(waited_us) and waited_us >= matters_us


def is_late(event: dict[str, Any]) -> bool:
    """Whether a seat gave no move in time."""
    return "default" in event or event.get("left") == Ending.TIME.word


def timed_moves(value: dict[str, Any]) -> Counter[str]:
    """Counts of the timed events of a game, as `to_json` gave it: `all`, those during which the referee
    itself was `stopped`, and those beyond their allowance in which a bot `waited` long for a processor.
    """
    timed = [
        (event, measured)
        for event, measured in zip(value["events"], value["measured"]["events"], strict=True)
        if is_timed(event, measured)
    ]
    return Counter(
        all=len(timed),
        stopped=sum("stopped_us" in measured for _, measured in timed),
        waited=sum(waited_long(*each) for each in timed),
    )


def bot_totals(value: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Adds up, for each bot of a game in the form of `to_json`, its times that are `OFF_TURN`, its lines that
    are `STRAY`, and its answers that were `REJECTED`, unless it lost by these.
    """
    totals: Counter[tuple[str, str]] = Counter()
    for event in value["events"]:
        if REJECTED in event and value["faults"][seat := event["seat"] - 1] != Ending.ILLEGAL.word:
            totals[value["bots"][seat], REJECTED] += 1
    for bot, seat in zip(value["bots"], value["measured"]["seats"], strict=True):
        for name in OFF_TURN:
            totals[bot, name] += seat.get(name, 0)
        totals[bot, "noise"] += seat.get("noise", {}).get("count", 0)
        totals[bot, "stale"] += seat.get("stale", 0)
    return totals


def _event_measured(event: Event) -> dict[str, Any]:
    if isinstance(event, Moved):
        # Written out: this is done for every move, and `_asdict` takes five times as long.
        used_us, over_us, taken_us, reserve_us = event.charge
        measured: dict[str, Any] = {
            "used_us": used_us,
            "over_us": over_us,
            "taken_us": taken_us,
            "reserve_us": reserve_us,
        }
        if event.info:
            measured["info"] = event.info
        return _add_timing(measured, event.timing)
    match event:
        case Drawn() | Preset():
            return {}
        case Retired(used_us=used_us, detail=detail, hint=hint):
            said = {"detail": detail, **({"hint": hint} if hint else {})}
            return _add_timing({"used_us": used_us, **said}, event.timing)
        case Unplayed(used_us=used_us) | Rejected(used_us=used_us):
            return _add_timing({"used_us": used_us}, event.timing)


def _add_timing(measured: dict[str, Any], timing: Timing) -> dict[str, Any]:
    """Adds the parts of a timing that are not 0; written out, as above."""
    asked_us, wall_us, cpu_us, stopped_us, waited_us, forgiven_us = timing
    if asked_us:
        measured["asked_us"] = asked_us
    if wall_us:
        measured["wall_us"] = wall_us
    if cpu_us:
        measured["cpu_us"] = cpu_us
    if stopped_us:
        measured["stopped_us"] = stopped_us
    if waited_us:
        measured["waited_us"] = waited_us
    if forgiven_us:
        measured["forgiven_us"] = forgiven_us
    return measured


_EVENTS = b',"events":'
_MEASURED = b',"measured":'
_MACHINE = b',"machine":'

_FAULTS = {"", *(ending.word for ending in Ending if ending.is_fault)}


class Summary(NamedTuple):
    """The head of a record: what a list of games shows."""

    id: str
    attempt: int
    game: str
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    ending: str
    sentence: str
    rated: bool
    faults: tuple[str, ...]  # for each seat, the word of its fault; empty where it committed none
    isolation: tuple[str, ...] = ()  # the level of isolation of each seat; empty if it was not at hand
    digest: str = ""
    """Stands for the events: games with the same events have the same; empty if they were not at hand."""

    def with_names(self, shown_name: Callable[[str], str]) -> Summary:
        """The same with other names of the bots; `shown_name` gives them."""
        return self._replace(bots=tuple(map(shown_name, self.bots)))

    @property
    def told(self) -> str:
        """How it ended, as `sentence`, with the names of the bots in place of their seats."""
        return by_name(self.sentence, self.bots)

    @property
    def is_forfeited(self) -> bool:
        """Whether it was lost without being played, so that it counts for points and not for ratings."""
        return not FORFEITS.isdisjoint(self.faults)

    @property
    def is_evidence(self) -> bool:
        """Whether it tells how strong its bots are."""
        return self.rated and not self.is_forfeited


FORFEITS = frozenset(ending.word for ending in Ending if ending.is_forfeit)
"""The faults of games that were lost without being played."""


def json_of(value: object) -> bytes:
    """JSON as it stands in a file of records."""
    return json.dumps(value, separators=(",", ":"), check_circular=False).encode()


def digest_of(events: bytes) -> str:
    """The digest of a game's events, given as the JSON of the list as it stands in the file of records."""
    return hashlib.blake2b(events, digest_size=8).hexdigest()


def digest_of_line(line: bytes, at: int = 0) -> str:
    """The digest of the events on a game's line, as `digest_of` gives it; they are looked for from `at`.

    The list is cut out without being parsed, which is safe: what a bot wrote stands in texts, in which JSON
    has a backslash before every quote. So a comma, a quote and a name are the end of one member and the
    beginning of another, and no event has a member `measured`. Where a line has another form than the referee
    writes, the digest is one of whatever stands there.
    """
    begin, end = _span_of_events(line, at)
    return digest_of(line[begin:end])


def _span_of_events(line: bytes, at: int = 0) -> tuple[int, int]:
    """Finds where the list of events begins and ends on a line."""
    begin = line.find(_EVENTS, at)
    begin = len(line) if begin < 0 else begin + len(_EVENTS)
    end = line.find(_MEASURED, begin)
    return begin, end if end >= 0 else len(line)


def events_of_line(line: bytes) -> list[dict[str, Any]]:
    """The events on a game's line, cut out as `digest_of_line` does it. Raises `RecordError`."""
    begin, end = _span_of_events(line)
    value = parse_json(b'{"events":%b}' % line[begin:end])
    events = Fields(value, "", RecordError).list("events")
    if not all(isinstance(event, dict) for event in events):
        raise RecordError("`events` is not a list of objects")
    return events


def moves_of_line(line: bytes) -> list[str]:
    """The moves on a game's line, in the order in which they were played. Raises `RecordError`."""
    return [
        str(event[name])
        for event in events_of_line(line)
        for name in ("opening", "move", "default")
        if name in event
    ]


def summary_of(record: GameRecord) -> Summary:
    """The head of a record."""
    terms, verdict = record.terms, record.verdict
    return Summary(
        terms.id,
        record.attempt,
        terms.game.slug,
        terms.bots,
        verdict.outcome.ranks,
        verdict.outcome.scores,
        verdict.ending.word,
        verdict.outcome.sentence,
        verdict.rated,
        record.faults,
        record.isolation,
        digest_of(json_of([event_json(event) for event in record.events])),
    )


def parse_json(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises `RecordError`."""
    if len(line) > LINE_CAP:
        raise RecordError(f"the line has more than {LINE_CAP} bytes")
    try:
        value = _DECODER.decode(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the line is not valid JSON: {shown(str(error), 100)}") from None
    if not isinstance(value, dict):
        raise RecordError("the line is not a JSON object")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_duplicates)


def summary(value: dict[str, Any], digest: str = "") -> Summary:
    """The head of a game's record, whose events have this digest. Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
    found = Summary(
        fields.text("id"),
        fields.number("attempt", 1),
        fields.text("game"),
        fields.texts("bots"),
        fields.numbers("ranks"),
        fields.numbers("scores"),
        _ending(fields, "ending").word,
        fields.text("sentence"),
        fields.flag("rated"),
        fields.texts("faults"),
        _isolation(fields),
        digest,
    )
    if shown(found.id, 2000) != found.id:
        raise fields.wrong("id", "a game's id")
    if not set(found.faults) <= _FAULTS:
        raise fields.wrong("faults", "fault words")
    if not len(found.bots) == len(found.ranks) == len(found.scores) == len(found.faults):
        raise RecordError("`bots`, `ranks`, `scores` and `faults` have different lengths")
    if not all(BOT_NAME.fullmatch(name) for name in found.bots):
        raise RecordError("`bots` has an invalid name")
    return found


def head_of(line: bytes) -> dict[str, Any]:
    """The object of a line up to `events`, without its moves. Raises `RecordError`."""
    head, comma, _ = line.partition(_EVENTS)
    return parse_json(head + b"}" if comma else line)


def from_json(value: dict[str, Any]) -> GameRecord:
    """A game's record from what `to_json` gave. Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
    terms = _terms(fields)
    seats = len(terms.bots)
    ranks, scores = fields.numbers("ranks"), fields.numbers("scores")
    if len(ranks) != seats or len(scores) != seats:
        raise RecordError(f"`ranks` and `scores` have the wrong length, expected {seats} each")
    verdict = Verdict(
        Outcome(ranks, scores, fields.text("sentence")), _ending(fields, "ending"), fields.flag("rated")
    )
    events = list(fields.objects("events"))
    measured = fields.object("measured")
    played_on(measured)  # raises where it is wrong
    times = list(measured.objects("events"))
    if len(times) != len(events):
        raise RecordError(f"there are {len(events)} `events`, but {len(times)} `measured.events`")
    happened = tuple(_event(event, time, seats) for event, time in zip(events, times, strict=True))
    start = _start(fields, happened)
    opening = tuple(event.text for event in happened[len(start) :] if isinstance(event, Preset))
    return GameRecord(
        replace(terms, opening=opening, start=start) if opening or start else terms,
        happened,
        verdict,
        {name: what for name, what in value["measured"].items() if name != "events"},
        fields.number("rules"),
        _isolation(fields),
        fields.number("attempt", 1),
    )


def _start(fields: Fields, events: tuple[Event, ...]) -> tuple[Drawn | Preset, ...]:
    """The events of an earlier game with which a game begins; none where it has no start."""
    if not fields.has("start"):
        return ()
    start = tuple(event for event in events[: fields.number("start", 1)] if isinstance(event, Drawn | Preset))
    if len(start) != fields.number("start"):
        raise fields.wrong("start", "the number of chance and opening events at the beginning")
    return start


def _isolation(fields: Fields) -> tuple[str, ...]:
    levels = fields.texts("isolation")
    if not set(levels) <= set(LEVELS) or len(levels) != len(fields.texts("bots")):
        raise fields.wrong("isolation", f"one of {', '.join(LEVELS)} for each seat")
    return levels


def _terms(fields: Fields) -> Terms:
    slug = fields.text("game")
    try:
        game = game_named(slug)
    except UsageError as error:
        raise RecordError(f"`game`: {error}") from None
    try:
        options = game.settle(fields.scalars("options"))
        controls = tuple(TimeControl.parse(text) for text in fields.texts("clocks"))
    except UsageError as error:
        raise RecordError(str(error)) from None
    bots = fields.texts("bots")
    if not len(bots) == len(controls) == game.seats(options):
        raise RecordError(f"`bots` and `clocks` have the wrong length, expected {game.seats(options)} each")
    if not all(BOT_NAME.fullmatch(name) for name in bots):
        raise RecordError("`bots` has an invalid name")
    return Terms(
        fields.text("id"),
        game,
        options,
        bots,
        controls,
        fields.hex("seed"),
        fields.hex("shared_seed"),
        fields.number("margin_us"),
        fields.number("rejections", 1),
    )


def _ending(fields: Fields, name: str) -> Ending:
    try:
        return Ending.of(fields.text(name))
    except KeyError:
        words = ", ".join(ending.word for ending in Ending)
        raise RecordError(f"`{name}` is not an ending, expected one of {words}") from None


def _timing(times: Fields) -> Timing:
    return made(Timing, times.numbers_named(Timing._fields, default=0))


def _event(fields: Fields, times: Fields, seats: int) -> Event:
    if fields.has("chance"):
        return Drawn(fields.text("chance"))
    seat = fields.number("seat", 1, seats) - 1
    if fields.has("move") or fields.has("default"):
        charge = made(Charge, times.numbers_named(Charge._fields))
        defaulted = not fields.has("move")
        info = times.text("info") if times.has("info") else ""
        return Moved(
            seat, fields.text("default" if defaulted else "move"), charge, defaulted, info, _timing(times)
        )
    if fields.has("opening"):
        return Preset(seat, fields.text("opening"))
    if fields.has("unplayed"):
        return Unplayed(seat, fields.text("unplayed"), times.number("used_us"), _timing(times))
    if fields.has("rejected"):
        return Rejected(
            seat,
            fields.text("rejected"),
            fields.text("reason"),
            fields.text("sentence"),
            times.number("used_us"),
            _timing(times),
        )
    return Retired(
        seat,
        _ending(fields, "left"),
        times.text("detail"),
        times.number("used_us"),
        _timing(times),
        times.text("hint", ""),
    )


class PlayedOn(NamedTuple):
    """Where a game was played. The names of the parts are those of the members in a record, which may be
    anybody's: the texts are bounded, and have to be escaped where they are shown.
    """

    name: str  # the host name of the machine
    cpu: str  # the model of its processor
    worker: str  # `BY_REFEREE`, the number of a worker process, or what a cluster calls its worker


def played_on(measured: Fields) -> PlayedOn:
    """Returns where a game was played, from its measurements. Raises `RecordError`."""
    fields = measured.object("machine")
    return PlayedOn(*(_label(fields, name) for name in PlayedOn._fields))


def _label(fields: Fields, name: str) -> str:
    text = fields.text(name)
    if not 1 <= len(text) <= LABEL_CAP:  # guard: machine-texts
        raise fields.wrong(name, f"1 to {LABEL_CAP} characters")
    return text


def played_on_of_line(line: bytes) -> PlayedOn:
    """Returns where the game of a line was played, cut out of the line without parsing the rest: like a
    digest, see `digest_of_line`. Raises `RecordError`.
    """
    begin = line.rfind(_MACHINE, line.rfind(_MEASURED))  # an option of a game may have this name too
    if begin < 0:
        return played_on(Fields({}, "measured", RecordError))  # which says that it is missing
    try:
        value, _ = json.JSONDecoder().raw_decode(line[begin + len(_MACHINE) :].decode())
    except (ValueError, RecursionError):
        raise RecordError("`measured.machine` is not valid JSON") from None
    return played_on(Fields({"machine": value}, "measured", RecordError))
