"""A recorded game as steps to be looked at: what happened, the position after it, the clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.core.errors import RecordError
from referee.core.text import shown
from referee.gameplay.events import Drawn, Event, Moved, Preset, Rejected, Retired, Seat
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import State
from referee.records.record import GameRecord
from referee.records.replay import replay

View = Seat | None
"""Who looks at a game: a seat, or None for a spectator who sees all."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a game: a turn of one seat or of several at once, or a chance event; the first step is the
    position before all of them.
    """

    number: int
    """Counted from 0, the position before the first move."""
    events: tuple[Event, ...]
    """What happened, in the order of the record; a seat's rejected answers are part of its turn."""
    state: State[Any]
    """The position after it."""
    reserves_us: tuple[int | None, ...]
    """The reserve that each seat has after it, in microseconds; None for a seat without a clock."""

    def events_for(self, view: View, is_open: bool) -> tuple[Event, ...]:
        """The events that a view knows as they are: a seat of a game with hidden information knows its own,
        and learns the others from its news.
        """
        if view is None:  # guard: events-of-others
            return self.events
        return tuple(
            event if event.seat == view else _as_told(event)
            for event in self.events
            if not isinstance(event, Drawn) and (event.seat == view or (is_open and _is_public(event)))
        )

    def reserves_for(self, view: View, is_open: bool) -> tuple[int | None, ...]:
        """The reserves that a view knows: a seat of a game with hidden information knows its own."""
        if view is None or is_open:  # guard: reserves-of-others
            return self.reserves_us
        return tuple(reserve if seat == view else None for seat, reserve in enumerate(self.reserves_us))

    def news_for(self, view: View, before: Step | None) -> tuple[str, ...]:
        """The lines of news that the step added for a view; `before` is the step before it."""
        known = len(before.state.seen(view)) if before else 0
        return self.state.seen(view)[known:]


@dataclass(frozen=True, slots=True)
class Steps:
    """A game as steps."""

    record: GameRecord
    steps: Sequence[Step]
    """At least the position before the first move."""
    verdict: Verdict | None
    """How the game ended; None where the record is damaged."""
    damage: RecordError | None
    """Why the record can be replayed only as far as these steps."""

    @property
    def terms(self) -> Terms:
        """What the game was played under."""
        return self.record.terms

    @property
    def views(self) -> tuple[View, ...]:
        """The views that differ: only that of a spectator where every seat sees everything."""
        seats = range(len(self.terms.bots))
        return (None,) if self.terms.game.is_open else (None, *seats)

    def damage_for(self, view: View) -> str:
        """Why the record can be replayed only as far as these steps; empty where it is whole. A seat of a
        game with hidden information is not told what differs, which may be what another seat did.
        """
        if self.damage is None:
            return ""
        if view is None or self.terms.game.is_open:  # guard: damage-of-others
            return str(self.damage)
        return f"game {shown(self.terms.id)}: the record is damaged in a place that only a spectator may know"


def steps_of(record: GameRecord) -> Steps:
    """Replays a record once, as far as it can be replayed."""
    collector = _Collector(record.terms)
    verdict, damage = None, None
    try:
        verdict = replay(record, collector.take)
    except RecordError as error:
        damage = RecordError(f"game {shown(record.terms.id)}: {error}")
    return Steps(record, collector.finished(), verdict, damage)


class _Collector:
    """Collects the events of a replay into steps."""

    def __init__(self, terms: Terms) -> None:
        self._steps: list[Step] = []
        self._state = self._before = terms.game.start(terms.options)
        self._reserves_us = [control.reserve_us if control.timed else None for control in terms.controls]
        self._events: list[Event] = []
        self._changed = True
        """Whether these events have changed the position, so that the next turn begins a new step."""

    def take(self, event: Event, after: State[Any]) -> None:
        """Takes the next event with the position after it."""
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
        if isinstance(event, Moved) and self._reserves_us[event.seat] is not None:
            self._reserves_us[event.seat] = event.charge.reserve_us

    def finished(self) -> list[Step]:
        """The steps, when there are no more events."""
        self._end_step()
        return self._steps

    def _end_step(self) -> None:
        self._steps.append(Step(len(self._steps), tuple(self._events), self._state, tuple(self._reserves_us)))
        self._events.clear()
        self._before, self._changed = self._state, False


def _is_public(event: Event) -> bool:
    """Whether every seat of an open game is told of an event of another."""
    return isinstance(event, Moved | Preset)


def _as_told(event: Event) -> Event:
    """An event of another seat without what its bot said of it, which only the record has."""
    return event._replace(info="") if isinstance(event, Moved) else event  # guard: info-of-others


def rejected_in(step: Step) -> int:
    """How many answers were rejected in a step."""
    return sum(isinstance(event, Rejected) for event in step.events)
