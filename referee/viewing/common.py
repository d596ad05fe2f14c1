"""What everybody knows of a position with hidden information: what all seats see. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from referee.games.api import State
from referee.games.picture import Panel, Picture, Plane, Row

T = TypeVar("T", bound=Hashable)

NOTHING = Row(())
"""What is left of a panel that is not of one kind and one shape for all."""


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
    first = panels[0]
    if len({_shape(panel) for panel in panels}) > 1:
        return NOTHING
    if seen_by_others and first.seat is not None and len(panels) > 1:
        panels = [panel for seat, panel in enumerate(panels) if seat != first.seat]
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
