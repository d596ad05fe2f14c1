"""Games in words: events, steps, clocks, results, faults, and where two playings differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.text import by_name, listed, shown
from referee.core.units import TimeControl, about, seconds
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Timing, Unplayed
from referee.gameplay.hints import BUSY, of_rejections
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import Seat, State
from referee.protocol.messages import VERSION
from referee.records.record import BY_REFEREE, GameRecord, event_json, played_on
from referee.viewing.characters import picture_text
from referee.viewing.claims import wrong_claims_at
from referee.viewing.knowledge import View
from referee.viewing.steps import STREAMS, Steps, measured_of, steps_of, without_stamped

MEASURED = {
    "stopped_us": "delays of the referee, not charged to the bot",
    "cpu_us": "processor time",
    "off_turn_us": "time outside its own turns",
    "off_turn_cpu_us": "processor time outside its own turns",
}
"""What the times are called that the record has of a bot, by their names there."""


def heading(terms: Terms) -> str:
    """One line: the id, the game with its options, and the bots with their seats and clocks."""
    options = " ".join(f"{name}={value}" for name, value in terms.options.items())
    seats = ", ".join(
        f"seat {number} {name} ({control})"
        for number, (name, control) in enumerate(zip(terms.bots, terms.controls, strict=True), 1)
    )
    game = f"{terms.game.slug} {shown(options)}" if options else terms.game.slug
    return f"{shown(terms.id)}: {game}, {seats}"


def place_text(measured: Mapping[str, Any]) -> str:
    """Describes where a game was played, from its measurements."""
    place = played_on(Fields(dict(measured), "measured", RecordError))
    worker = f", worker {shown(place.worker)}" if place.worker != BY_REFEREE else ""
    return f"played on {shown(place.name)} ({shown(place.cpu)}){worker}"


def event_text(event: Event, names: Sequence[str], controls: Sequence[TimeControl]) -> str:
    """An event as text; a move has a second line with its charge."""
    if isinstance(event, Drawn):
        return f"chance: {shown(event.text)}"
    who = f"seat {event.seat + 1} {names[event.seat]}"
    match event:
        case Moved():
            how = "time was up, default submitted: " if event.defaulted else ""
            info = f" ({shown(event.info)})" if event.info else ""
            arithmetic = _arithmetic(event, controls[event.seat])
            return f"{who}: {how}{shown(event.text)}{info}\n  {arithmetic}{_waited(event.timing)}"
        case Rejected():
            return (
                f"{who}: {shown(event.text, 80)} rejected after "
                f"{about(event.used_us)}: {shown(event.sentence)}"
            )
        case Preset():
            return f"{who}: {shown(event.text)}, an opening move made by the referee"
        case Unplayed():
            return f"{who}: {shown(event.text)}, which does not count"
        case Retired():
            detail = f": {shown(event.detail, 300)}" if event.detail else ""
            after = f" after {about(event.used_us)}" if event.ending is Ending.TIME else ""
            return f"{who} {event.ending.sentence}{after}{detail}{_waited(event.timing)}"


def _waited(timing: Timing) -> str:
    """That the bot waited for a processor in a move; empty where it is not known to have done so."""
    if not timing.waited_us:
        return ""
    forgiven = f", {about(timing.forgiven_us)} of that not charged" if timing.forgiven_us else ""
    return f"; it was ready to run but waited {about(timing.waited_us)} for a processor{forgiven}"


def _arithmetic(moved: Moved, control: TimeControl) -> str:
    charge = moved.charge
    text = f"{about(charge.used_us)} used"
    if control.timed and charge.over_us:
        steps = f" in steps of {about(control.step_us)}" if control.step_us else ""
        text += (
            f", {about(charge.over_us)} beyond the allowance of {about(control.move_us)}: "
            f"{about(charge.taken_us)} of reserve taken{steps}"
        )
    if control.increment_us:
        text += f", {about(control.increment_us)} added"
    if control.reserve_us or control.increment_us:
        text += f", {about(charge.reserve_us)} of reserve remaining"
    return text


def frame(number: int, event: Event, state: State[Any], terms: Terms) -> str:
    """A numbered event in colour, with the new position after a move or chance."""
    text = f"{number}. {event_text(event, terms.bots, terms.controls)}"
    if isinstance(event, Moved | Preset | Drawn):
        text += f"\n{picture_text(state.picture(None), colour=True)}\n"
    return text


def result(terms: Terms, verdict: Verdict) -> str:
    """The result of a game in one line."""
    ranks = verdict.outcome.ranks
    return f"{placings(terms.bots, ranks)}: {shown(by_name(verdict.outcome.sentence, terms.bots))}"


_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def placings(bots: Sequence[str], ranks: Sequence[int]) -> str:
    """Says who won, or the places if more than two play, such as `1st a, 2nd b and c`."""
    best = [name for name, rank in zip(bots, ranks, strict=True) if rank == 1]
    if len(bots) == 2 and len(best) == 2:
        return "a draw"
    if not best:
        return f"{bots[0]} lost"
    if len(bots) < 3:
        return f"{best[0]} won"
    if len(best) == len(bots):
        return "all tie"
    places: dict[int, list[str]] = {}
    for rank, name in sorted(zip(ranks, bots, strict=True)):
        places.setdefault(rank, []).append(name)
    return ", ".join(f"{rank}{_SUFFIXES.get(rank, 'th')} {listed(names)}" for rank, names in places.items())


def bot_output(terms: Terms, measured: Mapping[str, Any], seats: Sequence[Seat]) -> Iterator[str]:
    """Quotes what the bots in these seats wrote besides their answers, but for what stands at its step, line
    by line. Values of any type are shown as text.
    """
    for seat in seats:
        for what, line in _flat(without_stamped(measured, seat)):
            yield f"{terms.bots[seat]} {shown(what)}: {shown(line)}"


def written(measured: Mapping[str, Any], seat: Seat) -> Iterator[tuple[str, str]]:
    """Quotes what the bot in a seat wrote besides its answers, but for what stands at its step, without
    measurements: what each line is, and the line.
    """
    of_seat = without_stamped(measured, seat)
    for what in ("log", "noise", "stale", "stderr"):
        yield from ((shown(name), shown(line)) for name, line in _flat(of_seat.get(what, []), what))


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in MEASURED and isinstance(inner, int):
                yield f"{name} {MEASURED[key]}".strip(), about(inner)
            else:
                yield from _flat(inner, f"{name} {key}".strip())
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner, name)
    else:
        for line in str(value).rstrip("\n").split("\n"):
            yield _LABELS.get(name, name), line


def _expected(sent: Sequence[str]) -> str:
    """The reply that was expected to the last message that was sent to a bot."""
    match sent[-1].split() if sent else []:
        case ["hello", *_]:
            return f"`hello {VERSION}`"
        case ["prepare", *_]:
            return "`ready`"
        case ["ask", number, allowance_ms, reserve_ms] if _is_time(allowance_ms) and _is_time(reserve_ms):
            within = seconds((int(allowance_ms) + int(reserve_ms)) * 1000)
            return f"`move {shown(number, 20)} TEXT` within {within}"
    return ""


def _is_time(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


_MEASURED_TEXTS = {
    "last_sent": "last sent to the bot",
    "last_came": "last received from the bot",
    "left": "left behind by the bot; ended by the referee",
    "escaped": "moved to another process group; ended by the referee",
    "unkillable": "cannot be ended",
}
"""What a record has of a seat with a fault, with the labels under which it is shown."""


_LABELS = {
    **STREAMS,
    "log dropped": "lines of its log that were not kept",
    "noise lines": "not a message",
    "noise count": "lines that are not messages",
    "stale": "answers to closed questions",
    "stderr starting bytes": "bytes on stderr before `ready`",
    "stderr playing bytes": "bytes on stderr since `ready`",
    "games_before": "earlier games of its process",
    **_MEASURED_TEXTS,
}
"""What parts of a seat's measurements are called, by their names in the record."""


def fault_report(record: GameRecord, seats: Collection[Seat] | None = None) -> Iterator[str]:
    """Describes each fault of a game, or of these seats: what happened, the last lines that the bot wrote to
    stderr, and a hint.
    """
    for event in record.events:
        if isinstance(event, Retired) and event.ending.is_fault and (seats is None or event.seat in seats):
            yield event_text(event, record.terms.bots, record.terms.controls)
            measured = measured_of(record.measured, event.seat)
            expected = _expected(_lines(measured.get("last_sent")))
            if expected and expected.strip("`") not in _lines(measured.get("last_came")):
                yield f"expected: {expected}"
            for name, what in _MEASURED_TEXTS.items():
                yield from (f"{what}: {shown(line)}" for line in _lines(measured.get(name)))
            said = measured.get("stderr")
            parts = said.values() if isinstance(said, dict) else ()
            texts = [str(part.get("text", "")).rstrip() for part in parts if isinstance(part, dict)]
            yield from (f"stderr: {shown(line)}" for line in "\n".join(texts).split("\n")[-5:] if line)
            yield f"hint: {shown(_hint_for(event, record), 400)}"


def _hint_for(event: Retired, record: GameRecord) -> str:
    rejected = [other for other in record.events if isinstance(other, Rejected) and other.seat == event.seat]
    if event.ending is Ending.ILLEGAL and rejected:
        return of_rejections(rejected, record.terms.game.slug)
    hint = event.hint or event.ending.hint
    is_waiting = event.ending is Ending.TIME and 2 * event.timing.waited_us > event.used_us
    return f"{BUSY}. Otherwise: {hint}" if is_waiting else hint


def _lines(value: object) -> list[str]:
    return [str(line) for line in value] if isinstance(value, list) else []


def step_lines(steps: Steps, number: int, view: View) -> list[str]:
    """Describes a step line by line: its events, in games with hidden information the news, and what the bots
    wrote besides their answers.

    Empty where the view knew of nothing.
    """
    step, terms = steps.steps[number], steps.terms
    known = steps.known_by(view)
    texts = [event_text(event, terms.bots, terms.controls) for event in known.events(step.events)]
    lines = [line for text in texts for line in text.split("\n")]
    lines += [
        f"{shown(terms.bots[claim.seat])} is wrong: {claim.words}"
        for claim in wrong_claims_at(steps, number, known)
    ]
    if not known.is_open:
        before = steps.steps[number - 1].state if number else None
        lines += [f"news: {shown(line, 300)}" for line in known.news(step.state, before)]
    seats = known.seats(len(terms.bots))
    written = (one for one in steps.written[number] if one.seat in seats)
    return lines + [f"{terms.bots[seat]} {what}: {line}" for seat, what, line in written]


def end_lines(steps: Steps, view: View) -> Iterator[str]:
    """Describes how the game ended, and quotes what the bots wrote besides their answers; nothing if the
    record is damaged.
    """
    if steps.verdict:
        yield result(steps.terms, steps.verdict)
        seats = steps.known_by(view).seats(len(steps.terms.bots))
        yield from bot_output(steps.terms, steps.record.measured, seats)


def step_label(steps: Steps, number: int, view: View) -> str:
    """A step in a few words: who played what; of hidden moves of others, the news."""
    if number == 0:
        return "start"
    known, step, before = steps.known_by(view), steps.steps[number], steps.steps[number - 1]
    events = known.events(step.events)
    rejections = sum(isinstance(event, Rejected) for event in events)
    parts = [_label(event) for event in events if not isinstance(event, Rejected)]
    if not parts and not known.is_open:
        parts = [shown(line) for line in known.news(step.state, before.state)]
    return ", ".join([*parts, f"{rejections} rejected"] if rejections else parts)


def _label(event: Event) -> str:
    if isinstance(event, Drawn):
        return f"chance: {shown(event.text)}"
    what = event.ending.word if isinstance(event, Retired) else shown(event.text)
    return f"{event.seat + 1}: {what}{' (does not count)' if isinstance(event, Unplayed) else ''}"


class Difference(NamedTuple):
    """The first events that are not the same."""

    at: int  # how many events before it are the same
    one: Event | None  # what happened in one playing; None if it was over
    other: Event | None


def first_difference(one: Sequence[Event], other: Sequence[Event]) -> Difference | None:
    """The first difference in what happened, whatever was measured and said of it; None if there is none."""
    for at, (left, right) in enumerate(zip_longest(one, other)):
        if left is None or right is None or event_json(left) != event_json(right):
            return Difference(at, left, right)
    return None


def compared(recorded: GameRecord, played: GameRecord, difference: Difference | None) -> Iterator[str]:
    """Compares two playings of a game, as lines."""
    terms = recorded.terms
    if difference is None:
        moves = len(steps_of(played).steps) - 1
        yield f"{shown(terms.id)}: identical up to its end, move {moves}"
        yield f"result: {result(terms, played.verdict)}"
        return
    move = _move_of(recorded if difference.one else played, difference.at)
    yield f"{shown(terms.id)}: first differs at move {move}"
    yield from _happened("recorded", difference.one, terms)
    yield from _happened("now", difference.other, terms)
    yield f"result recorded: {result(terms, recorded.verdict)}"
    yield f"result now:      {result(terms, played.verdict)}"


def _move_of(record: GameRecord, at: int) -> int:
    seen = 0
    for step in steps_of(record).steps:
        seen += len(step.events)
        if at < seen:
            return step.number
    return step.number


def _happened(when: str, event: Event | None, terms: Terms) -> Iterator[str]:
    text = event_text(event, terms.bots, terms.controls) if event else "the game is over"
    first, *rest = text.split("\n")
    yield f"{when + ':':9} {first}"
    yield from (f"          {line.strip()}" for line in rest)
