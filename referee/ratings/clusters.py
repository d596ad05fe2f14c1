"""Which games are not independent of each other: the games of an encounter, and games that repeat another.

Games in which the same bots had the same seats in the same section, and whose events are the same to the
letter, are one piece of evidence however often they are played. Their encounters share a cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from referee.core.pairing import Pairing
from referee.records.record import Summary


class Clusters(NamedTuple):
    """The clusters of a list of games."""

    of: list[int]
    """The number of the cluster of each game."""
    repeats: int
    """How many games repeat another one; of three games that are alike, two do."""


def clusters(games: Sequence[Summary], repeats: str = "cluster") -> Clusters:
    """The clusters of the games; with `repeats="count"`, repeated games are taken as independent."""
    parents = list(range(len(games)))
    first_of: dict[Hashable, int] = {}
    repeated = 0
    for number, game in enumerate(games):
        pairing = Pairing.parse(game.id)
        _unite(parents, number, first_of.setdefault(("encounter", pairing.encounter), number))
        if not game.digest or game.is_forfeited:
            continue
        first = first_of.setdefault(("events", pairing.section, game.bots, game.digest), number)
        repeated += first != number
        if repeats != "count":
            _unite(parents, number, first)  # guard: repeated-games
    return Clusters([_root(parents, number) for number in range(len(games))], repeated)


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = number = parents[parents[number]]
    return number


def _unite(parents: list[int], one: int, other: int) -> None:
    one, other = sorted((_root(parents, one), _root(parents, other)))
    parents[other] = one
