"""What bots wrote besides their answers, at the steps of a game in which it was read. Pure.

A record says it by numbers of questions: a seat's events, but for openings, are in order what its questions
led to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from referee.core.text import shown
from referee.gameplay.events import Drawn, Event, Preset, Retired
from referee.games.api import Seat

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
