"""The legal moves of a position as they are shown to a bot: all of them, or a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from referee.core.rng import Random
from referee.games.api import Seat, State

M = TypeVar("M")

LEGAL_MOST = 2_000
"""Legal moves in one answer; where there are more, a sample. So many fit into a pipe, and making them takes
the referee some milliseconds.
"""


class Listed(NamedTuple, Generic[M]):
    """Legal moves of a position."""

    moves: Sequence[M]
    total: int | None
    """How many there are, where that is known."""
    sampled: bool
    """Whether `moves` is a random sample."""


def legal_moves(state: State[M], seat: Seat, most: int | None, rng: Random) -> Listed[M]:
    """At most `most` legal moves of a seat, and never more than `LEGAL_MOST`: all in their order where they
    are no more, else a random sample without repetitions.

    Where there are more than `LEGAL_MOST` and the game cannot count them, they are drawn with the game's own
    `sample`: then they may be fewer than asked for, and only as uniform as that is. Else they are uniform.
    """
    most = LEGAL_MOST if most is None else min(most, LEGAL_MOST)
    total = state.count(seat)
    if total is not None and total > most:
        return Listed(state.pick(seat, distinct(total, most, rng)), total, True)
    moves = list(islice(state.legal(seat), LEGAL_MOST + 1))
    if len(moves) > LEGAL_MOST:
        # Too many to be gone through.
        moves = list(dict.fromkeys(state.sample(seat, rng) for _ in range(most)))
        return Listed(moves, None, True)
    total = len(moves)
    if total > most:
        return Listed([moves[number] for number in distinct(total, most, rng)], total, True)
    return Listed(moves, total, False)


def distinct(total: int, count: int, rng: Random) -> list[int]:
    """So many different numbers below a total, in random order: the first ones of a shuffle of all, of which
    only those places are kept that were swapped. It draws `count` random numbers, whatever the total is.
    """
    swapped: dict[int, int] = {}
    numbers = []
    for place in range(count):
        other = place + rng.below(total - place)
        numbers.append(swapped.get(other, other))
        swapped[other] = swapped.get(place, place)
    return numbers
