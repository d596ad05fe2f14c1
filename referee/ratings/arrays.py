"""Results as arrays, in which alike games are counted together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from referee.ratings.likelihood import GroupedGames, Integers, distinct

Rated = tuple[tuple[str, ...], tuple[int, ...], Hashable, str]
"""The bots by seat, their ranks, the cluster and the section."""


class Arrays(NamedTuple):
    """The results of a pool. Its parameters are the strengths of the bots, then the advantages of seats."""

    size: int
    """How many parameters there are."""
    games: list[GroupedGames]
    advantages: dict[tuple[str, int], Integers]
    """By section and number of seats: the parameters of its seats."""
    groups: list[Integers]
    """The bots that are connected by games, directly or through others."""


def gathered(results: Iterable[Rated], names: Sequence[str], advantage: bool) -> Arrays:
    """The results as arrays. Games of one bot are left out."""
    number = {name: i for i, name in enumerate(names)}
    alike: dict[tuple[str, tuple[int, ...]], tuple[list[int], list[int]]] = {}
    clusters: dict[Hashable, int] = {}
    for bots, ranks, cluster, section in results:
        seated, numbers = alike.setdefault((section, ranks), ([], []))
        seated.extend([number[name] for name in bots])
        numbers.append(clusters.setdefault(cluster, len(clusters)))
    size = len(names)
    advantages: dict[tuple[str, int], tuple[int, ...]] = {}
    games = []
    for section, ranks in sorted(key for key in alike if len(key[1]) > 1):
        seats = advantages.get((section, len(ranks)), ())
        if advantage and not seats:
            seats = advantages[section, len(ranks)] = tuple(range(size, size + len(ranks)))
            size += len(ranks)
        seated, numbers = alike[section, ranks]
        table = np.array(seated, dtype=np.int64).reshape(-1, len(ranks))
        rows, where = distinct(np.column_stack([table, np.array(numbers, dtype=np.int64)]))
        count = np.bincount(where).astype(np.float64)
        games.append(GroupedGames(rows[:, :-1], seats, ranks, count, rows[:, -1]))
    seats_of = {key: np.array(seats) for key, seats in advantages.items()}
    return Arrays(size, games, seats_of, _groups(games, len(names)))


def _groups(games: Sequence[GroupedGames], bots: int) -> list[Integers]:
    """The bots of each group, by the least of each."""
    met = [batch.bots[:, [0, seat]].T for batch in games for seat in range(1, len(batch.ranks))]
    least = np.arange(bots)
    while True:
        before = least.copy()
        for one, other in [*met, *(pair[::-1] for pair in met)]:
            np.minimum.at(least, one, least[other])
        least = least[least]
        if (least == before).all():
            return [np.flatnonzero(least == number) for number in np.unique(least)]
