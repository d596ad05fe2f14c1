"""Where two playings of a game differ first, and how both ended, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from referee.core.text import shown
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.records.record import GameRecord, event_json
from referee.viewing.steps import steps_of
from referee.viewing.words import event_text, result


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
    """The step that has the event of this number, as `replay --move` counts."""
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
