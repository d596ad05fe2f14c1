"""Computes how precisely fitted strengths are known: their covariance, quantiles for intervals, and bounds.

The covariance is a sandwich H⁺ B H⁺. H is the curvature of the likelihood with the prior. B is the spread of
the gradients of the clusters, the squares of which are summed, as far as there are clusters enough:

- A fitted strength lies nearer to the results than the true one, so a gradient is divided by √(1 − h), h the
  leverage of its cluster (as in the correction CR2, with the mean of the leverages of the cluster's bots).
- Of few clusters, the squares say little. So they are averaged with what the model expects of the cluster,
  which has the weight of `MODEL_CLUSTERS` clusters beside those of the bot that has the fewest (as variances
  are moderated in limma, by G. Smyth). Games of a cluster with the same bots in the same seats and the same
  ranks are taken as copies of each other there, all other games as independent.
- What the model expects is multiplied by the dispersion of the whole pool, the ratio of the squares to the
  model: below 1 where draws are many, above 1 where the games of an encounter go the same way. It counts the
  model itself as `POOL_CLUSTERS` clusters. Bots and seats have one each.
- The prior adds half of its curvature. All of it would be right if strengths were known to be spread as the
  prior says; none would make an interval close where all games went as expected. Its curvature is taken as no
  less than a quarter of that at equal strengths, or nothing would bound an interval where bots are far apart.
  Where games are copies of each other, the prior is copied as often, so that repeating them changes nothing.

The number of clusters of a bot is the effective one, (Σv)² / Σv² of their shares v in its variance. The
quantile is that of Student's distribution with as many degrees of freedom and `MODEL_CLUSTERS` more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from referee.ratings.arrays import Arrays
from referee.ratings.likelihood import (
    Derivatives,
    Floats,
    GroupedGames,
    Integers,
    add_information,
    derivatives,
    drawn_with,
    fill,
    members,
    utilities,
)
from referee.ratings.two import CERTAIN, Z_95, Z_BOUND

MODEL_CLUSTERS = 8.0
"""How many clusters the model counts for beside those of a bot."""

POOL_CLUSTERS = 4.0
"""How many clusters the model counts for in the dispersion of the whole pool."""

MIN_PRIOR = 0.25
"""Minimum curvature of the prior, as a share of that at equal strengths."""

PRIOR_SHARE = 0.5
"""How much of the prior's curvature is part of the spread."""


_FARTHEST = 100.0
_HALVINGS = 60
_MAX_LEVERAGE = 0.9
_CHUNK = 4_000_000
"""Numbers in an array that is made for a part of the clusters at a time."""


class Uncertainty(NamedTuple):
    """How precisely the parameters are known."""

    covariance: Floats
    quantiles: Floats
    """For each parameter, the half width of the 95 % interval in standard errors."""
    dispersion: Floats
    """For bots and for seats: the variance of results between clusters, as a multiple of the model's."""


def uncertainty(arrays: Arrays, bots: int, strength: Floats) -> Uncertainty:
    """Computes how precisely the fitted parameters are known, of which the first are the strengths of the
    bots.
    """
    found = [derivatives(games, strength) for games in arrays.games]
    information, spread = (np.zeros((arrays.size, arrays.size)) for _ in range(2))
    for games, derived in zip(arrays.games, found, strict=True):
        add_information(information, games, derived.information, games.times)
    for games, copies in arrays.virtual:
        equal = derivatives(games, np.zeros_like(strength)).information
        prior = equal * np.clip(derivatives(games, strength).information / equal, MIN_PRIOR, 1)
        add_information(information, games, prior, games.times * copies)
        add_information(spread, games, prior, PRIOR_SHARE * games.times * copies**2)
    fill(information, arrays.flat)
    # Only with a prior is it sure to have an inverse.
    inverse = np.linalg.inv(information) if arrays.virtual else np.linalg.pinv(information, hermitian=True)
    for numbers in arrays.flat:
        inverse[np.ix_(numbers, numbers)] -= 1 / len(numbers)
    quantiles, dispersion = np.full(arrays.size, student(MODEL_CLUSTERS)), np.ones(2)
    if arrays.games:
        shares = _Shares.of(arrays, bots, found, np.asarray(inverse, dtype=np.float64))
        dispersion = shares.dispersion()
        weight = shares.weight()
        scale = np.sqrt(dispersion[(np.arange(arrays.size) >= bots).astype(int)])
        model = np.zeros_like(spread)
        for games, derived in zip(arrays.games, found, strict=True):
            rest = 1 - weight[games.cluster]
            add_information(model, games, derived.information, games.times**2 * rest)
        spread += model * np.outer(scale, scale)
        shares.add_squares(spread, weight)
        quantiles = student(shares.clusters + MODEL_CLUSTERS)
    return Uncertainty(inverse @ spread @ inverse, quantiles, dispersion)


class _Shares(NamedTuple):
    """The gradients of clusters: a row for each parameter that a cluster says something of, by cluster."""

    cluster: Integers
    parameter: Integers
    part: Integers
    """By row: 0 for a bot, 1 for a seat."""
    gradient: Floats
    """Corrected for the leverage of the cluster."""
    expected: Floats
    """By part and cluster, what the model expects of the sum of the squares of the gradients."""
    copies: Floats
    """By part and cluster, how often its games repeat each other on average."""
    clusters: Floats
    """For each parameter, the effective number of its clusters."""

    @classmethod
    def of(cls, arrays: Arrays, bots: int, found: Sequence[Derivatives], inverse: Floats) -> _Shares:
        """The gradients of all clusters, with the inverse of the curvature."""
        size = arrays.size
        count = 1 + max(int(games.cluster.max()) for games in arrays.games)
        keys, gradients, squares = [], [], []
        leverage, plain, copied = (np.zeros((2, count)) for _ in range(3))
        for games, derived in zip(arrays.games, found, strict=True):
            seats = len(games.ranks)
            own = np.einsum("ree->re", derived.information)
            for part, parameters in enumerate(members(games)):
                keys.append((games.cluster[:, None] * size + parameters).reshape(-1))
                gradients.append((derived.gradient * games.times[:, None]).reshape(-1))
                squares.append((own * games.times[:, None] ** 2).reshape(-1))
                variance = np.zeros(len(games.times))
                for one in range(seats):
                    for other in range(seats):
                        known = inverse[parameters[:, one], parameters[:, other]]
                        variance += derived.information[:, one, other] * known
                at = games.cluster
                leverage[part] += np.bincount(at, variance * games.times / (seats - 1), count)
                plain[part] += np.bincount(at, own.sum(axis=1) * games.times, count)
                copied[part] += np.bincount(at, own.sum(axis=1) * games.times**2, count)
        key, where = np.unique(np.concatenate(keys), return_inverse=True)
        cluster, parameter = key // size, key % size
        part_of = (parameter >= bots).astype(np.int64)
        unseen = np.sqrt(1 - np.clip(leverage, 0, _MAX_LEVERAGE))
        gradient = np.bincount(where, np.concatenate(gradients), len(key)) / unseen[part_of, cluster]
        share = np.bincount(where, np.concatenate(squares), len(key))
        total, square = (np.bincount(parameter, share**power, size) for power in (1, 2))
        clusters: Floats = np.divide(total**2, square, out=np.zeros(size), where=square > 0)
        copies = np.divide(copied, plain, out=np.ones_like(plain), where=plain > 0)
        return cls(cluster, parameter, part_of, gradient, copied, copies, clusters)

    def dispersion(self) -> Floats:
        """Computes, for bots and for seats, the ratio of the squares to the model over all clusters."""
        found = np.ones(2)
        count = self.expected.shape[1]
        for part in range(2):
            rows = self.part == part
            squares = np.bincount(self.cluster[rows], self.gradient[rows] ** 2, count)
            seen, model = ((x / self.copies[part] ** 2).sum() for x in (squares, self.expected[part]))
            if model > 0:
                own = POOL_CLUSTERS * model / count
                found[part] = (own + seen) / (own + model)
        return found

    def weight(self) -> Floats:
        """Computes for each cluster the weight of its own square against what the model expects of it."""
        found = np.zeros(self.expected.shape[1])
        starts = self._starts()
        least = np.minimum.reduceat(self.clusters[self.parameter], starts)
        found[self.cluster[starts]] = least / (least + MODEL_CLUSTERS)
        return found

    def add_squares(self, spread: Floats, weight: Floats) -> None:
        """Adds the squares of the gradients, so weighted by cluster."""
        flat, size = spread.reshape(-1), len(spread)
        starts = self._starts()
        lengths = np.diff(np.append(starts, len(self.cluster)))
        for length in np.unique(lengths):
            rows = starts[lengths == length]
            for some in np.array_split(rows, 1 + len(rows) * length**2 // _CHUNK):
                at = some[:, None] + np.arange(length)
                gradient = self.gradient[at] * np.sqrt(weight[self.cluster[some]])[:, None]
                parameter = self.parameter[at]
                places = parameter[:, :, None] * size + parameter[:, None, :]
                np.add.at(flat, places, gradient[:, :, None] * gradient[:, None, :])

    def _starts(self) -> Integers:
        """The first row of each cluster."""
        return np.flatnonzero(np.diff(self.cluster, prepend=-1))


def student(freedom: float | Floats) -> Floats:
    """The 97.5 % quantile of Student's distribution, by its expansion: within 0.01 from 4 degrees of freedom.

    M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    z, n = Z_95, np.asarray(freedom, dtype=np.float64)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return np.asarray(z + sum(term / n**power for power, term in enumerate(terms, 1)))


def expected_points(games: Sequence[GroupedGames], strength: Floats) -> Floats:
    """Computes the points that the strengths predict for each parameter."""
    expected = np.zeros(len(strength))
    for batch in games:
        utility = utilities(batch, strength)
        for one in range(len(batch.ranks)):
            for other in range(len(batch.ranks)):
                if one != other:
                    chance = 1 / (1 + np.exp(np.clip(utility[:, other] - utility[:, one], -700, 700)))
                    share = batch.times * chance / (len(batch.ranks) - 1)
                    expected += np.bincount(batch.bots[:, one], share, len(strength))
    return expected


class Estimate(NamedTuple):
    """A parameter, in natural units."""

    value: float
    half_width: float
    """Half the 95 % interval."""
    bound: str
    """`>` for a bot or seat that won all its games, `<` for one that lost them all, else empty."""
    shift: float
    """From the value to the bound, if the other parameters stay; 0 where there is none."""
    leaning: Floats
    """For each parameter, how far the bound moves with it; empty where there is none."""


def estimates(arrays: Arrays, bots: int, strength: Floats, known: Uncertainty) -> list[Estimate]:
    """Each parameter."""
    played, scored = _points(arrays.games, arrays.size)
    halves = known.quantiles * np.sqrt(np.clip(known.covariance.diagonal(), 0, None))
    found = []
    for number, (value, half) in enumerate(zip(strength.tolist(), halves.tolist(), strict=True)):
        won, lost = scored[number] == played[number], scored[number] == 0
        if played[number] == 0 or not (won or lost):
            found.append(Estimate(value, half, "", 0.0, np.zeros(0)))
            continue
        dispersion = float(known.dispersion[int(number >= bots)])
        found.append(
            Estimate(value, half, ">" if won else "<", *_bound(arrays, number, won, strength, dispersion))
        )
    return found


def _points(games: Sequence[GroupedGames], size: int) -> tuple[Floats, Floats]:
    """Counts the games played and the points scored for each parameter: in a game, the share of the others
    beaten.
    """
    played, scored = np.zeros(size), np.zeros(size)
    for batch in games:
        ranks = np.array(batch.ranks)
        beaten = (ranks[:, None] < ranks).sum(axis=1) + ((ranks[:, None] == ranks).sum(axis=1) - 1) / 2
        for parameters in members(batch):
            for seat, share in enumerate(beaten / (len(ranks) - 1)):
                played += np.bincount(parameters[:, seat], batch.times, size)
                scored += np.bincount(parameters[:, seat], share * batch.times, size)
    return played, scored


def _bound(
    arrays: Arrays, parameter: int, won: bool, strength: Floats, dispersion: float
) -> tuple[float, Floats]:
    """Computes how far the strength of a bot or seat that won all its games (or else lost them all) can be
    moved from the fitted one, until it would do so once in twenty times; and how far that end moves with each
    parameter.

    Games that are copies of each other count once. A dispersion above 1 weakens all evidence by as much.
    """
    terms = []
    for games in arrays.games:
        utility, sides = utilities(games, strength), members(games)
        rows, seats = np.nonzero(np.logical_or.reduce([side == parameter for side in sides]))
        for seat in np.unique(seats):
            own = rows[seats == seat]
            for others, weight in drawn_with(games.ranks, int(seat)).items():
                rest = utility[own][:, others]
                most = rest.max(axis=1, keepdims=True)
                chance = np.exp(rest - most)
                total = chance.sum(axis=1, keepdims=True)
                gap = (most + np.log(total))[:, 0] - utility[own, seat]
                against = [side[own][:, others] for side in sides]
                terms.append((gap, weight, chance / total, against, [side[own, seat] for side in sides]))
    limit = -math.log(1 - CERTAIN) * max(1.0, dispersion)
    sign = 1.0 if won else -1.0
    near, far = -sign * _FARTHEST, sign * _FARTHEST  # at the one it is unlikely, at the other all but certain
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        if sum(weight * np.logaddexp(0, sign * (gap - middle)).sum() for gap, weight, *_ in terms) > limit:
            near = middle
        else:
            far = middle
    leaning, total_steep = np.zeros(arrays.size), 0.0
    for gap, weight, share, against, seated in terms:
        steep = weight / (1 + np.exp(np.clip(-sign * (gap - far), -700, 700)))
        total_steep += float(steep.sum())
        for others, self in zip(against, seated, strict=True):
            np.add.at(leaning, others, steep[:, None] * share)
            np.add.at(leaning, self, -steep)
    leaning[parameter] = 0.0
    return far, leaning / total_steep


def from_mean(found: Estimate, number: int, peers: Integers, known: Uncertainty) -> float:
    """The bound of an estimate, less the mean of the parameters that it is one of, in natural units.

    The parameters that it depends on are not known exactly either; it keeps off as far as is 95 % certain.
    """
    leaning = found.leaning * (1 - 1 / len(peers))
    leaning[peers[peers != number]] -= 1 / len(peers)
    error = math.sqrt(max(0.0, float(leaning @ known.covariance @ leaning)))
    sign = 1 if found.bound == ">" else -1
    return found.value + found.shift * (1 - 1 / len(peers)) - sign * Z_BOUND * error
