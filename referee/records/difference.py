"""Where two playings of a game differ first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from referee.gameplay.events import Event
from referee.records.record import event_json


class Difference(NamedTuple):
    """The first events that are not the same."""

    at: int
    """How many events before it are the same."""
    one: Event | None
    """What happened in one playing; None if it was over."""
    other: Event | None


def first_difference(one: Sequence[Event], other: Sequence[Event]) -> Difference | None:
    """The first difference in what happened, whatever was measured and said of it; None if there is none."""
    for at, (left, right) in enumerate(zip_longest(one, other)):
        if left is None or right is None or event_json(left) != event_json(right):
            return Difference(at, left, right)
    return None
