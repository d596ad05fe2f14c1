"""Which moves gave something away, and of what kind they are. Pure.

The kind of a blunder follows from the news alone, so for any game: what the news after the move that the
analysis names would have said and those after the move that was played did not, and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from referee.analysis.significance import Count
from referee.analysis.store import GameAnalysis
from referee.analysis.turning import LEAST_DROP
from referee.gameplay.events import Moved
from referee.gameplay.terms import Terms
from referee.games.api import Refusal, Seat
from referee.viewing.steps import Step

_CELL = re.compile(r"\b[A-Z]{1,2}[1-9][0-9]?\b")


class BlunderKind(NamedTuple):
    """A difference between the news of two moves."""

    is_missed: bool  # whether the move that the analysis names has it; else the one that was played
    news: str  # a line of news in words


class Blunder(NamedTuple):
    """A move that gave something away."""

    step: int  # the position before it
    played: str
    best: str  # what the analysis names in its place; empty where it names nothing
    is_proved: bool  # whether a proved result was given away; else the estimate fell
    was_won: bool  # whether that was a win
    kinds: frozenset[BlunderKind]


class SeatDecisions(NamedTuple):
    """The moves of a seat in a game that can be judged. Moves that a bot did not choose are left out."""

    judged: int
    """In positions that are not proved to be lost: those whose result is proved before and after, and all
    others of which the adviser says what they cost.
    """
    wins: Count  # the proved wins that it had, and how many of them it gave away
    blunders: Sequence[Blunder]


def decisions(game: GameAnalysis, seat: Seat, terms: Terms, steps: Sequence[Step]) -> SeatDecisions:
    """The moves of a seat in a game that was played under these terms, of which `steps` are all."""
    values = [step.proof if step.proof is None or seat == 0 else -step.proof for step in game.steps]
    judged, blunders = 0, list[Blunder]()
    wins, given, has_win = 0, 0, False
    for number, (value, after) in enumerate(pairwise(values)):
        if game.steps[number].seat != seat or (played := _chosen(steps[number + 1], seat)) is None:
            has_win &= after in (None, 1)
            continue
        wins += value == 1 and not has_win
        has_win |= value == 1
        if has_win and after in (0, -1):
            given, has_win = given + 1, False
        if value is not None and after is not None:
            is_proved, is_judged, is_blunder = True, value != -1, after < value
        else:
            drop = game.drops[number] if game.drops else None
            is_proved, is_judged, is_blunder = False, drop is not None, (drop or 0) >= LEAST_DROP
        judged += is_judged
        if is_blunder:
            best = game.steps[number].best or ""
            kinds = frozenset(_kinds(terms, steps[number : number + 2], seat, best))
            blunders.append(Blunder(number, played, best, is_proved, is_proved and value == 1, kinds))
    return SeatDecisions(judged, Count(given, wins), blunders)


def _chosen(step: Step, seat: Seat) -> str | None:
    """The move that the bot of a seat chose in a step; None where the referee made it, or there is none."""
    moves = (event for event in step.events if isinstance(event, Moved) and event.seat == seat)
    return next((move.text for move in moves if not move.defaulted), None)


def _kinds(terms: Terms, steps: Sequence[Step], seat: Seat, best: str) -> Iterator[BlunderKind]:
    """The differences between the news after the step that was played and after another move in its place."""
    before, played = (step.state for step in steps)
    try:
        named = before.play({seat: before.read(seat, best)})
    except Refusal:
        return  # nothing is named, or an analysis was forged
    heard = len(before.seen(None))
    of_named, of_played = (
        {told for line in state.seen(None)[heard:] for told in _told(terms, line)}
        for state in (named, played)
    )
    for told in of_named ^ of_played:
        yield BlunderKind(told in of_named, told)


def _told(terms: Terms, line: str) -> Iterator[str]:
    """A line of news by its first word, by the zones of its cells, and by how many these are."""
    word, _, rest = line.partition(" ")
    yield f"`{word}`"
    if cells := set(_CELL.findall(rest)):
        for zone in {terms.game.zone(terms.options, cell) for cell in cells} - {""}:
            yield f"`{word}` with a cell at {'an' if zone[0] in 'aeiou' else 'a'} {zone}"
        yield f"`{word}` with {'several cells' if len(cells) > 1 else 'one cell'}"
