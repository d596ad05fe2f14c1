"""Whether counts differ by more than chance explains: those of one player and of others. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import comb
from typing import NamedTuple

FEWEST_CASES = 10  # of fewer cases nothing is said

LIKELY = 0.01  # what is at least as likely by chance is not told

TWICE = 2.0  # how many times as often something has to happen as with others


class Count(NamedTuple):
    """How often something happened, of how many times that it could have."""

    cases: int
    of: int

    def __str__(self) -> str:
        return f"{self.cases:,} of {self.of:,}"

    @property
    def share(self) -> float:
        """The cases as a share; 0 where there could be none."""
        return self.cases / self.of if self.of else 0.0


def added(counts: Collection[Count]) -> Count:
    """Counts as one."""
    return Count(sum(count.cases for count in counts), sum(count.of for count in counts))


class ByChance(NamedTuple):
    """How likely a difference is by chance."""

    as_large: float  # that one is ahead of the other by at least as much as here
    two_sided: float  # that they differ by at least as much, in whichever direction


def fisher(one: Count, other: Count) -> ByChance:
    """By Fisher's exact test: among all tables of two by two with these margins, those in which `one` has as
    many cases or more, and those that are as unlikely as this one or more (R. A. Fisher, Statistical Methods
    for Research Workers, 1934, section 21.02).
    """
    cases = one.cases + other.cases
    low, high = max(0, cases - other.of), min(cases, one.of)
    weight = comb(one.of, low) * comb(other.of, cases - low)
    weights = []
    for number in range(low, high + 1):
        weights.append(weight)
        weight = weight * (one.of - number) * (cases - number)
        weight //= (number + 1) * (other.of - cases + number + 1)
    here = weights[one.cases - low]
    unlikely = sum(weight for weight in weights if weight <= here)
    return ByChance(sum(weights[one.cases - low :]) / sum(weights), unlikely / sum(weights))


_BINS = 20_000  # the values that a sum over all clusters takes at most, apart from rounding

Cluster = Sequence[Count]
"""Counts of the players of some games that depend on each other: first of the one in question, then of those
that it could have changed places with.
"""


def by_clusters(clusters: Collection[Cluster]) -> ByChance:
    """The likelihood of as large a difference if in each cluster the one in question had been drawn from its
    players: a permutation test in which the cases of a cluster stay together, since they are not independent.
    Its distribution is computed, not drawn: what is added up for each cluster is its cases beyond those that
    are expected at the common rate, which are rounded.
    """
    import numpy as np  # loading it takes longer than most commands

    rate = added([count for cluster in clusters for count in cluster]).share
    excess = [[cases - rate * of for cases, of in cluster] for cluster in clusters]
    spread = sum(max(values) - min(values) for values in excess)
    scale = min(100.0, _BINS / spread) if spread else 0.0
    likely, observed = np.ones(1), 0
    for values in excess:
        steps = [round(scale * value) for value in values]
        observed += steps[0] - min(steps)
        if max(steps) == min(steps):
            continue
        wider = np.zeros(len(likely) + max(steps) - min(steps))
        for step in steps:
            begin = step - min(steps)
            wider[begin : begin + len(likely)] += likely / len(steps)
        likely = wider
    above, below = float(likely[observed:].sum()), float(likely[: observed + 1].sum())
    return ByChance(above, min(1.0, 2 * min(above, below)))


def exceeds(own: Count, others: Count, clusters: Collection[Cluster], tests: int = 1) -> float | None:
    """The larger of both probabilities where something happened at least `TWICE` times as often as with
    others, in enough cases, and is less than `LIKELY` by both tests; else None. Of several tests at once,
    each has to be that much less likely (Bonferroni).
    """
    if own.cases < FEWEST_CASES or not others.of or own.share < TWICE * others.share:
        return None
    chance = tests * fisher(own, others).as_large
    if chance >= LIKELY:
        return None
    chance = max(chance, tests * by_clusters(clusters).as_large)
    return chance if chance < LIKELY else None
