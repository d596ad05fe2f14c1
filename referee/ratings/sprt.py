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

A plain estimate of the difference overstates it after a test, which ends when the results are extreme. The
median-unbiased estimate is the difference at which results as extreme as these, or more so, have a chance
of ½; the ends of the 95 % interval are those with chances of 2.5 and 97.5 %. A test that accepted H1 is the
more extreme the earlier it did (the stage-wise order; D. Siegmund, Sequential Analysis, 1985), and of those
that ended with the same pair, the higher the score; likewise for H0.

- With few pairs, all ways to each state in which the test ends are counted, and the chances of pairs are the
  observed ones, tilted to each difference. A state like that observed counts half.
- With many, the sum of the scores is a Brownian motion between two bounds, which lie 0.583 standard
  deviations of a pair farther out, since a test overshoots them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from referee.core.text import true_minus
from referee.ratings.two import NORMALIZED, elo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


MOST_STATES = 400_000  # number of states up to which they are counted

OVERSHOOT = 0.583  # of a discrete bound by a sum of normal variables, in standard deviations (D. Siegmund).

SHARES = (0.5, 0.025, 0.975)

_UNBOUNDED = 1 - 1e-6  # the share of the largest drift or tilt beyond which no result is extreme enough

_TERMS = 200
_MOST_TILT = 40.0
_HALVINGS = 40


class Estimate(NamedTuple):
    """A difference in Elo, with the ends of its 95 % interval; None where there is no bound, since all games
    were won or lost.
    """

    elo: float | None
    low: float | None
    high: float | None


@lru_cache(maxsize=256)
def estimate(test: SprtResult) -> Estimate | None:
    """The difference after a test; None while it is not decided, and after few pairs of a test of normalized
    Elo.
    """
    if not test.accepted:
        return None
    kinds = range(5) if test.counts[1] or test.counts[3] else (0, 2, 4)
    pairs = sum(test.counts)
    is_upper = test.accepted == "H1"
    if math.comb(pairs + len(kinds), len(kinds)) > MOST_STATES:
        extreme, score_of, reach = _brownian(test)
    elif test.model == "logistic":
        extreme, score_of, reach = _counted(test, kinds)
    else:
        return None
    scores: list[float | None] = []
    for share in SHARES:
        wanted = share if is_upper else 1 - share
        low, high = -reach, reach
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_above = (extreme(middle) > wanted) == is_upper
            low, high = (low, middle) if is_above else (middle, high)
        found = (low + high) / 2
        is_unbounded = abs(found) > _UNBOUNDED * reach
        scores.append(None if is_unbounded else score_of(found))
    return Estimate(*(None if score is None else elo(score) for score in scores))


_Chance = Callable[[float], float]


def _brownian(test: SprtResult) -> tuple[_Chance, _Chance, float]:
    """By the drift of the sum, in standard deviations a pair: the chance of results as extreme, and the mean
    score; and the largest drift.
    """
    pairs = sum(test.counts)
    score = sum(count * i / 4 for i, count in enumerate(test.counts)) / pairs
    deviation = math.sqrt(sum(count * (i / 4 - score) ** 2 for i, count in enumerate(test.counts)) / pairs)
    deviation = max(deviation, 0.01)
    first, second = (
        1 / (1 + 10 ** (-value / 400))
        if test.model == "logistic"
        else 0.5 + value / NORMALIZED * math.sqrt(2) * deviation
        for value in (test.elo0, test.elo1)
    )
    unit = deviation / (second - first)
    low, high = (bound * unit + sign * OVERSHOOT for bound, sign in zip(test.bounds, (-1, 1), strict=True))
    near, far = (high, -low) if test.accepted == "H1" else (-low, high)
    sign = 1 if test.accepted == "H1" else -1

    def extreme(drift: float) -> float:
        return _reached(sign * drift, near, far, pairs)

    return extreme, lambda drift: (first + second) / 2 + drift * deviation, 5.0


def _reached(drift: float, near: float, far: float, time: float) -> float:
    """The chance that a Brownian motion with this drift reaches `near` by a time, and not −`far` before.

    That it ever does, less that it does so later, as a series of eigenfunctions (D. Cox, H. Miller, The
    Theory of Stochastic Processes, 1965).
    """
    width = near + far
    if abs(drift) * width < 1e-9:
        ever = far / width
    elif drift > 0:
        ever = math.expm1(-2 * drift * far) / math.expm1(-2 * drift * width)
    else:
        ever = math.exp(2 * drift * near) * math.expm1(2 * drift * far) / math.expm1(2 * drift * width)
    later = 0.0
    for n in range(1, _TERMS):
        rate = drift**2 / 2 + (n * math.pi / width) ** 2 / 2
        exponent = drift * near - rate * time
        if exponent < -700:
            break
        wave = math.sin(n * math.pi * far / width) * (-1) ** (n + 1)
        later += n * math.pi / width**2 * wave * math.exp(exponent) / rate
    return min(1.0, max(0.0, ever - later))


def _counted(test: SprtResult, kinds: range | tuple[int, ...]) -> tuple[_Chance, _Chance, float]:
    """By the tilt of the chances of pairs: the chance of results as extreme, and the mean score; and the
    largest tilt.
    """
    import numpy as np

    steps = np.array(kinds) / 4
    observed = np.array([test.counts[kind] for kind in kinds])
    base = np.log((observed + 0.5) / (observed + 0.5).sum())
    low, high = test.bounds
    is_upper = test.accepted == "H1"
    pairs = int(observed.sum())
    states, ways = np.zeros((1, len(kinds)), dtype=np.int64), np.zeros(1)
    ended, paths = [], []
    for number in range(1, pairs + 1):
        after = (states[:, None] + np.eye(len(kinds), dtype=np.int64)).reshape(-1, len(kinds))
        keys = after @ (pairs + 1) ** np.arange(len(kinds))
        _, first, where = np.unique(keys, return_index=True, return_inverse=True)
        # The logarithm of the number of ways, which can be beyond any float.
        most = ways.max()
        ways = np.log(np.bincount(where, np.exp(np.repeat(ways - most, len(kinds))))) + most
        states = after[first]
        llrs = _llrs(states, steps, test.elo0, test.elo1)
        is_end = llrs >= high - 1e-9 if is_upper else llrs <= low + 1e-9
        if number == pairs:
            is_end |= (states == observed).all(axis=1)
        ended.append(states[is_end])
        paths.append(ways[is_end])
        goes_on = (llrs < high - 1e-9) & (llrs > low + 1e-9)
        states, ways = states[goes_on], ways[goes_on]
    found, count = np.concatenate(ended), np.concatenate(paths)
    # Of those that ended last, the scores beyond that observed are more extreme, and it counts half.
    beyond = (found - observed) @ steps * (1 if is_upper else -1)
    weight = np.where(found.sum(axis=1) < pairs, 1.0, np.where(abs(beyond) < 1e-9, 0.5, beyond > 0))

    def chances(tilt: float) -> NDArray[np.float64]:
        logs = base + tilt * steps
        return np.asarray(logs - np.log(np.exp(logs - logs.max()).sum()) - logs.max())

    def extreme(tilt: float) -> float:
        return float(weight @ np.exp(count + found @ chances(tilt)))

    return extreme, lambda tilt: float(np.exp(chances(tilt)) @ steps), _MOST_TILT


def _llrs(
    states: NDArray[np.int64],
    steps: NDArray[np.float64],
    elo0: float,
    elo1: float,
) -> NDArray[np.float64]:
    """The LLR of each of these counts of pairs, as `sprt.llr` has it for `logistic`; all other scores are
    possible too.
    """
    import numpy as np

    counts = np.zeros((len(states), 5))
    counts[:, (4 * steps).astype(int)] = states
    counts = np.maximum(counts, np.maximum(EMPTY, MAX_UNEVEN * counts.sum(axis=1, keepdims=True)))
    logs = []
    for value in (elo0, elo1):
        away = np.arange(5) / 4 - 1 / (1 + 10 ** (-value / 400))
        low, high = np.full(len(states), -1 / away.max()), np.full(len(states), -1 / away.min())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_positive = (counts * away / (1 + middle[:, None] * away)).sum(axis=1) > 0
            low, high = np.where(is_positive, middle, low), np.where(is_positive, high, middle)
        logs.append(-(counts * np.log1p(((low + high) / 2)[:, None] * away)).sum(axis=1))
    return np.asarray(logs[1] - logs[0])
