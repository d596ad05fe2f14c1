"""Who meets whom: pure, and every id a function of its content, so that a new bot renumbers nothing."""

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
    """A round's games of some bots: every rotation of the seats, which for two is both seatings."""
    rotations = [bots[first:] + bots[:first] for first in range(len(bots))]
    return Encounter(tuple(Pairing.of(number, seats) for seats in rotations))


def round_robin(names: Iterable[str], seats: int, rounds: int) -> Iterator[Encounter]:
    """Every table of `seats` bots once a round, round by round, so that a stop leaves a balanced table.

    The bots are taken by name: their order in a file changes nothing.
    """
    for number in range(1, rounds + 1):
        for bots in combinations(sorted(names), seats):
            yield encounter(number, bots)


def games_in_all(bots: int, seats: int, rounds: int) -> int:
    """How many games `round_robin` gives for so many bots."""
    return rounds * comb(bots, seats) * seats
