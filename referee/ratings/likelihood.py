"""The likelihood of rankings (Plackett and Luce), and its derivatives, for many strengths at a time.

A game's ranking is drawn place by place, each of the bots not yet placed with a chance in proportion to
e^(strength of the bot + advantage of its seat). For two seats this is Bradley and Terry's model. Tied places
count as every order of the tied, equally weighted (for two: a draw is half a win). In all these orders, every
subset of the tied of one size is equally often what is left of them, so a tie of t bots takes 2^t terms,
not t! orders.

Each draw is a *stage*. The logarithm of the likelihood is linear in the strengths of those drawn, less for
each stage ln Σ e^utility. So games in which the same bots had the same seats need only one stage, whatever
their results. The first and second derivatives of the latter are the mean and the variance of the categorical
distribution of the stage.
Alike games are counted together.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_STEPS = 200
_HALVINGS = 30
_LONGEST_STEP = 2.0
_CLOSE = 1e-5
_DAMPING = 1e-9
"""The precision of a prior that moves no maximum, so that the next step exists where a likelihood is flat."""

_LARGEST = 1 << 62  # numbers of rows are not greater than this

_CHUNK = 40_000  # numbers in an array for some of the draws: more do not fit in a processor's cache

_FARTHEST = 500.0  # utilities are taken as no farther apart than this, so that their exponentials are numbers


class GroupedGames(NamedTuple):
    """Games with the same ranks by seat, a row for all that are alike."""

    bots: Integers  # by row and seat, the number of the bot's parameter
    seats: tuple[int, ...]
    """By seat, the number of the parameter of its advantage; empty where seats make no difference."""
    ranks: tuple[int, ...]
    times: Floats  # how many games each row stands for
    cluster: Integers  # the number of the cluster of each row


class Stages(NamedTuple):
    """Sets of bots of which one is drawn, a row each."""

    bots: Integers  # by row and place in the set, the number of the bot's parameter
    seats: tuple[int, ...]
    """By place in the set, the number of the parameter of the seat; empty where seats make no difference."""
    weight: Floats  # how often each row is drawn from

    def utilities(self, parameters: Floats) -> list[Floats]:
        """For each place, the utilities by the leading axes of the parameters, and row."""
        found = [parameters.take(one, axis=-1) for one in self.bots.T]
        for place, seat in enumerate(self.seats):
            found[place] += parameters[..., seat, None]
        return found


class Derivatives(NamedTuple):
    """The derivatives of the logarithm of the likelihood, by node and parameters."""

    value: Floats
    gradient: Floats
    information: Floats  # the negative second derivatives


class Likelihood(NamedTuple):
    """The likelihood of games as a function of all parameters: of the bots, then of the seats."""

    size: int
    bots: int
    linear: Floats  # by parameter, how often it was drawn
    stages: tuple[Stages, ...]

    @classmethod
    def of(cls, games: Iterable[GroupedGames], bots: int, size: int, weigh: bool = True) -> Likelihood:
        """The likelihood of these games; each row counts once if they are not to be weighed by how many games
        it stands for.
        """
        linear = np.zeros(size)
        rows: dict[tuple[tuple[int, ...], int], list[tuple[Integers, Floats]]] = defaultdict(list)
        for batch in games:
            times = batch.times if weigh else np.ones_like(batch.times)
            drawn, sets = stages_of(batch.ranks)
            for seat, count in enumerate(drawn):
                linear += np.bincount(batch.bots[:, seat], times * count, size)
                if batch.seats:
                    linear[batch.seats[seat]] += times.sum() * count
            for places, weight in sets.items():
                seats = tuple(batch.seats[place] for place in places) if batch.seats else ()
                rows[seats, len(places)].append((batch.bots[:, list(places)], times * weight))
        stages = []
        for (seats, _), parts in sorted(rows.items(), key=lambda item: item[0]):
            first, where = distinct(np.concatenate([part for part, _ in parts]))
            weights = np.bincount(where, np.concatenate([weight for _, weight in parts])).astype(np.float64)
            stages.append(Stages(first, seats, weights))
        return cls(size, bots, linear, tuple(stages))

    def times(self, factor: float) -> Likelihood:
        """The likelihood of so many times the games."""
        scaled = (each._replace(weight=each.weight * factor) for each in self.stages)
        return self._replace(linear=self.linear * factor, stages=tuple(scaled))

    def derivatives(self, parameters: Floats) -> Derivatives:
        """The derivatives at each node, which are the rows of the parameters."""
        nodes, bots = len(parameters), self.bots
        value = parameters @ self.linear
        gradient = np.tile(self.linear, (nodes, 1))
        information = np.zeros((nodes, self.size, self.size))
        for stages in self.stages:
            chances, total = _chances(stages.utilities(parameters))
            value = value - total @ stages.weight
            drawn = [chance * stages.weight for chance in chances]
            among = np.zeros((nodes, bots * bots))
            for i, one in enumerate(stages.bots.T):
                gradient[:, :bots] -= _sums(one, drawn[i], bots)
                for j in range(i):
                    shared = drawn[i] * chances[j]
                    among -= _sums(one * bots + stages.bots[:, j], shared, bots * bots)
                    if stages.seats:
                        _add_seats(information, stages, i, j, shared)
            square = among.reshape(nodes, bots, bots)
            square += square.transpose(0, 2, 1).copy()
            _diagonal(square)[...] -= square.sum(axis=2)
            information[:, :bots, :bots] += square
            for i, seat in enumerate(stages.seats):
                gradient[:, seat] -= drawn[i].sum(axis=1)
        return Derivatives(value, gradient, information)

    def slope(self, parameters: Floats) -> tuple[Floats, Floats]:
        """The logarithm of the likelihood and its gradient, by draw."""
        value, gradient = parameters @ self.linear, np.tile(self.linear, (len(parameters), 1))
        for part in self._parts(len(parameters)):
            for stages in self.stages:
                chances, total = _chances(stages.utilities(parameters[part]))
                value[part] -= total @ stages.weight
                for place, (one, chance) in enumerate(zip(stages.bots.T, chances, strict=True)):
                    chance *= stages.weight
                    gradient[part, : self.bots] -= _sums(one, chance, self.bots)
                    if stages.seats:
                        gradient[part, stages.seats[place]] -= chance.sum(axis=1)
        return value, gradient

    def value(self, parameters: Floats) -> Floats:
        """The logarithm of the likelihood, by draw."""
        value = parameters @ self.linear
        for part in self._parts(len(parameters)):
            for stages in self.stages:
                _, total = _chances(stages.utilities(parameters[part]))
                value[part] -= total @ stages.weight
        return np.asarray(value)

    def _parts(self, draws: int) -> Iterator[slice]:
        """The draws in parts that fit in a processor's cache."""
        chunk = max(1, _CHUNK // max(len(stages.weight) for stages in self.stages))
        return (slice(start, start + chunk) for start in range(0, draws, chunk))


@cache
def stages_of(ranks: tuple[int, ...]) -> tuple[tuple[float, ...], dict[tuple[int, ...], float]]:
    """Counts how often each seat is drawn from a set of more than one, and returns these sets with their
    weights.
    """
    drawn = [1.0] * len(ranks)
    sets: dict[tuple[int, ...], float] = {}
    for rank in set(ranks):
        tied = [seat for seat, other in enumerate(ranks) if other == rank]
        behind = [seat for seat, other in enumerate(ranks) if other > rank]
        for size in range(1, len(tied) + 1):
            for left in combinations(tied, size):
                weight = 1 / comb(len(tied), size)
                if size + len(behind) == 1:
                    drawn[left[0]] -= weight
                else:
                    sets[tuple(sorted((*left, *behind)))] = weight
    return tuple(drawn), sets


def climbed(derive: Callable[[Floats], Derivatives], start: Floats) -> tuple[Floats, Derivatives]:
    """The parameters at which functions, one a node, are greatest, by Newton's method from a start on, and
    the derivatives there.
    """
    reached = start
    at = derive(start)
    for _ in range(_STEPS):
        step = np.linalg.solve(at.information, at.gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        if longest.max() < _CLOSE:  # this step leads so near that it need not be looked at
            return reached + step, at
        step *= np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))[:, None]
        for _ in range(_HALVINGS):
            after = derive(reached + step)
            worse = after.value < at.value - 1e-9 * (1 + np.abs(at.value))
            if not worse.any():
                break
            step[worse] /= 2
        reached, at = reached + step, after
    return reached, at


def maximum(likelihood: Likelihood, precision: Floats | float = _DAMPING) -> Floats:
    """The parameters at which the likelihood is greatest, as near to 0 as they can be. Where it has no
    maximum, they are where it is all but 1. With a greater precision, by parameter, they are those at which
    the posterior is greatest, by a normal prior that has it.
    """

    def derive(parameters: Floats) -> Derivatives:
        value, gradient, information = likelihood.derivatives(parameters)
        return Derivatives(
            value - (precision * parameters**2).sum(axis=1) / 2,
            gradient - precision * parameters,
            information + precision * np.eye(likelihood.size),
        )

    (found,), _ = climbed(derive, np.zeros((1, likelihood.size)))
    return np.asarray(found)


def distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The distinct rows in order, and for each row the number of the one that it is equal to."""
    alike, count = np.zeros(len(rows), dtype=np.int64), 1  # each row as a number, below `count`
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        if count * width > _LARGEST:
            _, alike = np.unique(alike, return_inverse=True)
            count = int(alike.max(initial=0)) + 1
        alike, count = alike * width + column, count * width
    _, first, where = np.unique(alike, return_index=True, return_inverse=True)
    return rows[first], where


def game_derivatives(games: GroupedGames, utilities: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The gradient and the information of each game by the utilities of its seats, by row."""
    drawn, sets = stages_of(games.ranks)
    gradient = np.tile(np.array(drawn), (len(games.times), 1))
    information = np.zeros((*gradient.shape, len(drawn)))
    for places, weight in sets.items():
        chances, _ = _chances([utilities[place] for place in places])
        for one, chance in zip(places, chances, strict=True):
            gradient[:, one] -= weight * chance
            information[:, one, one] += weight * chance
            for other, share in zip(places, chances, strict=True):
                information[:, one, other] -= weight * chance * share
    return gradient, information


def game_utilities(games: GroupedGames, parameters: Floats) -> list[Floats]:
    """The utilities of each seat, by row."""
    return Stages(games.bots, games.seats, games.times).utilities(parameters)


def expected_points(games: Iterable[GroupedGames], parameters: Floats) -> Floats:
    """The points that the strengths predict for each parameter: in a game, the share of the others beaten."""
    expected = np.zeros(len(parameters))
    for batch in games:
        utilities = game_utilities(batch, parameters)
        for one, other in permutations(range(len(batch.ranks)), 2):
            (beaten, _), _ = _chances([utilities[one], utilities[other]])
            share = batch.times * beaten / (len(batch.ranks) - 1)
            expected += np.bincount(batch.bots[:, one], share, len(parameters))
    return expected


def _chances(utilities: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """The chance of each place to be drawn, and the logarithm of the sum of the exponentials."""
    first, *others = utilities
    found = []
    total = np.ones_like(first)
    for utility in others:
        raised = utility - first
        np.clip(raised, -_FARTHEST, _FARTHEST, out=raised)
        found.append(np.exp(raised, out=raised))
        total += raised
    rest = 1 / total
    for raised in found:
        raised *= rest
    # Where one is so much greater that it was clipped, it is the sum.
    return [rest, *found], np.maximum.reduce([first + np.log(total), *others])


def _add_seats(information: Floats, stages: Stages, i: int, j: int, shared: Floats) -> None:
    """Adds what a stage says of the seats of two places, and of seats and bots together."""
    bots = stages.bots.T
    count = int(max(stages.bots.max(), 0)) + 1
    one, other = (_sums(numbers, shared, count) for numbers in (bots[i], bots[j]))
    between = shared.sum(axis=1)
    for seat, behind, change in (
        (stages.seats[i], stages.seats[j], one - other),
        (stages.seats[j], stages.seats[i], other - one),
    ):
        information[:, seat, :count] += change
        information[:, :count, seat] += change
        information[:, seat, seat] += between
        information[:, seat, behind] -= between


def _sums(numbers: Integers, values: Floats, length: int) -> Floats:
    """The sum of the values with each number, by node."""
    places = numbers + length * np.arange(len(values))[:, None]
    found = np.bincount(places.reshape(-1), values.reshape(-1), len(values) * length).astype(
        np.float64, copy=False
    )
    return found.reshape(len(values), length)


def _diagonal(matrices: Floats) -> Floats:
    """The diagonals, which can be written to."""
    diagonal: Floats = np.einsum("kii->ki", matrices)
    return diagonal


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
    number: dict[str, int] = defaultdict(
        itertools.count().__next__
    )  # of each bot, in the order in which they come
    alike: dict[tuple[str, tuple[int, ...]], tuple[list[int], list[int]]] = {}
    clusters: dict[Hashable, int] = defaultdict(itertools.count().__next__)
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
