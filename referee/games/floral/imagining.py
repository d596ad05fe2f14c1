"""A random full position that is consistent with the news of a seat. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from referee.core.seeds import Random
from referee.games.api import Refusal, Seat
from referee.games.floral.consistency import Plantings, consistent
from referee.games.floral.flowers import NONE
from referee.games.floral.mappings import Mappings
from referee.games.floral.news import TURNS
from referee.games.floral.observation import SeatObservation, read
from referee.games.floral.state import FloralState
from referee.games.trail import TrailLines


def imagined(start: FloralState, seat: Seat, seen: Sequence[str], rng: Random) -> FloralState:
    """One of all consistent positions, equally likely: they differ in the other's mapping and plantings.
    Raises `ValueError` where there is none.
    """
    if not seen:
        return start
    try:
        observed, mappings, ways = possible(seat, tuple(seen), start.rules.goal, start.rules.max_turns)
        found = _played(start, observed, *_drawn(mappings, ways, rng))
    except (Refusal, LookupError, ValueError) as error:
        raise ValueError("no position is consistent with the news") from error
    if found.seen(seat) != tuple(seen):
        raise ValueError("no position is consistent with the news")
    return found


@lru_cache(maxsize=8)  # a search repeats the same call
def possible(
    seat: Seat, seen: TrailLines, goal: int, max_turns: int
) -> tuple[SeatObservation, Mappings, Sequence[Plantings]]:
    """What a seat observed, and the mappings and plantings of the other seat that are consistent with it.
    Raises `ValueError` or `LookupError` for impossible lines.
    """
    observed = read(seat, seen, goal, max_turns)
    return observed, *consistent(observed)


def _drawn(mappings: Mappings, ways: Sequence[Plantings], rng: Random) -> tuple[tuple[int, ...], Plantings]:
    """A mapping and plantings, uniform over all consistent ones. Raises `ValueError` where there are none."""
    number = rng.below(sum(way.mappings.bit_count() for way in ways))
    for way in ways:
        count = way.mappings.bit_count()
        if number < count:
            break
        number -= count
    return next(islice(mappings.chosen(way.mappings), number, None)), way


def _played(
    start: FloralState, observed: SeatObservation, runes: Sequence[int], plantings: Plantings
) -> FloralState:
    """The observed game, with these runes and plantings of the other seat."""
    state = start if start.rules.spells else start.chance(str(observed.spells))
    other_runes = "".join(map(str, runes))
    state = state.chance(
        f"{observed.runes} {other_runes}" if observed.seat == 0 else f"{other_runes} {observed.runes}"
    )
    while state.acting:
        if state.planting:
            if observed.asked == state.turn:
                break
            kinds = {
                observed.seat: observed.plantings.get(state.turn, NONE),
                1 - observed.seat: plantings.kinds.get(state.turn // TURNS, NONE),
            }
            state = state.play({seat: state.read(seat, kinds[seat]) for seat in state.acting})
        elif state.turn == len(observed.turns):
            break
        else:
            casts = observed.turns[state.turn].casts
            state = state.play({seat: state.read(seat, casts[seat]) for seat in state.acting})
    return state
