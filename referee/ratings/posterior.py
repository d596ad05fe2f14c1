"""What games say of strengths, given a prior whose spread is not known: a mixture over families and spreads.

For each family of priors (`ratings/prior.py`) and some spreads σ, the *nodes*, the posterior is approximated
at its mode, and the node gets a weight by its evidence, the integral over the strengths:

- By Laplace's method with its next term, which is made of third and fourth derivatives: with few games, the
  evidence would be wrong without. Nodes are evenly spaced in ln σ, and beyond the last ones on either side
  the weight is negligible. (H. Rue, S. Martino, N. Chopin, "Approximate Bayesian inference for latent
  Gaussian models", 2009.)
- The ends of an interval of a strength or a difference c are quantiles of the mixture over the nodes. At a
  node with little skewness, c is normal but for its mean and third moment. Else its density is that of the
  posterior along the line of the most likely strengths for each c, tilted so that its mean is right to the
  same order as the evidence. Such an interval is lopsided: a bot that won everything may be any stronger.
- The point is the mean of the modes. The mean of the posterior would overrate the best of a ladder.

The choice of who meets whom by earlier results does not change a likelihood, so all this holds for a league
and a Swiss, where it would not for strengths fitted with a prior of fixed width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from referee.ratings.likelihood import Derivatives, Floats, Integers, Likelihood, climbed
from referee.ratings.prior import MIN_CLUSTERED, SPREAD, Prior, of_spread
from referee.ratings.two import ELO

FIRST_SPREAD = 200 / ELO  # the spread at which the search for likely ones starts

SMALLEST_WEIGHT = 0.002  # nodes with less weight are left out

_SEARCHES = 3
_GRIDS = ((16, 13, 0.9), (40, 9, 0.9), (128, 5, 1.3), (400, 3, 1.5), (10**9, 1, 0.0))
"""Up to so many bots, the number of nodes of a family before it is known where more are needed, and how many
standard deviations of ln σ lie between them. Large pools tell their spread, and are worth fewer nodes.
"""

_MOST_CLUSTERED = 128  # number of bots up to which they may be in two clusters: more tell by themselves

_FEWEST = 5  # with fewer nodes than this, none are added

_MOST = 24
_NEGLIGIBLE = math.log(SMALLEST_WEIGHT)
_MOST_CORRECTION = 3.0
_FLOOR, _LAST_FLOOR = 0.3, 0.02
"""By how much at least a heavy tail bends: while the mode is searched, and there."""

SHARES = (0.025, 0.975)  # what lies below the ends of an interval

_HALVINGS = 50
_GRIDS_OF_QUANTILES = 4
_LITTLE_SKEWNESS = 0.25  # more than this needs the density itself

_MOST_TILT = 0.5
_MANY = 64  # with more parameters, likelihoods of superiority are taken as those of normal distributions

_CHUNK = 2_000_000  # numbers in an array that is made for a part of the contrasts at a time

_SMALL_CHUNK = 200_000  # the same for a part of the nodes: more would not fit in a processor's cache


class _Nodes(NamedTuple):
    """Nodes of one family."""

    prior: Prior
    modes: Floats
    covariance: Floats
    shift: Floats  # by how much the mean differs from the mode, by parameter
    twice: Floats  # third derivatives by two bots, as in `HigherDerivatives`
    evidence: Floats  # the logarithm of the evidence by ln σ, with the prior's density of σ


class _Center(NamedTuple):
    """The posterior at a likely spread."""

    prior: Prior
    mode: Floats
    covariance: Floats
    precision: float  # of ln σ


class Posterior:
    """The posterior of all parameters of a pool."""

    def __init__(self, likelihood: Likelihood, parts: list[tuple[_Nodes, Floats]]) -> None:
        """The nodes of each family have weights, which add up to 1."""
        self._likelihood = likelihood
        self._parts = parts
        self.point: Floats = np.sum([weight @ nodes.modes for nodes, weight in parts], axis=0)
        """The parameters, as estimated."""

    @property
    def spread(self) -> float:
        """The estimated standard deviation of the strengths of the bots."""
        bots = self._likelihood.bots
        found = 0.0
        for nodes, weights in self._parts:
            modes, known = nodes.modes[:, :bots], nodes.covariance[:, :bots, :bots]
            square = bots * modes.var(axis=1) + np.einsum("kii->k", known) - known.sum(axis=(1, 2)) / bots
            found += float(weights @ np.sqrt(square / (bots - 1)))
        return found

    def intervals(self, contrasts: Floats) -> Floats:
        """The ends of the 95 % intervals of these combinations of parameters, the rows; by row and end."""
        found = np.zeros((len(contrasts), 2))
        for rows in self._chunks(len(contrasts)):
            found[rows] = self._intervals(contrasts[rows])
        return found

    def superiority(self, one: Integers, other: Integers) -> Floats:
        """How likely each of these parameters is greater than the other one."""
        found = np.zeros(len(one))
        if len(self.point) > _MANY:
            for nodes, weights in self._parts:
                for node, weight in enumerate(weights):
                    means, known = nodes.modes[node] + nodes.shift[node], nodes.covariance[node]
                    variance = known[one, one] + known[other, other] - 2 * known[one, other]
                    found += weight * normal_cdf((means[one] - means[other]) / np.sqrt(variance))
            return found
        unit = np.eye(len(self.point))
        for rows in self._chunks(len(one)):
            found[rows] = self._positive(unit[one[rows]] - unit[other[rows]])
        return np.clip(found, 0.0, 1.0)  # the approximation of a distribution may overshoot a little

    def _chunks(self, rows: int) -> Iterator[slice]:
        nodes = sum(len(weights) for _, weights in self._parts)
        length = max(1, _CHUNK // (len(self.point) * nodes))
        return (slice(start, start + length) for start in range(0, rows, length))

    def _intervals(self, contrasts: Floats) -> Floats:
        lines, mixture = self._lines(contrasts)
        found = mixture.intervals()
        for number in mixture.skewed(_LITTLE_SKEWNESS):
            table = self._table(lines, contrasts[number], number, _POINTS)
            found[number] = table.interval(mixture.weights)
        return found

    def _positive(self, contrasts: Floats) -> Floats:
        lines, mixture = self._lines(contrasts)
        found = 1 - mixture.below(np.zeros(len(contrasts)))
        for number in mixture.skewed(_LITTLE_SKEWNESS):
            table = self._table(lines, contrasts[number], number, _FEW_POINTS)
            found[number] = 1 - table.mixed(mixture.weights, np.zeros(1))[0]
        return found

    def _lines(self, contrasts: Floats) -> tuple[list[_Line], _Mixture]:
        lines = [_Line.of(nodes, contrasts) for nodes, _ in self._parts]
        weights = np.concatenate([weight for _, weight in self._parts])
        mean, error, skewness = (
            np.concatenate([getattr(line, name) for line in lines]) for name in ("mean", "error", "skewness")
        )
        return lines, _Mixture(weights, mean, error, skewness)

    def _table(self, lines: list[_Line], contrast: Floats, number: int, points: Floats) -> _Table:
        """The distribution of the contrast with this number, by node. The points are in standard errors from
        the mode.
        """
        tables = [
            self._profile(nodes, line, contrast, number, points)
            for (nodes, _), line in zip(self._parts, lines, strict=True)
        ]
        return _Table(*(np.concatenate(parts) for parts in zip(*tables, strict=True)))

    def _profile(self, nodes: _Nodes, line: _Line, contrast: Floats, number: int, points: Floats) -> _Table:
        """The same of the nodes of one family."""
        direction, error = line.direction[:, number], line.error[:, number]
        steps = error[:, None] * points
        value, third = self._likelihood.along(nodes.modes, direction, steps)
        moved = nodes.modes[:, None] + steps[..., None] * direction[:, None]
        value += nodes.prior.density(moved)
        own, _ = nodes.prior.higher(nodes.modes)
        bots = nodes.prior.bots
        third += (own * direction[:, :bots] ** 3).sum(axis=1)
        center = nodes.modes @ contrast
        tilt = (line.mean[:, number] - center - third * error**4 / 2) / error
        tilt /= np.sqrt(1 + (tilt / _MOST_TILT) ** 2)
        value += tilt[:, None] * np.clip(points, -3, 3)
        density = np.exp(value - value.max(axis=1, keepdims=True))
        return _Table.of(center[:, None] + steps, density)


class _Table(NamedTuple):
    """Distributions at some points, by node and point."""

    points: Floats
    below: Floats
    density: Floats

    @classmethod
    def of(cls, points: Floats, density: Floats) -> _Table:
        """From densities that are not yet normalized, by the trapezoidal rule with its first correction."""
        width = np.diff(points, axis=1)
        slope = np.gradient(density, axis=1) / np.gradient(points, axis=1)
        pieces = width / 2 * (density[:, 1:] + density[:, :-1]) - width**2 / 12 * np.diff(slope, axis=1)
        below = np.concatenate([np.zeros((len(points), 1)), np.cumsum(pieces, axis=1)], axis=1)
        total = below[:, -1:]
        return cls(points, below / total, density / total)

    def mixed(self, weights: Floats, at: Floats) -> Floats:
        """The distribution function of the mixture, by cubic interpolation."""
        last = self.points.shape[1] - 1
        left = np.clip((self.points[:, :, None] < at).sum(axis=1), 1, last) - 1
        (start, low, first), (end, high, second) = (
            [np.take_along_axis(part, place, axis=1) for part in self] for place in (left, left + 1)
        )
        width = end - start
        t = np.clip((at - start) / width, 0, 1)
        value = low * (1 + 2 * t) * (1 - t) ** 2 + high * t**2 * (3 - 2 * t)
        value += width * t * (1 - t) * (first * (1 - t) - second * t)
        return np.asarray(weights @ value)

    def interval(self, weights: Floats) -> tuple[float, ...]:
        """The ends of the 95 % interval of the mixture."""
        ends = []
        for share in SHARES:
            places = np.clip((self.below < share).sum(axis=1), 1, self.below.shape[1] - 1)
            nodes = np.arange(len(places))
            low = float(self.points[nodes, places - 1].min())
            high = float(self.points[nodes, places].max())
            for _ in range(_GRIDS_OF_QUANTILES):
                grid = np.linspace(low, high, 21)
                place = int(np.clip(np.searchsorted(self.mixed(weights, grid), share), 1, 20))
                low, high = float(grid[place - 1]), float(grid[place])
            ends.append((low + high) / 2)
        return tuple(ends)


class _Line(NamedTuple):
    """The most likely parameters for each value of each of some contrasts, by node and contrast."""

    direction: Floats  # how they change with the contrast, by parameter
    error: Floats  # the standard error of the contrast
    mean: Floats
    skewness: Floats

    @classmethod
    def of(cls, nodes: _Nodes, contrasts: Floats) -> _Line:
        """The lines of the contrasts, which are rows."""
        along = contrasts @ nodes.covariance
        variance = np.einsum("kqi,qi->kq", along, contrasts)
        direction = along / variance[..., None]
        own = direction[..., : nodes.prior.bots]
        square = own**2
        diagonal = np.einsum("kii->ki", nodes.twice)
        third = 3 * np.einsum("kqi,kqi->kq", square @ nodes.twice, own)
        third -= 2 * np.einsum("kqi,ki->kq", square * own, diagonal)
        error = np.sqrt(variance)
        mean = (nodes.modes + nodes.shift) @ contrasts.T
        return cls(direction, error, mean, third * error**3)


_POINTS: Floats = 40 * np.sinh(np.linspace(-4, 4, 61)) / math.sinh(4)
"""Where a density is computed, in standard errors: closer where there is more of it."""

_FEW_POINTS: Floats = 20 * np.sinh(np.linspace(-3.5, 3.5, 29)) / math.sinh(3.5)
"""The same where only the side of 0 matters."""


def posterior(
    likelihood: Likelihood, factor: Callable[[Floats, Floats], float] = lambda modes, covariance: 1.0
) -> Posterior:
    """The posterior by a likelihood, whose counts are divided by a factor: of strengths and their covariance,
    which are of a first fit.
    """
    bots, size = likelihood.bots, likelihood.size
    alone = np.zeros((bots, 0))
    first = _centered(likelihood, alone, FIRST_SPREAD, np.zeros(size))
    likelihood = likelihood.times(1 / factor(first.mode, first.covariance))
    first = _centered(likelihood, alone, float(first.prior.spread[0]), first.mode)
    normal = _explored(likelihood, first, is_heavy=False)
    families = [(normal, 0.0), (_explored(likelihood, first, is_heavy=True), 0.0)]
    if MIN_CLUSTERED <= bots <= _MOST_CLUSTERED:
        best = max(normal, key=lambda nodes: nodes.evidence.max())
        at = int(best.evidence.argmax())
        for sides, share in _splits(best.modes[at, :bots], best.covariance[at, :bots, :bots]):
            start = _centered(likelihood, sides, float(first.prior.spread[0]) / 2, best.modes[at])
            families.append((_explored(likelihood, start, is_heavy=False), share))
    return Posterior(likelihood, _weighed(families))


def _weighed(families: list[tuple[list[_Nodes], float]]) -> list[tuple[_Nodes, Floats]]:
    """The nodes of the families, each with the logarithm of its share, with weights."""
    rows = []
    for batches, share in families:
        spreads = np.sort(np.concatenate([np.log(nodes.prior.spread) for nodes in batches]))
        spacing = (spreads[-1] - spreads[0]) / (len(spreads) - 1) if len(spreads) > 1 else 1.0
        rows += [(nodes, nodes.evidence + share + math.log(spacing)) for nodes in batches]
    most = max(evidence.max() for _, evidence in rows)
    total = sum(np.exp(evidence - most).sum() for _, evidence in rows)
    found = []
    for nodes, evidence in rows:
        weights = np.exp(evidence - most) / total
        kept = weights >= SMALLEST_WEIGHT
        if kept.any():
            prior = nodes.prior._replace(spread=nodes.prior.spread[kept])
            found.append((_Nodes(prior, *(part[kept] for part in nodes[1:])), weights[kept]))
    total = sum(weights.sum() for _, weights in found)
    return [(nodes, weights / total) for nodes, weights in found]


def _explored(likelihood: Likelihood, start: _Center, is_heavy: bool) -> list[_Nodes]:
    """Nodes of a family, evenly spaced around a likely spread, with all that matter."""
    points, spacing = next((points, spacing) for most, points, spacing in _GRIDS if likelihood.bots <= most)
    step = spacing / math.sqrt(max(start.precision, 0.5))

    def nodes(first: int, last: int) -> _Nodes:
        spread = start.prior.spread[0] * np.exp(step * np.arange(first, last + 1))
        prior = start.prior._replace(spread=spread, is_heavy=is_heavy)
        return _solved(likelihood, prior, np.tile(start.mode, (len(spread), 1)))

    low, high = -(points // 2), points // 2
    found = [nodes(low, high)]
    while points >= _FEWEST and high - low < _MOST:
        best = max(float(each.evidence.max()) for each in found)
        if found[0].evidence[0] > best + _NEGLIGIBLE:
            found.insert(0, nodes(low - 3, low - 1))
            low -= 3
        elif found[-1].evidence[-1] > best + _NEGLIGIBLE:
            found.append(nodes(high + 1, high + 3))
            high += 3
        else:
            break
    return found


def _centered(likelihood: Likelihood, sides: Floats, spread: float, start: Floats) -> _Center:
    """A likely spread, found by expectation and maximization, and the posterior there."""
    bots, modes = likelihood.bots, start[None]
    within = np.eye(bots)  # strengths less the mean of their cluster, of which the prior says nothing
    for side in sides.T:
        within -= np.outer(side, side) / side.sum()
    free = bots - sides.shape[1]
    for _ in range(_SEARCHES):
        prior = Prior(np.array([spread]), sides)
        modes, precision, _ = _climbed(likelihood, prior, modes)
        covariance = np.linalg.inv(precision)[0]
        known = within @ covariance[:bots, :bots] @ within if sides.size else covariance[:bots, :bots]
        strength = within @ modes[0, :bots]
        told = free - 2 * known.trace() / spread**2 + (known**2).sum() / spread**4
        square = float(strength @ strength + known.trace())
        # The root of the derivative by ln σ of the density of strengths with this sum of squares and σ's.
        for _ in range(20):
            slope = 2 - free + square / spread**2 - spread / SPREAD
            slope /= 2 * square / spread**2 + spread / SPREAD
            spread *= math.exp(max(-1.0, min(1.0, slope)))
    return _Center(Prior(np.array([spread]), sides), modes[0], covariance, 2 * told + spread / SPREAD)


def _solved(likelihood: Likelihood, prior: Prior, start: Floats) -> _Nodes:
    """The nodes of these spreads."""
    numbers = max(likelihood.size**2, *(len(stages.weight) for stages in likelihood.stages))
    chunk = max(1, _SMALL_CHUNK // numbers)
    parts = [
        _solve(likelihood, prior._replace(spread=prior.spread[at : at + chunk]), start[at : at + chunk])
        for at in range(0, len(start), chunk)
    ]
    if len(parts) == 1:
        return parts[0]
    return _Nodes(
        prior, *(np.concatenate([part[i] for part in parts]) for i in range(1, len(_Nodes._fields)))
    )


def _climbed(likelihood: Likelihood, prior: Prior, start: Floats) -> tuple[Floats, Floats, Floats]:
    """The modes, and the negative second derivatives and the logarithm of the density there."""

    def derive(parameters: Floats) -> Derivatives:
        found = likelihood.derivatives(parameters)
        return Derivatives(
            found.value + prior.density(parameters),
            found.gradient + prior.gradient(parameters),
            found.information + prior.precision(parameters, _FLOOR),
        )

    modes, at = climbed(derive, start)
    precision = at.information
    if prior.is_heavy:
        precision = precision + prior.precision(modes, _LAST_FLOOR) - prior.precision(modes, _FLOOR)
    return modes, precision, at.value


def _solve(likelihood: Likelihood, prior: Prior, start: Floats) -> _Nodes:
    bots = likelihood.bots
    modes, precision, value = _climbed(likelihood, prior, start)
    covariance: Floats = np.linalg.inv(precision).astype(np.float64, copy=False)
    _, volume = np.linalg.slogdet(precision)
    higher = likelihood.higher(modes, covariance)
    third, fourth = prior.higher(modes)
    own = np.einsum("kii->ki", covariance)[:, :bots]
    pull, twice = higher.third, higher.twice
    pull[:, :bots] += third * own
    np.einsum("kii->ki", twice)[...] += third
    shift = np.einsum("kij,kj->ki", covariance, pull) / 2
    correction = higher.fourth + (fourth * own**2).sum(axis=1)
    correction = correction / 8 + (pull * shift).sum(axis=1) / 4
    correction += _cubes(twice, covariance[:, :bots, :bots]) / 12
    evidence = value - volume / 2 + np.clip(correction, -_MOST_CORRECTION, _MOST_CORRECTION)
    return _Nodes(prior, modes, covariance, shift, twice, evidence + of_spread(prior.spread))


def _cubes(twice: Floats, covariance: Floats) -> Floats:
    """Σ κ₃ᵢⱼₖ κ₃ₗₘₙ Cᵢₗ Cⱼₘ Cₖₙ without the derivatives by three bots or by seats, which games of two do not
    have or which matter little.
    """
    diagonal = np.einsum("kii->ki", twice).copy()
    mixed = twice.copy()
    np.einsum("kii->ki", mixed)[...] = 0
    once = mixed @ covariance
    square = covariance**2
    # Products of whole matrices would fill the memory where there are many bots.
    both = 3 * np.einsum("kij,kij->k", square, once @ mixed.transpose(0, 2, 1))
    both += 6 * np.einsum("kij,kij,kji->k", covariance, once, once)
    one = 6 * np.einsum("ki,kci,kci->k", diagonal, square, once)
    alone = np.einsum("ki,kij,kj->k", diagonal, square * covariance, diagonal)
    return np.asarray(both + one + alone)


def _splits(strength: Floats, covariance: Floats) -> list[tuple[Floats, float]]:
    """The two splits of the order of the bots that separate clusters best, each with the logarithm of its
    share in the prior; more if there are ties, so that names do not matter.
    """
    order, count = np.argsort(strength, kind="stable"), len(strength)
    sorted_ = strength[order] - strength.mean()
    sums, squares = np.cumsum(sorted_), np.cumsum(sorted_**2)
    scores = []
    for size in range(1, count):
        if sorted_[size] - sorted_[size - 1] < 1e-6:
            continue
        rest = count - size
        within = squares[-1] - sums[size - 1] ** 2 / size - (sums[-1] - sums[size - 1]) ** 2 / rest
        ways = math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(rest + 1)
        share = -ways - math.log(count - 1)
        scores.append((-count / 2 * math.log(within + covariance.trace() / 2) + share, size, share))
    scores.sort(reverse=True)
    found = []
    for number, (score, size, share) in enumerate(scores):
        if number >= 2 and score < scores[1][0] - 1e-6:
            break
        side = np.zeros(count)
        side[order[:size]] = 1
        found.append((np.column_stack([side, 1 - side]), share))
    return found


class _Mixture(NamedTuple):
    """Mixtures of distributions that are normal but for a little skewness, by node and contrast."""

    weights: Floats
    mean: Floats
    error: Floats
    skewness: Floats

    def skewed(self, limit: float) -> list[int]:
        """The contrasts with more skewness than this at some node."""
        found: list[int] = np.flatnonzero(np.abs(self.skewness).max(axis=0) > limit).tolist()
        return found

    def below(self, points: Floats) -> Floats:
        """The distribution functions, each at one point: Edgeworth's expansion to its first term."""
        z = (points - self.mean) / self.error
        tail = self.skewness / 6 * (z**2 - 1) * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        return np.asarray(self.weights @ np.clip(normal_cdf(z) - tail, 0, 1))

    def intervals(self) -> Floats:
        """The ends of the 95 % intervals."""
        ends = []
        for share in SHARES:
            low, high = (self.mean - 8 * self.error).min(axis=0), (self.mean + 8 * self.error).max(axis=0)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                is_below = self.below(middle) < share
                low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
            ends.append((low + high) / 2)
        return np.column_stack(ends)


def normal_cdf(z: Floats) -> Floats:
    """The distribution function of the normal distribution, within 1e-7.

    M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.2.17.
    """
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    upper = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * series
    return np.where(z > 0, 1 - upper, upper)
