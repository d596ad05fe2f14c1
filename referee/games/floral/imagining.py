"""A full position that agrees with what a seat was told, at random."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.rng import Random
from referee.games.api import Refusal, Seat
from referee.games.floral.agreement import Plantings, agreeing
from referee.games.floral.flowers import NONE
from referee.games.floral.news import TURNS
from referee.games.floral.state import FloralState
from referee.games.floral.told import Told, read


def imagined(start: FloralState, seat: Seat, seen: Sequence[str], rng: Random) -> FloralState:
    """One of all the positions that agree, each as likely: they differ in the other's mapping and in what it
    planted. Raises `ValueError` where none does.
    """
    if not seen:
        return start
    try:
        told = read(seat, seen, start.rules.goal, start.rules.max_turns)
        found = _played(start, told, *_drawn(told, rng))
    except (Refusal, LookupError, ValueError) as error:
        raise ValueError("nothing agrees with what the seat was told") from error
    if found.seen(seat) != tuple(seen):
        raise ValueError("nothing agrees with what the seat was told")
    return found


def _drawn(told: Told, rng: Random) -> tuple[tuple[int, ...], Plantings]:
    """A mapping and plantings, uniform over all that agree. Raises `ValueError` where none do."""
    mappings, ways = agreeing(told)
    number = rng.below(sum(way.mappings.bit_count() for way in ways))
    for way in ways:
        count = way.mappings.bit_count()
        if number < count:
            break
        number -= count
    return list(mappings.chosen(way.mappings))[number], way


def _played(start: FloralState, told: Told, runes: Sequence[int], plantings: Plantings) -> FloralState:
    """The game as it was told, with these runes and plantings of the other's."""
    state = start if start.rules.spells else start.chance(str(told.spells))
    theirs = "".join(map(str, runes))
    state = state.chance(f"{told.runes} {theirs}" if told.seat == 0 else f"{theirs} {told.runes}")
    while state.acting:
        if state.planting:
            if told.asked == state.turn:
                break
            kinds = {
                told.seat: told.plantings.get(state.turn, NONE),
                1 - told.seat: plantings.kinds.get(state.turn // TURNS, NONE),
            }
            state = state.play({seat: state.read(seat, kinds[seat]) for seat in state.acting})
        elif state.turn == len(told.turns):
            break
        else:
            casts = told.turns[state.turn].casts
            state = state.play({seat: state.read(seat, casts[seat]) for seat in state.acting})
    return state
