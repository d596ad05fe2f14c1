"""Whether something happens more often to one player than to others, by more than chance explains. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import exp, lgamma
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


Cluster = Sequence[Count]
"""Counts of the players of some games that depend on each other: first of the one in question, then of those
that it could have changed places with.
"""


def exceeds(
    own: Count, others: Count, clusters: Collection[Cluster], tests: int = 1, ratio: float = TWICE
) -> float | None:
    """How likely it is by chance that something happens so much more often than with others, by the larger of
    two tests; None where it does not happen `ratio` times as often, there are too few cases, or it is not
    less likely than `LIKELY`. Of several tests at once, each has to be that much less likely (Bonferroni).
    """
    if own.cases < FEWEST_CASES or not others.of or own.share < ratio * others.share:
        return None
    chance = tests * fisher(own, others)
    if chance < LIKELY:
        chance = max(chance, tests * by_clusters(clusters))
    return chance if chance < LIKELY else None


def fisher(one: Count, other: Count) -> float:
    """By Fisher's exact test: the share of all tables of two by two with these margins in which `one` has as
    many cases or more (R. A. Fisher, Statistical Methods for Research Workers, 1934, section 21.02).
    """
    cases, of = one.cases + other.cases, one.of + other.of
    return sum(
        exp(_log_choices(one.of, number) + _log_choices(other.of, cases - number) - _log_choices(of, cases))
        for number in range(max(one.cases, cases - other.of), min(cases, one.of) + 1)
    )


def _log_choices(of: int, number: int) -> float:
    return lgamma(of + 1) - lgamma(number + 1) - lgamma(of - number + 1)


_BINS = 20_000  # the values that a sum over all clusters takes at most, apart from rounding


def by_clusters(clusters: Collection[Cluster]) -> float:
    """The likelihood of as many cases if in each cluster the one in question had been drawn from its players:
    a permutation test in which the cases of a cluster stay together, since they are not independent. Its
    distribution is computed, not drawn: what is added up for each cluster is its cases beyond those that are
    expected at the common rate, which are rounded.
    """
    import numpy as np  # loading it takes longer than most commands

    rate = added([count for cluster in clusters for count in cluster]).share
    excess = [[cases - rate * of for cases, of in cluster] for cluster in clusters]
    spread = sum(max(values) - min(values) for values in excess)
    scale = min(100.0, _BINS / spread) if spread else 0.0
    likely, observed = np.ones(1), 0
    for values in excess:
        steps = [round(scale * (value - min(values))) for value in values]
        observed += steps[0]
        wider = np.zeros(len(likely) + max(steps))
        for step in steps:
            wider[step : step + len(likely)] += likely / len(steps)
        likely = wider
    return float(likely[observed:].sum())
