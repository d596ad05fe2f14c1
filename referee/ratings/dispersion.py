"""How much less games say of strengths than if all were independent and decided: one number for a pool.

All counts of a fit are divided by it. Its factors:

- *Draws* make results more even than the model takes them to be: a draw is counted as half a win, and so as
  as much chance as a decided game. f = 1 − D/4Σv, D the number of draws, v what the model expects of the
  square of a result less its mean.
- *Clusters.* Games of an encounter that go the same way more often than by chance say less, and more if they
  differ more often. f = 1 + x, x the mean product of two results of a cluster, less their means, as a
  multiple of v. It is averaged with 1, which has the weight of `CLUSTERS` clusters. Fitted results lie nearer
  to the results than true ones, by v₁v₂ times the variance of the difference, which is added.
- *Few clusters* leave that uncertain: the square of a quantile of Student's distribution by that of the
  normal distribution.

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
    distinct,
    game_derivatives,
    game_utilities,
)
from referee.ratings.two import Z_95

CLUSTERS = 8.0
"""How many clusters that are as the model says are added to those of the pool."""

GAMES = 2.0
"""How many decided games the smallest factor for draws takes for granted."""

_LEAST = 0.05


def dispersion(games: Sequence[GroupedGames], strength: Floats, covariance: Floats) -> float:
    """The factor for games of bots with these fitted strengths, of which this is the covariance. Games that
    are copies of each other, which share a row, count once.
    """
    if not games:
        return 1.0
    spent = total = 0.0
    count = 1 + max(int(batch.cluster.max()) for batch in games)
    own = np.zeros(count)
    products = _Products()
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
        products.add(batch, gradient, expected, expected @ known)
    rows = sum(len(batch.times) for batch in games)
    drawn = max(1 - spent / total, _LEAST, GAMES / (GAMES + rows))
    clusters = total**2 / (own**2).sum()
    factor = drawn
    if rows > np.count_nonzero(own):
        excess = products.sum() / (drawn * total)
        factor *= max((CLUSTERS + clusters * (1 + excess)) / (CLUSTERS + clusters), _LEAST)
    return float(factor * (student(2 * (CLUSTERS + clusters)) / Z_95) ** 2)


class _Products:
    """The sum of the products of each two games of a cluster, corrected for the fit."""

    def __init__(self) -> None:
        self._gradients: list[tuple[Integers, Floats]] = []
        self._pairs: list[tuple[Integers, Floats, Floats]] = []
        self._alone = 0.0

    def add(self, games: GroupedGames, gradient: Floats, expected: Floats, leverage: Floats) -> None:
        """Adds the games of a batch, by row."""
        cluster, bots = games.cluster[:, None], games.bots
        keys = np.stack(np.broadcast_arrays(cluster, bots), axis=-1)
        self._gradients.append((keys.reshape(-1, 2), gradient.reshape(-1)))
        pairs = np.stack(
            np.broadcast_arrays(cluster[:, :, None], bots[:, :, None], bots[:, None, :]), axis=-1
        )
        self._pairs.append((pairs.reshape(-1, 3), expected.reshape(-1), leverage.reshape(-1)))
        self._alone += float((gradient**2).sum() + (expected * leverage).sum())

    def sum(self) -> float:
        """Twice the sum over pairs of games."""
        _, where = distinct(np.concatenate([keys for keys, _ in self._gradients]))
        together = np.bincount(where, np.concatenate([values for _, values in self._gradients]))
        _, where = distinct(np.concatenate([keys for keys, *_ in self._pairs]))
        expected, leverage = (
            np.bincount(where, np.concatenate([part[side] for part in self._pairs])) for side in (1, 2)
        )
        return float((together**2).sum() + (expected * leverage).sum()) - self._alone


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
