"""A recorded game as steps: what happened, the position after it, the clocks, and what bots wrote besides
their answers. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.text import shown
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import Seat, State
from referee.records.record import GameRecord
from referee.records.replay import replay
from referee.viewing.knowledge import View, ViewKnowledge


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a game: a turn of one seat or of several at once, or a chance event; the first step is the
    position before all of them.
    """

    number: int  # counted from 0, the position before the first move
    events: tuple[Event, ...]
    """What happened, in the order of the record; a seat's rejected answers are part of its turn."""
    state: State[Any]  # the position after it
    reserves_us: tuple[int | None, ...]
    """The reserve that each seat has after it, in microseconds; None for a seat without a clock."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A game as steps."""

    record: GameRecord
    steps: Sequence[Step]  # at least the position before the first move
    written: Sequence[Sequence[Written]]
    """What the bots wrote in each step besides their answers, as far as the record says when it came."""
    verdict: Verdict | None  # how the game ended; None where the record is damaged
    damage: RecordError | None  # why the record can be replayed only as far as these steps

    @property
    def terms(self) -> Terms:
        """What the game was played under."""
        return self.record.terms

    @property
    def views(self) -> tuple[Seat | None, ...]:
        """The views that differ: only that of a spectator where every seat sees everything."""
        seats = range(len(self.terms.bots))
        return (None,) if self.terms.game.is_open else (None, *seats)

    def step(self, number: int, view: View = None) -> Step:
        """A step by its number. Raises `UsageError` where there is none, `RecordError` where the record is
        damaged before it, as a view may know that.
        """
        if number < len(self.steps):
            return self.steps[number]
        if damage := self.damage_for(view):
            raise damage
        raise UsageError(f"the game has no move {number}, expected 0 to {len(self.steps) - 1}")

    def known_by(self, view: View) -> ViewKnowledge:
        """Returns what a view knows about the game."""
        return ViewKnowledge.of(view, self.terms.game, self.terms.options)

    def damage_for(self, view: View) -> RecordError | None:
        """Why the record can be replayed only as far as these steps, as a view may know it."""
        return self.known_by(view).damage(self.damage, self.terms.id)


def steps_of(record: GameRecord) -> Steps:
    """Replays a record once, as far as it can be replayed."""
    collector = _Collector(record.terms)
    verdict, damage = None, None
    try:
        verdict = replay(record, collector.take)
    except RecordError as error:
        damage = RecordError(f"game {shown(record.terms.id)}: {error}")
    steps = collector.finished()
    written = written_by_step(record.measured, [step.events for step in steps], len(record.terms.bots))
    return Steps(record, steps, written, verdict, damage)


class _Collector:
    def __init__(self, terms: Terms) -> None:
        self._steps: list[Step] = []
        self._state = self._before = terms.game.start(terms.options)
        self._reserves_us = [control.reserve_us if control.timed else None for control in terms.controls]
        self._events: list[Event] = []
        self._changed = True
        """Whether these events have changed the position, so that the next turn begins a new step."""

    def take(self, event: Event, after: State[Any]) -> None:
        # The events of one turn come one after the other: moves and exits with the position after the turn,
        # rejected answers with the one before it.
        after_turn = after is self._state and isinstance(event, Moved | Preset | Retired)
        if self._changed and not (after_turn or after is self._before):
            self._end_step()
        if isinstance(event, Rejected):
            if not self._changed:
                self._state = after  # the same position, but before the first move another object
        elif after is not self._state and after is not self._before:
            self._before, self._state, self._changed = self._state, after, True
        self._events.append(event)
        if isinstance(event, Moved | Retired) and self._reserves_us[event.seat] is not None:
            if isinstance(event, Moved):
                self._reserves_us[event.seat] = event.charge.reserve_us
            elif event.ending is Ending.TIME:
                self._reserves_us[event.seat] = 0  # it is what the time ran out of

    def finished(self) -> list[Step]:
        self._end_step()
        return self._steps

    def _end_step(self) -> None:
        self._steps.append(Step(len(self._steps), tuple(self._events), self._state, tuple(self._reserves_us)))
        self._events.clear()
        self._before, self._changed = self._state, False


STREAMS = {
    "stderr starting text": "stderr before `ready`",
    "stderr playing text": "stderr",
    "log lines": "log",
}
"""What is stamped with questions, by its name in the measurements of a seat, and what it is called."""


class Written(NamedTuple):
    """A line that a bot wrote besides its answers."""

    seat: Seat
    what: str  # what it is called
    line: str  # made safe to be shown


def measured_of(measured: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
    """Returns the measurements of a seat; nothing where an untrusted record has something else."""
    seats = measured.get("seats")
    of_seat = seats[seat] if isinstance(seats, list) and seat < len(seats) else None
    return of_seat if isinstance(of_seat, dict) else {}


def written_by_step(
    measured: Mapping[str, Any], steps: Sequence[Sequence[Event]], seats: int
) -> list[list[Written]]:
    """What the bots of these many seats wrote in each step, of which the events are given."""
    found: list[list[Written]] = [[] for _ in steps]
    for seat in range(seats):
        events = [
            (number, event)
            for number, events in enumerate(steps)
            for event in events
            if not isinstance(event, Drawn | Preset) and event.seat == seat
        ]
        # Before the first question, unless that never came.
        places = [0, *(number for number, _ in events)]
        if events and isinstance(events[0][1], Retired):
            places[0] = places[1]
        for what, question, line in _stamped_lines(measured, seat):
            place = places[min(question, len(places) - 1)]
            found[place].append(Written(seat, what, shown(line)))
    return found


def without_stamped(measured: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
    """Returns the measurements of a seat without what `written_by_step` has."""
    return _without(measured_of(measured, seat), with_texts=bool(measured.get("taken_back")))


def _without(value: Mapping[str, Any], with_texts: bool) -> dict[str, Any]:
    """The value without stamps, and without what is stamped, unless that is to stay."""
    left_out = ("asked",) if with_texts or not _is_stamped(value) else ("asked", _text_name(value))
    return {
        name: _without(inner, with_texts) if isinstance(inner, dict) else inner
        for name, inner in value.items()
        if name not in left_out
    }


def _stamped_lines(measured: Mapping[str, Any], seat: Seat) -> Iterator[tuple[str, int, str]]:
    """What each line is, the number of the last question before it, and the line. Nothing where moves were
    taken back: the questions are not those of the moves that count.
    """
    if measured.get("taken_back"):
        return
    for name, what in STREAMS.items():
        *path, member = name.split()
        value: Any = measured_of(measured, seat)
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, dict) or not _is_stamped(value):
            continue
        whole, at = value[member], 0
        for question, length in value["asked"]:
            part = whole[at : at + length]
            lines = part.rstrip("\n").split("\n") if isinstance(part, str) else map(str, part)
            yield from ((what, question, line) for line in lines)
            at += length


def _text_name(value: Mapping[str, Any]) -> str:
    return "lines" if "lines" in value else "text"


def _is_stamped(value: Mapping[str, Any]) -> bool:
    """Whether a stream is kept with the questions at which it was read, and these cover all of it."""
    whole, asked = value.get(_text_name(value)), value.get("asked")
    return (
        isinstance(whole, str | list)
        and isinstance(asked, list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in asked)
        and all(isinstance(number, int) and number >= 0 for pair in asked for number in pair)
        and sum(length for _, length in asked) == len(whole)
    )
