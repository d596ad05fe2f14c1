"""What is assumed of strengths before any game: families of distributions whose spread is a parameter.

Three families are equally likely: strengths are normal; they have heavy tails (Student's distribution with
four degrees of freedom), for pools with a bot or two that are far from the others; or they come in two
clusters, each of which has a center of its own. The spread σ has the density σ·e^(−σ/150 Elo), and each seat
a normal advantage. Nothing here says where a pool lies, since only differences matter.

A. Gelman et al., Bayesian Data Analysis, chapter 5, on priors with parameters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from referee.ratings.likelihood import Floats
from referee.ratings.two import ELO

SPREAD = 150 / ELO
"""The scale of the density of σ, which is most likely there and has its mean at twice as much."""

SEAT = 100 / ELO  # the standard deviation of the advantage of a seat

APART = 600 / ELO  # the standard deviation of the center of each of two clusters

MIN_CLUSTERED = 4  # number of bots from which on they may be in two clusters

_FREEDOM = 4.0
_HEAVY_NORMALIZER = math.lgamma(2.5) - math.lgamma(2.0) - math.log(_FREEDOM * math.pi) / 2


class Prior(NamedTuple):
    """A prior of all parameters in one of the families, for a number of spreads, its nodes."""

    spread: Floats  # the σ of each node
    sides: Floats
    """By bot and cluster, 1 for the bots of the cluster; of no clusters where the family has none."""
    is_heavy: bool = False

    @property
    def bots(self) -> int:
        """How many of the parameters are strengths of bots."""
        return len(self.sides)

    def density(self, parameters: Floats) -> Floats:
        """The logarithm of the density but for a constant that all families share, by node and whatever axes
        lie between the nodes and the parameters.
        """
        of_bots, of_seats = parameters[..., : self.bots], parameters[..., self.bots :]
        axes = (len(self.spread), *(1,) * (parameters.ndim - 2))
        variance = (self.spread**2).reshape(axes)
        found = -self.bots / 2 * np.log(variance) - (of_seats**2).sum(axis=-1) / (2 * SEAT**2)
        if self.is_heavy:
            heavy = 5 / 2 * np.log1p(of_bots**2 / (_FREEDOM * variance[..., None]))
            constant = self.bots * (_HEAVY_NORMALIZER + math.log(2 * math.pi) / 2)
            return np.asarray(found + constant - heavy.sum(axis=-1))
        found = found - (of_bots**2).sum(axis=-1) / (2 * variance)
        for cluster, shared, odds in zip(self.sides.T, self._shared.T, self._odds.T, strict=True):
            total = of_bots @ cluster
            found = found + shared.reshape(axes) * total**2 / 2 - np.log(odds).reshape(axes) / 2
        return np.asarray(found)

    @property
    def _odds(self) -> Floats:
        """By node and cluster, by how much the center widens the sum of the cluster."""
        return np.asarray(1 + self.sides.sum(axis=0) * APART**2 / self.spread[:, None] ** 2)

    @property
    def _shared(self) -> Floats:
        """By node and cluster, how much less precise each two of a cluster are, for they share a center."""
        return np.asarray(APART**2 / (self.spread[:, None] ** 4 * self._odds))

    def gradient(self, parameters: Floats) -> Floats:
        """The derivatives of the logarithm of the density, by node and parameter."""
        found = -parameters / SEAT**2
        of_bots = parameters[:, : self.bots]
        if self.is_heavy:
            found[:, : self.bots] = -5 * of_bots / (self._tail + of_bots**2)
        else:
            centers = (of_bots @ self.sides) * self._shared
            found[:, : self.bots] = centers @ self.sides.T - of_bots / self.spread[:, None] ** 2
        return found

    def precision(self, parameters: Floats, floor: float) -> Floats:
        """The negative second derivatives by node and two parameters. Those of heavy tails, which can be
        negative, are at least this share of what they are at most in a normal that touches the tail.
        """
        nodes, size = parameters.shape
        found = np.zeros((nodes, size, size))
        diagonal = np.einsum("kii->ki", found)
        diagonal[...] = 1 / SEAT**2
        of_bots = parameters[:, : self.bots]
        if self.is_heavy:
            total = self._tail + of_bots**2
            diagonal[:, : self.bots] = np.maximum(5 * (self._tail - of_bots**2) / total**2, floor * 5 / total)
        else:
            diagonal[:, : self.bots] = 1 / self.spread[:, None] ** 2
            for cluster, shared in zip(self.sides.T, self._shared.T, strict=True):
                found[:, : self.bots, : self.bots] -= shared[:, None, None] * np.outer(cluster, cluster)
        return found

    def higher(self, parameters: Floats) -> tuple[Floats, Floats]:
        """The third and fourth derivative by the strength of each bot, by node."""
        of_bots = parameters[:, : self.bots]
        if not self.is_heavy:
            return np.zeros_like(of_bots), np.zeros_like(of_bots)
        square, tail = of_bots**2, self._tail
        third = 10 * of_bots * (3 * tail - square) / (tail + square) ** 3
        fourth = 30 * (tail**2 - 6 * tail * square + square**2) / (tail + square) ** 4
        return third, fourth

    @property
    def _tail(self) -> Floats:
        return np.asarray(_FREEDOM * self.spread[:, None] ** 2)


def of_spread(spread: Floats) -> Floats:
    """The logarithm of the density of ln σ."""
    return np.asarray(2 * np.log(spread) - spread / SPREAD)
