"""Gauntlets: some bots against all others.

In each round, each of the others meets each of those bots once, which do not meet each other. For more than
two seats, every group with exactly one of those bots meets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from math import comb

from referee.tournament.schedule import Encounter, encounter


def gauntlet(
    names: Collection[str], against: Sequence[str], seats: int, rounds: int, section: str
) -> Iterator[Encounter]:
    """The encounters, round by round; the bots of an encounter are in the order of their names."""
    others = sorted(set(names) - set(against))
    for number in range(1, rounds + 1):
        for some in combinations(others, seats - 1):
            for one in against:
                yield encounter(number, tuple(sorted((one, *some))), section=section)


def gauntlet_encounters(bots: int, against: int, seats: int, rounds: int) -> int:
    """How many encounters the schedule has."""
    return rounds * against * comb(bots - against, seats - 1)
