"""Results as arrays, in which alike games are counted together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from referee.ratings.likelihood import GroupedGames, Integers, distinct

Rated = tuple[tuple[str, ...], tuple[int, ...], Hashable, str]
"""The bots by seat, their ranks, the cluster and the section."""


class Arrays(NamedTuple):
    """The results of a pool. Its parameters are the strengths of the bots, then the advantages of seats."""

    bots: list[str]  # the bots that have met others, in alphabetical order, as their parameters are
    size: int  # how many parameters there are
    games: list[GroupedGames]
    advantages: dict[tuple[str, int], Integers]  # by section and number of seats: the parameters of its seats
    groups: list[Integers]  # the bots that are connected by games, directly or through others


def gathered(results: Iterable[Rated], advantage: bool) -> Arrays:
    """The results as arrays. Games of one bot are left out."""
    number: dict[str, int] = defaultdict(count().__next__)  # of each bot, in the order in which they come
    alike: dict[tuple[str, tuple[int, ...]], tuple[list[int], list[int]]] = {}
    clusters: dict[Hashable, int] = defaultdict(count().__next__)
    for bots, ranks, cluster, section in results:
        if len(bots) < 2:
            continue
        seated, numbers = alike.setdefault((section, ranks), ([], []))
        seated.extend([number[name] for name in bots])
        numbers.append(clusters[cluster])
    names = sorted(number)
    row = np.argsort(np.array([number[name] for name in names], dtype=np.int64))
    size = len(names)
    advantages: dict[tuple[str, int], tuple[int, ...]] = {}
    games = []
    for section, ranks in sorted(alike):
        seats = advantages.get((section, len(ranks)), ())
        if advantage and not seats:
            seats = advantages[section, len(ranks)] = tuple(range(size, size + len(ranks)))
            size += len(ranks)
        seated, numbers = alike[section, ranks]
        table = row[np.array(seated, dtype=np.int64)].reshape(-1, len(ranks))
        rows, where = distinct(np.column_stack([table, np.array(numbers, dtype=np.int64)]))
        times = np.bincount(where).astype(np.float64)
        games.append(GroupedGames(rows[:, :-1], seats, ranks, times, rows[:, -1]))
    seats_of = {key: np.array(seats) for key, seats in advantages.items()}
    return Arrays(names, size, games, seats_of, _groups(games, len(names)))


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
