"""The likelihood of rankings by Plackett and Luce's model, on arrays of games: derivatives and maximum.

A game's ranking is drawn place by place, each of the bots not yet placed with a chance in proportion to
e^(strength of the bot + advantage of its seat). For two seats this is Bradley and Terry's model. Tied places
count as every order of the tied, equally weighted (for two: a draw is half a win). In all these orders, every
subset of the tied of one size is equally often what is left of them, so a tie of t bots takes 2^t terms,
not t! orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_STEPS = 200
_LONGEST_STEP = 2.0
_CLOSE = 1e-10
_DAMPING = 1e-9
"""Added to the curvature, so that the next step exists where the likelihood is flat. It moves no maximum."""


class GroupedGames(NamedTuple):
    """Games with the same ranks by seat, a row for all that are alike."""

    bots: Integers
    """By row and seat, the number of the bot's parameter."""
    seats: tuple[int, ...]
    """By seat, the number of the parameter of its advantage; empty where seats make no difference."""
    ranks: tuple[int, ...]
    times: Floats
    """How many games each row stands for."""
    cluster: Integers
    """The number of the cluster of each row."""


class Derivatives(NamedTuple):
    """The derivatives of the logarithm of the likelihood of one game, by row."""

    value: Floats
    gradient: Floats
    """By row and seat."""
    information: Floats
    """The negative second derivatives, by row and two seats."""


@cache
def _stages(ranks: tuple[int, ...]) -> tuple[tuple[float, ...], dict[tuple[int, ...], float]]:
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


def members(games: GroupedGames) -> list[Integers]:
    """Returns for each row and seat the parameters whose sum is the seat's utility: of its bot, and of the
    seat itself.
    """
    if not games.seats:
        return [games.bots]
    return [games.bots, np.broadcast_to(np.array(games.seats), games.bots.shape)]


def utilities(games: GroupedGames, strength: Floats) -> Floats:
    """Returns for each row and seat the strength of the bot plus the advantage of its seat."""
    found: Floats = np.sum([strength[parameters] for parameters in members(games)], axis=0)
    return found


def drawn_with(ranks: tuple[int, ...], seat: int) -> dict[tuple[int, ...], float]:
    """The others in the sets that a seat is drawn from, with the weights of the sets."""
    _, sets = _stages(ranks)
    return {tuple(i for i in left if i != seat): weight for left, weight in sets.items() if seat in left}


def derivatives(games: GroupedGames, strength: Floats) -> Derivatives:
    """The derivatives by the utility of each seat."""
    utility = utilities(games, strength)
    rows, seats = utility.shape
    drawn, sets = _stages(games.ranks)
    value: Floats = utility @ np.array(drawn)
    gradient = np.tile(np.array(drawn), (rows, 1))
    information = np.zeros((rows, seats, seats))
    for left, weight in sets.items():
        columns = list(left)
        most = utility[:, columns].max(axis=1, keepdims=True)
        chance = np.exp(utility[:, columns] - most)
        total = chance.sum(axis=1, keepdims=True)
        chance /= total
        value -= weight * (np.log(total) + most)[:, 0]
        for i, one in enumerate(columns):
            gradient[:, one] -= weight * chance[:, i]
            rest = np.delete(chance, i, axis=1).sum(axis=1)
            information[:, one, one] += weight * chance[:, i] * rest
            for j in range(i):
                both = weight * chance[:, i] * chance[:, j]
                information[:, one, columns[j]] -= both
                information[:, columns[j], one] -= both
    return Derivatives(value, gradient, information)


def add_information(total: Floats, games: GroupedGames, information: Floats, weight: Floats) -> None:
    """Adds what each row says, so weighted, to the matrix of all parameters."""
    flat, size = total.reshape(-1), len(total)
    for one in range(len(games.ranks)):
        for other in range(len(games.ranks)):
            added = information[:, one, other] * weight
            np.add.at(flat, games.bots[:, one] * size + games.bots[:, other], added)
            if games.seats:
                np.add.at(total[:, games.seats[other]], games.bots[:, one], added)
                np.add.at(total[games.seats[one]], games.bots[:, other], added)
                total[games.seats[one], games.seats[other]] += added.sum()


def maximum(batches: Sequence[GroupedGames], flat: Sequence[Integers], size: int) -> Floats:
    """The parameters at which the likelihood is greatest.

    It does not change when the same number is added to all parameters of one of the sets `flat`; the mean of
    each of them is 0. Where it has no maximum, the parameters stop where it is all but 1.
    """
    strength = np.zeros(size)
    before, gradient, information = _totals(batches, strength)
    for _ in range(_STEPS):
        if np.abs(gradient).max(initial=0.0) <= _CLOSE * max(1.0, information.diagonal().max(initial=0.0)):
            break
        fill(information, flat)
        information[np.diag_indices(size)] += _DAMPING
        step = np.linalg.solve(information, gradient)
        longest = float(np.abs(step).max())
        step *= min(1.0, _LONGEST_STEP / longest)
        while True:
            value, gradient, information = _totals(batches, strength + step)
            if value >= before - 1e-9 * abs(before) or float(np.abs(step).max()) < _CLOSE:
                break
            step /= 2
        strength, before = strength + step, value
        for numbers in flat:
            strength[numbers] -= strength[numbers].mean()
        if longest < _CLOSE:
            break
    return strength


def fill(information: Floats, flat: Sequence[Integers]) -> None:
    """Fills the directions in which the likelihood does not change, so that the matrix has an inverse."""
    for numbers in flat:
        information[np.ix_(numbers, numbers)] += 1.0 / len(numbers)


def _totals(batches: Sequence[GroupedGames], strength: Floats) -> tuple[float, Floats, Floats]:
    """The logarithm of the likelihood of all games, its gradient, and its negative second derivatives."""
    value, gradient = 0.0, np.zeros_like(strength)
    information = np.zeros((len(strength), len(strength)))
    for games in batches:
        found = derivatives(games, strength)
        value += float(games.times @ found.value)
        for parameters in members(games):
            np.add.at(gradient, parameters, found.gradient * games.times[:, None])
        add_information(information, games, found.information, games.times)
    return value, gradient, information
