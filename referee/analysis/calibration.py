"""Chances from estimates: how often the side with such an estimate won in the other games of the same run.

The chance of seat 1 is `1 / (1 + exp(-x (a + b p²)))`, with the estimate x and the phase p of the game, 0 at
its beginning and 1 at its end: a logistic regression without a constant, and without the strengths of bots.
Each half of the games has the a and b that fit the other half best, so no game is in its own fit. A quarter
of the game is open, without chances, where these are hardly better than a coin: their Brier score, the mean
square of their errors, is 0.25 for a coin. Games that were drawn do not count for it: there a coin has 0.
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from statistics import median
from typing import NamedTuple

LEAST_GAMES = 30  # how many games, of those that the rules ended, are needed

WORST_BRIER = 0.24  # a quarter is open unless its Brier score is below this

MOST_X = (
    10.0  # the largest estimate, in units of the median one: a search that has found the end says millions
)

_STEPS = 25  # of Newton's method, which needs about six

_PRIOR = 0.01  # the weight of a and b being 0, which keeps them finite where estimates are never wrong


class ScoredGame(NamedTuple):
    """The estimates of a game, and how it ended."""

    result: float  # for seat 1: 1, 0.5 or 0
    scores: Sequence[float | None]  # by position, for seat 1; None where there is none

    def phase(self, step: int) -> float:
        """How far the game was in a position, from 0 to 1."""
        return step / max(1, len(self.scores) - 1)


class Calibration(NamedTuple):
    """How estimates become chances in the games of a run."""

    games: int  # how many games it was computed from
    briers: tuple[float | None, ...] = (None,) * 4
    """By quarter of the game, the Brier score of the chances in games with a winner; None where there are no
    estimates, or too few games.
    """
    unit: float = 1.0  # the estimate that is 1 in the fit
    fits: tuple[tuple[float, float], ...] = ()  # a and b for the games of each half, from those of the other

    def is_open(self, phase: float) -> bool:
        """Whether nothing can be said of the chances in this phase. In the first quarter nothing ever is."""
        quarter = _quarter(phase)
        brier = self.briers[quarter]
        return quarter == 0 or brier is None or brier >= WORST_BRIER

    def chance(self, key: str, phase: float, score: float | None) -> float | None:
        """The chance of seat 1 at this estimate in the game with a key; None where the phase is open."""
        if score is None or self.is_open(phase):
            return None
        return _chance(_x(score, self.unit), phase, *self.fits[_half(key)])


NO_CALIBRATION = Calibration(0)  # with which all is open


def calibration(games: Mapping[str, ScoredGame]) -> Calibration:
    """Fits the chances of games that the rules ended, by their keys, which are hexadecimal numbers. With
    fewer than `LEAST_GAMES`, all phases are open.
    """
    sizes = [abs(score) for game in games.values() for score in game.scores if score]
    if len(games) < LEAST_GAMES or not sizes:
        return Calibration(len(games))
    unit = median(sizes)
    points: tuple[list[_Fitted], list[_Fitted]] = ([], [])
    for key, game in games.items():
        points[_half(key)].extend(
            _Fitted(_x(score, unit), game.phase(step), game.result)
            for step, score in enumerate(game.scores[:-1])
            if score is not None
        )
    fits = (_fit(points[1]), _fit(points[0]))
    errors: list[list[float]] = [[], [], [], []]
    for half, fit in zip(points, fits, strict=True):
        for x, phase, result in half:
            if result != 0.5:
                errors[_quarter(phase)].append((_chance(x, phase, *fit) - result) ** 2)
    briers = tuple(sum(some) / len(some) if some else None for some in errors)
    return Calibration(len(games), briers, unit, fits)


def tens(chance: float) -> int:
    """A chance as people are shown it, in percent: 10, 20, … 90."""
    return min(90, max(10, 10 * round(10 * chance)))


class _Fitted(NamedTuple):
    x: float
    phase: float
    result: float


def _half(key: str) -> int:
    return int(key, 16) % 2


def _quarter(phase: float) -> int:
    return min(3, int(4 * phase))


def _x(score: float, unit: float) -> float:
    return max(-MOST_X, min(MOST_X, score / unit))


def _chance(x: float, phase: float, a: float, b: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, x * (a + b * phase * phase)))))


def _fit(points: Sequence[_Fitted]) -> tuple[float, float]:
    """The a and b of the highest likelihood, by Newton's method; the likelihood is concave."""
    import numpy as np  # loading it takes longer than most commands

    x, phase, results = np.array(points, float).reshape(-1, 3).T
    rows = np.stack([x, x * phase**2])
    fitted = np.zeros(2)
    for _ in range(_STEPS):
        shares = 1 / (1 + np.exp(-np.clip(fitted @ rows, -30, 30)))
        slope = rows @ (results - shares) - _PRIOR * fitted
        curve = rows * (shares * (1 - shares)) @ rows.T + _PRIOR * np.eye(2)
        step = np.linalg.solve(curve, slope)
        fitted += step / max(1, np.abs(step).max())
        if np.abs(step).sum() < 1e-9:
            break
    return float(fitted[0]), float(fitted[1])
