"""Lists legal moves for a bot: all of them, or a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from referee.core.seeds import Random
from referee.games.api import Seat, State

M = TypeVar("M")

MAX_LEGAL = 2_000
"""Maximum number of legal moves in one list; if there are more, it is a sample. This many fit into a pipe,
and take the referee some milliseconds.
"""


class LegalMovesSample(NamedTuple, Generic[M]):
    """Legal moves of a position."""

    moves: Sequence[M]
    total: int | None  # how many legal moves there are; None if unknown
    sampled: bool  # whether `moves` is a random sample


def legal_moves(state: State[M], seat: Seat, most: int | None, rng: Random) -> LegalMovesSample[M]:
    """At most `most` legal moves of a seat, and never more than `MAX_LEGAL`: all in their order if they
    are no more, else a random sample without repetitions.

    Where there are more than `MAX_LEGAL` and the game cannot count them, they are drawn with the game's own
    `sample`: then they may be fewer than `most`, and only as uniform as that is. Otherwise they are uniform.
    """
    most = MAX_LEGAL if most is None else min(most, MAX_LEGAL)
    total = state.count(seat)
    if total is not None and total > most:
        return LegalMovesSample(state.pick(seat, distinct(total, most, rng)), total, True)
    moves = list(islice(state.legal(seat), MAX_LEGAL + 1))
    if len(moves) > MAX_LEGAL:
        # Too many to list.
        moves = list(dict.fromkeys(state.sample(seat, rng) for _ in range(most)))
        return LegalMovesSample(moves, None, True)
    total = len(moves)
    if total > most:
        return LegalMovesSample([moves[number] for number in distinct(total, most, rng)], total, True)
    return LegalMovesSample(moves, total, False)


def distinct(total: int, count: int, rng: Random) -> list[int]:
    """`count` different numbers below `total`, in random order: the beginning of a Fisher-Yates shuffle that
    stores only swapped places. It draws `count` random numbers.
    """
    swapped: dict[int, int] = {}
    numbers = []
    for place in range(count):
        other = place + rng.below(total - place)
        numbers.append(swapped.get(other, other))
        swapped[other] = swapped.get(place, place)
    return numbers
