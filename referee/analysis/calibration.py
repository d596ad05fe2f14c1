"""Chances from estimates: how often the side with such an estimate won in the other games of the same run.

The chance of seat 1 is `1 / (1 + exp(-x (a + b p²)))`, with the estimate x and the phase p of the game, 0 at
its beginning and 1 at its end: a logistic regression without a constant, and without the strengths of bots.
Each half of the games has the a and b that fit the other half best, so no game is in its own fit. A quarter
of the game is open, without chances, where these are hardly better than a coin: their Brier score, the mean
square of their errors, is 0.25 for a coin. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """By quarter of the game, the Brier score of the chances; None where there are no estimates, or too few
    games.
    """
    unit: float = 1.0  # the estimate that is 1 in the fit
    fits: tuple[tuple[float, float], ...] = ()  # a and b, for each half of the games
    halves: Mapping[str, int] = {}  # in which half each game is
    length: int = 1  # how many steps these games have, in the median

    def is_open(self, phase: float) -> bool:
        """Whether nothing can be said of the chances in this phase. In the first quarter nothing ever is."""
        quarter = _quarter(phase)
        brier = self.briers[quarter]
        return quarter == 0 or brier is None or brier >= WORST_BRIER

    def chance(self, game: str, phase: float, score: float | None) -> float | None:
        """The chance of seat 1 at this estimate in a game; None where the phase is open."""
        if score is None or self.is_open(phase):
            return None
        # A game that was not fitted, since no rule ended it, may have either half's.
        a, b = self.fits[self.halves.get(game, 0)]
        return _chance(_x(score, self.unit), phase, a, b)


def calibration(games: Mapping[str, ScoredGame]) -> Calibration:
    """Fits the chances of games that the rules ended, by what stands for their events: games with the same
    events are one. With fewer than `LEAST_GAMES`, all phases are open.
    """
    sizes = [abs(score) for game in games.values() for score in game.scores if score]
    if len(games) < LEAST_GAMES or not sizes:
        return Calibration(len(games))
    unit = median(sizes)
    halves = {key: number % 2 for number, key in enumerate(sorted(games))}
    points: tuple[list[_Fitted], list[_Fitted]] = ([], [])
    for key, game in games.items():
        points[halves[key]].extend(
            _Fitted(_x(score, unit), game.phase(step), game.result)
            for step, score in enumerate(game.scores[:-1])
            if score is not None
        )
    fits = (_fit(points[1]), _fit(points[0]))
    errors: list[list[float]] = [[], [], [], []]
    for half, fit in zip(points, fits, strict=True):
        for x, phase, result in half:
            errors[_quarter(phase)].append((_chance(x, phase, *fit) - result) ** 2)
    briers = tuple(sum(some) / len(some) if some else None for some in errors)
    length = round(median(len(game.scores) - 1 for game in games.values()))
    return Calibration(len(games), briers, unit, fits, halves, length)


def tens(chance: float) -> int:
    """A chance as people are shown it, in percent: 10, 20, … 90."""
    return min(90, max(10, 10 * round(10 * chance)))


class _Fitted(NamedTuple):
    x: float
    phase: float
    result: float


def _quarter(phase: float) -> int:
    return min(3, int(4 * phase))


def _x(score: float, unit: float) -> float:
    return max(-MOST_X, min(MOST_X, score / unit))


def _chance(x: float, phase: float, a: float, b: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, x * (a + b * phase * phase)))))


def _fit(points: Iterable[_Fitted]) -> tuple[float, float]:
    """The a and b of the highest likelihood, by Newton's method; the likelihood is concave."""
    rows = [(x, x * phase * phase, result) for x, phase, result in points]
    a = b = 0.0
    for _ in range(_STEPS):
        slope_a, slope_b = -_PRIOR * a, -_PRIOR * b
        curve_aa = curve_bb = _PRIOR
        curve_ab = 0.0
        for one, other, result in rows:
            share = 1 / (1 + exp(-max(-30.0, min(30.0, a * one + b * other))))
            error, weight = result - share, share * (1 - share)
            slope_a += error * one
            slope_b += error * other
            curve_aa += weight * one * one
            curve_ab += weight * one * other
            curve_bb += weight * other * other
        size = curve_aa * curve_bb - curve_ab * curve_ab
        step_a = (slope_a * curve_bb - slope_b * curve_ab) / size
        step_b = (slope_b * curve_aa - slope_a * curve_ab) / size
        longest = max(1.0, abs(step_a), abs(step_b))
        a, b = a + step_a / longest, b + step_b / longest
        if abs(step_a) + abs(step_b) < 1e-9:
            break
    return a, b
