"""What games say of strengths: draws from the posterior, given a prior whose spread is not known.

Three families are equally likely: strengths are normal; they have heavy tails (Student's distribution with
four degrees of freedom), for pools with a bot or two that are far from the others; or they come in two
clusters, each with a center of its own. The spread σ has the density σ·e^(−σ/150 Elo), and each seat a normal
advantage. Nothing here says where a pool lies, since only
differences matter. (A. Gelman et al., Bayesian Data Analysis, chapter 5, on priors with parameters.)

- For each family and some spreads, the *nodes*, which are evenly spaced in ln σ, Newton's method finds the
  mode x of the posterior and the covariance C = H⁻¹ there. Draws are proposed around x with C.
- The first draws tell the evidence of each node, the integral over the strengths, by the mean and half the
  variance of the logarithms of their weights, which are likelihood × prior ÷ density of the proposal. Later
  draws are divided among the nodes by this. They also tell what later draws need:
  - Where weights hardly differ, since there are many games for each bot, they are left out.
  - Else draws are drawn again by their weights. (A. Gelman et al., chapter 10, on importance sampling.)
  - Where few of them have most of the weight, Markov chains begin at some, which are chosen by their weights:
    from where the posterior is all but 0, chains hardly get away. One step is of Hamiltonian Monte Carlo
    (R. Neal, "MCMC using Hamiltonian dynamics", 2011), one stretches the spread and all strengths with it,
    and one draws the node, given the strengths.
- Intervals are quantiles of the draws, and likelihoods of superiority and of ranks shares of them. The point
  is the mean of the modes; the mean of the posterior would overrate the best of a ladder.

The choice of who meets whom by earlier results does not change a likelihood, so all this holds for a league
and a Swiss, where it would not for strengths fitted with a prior of fixed width.

The random numbers are the same each time. They go to bots by their place in the order of strengths, from the
best on and from the last one, and not by name. But of bots of equal strength names decide the order, and
their intervals differ by the error of the simulation: the ends of an interval by some 2 % of its width.

The intervals of the advantages of seats follow from how often games of a cluster go the same way for a
seat, as they do where they share an opening; those of bots follow from how often they do for the bots.

All games of a pool tell of a few seats, so their posterior is nearly normal, and hardly depends on what is
assumed of the bots: one spread will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.dispersion import dispersion
from referee.ratings.likelihood import Arrays, Derivatives, Floats, Integers, Likelihood, climbed, maximum
from referee.ratings.two import ELO, Z_95

SPREAD = 150 / ELO  # the scale of the density of σ, which is most likely there; its mean is twice as much
SEAT = 100 / ELO  # the standard deviation of the advantage of a seat
APART = 600 / ELO  # the standard deviation of the center of each of two clusters
SHARES = (0.025, 0.975)  # what lies below the ends of an interval

DRAWS = 10_000
_ALIKE_DRAWS = 4  # how many draws are made of the same numbers
_FIRST = 60  # draws of each node by which the rest is decided
_ALIKE, _UNEVEN = 0.003, 10.0
"""The variance of the logarithms of weights, for each parameter, below which weights are left out; and by how
many draws there are for each effective one, above which draws are moved in place of being weighed.
"""
_SKEWED = 1.0  # a greater variance tells nothing of the evidence

_CHAINS, _DISCARDED, _KEPT = 250, 40, 30
"""How many draws are moved how often, before and after they are in equilibrium."""
_LEAPS, _LEAP = 2, 0.8  # steps of a move, and the length of one in standard deviations

_FIRST_SPREAD = 200 / ELO
_SEARCHES = 3
_GRIDS = ((40, 13, 0.9), (128, 7, 1.2), (10**9, 1, 0.0))
"""Up to so many bots, the number of nodes of a family, and how many standard deviations of ln σ lie between
them. Large pools tell their spread.
"""
_CLUSTERED = range(4, 129)  # numbers of bots that may be in two clusters; more tell by themselves
_FREEDOM = 4.0
_NORMALIZER = math.lgamma(2.5) - math.lgamma(2.0) - math.log(_FREEDOM * math.pi) / 2
_FLOOR = 0.3  # how much at least a heavy tail bends, as a share of what a normal that touches it does


class Prior(NamedTuple):
    """A prior of all parameters, by row: of a node or a draw."""

    spread: Floats  # the σ of each row
    is_heavy: NDArray[np.bool_]  # whether the tails of each row are heavy
    sides: Floats  # by row and bot, 1 for those of one cluster, 0 for those of the other one
    apart: Floats  # the standard deviation of the centers of these clusters; 0 where there are none
    share: Floats  # the logarithm of the share of each row in the prior, but for a constant

    @classmethod
    def of(
        cls, spread: Floats, bots: int, is_heavy: bool = False, side: Floats | None = None, share: float = 0.0
    ) -> Prior:
        """That of one family with these spreads; `side` says which bots are in one of two clusters."""
        rows = len(spread)
        sides = np.zeros((rows, bots)) if side is None else np.tile(side, (rows, 1))
        apart = np.full(rows, 0.0 if side is None else APART)
        return cls(spread, np.full(rows, is_heavy), sides, apart, np.full(rows, share))

    @property
    def bots(self) -> int:
        """How many of the parameters are strengths of bots."""
        return len(self.sides[0])

    def density(self, parameters: Floats) -> Floats:
        """The logarithm of the density, and of that of ln σ, but for a constant that all rows share. With a
        further axis of parameters, of length 1, before that of the parameters themselves: for each, of all
        rows.
        """
        of_bots, seats = parameters[..., : self.bots], parameters[..., self.bots :]
        found = self.share + (2 - self.bots) * np.log(self.spread) - self.spread / SPREAD
        found = found - _products(seats, seats) / (2 * SEAT**2)
        heavy = np.flatnonzero(self.is_heavy)
        found -= np.where(self.is_heavy, 0, _products(of_bots, of_bots) / (2 * self.spread**2))
        tailed = np.broadcast_to(of_bots, (*found.shape, self.bots))[..., heavy, :] ** 2
        tailed /= self._tail[heavy]
        found[..., heavy] -= 5 / 2 * np.log1p(tailed, out=tailed).sum(axis=-1)
        found[..., heavy] += self.bots * (_NORMALIZER + math.log(2 * math.pi) / 2)
        for cluster, shared, odds in self._clusters():
            found += shared * _products(of_bots, cluster) ** 2 / 2 - np.log(odds) / 2
        return np.asarray(found)

    def _clusters(self) -> list[tuple[Floats, Floats, Floats]]:
        """Of each cluster, by row: its bots; how much less precise each two of them are, for they share a
        center; and how much wider their sum is.
        """
        found = []
        for cluster in (self.sides, 1 - self.sides):
            odds = 1 + cluster.sum(axis=1) * (self.apart / self.spread) ** 2
            found.append((cluster, self.apart**2 / (self.spread**4 * odds), odds))
        return found

    def gradient(self, parameters: Floats) -> Floats:
        """The derivatives of the logarithm of the density, by row and parameter."""
        found = -parameters / SEAT**2
        of_bots = parameters[:, : self.bots]
        tail = np.where(self.is_heavy[:, None], (self._tail + of_bots**2) / 5, self._variance)
        found[:, : self.bots] = -of_bots / tail
        for cluster, shared, _ in self._clusters():
            found[:, : self.bots] += (shared * (of_bots * cluster).sum(axis=1))[:, None] * cluster
        return found

    def precision(self, parameters: Floats, floor: float = _FLOOR) -> Floats:
        """The negative second derivatives by row and two parameters. Those of heavy tails, which can be
        negative, are at least this share of what they are at most in a normal that touches the tail.
        """
        matrices = np.zeros((*parameters.shape, parameters.shape[1]))
        found = np.einsum("kii->ki", matrices)
        found[...] = 1 / SEAT**2
        square = parameters[:, : self.bots] ** 2
        total = self._tail + square
        heavy = np.maximum(5 * (self._tail - square) / total**2, floor * 5 / total)
        found[:, : self.bots] = np.where(self.is_heavy[:, None], heavy, 1 / self._variance)
        for cluster, shared, _ in self._clusters():
            alike = cluster[:, :, None] * cluster[:, None]
            matrices[:, : self.bots, : self.bots] -= shared[:, None, None] * alike
        return matrices

    def only(self, rows: Integers) -> Prior:
        """That of these rows."""
        return Prior(
            self.spread[rows], self.is_heavy[rows], self.sides[rows], self.apart[rows], self.share[rows]
        )

    @property
    def _variance(self) -> Floats:
        return np.asarray(self.spread[:, None] ** 2)

    @property
    def _tail(self) -> Floats:
        return np.asarray(_FREEDOM * self._variance)


class _Nodes(NamedTuple):
    """Nodes at the modes of their posteriors."""

    prior: Prior
    modes: Floats
    covariances: Floats
    family: Integers  # the number of the family of each

    @classmethod
    def together(cls, families: list[_Nodes]) -> _Nodes:
        """Those of several families."""
        spread, is_heavy, sides, apart, share = (
            np.concatenate([nodes.prior[at] for nodes in families]) for at in range(5)
        )
        family = np.repeat(np.arange(len(families)), [len(nodes.modes) for nodes in families])
        modes, covariances = (np.concatenate([nodes[at] for nodes in families]) for at in (1, 2))
        prior = Prior(spread, is_heavy.astype(bool), sides, apart, share)
        return cls(prior, modes, covariances, family)


class Posterior:
    """The posterior of all parameters of a pool, as draws."""

    def __init__(self, point: Floats, draws: Floats, bots: int) -> None:
        self.point = point  # the parameters, as estimated
        self._draws: Floats = np.ascontiguousarray(draws.T)  # by parameter and draw
        self.spread = float(draws[:, :bots].std(axis=1, ddof=1).mean())
        """The estimated standard deviation of the strengths of the bots."""

    def intervals(self, contrasts: Floats) -> Floats:
        """The ends of the 95 % intervals of these combinations of parameters, the rows; by row and end."""
        return np.quantile(contrasts @ self._draws, SHARES, axis=1).T

    def superiority(self, one: Integers, other: Integers) -> Floats:
        """How likely each of these parameters is greater than the other one."""
        draws = self._draws
        greater = [np.count_nonzero(draws[a] > draws[b]) for a, b in zip(one, other, strict=True)]
        return np.array(greater) / len(draws[0])

    def ranks(self, bots: Integers) -> Integers:
        """The lowest and the highest rank that each of these bots may have among them: by bot and end."""
        order = np.argsort(-self._draws[bots].T, axis=1)
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(1, len(bots) + 1)[None], axis=1)
        return np.quantile(places, SHARES, axis=0, method="inverted_cdf").T.astype(np.int64)


def posterior(
    likelihood: Likelihood, factor: Callable[[Floats, Floats], float] = lambda modes, covariance: 1.0
) -> Posterior:
    """The posterior by a likelihood, whose counts are divided by a factor: of strengths and their covariance,
    which are of a first fit.
    """
    bots, size = likelihood.bots, likelihood.size
    first = _centered(likelihood, _FIRST_SPREAD, np.zeros(size))
    likelihood = likelihood.times(1 / factor(first.mode, first.covariance))
    normal = _centered(likelihood, first.spread, first.mode)
    families = [_nodes(likelihood, normal), _nodes(likelihood, normal, is_heavy=True)]
    if bots in _CLUSTERED:
        for side, share in _splits(normal.mode[:bots], normal.covariance[:bots, :bots]):
            center = _centered(likelihood, normal.spread / 2, normal.mode, side)
            families.append(_nodes(likelihood, center, share=share))
    order = np.argsort(-normal.mode[:bots].round(6), kind="stable")
    nodes = _Nodes.together(families)
    return _Sampler(likelihood, nodes, np.concatenate([order, np.arange(bots, size)])).posterior()


class _State(NamedTuple):
    """Where draws are, with the logarithm of the likelihood and its gradient there."""

    parameters: Floats
    value: Floats
    gradient: Floats


class _Sampler:
    """Makes draws, which begin in distributions around the modes of nodes."""

    def __init__(self, likelihood: Likelihood, nodes: _Nodes, order: Integers) -> None:
        """The parameters get their random numbers in this order."""
        self._likelihood, self._nodes, self._order = likelihood, nodes, order
        self._rng = np.random.default_rng(1)
        self._roots = np.array([_root(covariance) for covariance in nodes.covariances])
        self._freedom = 10 + likelihood.size**2 / 4
        """Of Student's distribution: it has a little heavier tails than the normal distribution, and in many
        dimensions almost none.
        """

    def posterior(self) -> Posterior:
        """The posterior of the nodes together."""
        modes, bots = self._nodes.modes, self._likelihood.bots
        count = len(modes)
        first, weights = self._drawn(
            np.repeat(np.arange(count), _FIRST), np.tile(self._tailed(_FIRST), (count, 1))
        )
        logarithms = (weights + self._likelihood.value(first)).reshape(count, _FIRST)
        variance = logarithms.var(axis=1)
        share = _normalized(logarithms.mean(axis=1) + np.minimum(variance, _SKEWED) / 2)
        is_alike = float(share @ variance) < _ALIKE * modes.shape[1]
        number = DRAWS // 2 if is_alike else DRAWS
        node = np.repeat(self._chosen_by(share, number // _ALIKE_DRAWS), _ALIKE_DRAWS)
        draws, weights = self._drawn(node, self._tailed(number))
        shares = np.full(number, 1 / number)
        if not is_alike:
            weights += self._likelihood.value(draws) - np.log(share[node])
            shares = _normalized(weights)
            if (shares**2).sum() * number > _UNEVEN:
                return self._moved(draws, node, weights)
            draws = draws[self._chosen_by(shares, number)]
        return Posterior(np.bincount(node, shares, count) @ modes, draws, bots)

    def _chosen_by(self, share: Floats, count: int) -> Integers:
        """So many numbers of shares, each as often as its share says, in no order."""
        places = (self._rng.permutation(count) + 0.5) / count
        return np.minimum(np.searchsorted(np.cumsum(share), places), len(share) - 1)

    def _drawn(self, node: Integers, numbers: Floats) -> tuple[Floats, Floats]:
        """Draws around the modes of these nodes, and the logarithms of prior by density, but for the same
        constant.
        """
        volumes = np.linalg.slogdet(self._roots)[1]
        draws = self._nodes.modes[node] + self._rooted(_rows_of(node), numbers)
        distance = np.log1p((numbers**2).sum(axis=1) / self._freedom)
        found = (self._freedom + numbers.shape[1]) / 2 * distance + volumes[node]
        return draws, found + self._nodes.prior.only(node).density(draws)

    def _tailed(self, count: int) -> Floats:
        """Numbers by draw and parameter, each draw with its negative, and both for the bots from the last on:
        so a pool whose results are reversed gets the reversed draws.
        """
        drawn = count // _ALIKE_DRAWS
        numbers = self._normal(drawn)
        numbers *= np.sqrt(self._freedom / self._rng.chisquare(self._freedom, drawn))[:, None]
        bots, turned = self._order[: self._likelihood.bots], numbers.copy()
        turned[:, bots] = numbers[:, bots[::-1]]
        return np.stack([numbers, -numbers, turned, -turned], axis=1).reshape(count, -1)

    def _moved(self, draws: Floats, node: Integers, weights: Floats) -> Posterior:
        """The posterior by Markov chains. Each starts at one of some draws, by the logarithms of weights."""
        # With Gumbel's numbers added, each is the greatest as often as its weight says.
        keys = weights + self._rng.gumbel(size=len(weights))
        of_each = len(draws) // _CHAINS
        chosen = of_each * np.arange(_CHAINS)
        chosen += keys[: of_each * _CHAINS].reshape(_CHAINS, of_each).argmax(axis=1)
        at, node = self._state(draws[chosen]), node[chosen]
        kept, point = [], np.zeros(self._likelihood.size)
        for step in range(_DISCARDED + _KEPT):
            at = self._leapt(at, node)
            at, node = self._stretched(at, node)
            likely = self._likely(at.parameters)
            node = (np.cumsum(likely, axis=1) < self._rng.random((len(node), 1))).sum(axis=1)
            node = np.minimum(node, likely.shape[1] - 1)
            if step >= _DISCARDED:
                kept.append(at.parameters)
                point += likely.mean(axis=0) @ self._nodes.modes / _KEPT
        return Posterior(point, np.concatenate(kept), self._likelihood.bots)

    def _leapt(self, at: _State, node: Integers) -> _State:
        """The draws after a move that leaves the posterior of their nodes as it is."""
        prior, rows = self._nodes.prior.only(node), _rows_of(node)

        def energy(of: _State, momentum: Floats) -> Floats:
            found = of.value + prior.density(of.parameters) - (momentum**2).sum(axis=1) / 2
            return np.asarray(found)

        def force(of: _State) -> Floats:
            return leap / 2 * self._rooted(rows, of.gradient + prior.gradient(of.parameters))

        momentum, after = self._normal(len(node)), at
        leap = _LEAP * self._rng.uniform(0.7, 1.3, (len(node), 1))
        before = energy(at, momentum)
        momentum += force(at)
        for number in range(1, _LEAPS + 1):
            after = self._state(after.parameters + self._rooted(rows, leap * momentum))
            momentum += force(after) * (1 if number == _LEAPS else 2)
        return self._chosen(at, after, energy(after, momentum) - before)[0]

    def _rooted(self, rows: list[tuple[int, Integers]], vectors: Floats) -> Floats:
        """Vectors times the square roots of the covariances at their nodes, each with its rows."""
        found = np.empty_like(vectors)
        for node, own in rows:
            found[own] = vectors[own] @ self._roots[node]
        return found

    def _stretched(self, at: _State, node: Integers) -> tuple[_State, Integers]:
        """The draws and their nodes after a move to another spread of the same family."""
        prior, family = self._nodes.prior, self._nodes.family
        other = np.clip(node + self._rng.choice([-2, -1, 1, 2], len(node)), 0, len(family) - 1)
        other = np.where(family[other] == family[node], other, node)
        ratio = prior.spread[other] / prior.spread[node]
        parameters = at.parameters.copy()
        parameters[:, : prior.bots] *= ratio[:, None]
        after = self._state(parameters)
        gain = after.value + prior.only(other).density(parameters) + prior.bots * np.log(ratio)
        gain -= at.value + prior.only(node).density(at.parameters)
        chosen, is_taken = self._chosen(at, after, gain)
        return chosen, np.where(is_taken, other, node)

    def _chosen(self, at: _State, after: _State, gain: Floats) -> tuple[_State, NDArray[np.bool_]]:
        """Metropolis's choice, by draw: whether the other place is taken, by how much it is more likely."""
        is_taken = np.log(self._rng.random(len(gain))) < gain
        column = is_taken[:, None]
        return _State(
            np.where(column, after.parameters, at.parameters),
            np.where(is_taken, after.value, at.value),
            np.where(column, after.gradient, at.gradient),
        ), is_taken

    def _likely(self, draws: Floats) -> Floats:
        """How likely each node is, given the strengths of each draw."""
        density = self._nodes.prior.density(draws[:, None])
        likely = np.exp(density - density.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def _state(self, draws: Floats) -> _State:
        return _State(draws, *self._likelihood.slope(draws))

    def _normal(self, count: int) -> Floats:
        """Normal numbers by draw and parameter."""
        found = np.empty((count, self._likelihood.size))
        found[:, self._order] = self._rng.standard_normal(found.shape)
        return found


def _products(one: Floats, other: Floats) -> Floats:
    """The sums of the products along the last axis."""
    return np.asarray(np.einsum("...i,...i", one, other))


def _rows_of(node: Integers) -> list[tuple[int, Integers]]:
    """The nodes of some rows, each with its rows."""
    nodes, counts = np.unique(node, return_counts=True)
    rows = np.split(np.argsort(node, kind="stable"), np.cumsum(counts)[:-1])
    return [*zip(nodes.tolist(), rows, strict=True)]


def _normalized(logarithms: Floats) -> Floats:
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())


def _root(covariance: Floats) -> Floats:
    """The symmetric square root, which does not depend on the order of the parameters."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


class _Center(NamedTuple):
    """The posterior of a family at a likely spread."""

    spread: float
    mode: Floats
    covariance: Floats
    precision: float  # of ln σ
    side: Floats | None  # the bots of one of two clusters


def _centered(likelihood: Likelihood, spread: float, mode: Floats, side: Floats | None = None) -> _Center:
    """A likely spread of normal strengths, found by expectation and maximization."""
    bots = likelihood.bots
    within = np.eye(bots)  # strengths less the means of clusters, of which the spread says nothing
    for cluster in () if side is None else (side, 1 - side):
        within -= np.outer(cluster, cluster) / cluster.sum()
    count = within.trace()
    for _ in range(_SEARCHES):
        nodes = _solved(likelihood, Prior.of(np.array([spread]), bots, side=side), mode)
        mode, covariance = nodes.modes[0], nodes.covariances[0]
        known = within @ covariance[:bots, :bots]
        told = count - 2 * known.trace() / spread**2 + (known @ known).trace() / spread**4
        square = float(mode[:bots] @ within @ mode[:bots] + known.trace())
        # The root of the derivative by ln σ of the density of strengths with this sum of squares and σ's.
        for _ in range(20):
            slope = 2 - count + square / spread**2 - spread / SPREAD
            slope /= 2 * square / spread**2 + spread / SPREAD
            spread *= math.exp(max(-1.0, min(1.0, slope)))
    return _Center(spread, mode, covariance, float(2 * told + spread / SPREAD), side)


def _nodes(likelihood: Likelihood, center: _Center, is_heavy: bool = False, share: float = 0.0) -> _Nodes:
    """The nodes of a family with this logarithm of its share in the prior, evenly spaced around a center."""
    points, spacing = next((points, spacing) for most, points, spacing in _GRIDS if likelihood.bots <= most)
    step = spacing / math.sqrt(max(center.precision, 0.5))
    spread = center.spread * np.exp(step * np.arange(-(points // 2), points // 2 + 1))
    share += math.log(step) if step else 0.0
    return _solved(likelihood, Prior.of(spread, likelihood.bots, is_heavy, center.side, share), center.mode)


def _splits(strength: Floats, covariance: Floats) -> list[tuple[Floats, float]]:
    """The two splits of the order of the bots that separate clusters best: who is in one of them, and the
    logarithm of the share of the split in the prior. More if there are ties, so that names do not matter.
    """
    order, count = np.argsort(strength, kind="stable"), len(strength)
    ordered = strength[order] - strength.mean()
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    splits = []
    for size in range(1, count):
        if ordered[size] - ordered[size - 1] < 1e-6:
            continue
        rest = count - size
        within = squares[-1] - sums[size - 1] ** 2 / size - (sums[-1] - sums[size - 1]) ** 2 / rest
        ways = math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(rest + 1)
        share = -ways - math.log(count - 1)
        splits.append((share - count / 2 * math.log(within + covariance.trace() / 2), size, share))
    splits.sort(reverse=True)
    least = splits[:2][-1][0] - 1e-6 if splits else 0.0
    found = []
    for score, size, share in splits:
        if score >= least:
            side = np.zeros(count)
            side[order[:size]] = 1
            found.append((side, share))
    return found


def _solved(likelihood: Likelihood, prior: Prior, start: Floats) -> _Nodes:
    """The nodes of these spreads, searched from a start on."""

    def derive(parameters: Floats) -> Derivatives:
        value, gradient, information = likelihood.derivatives(parameters)
        information += prior.precision(parameters)
        return Derivatives(
            value + prior.density(parameters), gradient + prior.gradient(parameters), information
        )

    modes, at = climbed(derive, np.tile(start, (len(prior.spread), 1)))
    covariances = np.asarray(np.linalg.inv(at.information), dtype=np.float64)
    return _Nodes(prior, modes, covariances, np.zeros(len(modes), np.int64))


def advantages(arrays: Arrays, likelihood: Likelihood, spread: float) -> dict[tuple[str, int], Floats]:
    """By section and number of seats: of each seat its strength less the mean of the rest, with the ends of
    its 95 % interval. The strengths of bots have this spread.
    """
    precision = np.full(arrays.size, 1 / SEAT**2)
    precision[: likelihood.bots] = 1 / spread**2
    first = _posterior(likelihood, precision)
    found = {}
    for key, seats in arrays.advantages.items():
        games = [batch for batch in arrays.games if batch.seats == tuple(seats)]
        factor = dispersion(games, *first, of_seats=True)
        mode, covariance = _posterior(likelihood.times(1 / factor), precision)
        contrasts = (len(seats) * np.eye(len(seats)) - 1) / (len(seats) - 1)
        values = contrasts @ mode[seats]
        variances = np.einsum("ij,jk,ik->i", contrasts, covariance[np.ix_(seats, seats)], contrasts)
        errors = Z_95 * np.sqrt(variances)
        found[key] = np.column_stack([values, values - errors, values + errors])
    return found


def _posterior(likelihood: Likelihood, precision: Floats) -> tuple[Floats, Floats]:
    """The mode and the covariance by a normal prior."""
    mode = maximum(likelihood, precision)
    information = likelihood.derivatives(mode[None]).information[0]
    return mode, np.linalg.inv(information + np.diag(precision))
