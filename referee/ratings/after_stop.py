"""The difference of two bots after a sequential test, which a plain estimate overstates: a test ends when the
results are extreme. Pure.

The median-unbiased estimate is the difference at which results as extreme as these, or more so, have a chance
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
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from referee.ratings.sprt import EMPTY, MAX_UNEVEN, SprtResult
from referee.ratings.two import NORMALIZED, elo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_STATES = 400_000  # number of states up to which they are counted

OVERSHOOT = 0.583  # of a discrete bound by a sum of normal variables, in standard deviations (D. Siegmund).

SHARES = (0.5, 0.025, 0.975)

_HALVINGS = 60
_UNBOUNDED = 1 - 1e-6  # the share of the largest drift or tilt beyond which no result is extreme enough

_TERMS = 200
_MOST_TILT = 40.0
_STEPS = 40


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
        for _ in range(_STEPS):
            middle = (low + high) / 2
            is_positive = (counts * away / (1 + middle[:, None] * away)).sum(axis=1) > 0
            low, high = np.where(is_positive, middle, low), np.where(is_positive, high, middle)
        logs.append(-(counts * np.log1p(((low + high) / 2)[:, None] * away)).sum(axis=1))
    return np.asarray(logs[1] - logs[0])
