"""The sequential probability ratio test (SPRT): is a bot stronger than another by `elo1` or by `elo0`? This
is its arithmetic; `tournament.stopping` decides when it ends. Pure.

The test adds up evidence trial by trial, as the logarithm of a likelihood ratio (LLR), and is over when the
LLR reaches a bound: A. Wald's bounds, by which the hypothesis `elo0` is rejected wrongly with chance `alpha`
at most, and `elo1` with chance `beta`, both nearly. A trial is a game or a pair of games with the seats
swapped, counted by score as in `referee.ratings.two`.

The likelihoods are those of the distribution of scores that fits the counts best under each hypothesis (the
generalized SPRT, M. Van den Bergh). `logistic` fixes the mean score, at that of a difference of this many
Elo; `normalized` fixes how many standard deviations of a game the mean is from ½, in normalized Elo. Both are
solved by empirical likelihood (A. Owen): the best distribution is pᵢ/(1 + θφᵢ), where p are the observed
frequencies, φ is what has the mean 0 under the hypothesis, and θ makes it so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from referee.core.text import true_minus
from referee.ratings.two import NORMALIZED

MODELS = ("logistic", "normalized")

EMPTY = 0.001  # what a score counts that no trial had: every score stays possible

MAX_UNEVEN = 1e-6  # what a score counts at least, as a share of all trials, so that the sums stay accurate

_STEPS = 100
_CLOSE = 1e-8


class SprtResult(NamedTuple):
    """A test of one bot against another, as far as it has come."""

    section: str
    bot: str
    against: str
    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: str  # one of `MODELS`
    counts: tuple[int, ...]  # how many pairs of games gave the bot 0, ½, 1, 1½ and 2 points
    llr: float
    accepted: str  # `H0` or `H1` once the test is decided; else empty

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which H0 is accepted, and that at which H1 is."""
        return bounds(self.alpha, self.beta)

    @property
    def verdict(self) -> str:
        """What is accepted, if anything is."""
        return f"{self.accepted} accepted" if self.accepted else "undecided"

    def __str__(self) -> str:
        """The verdict and the evidence in a sentence."""
        unit = "Elo" if self.model == "logistic" else "normalized Elo"
        elo0, elo1 = true_minus(f"{self.elo0:+g}"), true_minus(f"{self.elo1:+g}")
        difference = f"`{self.bot}` − `{self.against}`"
        finding = {
            "H0": f"{elo0} {unit} fits {difference} better than {elo1}",
            "H1": f"{elo1} {unit} fits {difference} better than {elo0}",
            "": f"{difference} is {elo0} or {elo1} {unit}",
        }
        low, high = self.bounds
        return (
            f"{self.verdict}: {finding[self.accepted]}, "
            f"{true_minus(f'LLR {self.llr:+.2f} [{low:.2f}, {high:.2f}]')} after {sum(self.counts):,} pairs"
        )


def bounds(alpha: float, beta: float) -> tuple[float, float]:
    """The bounds of the LLR: at the lower one `elo0` is accepted, at the upper one `elo1`."""
    return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)


def llr(counts: Sequence[float], elo0: float, elo1: float, model: str = "logistic") -> float:
    """The LLR of trials counted by score: 3 counts for games (losses, draws, wins), 5 for pairs of games."""
    if not any(counts):
        return 0.0
    least = max(EMPTY, MAX_UNEVEN * sum(counts))
    present = [max(count, least) for count in counts]
    trials = sum(present)
    frequencies = [count / trials for count in present]
    likelihood = _logistic if model == "logistic" else _normalized
    return trials * (likelihood(frequencies, elo1) - likelihood(frequencies, elo0))


def _logistic(frequencies: list[float], elo: float) -> float:
    """The mean logarithm of how much less likely a trial is if the difference is this many Elo."""
    step = 1 / (len(frequencies) - 1)
    mean = 1 / (1 + 10 ** (-elo / 400))
    deviations = [i * step - mean for i in range(len(frequencies))]
    return _log_ratio(frequencies, deviations, _root(frequencies, deviations))


def _normalized(frequencies: list[float], elo: float) -> float:
    """The same for a difference of this many points of normalized Elo.

    The condition depends on the mean and variance of the distribution that it leads to, so they are
    approached step by step, from those of the uniform distribution.
    """
    step = 1 / (len(frequencies) - 1)
    scores = [i * step for i in range(len(frequencies))]
    ratio = elo / NORMALIZED * (math.sqrt(2) if len(frequencies) == 5 else 1)
    fitted = before = [1 / len(frequencies)] * len(frequencies)
    conditions, theta = scores, 0.0
    for _ in range(_STEPS):
        mean = sum(map(float.__mul__, fitted, scores))
        deviation = math.sqrt(sum(q * (score - mean) ** 2 for q, score in zip(fitted, scores, strict=True)))
        conditions = [
            score - 0.5 - ratio * deviation * (1 + ((score - mean) / deviation) ** 2) / 2 for score in scores
        ]
        if not min(conditions) < 0 < max(conditions):  # a step too far: no distribution can meet these
            fitted = [(q + was) / 2 for q, was in zip(fitted, before, strict=True)]
            continue
        theta = _root(frequencies, conditions)
        before = fitted
        fitted = [p / (1 + theta * phi) for p, phi in zip(frequencies, conditions, strict=True)]
        if all(abs(q - was) < _CLOSE for q, was in zip(fitted, before, strict=True)):
            break
    return _log_ratio(frequencies, conditions, theta)


def _log_ratio(frequencies: list[float], conditions: list[float], theta: float) -> float:
    return -sum(p * math.log1p(theta * phi) for p, phi in zip(frequencies, conditions, strict=True))


def _root(frequencies: list[float], conditions: list[float]) -> float:
    """The θ with Σpφ/(1 + θφ) = 0, which falls in θ, by Newton's method; where a step leaves the interval
    that is known to have the root, the interval is halved instead.
    """
    low, high = -1 / max(conditions), -1 / min(conditions)
    theta = 0.0
    for _ in range(_STEPS):
        terms = [phi / (1 + theta * phi) for phi in conditions]
        value = sum(map(float.__mul__, frequencies, terms))
        slope = sum(p * term * term for p, term in zip(frequencies, terms, strict=True))
        low, high = (theta, high) if value > 0 else (low, theta)
        step = value / slope
        after = theta + step
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - theta) <= _CLOSE * abs(theta) or after == theta:
            return after
        theta = after
    return theta
