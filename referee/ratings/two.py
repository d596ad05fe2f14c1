"""Two bots of a match compared: Elo difference, its 95 % interval, and the likelihood of superiority.

A game, or a pair of games with the seats swapped, is one trial. Its score lies in equal steps from 0 to
1: loss, draw, win for a game; 0, ½, 1, 1½, 2 points of 2 for a pair. Of N trials with mean score s and
variance v the standard error is √(v/N); the Elo of a score is −400 log₁₀(1/s − 1). (As in
chess match runners: a pair is one trial since its two games are not independent.)

Normalized Elo is C(s − ½)/√(fv) with C = 800/ln 10, and f = 2 for pairs, else 1: the difference measured in
standard deviations of a game, so that it says how many games show it, whatever the share of draws.
(M. Van den Bergh, "Normalized Elo"; the numbers are those of the chess match runners.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

Z_95 = NormalDist().inv_cdf(0.975)

ELO = 400 / math.log(10)  # Elo points per natural unit of strength

NORMALIZED = 800 / math.log(10)  # normalized Elo points per standard deviation of a game's score

SCORE_LIMIT = 0.001
"""Scores are clamped to this distance from 0 and 1, where Elo would be infinite: ± 1199.8 Elo."""


class Comparison(NamedTuple):
    """The result of trials of one bot against another."""

    trials: int
    score: float  # the mean score, 0 to 1; ½ where there were no trials
    elo: float
    low: float | None
    """The lower end of the 95 % interval in Elo; None where all trials had the same score, so that the
    variance is 0, and `high` too.
    """
    high: float | None
    superiority: float  # the likelihood that the bot is the stronger one, 0 to 1
    clamped: bool  # whether the score, or an end of its interval, was clamped
    nelo: float | None  # the difference in normalized Elo; None where the variance is 0
    nelo_half_width: float | None  # half the 95 % interval of `nelo`; None where there were no trials
    draw_ratio: float | None
    """The share of trials with score ½: drawn games, or pairs that both bots left with one point; None where
    there were no trials.
    """
    pairs_ratio: float | None
    """Pairs won for each pair lost; None for single games, and where no pair was lost."""

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def elo(score: float) -> float:
    """The rating difference of a score, which is clamped to [0.001, 0.999]."""
    s = min(max(score, SCORE_LIMIT), 1 - SCORE_LIMIT)
    return -400 * math.log10(1 / s - 1)


def compare(counts: Sequence[int]) -> Comparison:
    """The comparison of trials counted by score: 3 counts for games (losses, draws, wins), 5 for pairs."""
    trials = sum(counts)
    if trials == 0:
        return Comparison(0, 0.5, 0.0, None, None, 0.5, False, None, None, None, None)
    middle = len(counts) // 2
    step = 1 / (len(counts) - 1)
    score = sum(count * i * step for i, count in enumerate(counts)) / trials
    variance = sum(count * (i * step - score) ** 2 for i, count in enumerate(counts)) / trials
    games = 2 if len(counts) == 5 else 1  # of a trial
    lost, won = sum(counts[:middle]), sum(counts[middle + 1 :])
    ratios = (counts[middle] / trials, won / lost if games == 2 and lost else None)
    nelo_half_width = NORMALIZED * Z_95 / math.sqrt(games * trials)
    if max(counts) == trials:  # all alike: the variance is 0 but for rounding
        superiority = 0.5 if score == 0.5 else float(score > 0.5)
        clamped = score in (0.0, 1.0)
        return Comparison(
            trials, score, elo(score), None, None, superiority, clamped, None, nelo_half_width, *ratios
        )
    error = math.sqrt(variance / trials)
    low, high = score - Z_95 * error, score + Z_95 * error
    return Comparison(
        trials,
        score,
        elo(score),
        elo(low),
        elo(high),
        NormalDist().cdf((score - 0.5) / error),
        low < SCORE_LIMIT or high > 1 - SCORE_LIMIT,
        NORMALIZED * (score - 0.5) / math.sqrt(games * variance),
        nelo_half_width,
        *ratios,
    )
