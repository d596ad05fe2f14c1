"""Results as arrays: alike games counted together, with the virtual draws of the prior."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from referee.ratings.likelihood import Floats, GroupedGames, Integers

Rated = tuple[tuple[str, ...], tuple[int, ...], Hashable, str]
"""The bots by seat, their ranks, the cluster and the section."""


class VirtualDraws(NamedTuple):
    """Virtual draws of two bots, or of two seats, by row."""

    games: GroupedGames
    copies: Floats
    """By row, how often the games of the two repeat each other on average: 1 where they never do."""


class Arrays(NamedTuple):
    """The results of a pool. Its parameters are the strengths of the bots, then the advantages of seats."""

    size: int
    """How many parameters there are."""
    games: list[GroupedGames]
    virtual: list[VirtualDraws]
    advantages: dict[tuple[str, int], Integers]
    """By section and number of seats: the parameters of its seats."""
    groups: list[Integers]
    """The bots that are connected by games, directly or through others."""
    flat: list[Integers]
    """Parameters to all of which the same may be added: only their differences are known."""


def gathered(results: Iterable[Rated], names: Sequence[str], draws: float, advantage: bool) -> Arrays:
    """The results as arrays, with this many virtual draws of each bot. Games of one bot are left out."""
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
        first, count = _distinct([*table.T, np.array(numbers, dtype=np.int64)])
        cluster_of = np.array(numbers, dtype=np.int64)[first]
        games.append(GroupedGames(table[first], seats, ranks, count, cluster_of))
    met = _pairs(games, len(names))
    virtual = [*_of_bots(met, len(names), draws), *_of_seats(games, advantages, draws)] if draws else []
    groups = _groups(met, len(names))
    seats_of = {key: np.array(seats) for key, seats in advantages.items()}
    return Arrays(size, games, virtual, seats_of, groups, [*groups, *seats_of.values()])


def _distinct(columns: Sequence[Integers]) -> tuple[Integers, Floats]:
    """The rows of the first of each that are alike in all columns, in order, and how many there are."""
    alike = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, alike = np.unique(alike * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    _, first, count = np.unique(alike, return_index=True, return_counts=True)
    return first, count.astype(np.float64)


class _Met(NamedTuple):
    """Pairs of bots that have met, by row."""

    pairs: Integers
    times: Floats
    copies: Floats


def _pairs(games: Sequence[GroupedGames], bots: int) -> _Met:
    keys, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for batch in games:
        for one in range(len(batch.ranks)):
            for other in range(one):
                low, high = np.sort(batch.bots[:, [one, other]], axis=1).T
                keys.append(low * bots + high)
                counts.append(batch.times)
    key, where = np.unique(np.concatenate(keys), return_inverse=True)
    weights = np.concatenate(counts)
    count, squares = (np.bincount(where, weights**power, len(key)) for power in (1, 2))
    pairs = np.column_stack([key // max(bots, 1), key % max(bots, 1)])
    return _Met(pairs, count.astype(np.float64), squares / count)


def _of_bots(met: _Met, bots: int, draws: float) -> list[VirtualDraws]:
    """Virtual draws of each bot, half of them its own, which are spread over its opponents in proportion to
    the games played against each, and as many as that which its opponents have with it on average.
    """
    one, other = met.pairs.T
    played = np.bincount(one, met.times, bots) + np.bincount(other, met.times, bots)
    weight = draws / 2 * met.times * (1 / played[one] + 1 / played[other])
    return [VirtualDraws(_drawn(met.pairs, weight), met.copies)] if len(weight) else []


def _of_seats(
    games: Sequence[GroupedGames], advantages: dict[tuple[str, int], tuple[int, ...]], draws: float
) -> list[VirtualDraws]:
    """Virtual draws of each seat against the other seats of its section, between equal bots."""
    found = []
    for seats in advantages.values():
        count = np.concatenate([batch.times for batch in games if batch.seats == seats])
        pairs = np.array([(one, other) for i, one in enumerate(seats) for other in seats[:i]])
        weight = np.full(len(pairs), draws / (len(seats) - 1))
        copies = np.full(len(pairs), (count**2).sum() / count.sum())
        found.append(VirtualDraws(_drawn(pairs, weight), copies))
    return found


def _drawn(pairs: Integers, weight: Floats) -> GroupedGames:
    return GroupedGames(pairs, (), (1, 1), weight, np.zeros(len(pairs), dtype=np.int64))


def _groups(met: _Met, bots: int) -> list[Integers]:
    """The bots of each group, by the least of each."""
    least = np.arange(bots)
    while True:
        before = least.copy()
        for one, other in (met.pairs.T, met.pairs.T[::-1]):
            np.minimum.at(least, one, least[other])
        least = least[least]
        if (least == before).all():
            return [np.flatnonzero(least == number) for number in np.unique(least)]
