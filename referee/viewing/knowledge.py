"""What a view knows of a game: a seat, a spectator, or everybody. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from enum import Enum
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from referee.core.errors import RecordError
from referee.core.text import shown
from referee.gameplay.events import Drawn, Event, Moved, Preset, Retired
from referee.games.api import Game, Options, Seat, State
from referee.games.picture import Panel, Picture, Plane, Row

T = TypeVar("T", bound=Hashable)

NOTHING = Row(())
"""What is left of a panel that is not of one kind and one shape for all."""


class Everybody(Enum):
    """The view of those who may know only what all seats know, while a game is played."""

    EVERYBODY = "everybody"


EVERYBODY = Everybody.EVERYBODY

View = Seat | Everybody | None  # who looks at a game: a seat, everybody, or None for a spectator who sees all


def view_text(view: View) -> str:
    """Who looks, for people; empty for a spectator who sees all."""
    return view.value if isinstance(view, Everybody) else "" if view is None else f"seat {view + 1}"


def view_data(view: View) -> int | str | None:
    """A view for JSON: the number of a seat, counted from 1."""
    return view.value if isinstance(view, Everybody) else None if view is None else view + 1


class ViewKnowledge(NamedTuple):
    """What a view knows of a game."""

    view: View
    is_open: bool  # whether every seat of the game sees everything
    seat_count: int = 0  # needed for what everybody knows, as is the next one
    common_panels: str = "all"  # that of the game

    @classmethod
    def of(cls, view: View, game: Game[Any], options: Options) -> ViewKnowledge:
        """What a view knows of a game with these options."""
        return cls(view, game.is_open, game.seats(options), game.common_panels)

    @property
    def is_full(self) -> bool:
        """Whether the view knows the whole position. Even then, what a bot said is known to its own seat and
        to spectators only.
        """
        return self.view is None or self.is_open

    def news(self, state: State[Any], before: State[Any] | None = None) -> tuple[str, ...]:
        """The lines of news at a position, or only those that are new since an earlier one."""
        return self._seen(state)[len(self._seen(before)) if before else 0 :]

    def _seen(self, state: State[Any]) -> tuple[str, ...]:
        if isinstance(self.view, Everybody):
            return state.seen(None) if self.is_open else common_lines(state, self.seat_count)
        return state.seen(self.view)

    def picture(self, state: State[Any]) -> Picture:
        """The position."""
        if isinstance(self.view, Everybody):
            if self.is_open:
                return state.picture(None)
            return common_picture(state, self.seat_count, seen_by_others=self.common_panels == "others")
        return state.picture(self.view)

    def acting(self, state: State[Any]) -> tuple[Seat, ...]:
        """The seats that act in a position and whose legal moves are known."""
        return tuple(seat for seat in state.to_act() if seat >= 0 and self.view in (None, seat))

    def to_move(self, state: State[Any]) -> tuple[Seat, ...]:
        """The seats that are known to be asked next; none where the game is over."""
        if state.outcome() is not None:
            return ()
        knows_all = self.is_full or self.view is EVERYBODY  # `referee.check.rules` checks that it may
        return tuple(seat for seat in state.to_act() if seat >= 0 and (knows_all or seat == self.view))

    def outcomes(self, decided: Sequence[str]) -> tuple[str, ...] | None:
        """Returns what chance decided; None where that is hidden."""
        return tuple(decided) if self.is_full else None  # guard: chance-of-games

    def events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """The events that are known as they are: a seat of a game with hidden information knows its own, and
        learns the others from its news.
        """
        if self.view is None:  # guard: events-of-others
            return tuple(events)
        return tuple(
            event if isinstance(event, Drawn) or event.seat == self.view else _as_told(event)
            for event in events
            if self._knows(event)
        )

    def _knows(self, event: Event) -> bool:
        if isinstance(event, Drawn):
            return self.is_open
        told = (Moved, Preset, Retired) if self.view is EVERYBODY else (Moved, Preset)
        return event.seat == self.view or (self.is_open and isinstance(event, told))

    def reserves(self, reserves_us: Sequence[int | None]) -> tuple[int | None, ...]:
        """The reserves of the seats' clocks; None for a seat whose clock is not known."""
        if self.is_full:  # guard: reserves-of-others
            return tuple(reserves_us)
        return tuple(reserve if seat == self.view else None for seat, reserve in enumerate(reserves_us))

    def seats(self, count: int) -> Sequence[Seat]:
        """The seats, of so many, whose bots' output and faults are known."""
        if isinstance(self.view, Everybody):
            return ()
        return range(count) if self.view is None else (self.view,)  # guard: written-by-others

    def damage(self, error: RecordError | None, game_id: str) -> RecordError | None:
        """Why a record can be replayed only in part. A seat of a game with hidden information is not told
        what differs, which may be what another seat did.
        """
        if error is None or self.is_full:  # guard: damage-of-others
            return error
        return RecordError(
            f"game {shown(game_id)}: the record is damaged in a part that is hidden from this seat"
        )


def _as_told(event: Event) -> Event:
    """An event of another seat without what is known of its bot, which only the record has."""
    if isinstance(event, Retired):
        return event._replace(detail="", hint="")
    return event._replace(info="") if isinstance(event, Moved) else event  # guard: info-of-others


def common_picture(state: State[Any], seats: int, seen_by_others: bool = False) -> Picture:
    """The pieces that stand in the pictures of all seats. With `seen_by_others` a panel about one seat has
    those that stand in the pictures of all others instead.

    It is up to the game that no seat can tell from them what another one sees: `referee.check.rules` checks
    it.
    """
    pictures = zip_longest(*(state.picture(seat) for seat in range(seats)), fillvalue=NOTHING)
    return tuple(_common_panel(panels, seen_by_others) for panels in pictures)


def common_lines(state: State[Any], seats: int) -> tuple[str, ...]:
    """The lines of news that all seats were told."""
    return _common([state.seen(seat) for seat in range(seats)])


def _common_panel(panels: Sequence[Panel], seen_by_others: bool) -> Panel:
    """What is common to a panel as each seat sees it."""
    (about, *more) = {panel.seat for panel in panels}
    if seen_by_others and about is not None and len(panels) > 1:
        panels = [panel for seat, panel in enumerate(panels) if seat != about]
    if more or len({_shape(panel) for panel in panels}) > 1:
        return NOTHING
    first = panels[0]
    if isinstance(first, Row):
        return Row(_common([panel.spans for panel in panels if isinstance(panel, Row)]), first.seat)
    planes = [panel for panel in panels if isinstance(panel, Plane)]
    marks, ground = _common([plane.marks for plane in planes]), _common([plane.ground for plane in planes])
    return first._replace(marks=marks, ground=ground)


def _shape(panel: Panel) -> Panel:
    """A panel without its pieces."""
    return panel._replace(spans=()) if isinstance(panel, Row) else panel._replace(marks=(), ground=())


def _common(of_seats: Sequence[tuple[T, ...]]) -> tuple[T, ...]:
    """What occurs in all of them, as often as it does in each, in the order of the first."""
    first, *others = of_seats
    if all(other == first for other in others):
        return first  # of a ground, the same object in all positions
    left = Counter(first)
    for other in others:
        left &= Counter(other)
    found = []
    for one in first:
        if left[one]:
            left[one] -= 1
            found.append(one)
    return tuple(found)
