"""The deciding move of a game: the last with which the winner came ahead to stay, by a stated rule. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from referee.core.text import shown
from referee.gameplay.events import Moved
from referee.games.api import Seat
from referee.viewing.info import read_info
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.steps import Steps


class DecidingMove(NamedTuple):
    """The step of a game that decided it."""

    step: int  # its number
    words: str  # what it did, and by which rule


def deciding_move(steps: Steps, known: ViewKnowledge, proved: int | None = None) -> DecidingMove | None:
    """The move with which the only winner of a game came ahead to stay: the step that is `proved` to be that,
    if there is one; else the last one by the chances to win that the bots gave
    themselves, as far as they are known, or where these name none, by the game's own count (`State.lead`).
    None where neither does: the winner was always ahead, or not in the end, or nobody says.
    """
    ranks = steps.verdict.outcome.ranks if steps.verdict else ()
    if len(ranks) < 2 or ranks.count(1) != 1:
        return None
    winner, counted = ranks.index(1), steps.terms.game.counted
    name = shown(steps.terms.bots[winner])
    if proved is not None:
        return DecidingMove(
            proved, f"proved: {name} wins with best play from here on, and not from the position before"
        )
    if len(ranks) == 2:
        step = last_rise(by_chances(said_chances(steps, known), winner))
        if step is not None:
            return DecidingMove(
                step, f"{name} came ahead to stay, by the chances that the bots gave themselves"
            )
    step = last_rise(_by_lead(steps, winner)) if counted else None
    return step if step is None else DecidingMove(step, f"{name} took the lead to stay, counted in {counted}")


SaidChance = tuple[int, Seat, float]
"""The number of a step, the seat that moved, and the chance to win that its bot gave itself."""


def said_chances(steps: Steps, known: ViewKnowledge) -> Iterator[SaidChance]:
    """The chances to win that the bots gave themselves, as far as they are known."""
    for step in steps.steps:
        for event in known.events(step.events):
            if isinstance(event, Moved) and event.info:
                value = read_info(event.info).value
                if value is not None:
                    yield step.number, event.seat, value


def by_chances(chances: Iterable[SaidChance], winner: Seat) -> Iterator[tuple[int, bool]]:
    """By step, whether the winner of a game of two was ahead: its chance, the mean of what both bots last
    said, exceeded one half.
    """
    last: dict[Seat, float] = {}
    for number, seat, value in chances:
        last[seat] = value if seat == winner else 1 - value
        yield number, sum(last.values()) > len(last) / 2


def _by_lead(steps: Steps, winner: Seat) -> Iterator[tuple[int, bool]]:
    for step in steps.steps:
        lead = step.state.lead(winner)
        yield step.number, lead is not None and lead > 0


def last_rise(course: Iterable[tuple[int, bool]]) -> int | None:
    """The last step with which somebody came ahead who was ahead in the end; None where there is none."""
    was_ahead, found = True, None
    for number, is_ahead in course:
        if is_ahead and not was_ahead:
            found = number
        was_ahead = is_ahead
    return found if was_ahead else None
