"""Who meets whom. Each id is a function of its own game, so that a new bot renumbers nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

from referee.core.pairing import Pairing


class Encounter(NamedTuple):
    """The games of the same bots in one round, one for each seating."""

    games: tuple[Pairing, ...]


def encounter(number: int, bots: tuple[str, ...]) -> Encounter:
    """The games of some bots in a round: every rotation of the seats, which for two is both seatings."""
    rotations = [bots[first:] + bots[:first] for first in range(len(bots))]
    return Encounter(tuple(Pairing.of(number, seats) for seats in rotations))


def round_robin(names: Iterable[str], seats: int, rounds: int) -> Iterator[Encounter]:
    """Every group of `seats` bots once a round, round by round, so that an early stop leaves balanced
    results.

    The bots are sorted by name: their order in a file changes nothing.
    """
    for number in range(1, rounds + 1):
        for bots in combinations(sorted(names), seats):
            yield encounter(number, bots)


def games_in_all(bots: int, seats: int, rounds: int) -> int:
    """How many games `round_robin` gives for this number of bots, seats and rounds."""
    return rounds * comb(bots, seats) * seats
