"""How much less games say than independent, decided ones: one number for a pool.

All counts of a fit are divided by it. Its factors:

- *Draws* make results more even than the model takes them to be: a draw is counted as half a win, and so as
  as much chance as a decided game. f = 1 − D/4Σv, D the number of draws, v what the model expects of the
  square of a result less its mean.
- *Clusters.* Games of an encounter that go the same way more often than by chance say less, and more if they
  differ more often. f = 1 + mr, m the mean number of other games in the cluster of a game, and r the
  correlation of the results of two of them. Let p be twice the sum of the products of two results of a
  cluster, less their means. Fitted results lie nearer to the results than true ones, which takes from p f
  times l, twice the sum of v₁v₂ times the variance of the difference; so x = (p + l)/(Σv − l) estimates mr.
  Were games independent, its variance would be V = 4Σv₁v₂/(Σv − l)², and that of r V/m², as of a correlation
  that is known from m²/V pairs. These are as many as there are encounters of two games, and many more at
  tables: there each encounter has several pairs of games, and each game more than one place. So r is averaged
  with 0, which has the weight of `PAIRS` pairs.
- *Few clusters* leave that uncertain: the square of a quantile of Student's distribution by that of the
  normal distribution, with 2/w degrees of freedom, w the variance of f: m²/(m²/V + `PAIRS`).
  (F. Satterthwaite, "An approximate distribution of estimates of variance components", 1946.)

*Seats* have a factor of their own, by the same formulas: an opening that favours one seat in both games of an
encounter makes these differ for the bots, which says more of them, and alike for the seats, which says less.

What the model expects takes into account how uncertain the strengths are, by the usual approximation of the
mean of a logistic function. (C. Varin, N. Reid, D. Firth, "An overview of composite likelihood methods",
2011, on the inverse of such a factor as the weight of a likelihood.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from referee.ratings.likelihood import (
    Floats,
    GroupedGames,
    Integers,
    game_derivatives,
    game_utilities,
)
from referee.ratings.two import Z_95

PAIRS = 8.0  # how many independent pairs of games are added to those of the clusters

GAMES = 2.0  # how many decided games the smallest factor for draws takes for granted

_LEAST = 0.05


def dispersion(
    games: Sequence[GroupedGames], strength: Floats, covariance: Floats, of_seats: bool = False
) -> float:
    """The factor for games of bots with these fitted strengths, of which this is the covariance; or that for
    the advantages of seats. Games that are copies of each other, which share a row, count once.
    """
    if not games:
        return 1.0
    spent = total = 0.0
    count = 1 + max(int(batch.cluster.max()) for batch in games)
    own, members = np.zeros(count), np.zeros(count)
    products = _Products(len(strength))
    for batch in games:
        utilities = game_utilities(batch, strength)
        known = covariance[batch.bots[:, :, None], batch.bots[:, None, :]]
        shrunk = 1 / np.sqrt(1 + math.pi / 8 * _mean_variance(known))
        gradient, _ = game_derivatives(batch, utilities)
        _, expected = game_derivatives(batch, [shrunk * utility for utility in utilities])
        expected *= shrunk[:, None, None]
        trace = np.einsum("rii->r", expected)
        spent += _tied(batch.ranks) * len(trace)
        total += trace.sum()
        own += np.bincount(batch.cluster, trace, count)
        members += np.bincount(batch.cluster, minlength=count)
        parameters = batch.bots
        if of_seats:
            parameters = np.broadcast_to(np.array(batch.seats), batch.bots.shape)
            known = covariance[np.ix_(batch.seats, batch.seats)]
        products.add(batch.cluster, parameters, gradient, expected, expected @ known)
    rows = sum(len(batch.times) for batch in games)
    drawn = max(1 - spent / total, _LEAST, GAMES / (GAMES + rows))
    others = (own * (members - 1)).sum() / total
    if others == 0:
        return float(drawn)
    raw, fitted, variance = products.sums()
    fitted = min(fitted, total / 2)
    free = total - fitted
    pairs = (others * free) ** 2 / (2 * variance)
    excess = (raw / drawn + fitted) / free
    clustered = max(1 + excess * pairs / (pairs + PAIRS), _LEAST)
    freedom = 2 * (pairs + PAIRS) / others**2
    return float(drawn * clustered * (student(freedom) / Z_95) ** 2)


class _Products:
    """Products of results, and of their variances, of each two games of a cluster, by bots or by seats."""

    def __init__(self, size: int) -> None:
        """The numbers of the parameters are less than `size`."""
        self._size = size
        self._gradients: list[tuple[Integers, Floats]] = []
        """With numbers that are the same where the cluster and the parameter are."""
        self._pairs: list[tuple[Integers, Floats, Floats]] = []  # the same by cluster and two parameters

    def add(
        self, cluster: Integers, parameters: Integers, gradient: Floats, expected: Floats, leverage: Floats
    ) -> None:
        """Adds the games of a batch, by row; the parameters also by place."""
        keys = cluster[:, None] * self._size + parameters
        pairs = keys[:, :, None] * self._size + parameters[:, None, :]
        self._gradients.append((keys.reshape(-1), gradient.reshape(-1)))
        self._pairs.append((pairs.reshape(-1), expected.reshape(-1), leverage.reshape(-1)))

    def sums(self) -> tuple[float, float, float]:
        """Twice the sums over pairs of games: of the products of results, of what the fit takes from these,
        and of the products of variances.
        """
        of_one, gradient = (np.concatenate(part) for part in zip(*self._gradients, strict=True))
        raw, _ = _products(of_one, gradient, gradient)
        of_two, expected, leverage = (np.concatenate(part) for part in zip(*self._pairs, strict=True))
        return (raw, *_products(of_two, leverage, expected))


def _products(keys: Integers, one: Floats, other: Floats) -> tuple[float, float]:
    """The sums of the products, in different places of a key, of the first and the second numbers, and
    of the second ones alone.
    """
    _, where = np.unique(keys, return_inverse=True)
    sums = np.bincount(where, other)
    both, alone = (
        np.bincount(where, each) * sums - np.bincount(where, each * other) for each in (one, other)
    )
    return float(both.sum()), float(alone.sum())


def _mean_variance(covariance: Floats) -> Floats:
    """The variance of the difference of two of the bots of each row, averaged over all pairs."""
    seats = covariance.shape[1]
    diagonal = np.einsum("rii->r", covariance)
    return np.asarray(2 * (seats * diagonal - covariance.sum(axis=(1, 2))) / (seats * (seats - 1)))


def _tied(ranks: tuple[int, ...]) -> float:
    """The sum over seats of the variance of the gradient over the orders of the tied, which a game with ties
    does not have: exact for the last places, if the tied are equals.
    """
    found = 0.0
    for tied in map(ranks.count, set(ranks)):
        taken = (sum(1 / left for left in range(tied - place, tied + 1)) for place in range(tied))
        found += sum((1 - each) ** 2 for each in taken)
    return found


def student(freedom: float) -> float:
    """The 97.5 % quantile of Student's distribution, by its expansion: within 0.01 from 4 degrees of freedom.

    M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    z, n = Z_95, freedom
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / n**power for power, term in enumerate(terms, 1))
