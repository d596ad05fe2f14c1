"""Error rates and lengths of the sequential test: `python -m tests.tools.sprt_runs [--runs N]`.

Matches between bots whose difference is exactly `elo0`, and exactly `elo1`, are simulated pair by pair until
the test is decided. How often it is decided wrongly stands beside `alpha` and `beta`, with the standard error
of that many runs, and the mean length in pairs beside theory.

The two games of a pair are not independent: half the openings favour seat 1 by 150 Elo, half seat 2, and both
games of a pair have the same; draws are Rao and Kupper's. So a pair often ends 1 : 1, as real ones do.

Theory of the length is A. Wald's (1945): the mean LLR at the end, which without overshoot is the lower bound
with the chance that H0 is accepted and the upper one with the chance that H1 is, divided by the mean LLR of a
pair. The latter is what `llr` gives for the true distribution. The bounds are overshot by a part of a pair's
LLR, so real tests are a little longer, and err less often, than that.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

from referee.ratings.sprt import bounds, llr
from referee.ratings.two import NORMALIZED
from referee.tournament.stopping import SequentialTest, Sprt

OPENING_ELO = 150
DRAW_ELO = 100


class Runs(NamedTuple):
    """The runs of a test under one of its hypotheses."""

    wrong: float
    """The share of runs that accepted the other hypothesis."""
    error: float
    """Its standard error."""
    pairs: float
    """The mean length."""
    pairs_error: float
    theory: float


def distribution(difference: float) -> list[float]:
    """The chances of 0, ½, 1, 1½ and 2 points from a pair of games, for a difference in Elo."""
    chances = np.zeros(5)
    for opening in (OPENING_ELO, -OPENING_ELO):
        chances += np.convolve(_game(difference + opening), _game(difference - opening)) / 2
    return list(map(float, chances))


def _game(difference: float) -> list[float]:
    """The chances of a loss, a draw and a win."""
    won, lost = (1 / (1 + 10 ** ((DRAW_ELO - side) / 400)) for side in (difference, -difference))
    return [lost, 1 - won - lost, won]


def _measured(chances: list[float], model: str) -> float:
    """The difference that a distribution has in the terms of the model."""
    mean = sum(chance * i / 4 for i, chance in enumerate(chances))
    if model == "logistic":
        return -400 * math.log10(1 / mean - 1)
    variance = sum(chance * (i / 4 - mean) ** 2 for i, chance in enumerate(chances))
    return NORMALIZED * (mean - 0.5) / math.sqrt(2 * variance)


def distribution_at(elo: float, model: str) -> list[float]:
    """The distribution of pairs whose difference in the terms of the model is exactly this."""
    low, high = -2000.0, 2000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _measured(distribution(middle), model) < elo else (low, middle)
    return distribution(low)


def play(sprt: Sprt, chances: list[float], runs: int, seed: int) -> Iterator[SequentialTest]:
    """Tests that were fed pairs at random until they were decided."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        test = SequentialTest(sprt, "one", "other")
        while not test.accepted:
            for outcome in rng.choice(5, size=100, p=chances):
                test.add(int(outcome) / 2)
        yield test


def measure(sprt: Sprt, hypothesis: str, runs: int, seed: int = 1) -> Runs:
    """Runs where this hypothesis, `H0` or `H1`, is exactly true."""
    chances = distribution_at(sprt.elo0 if hypothesis == "H0" else sprt.elo1, sprt.model)
    tests = list(play(sprt, chances, runs, seed))
    wrong = sum(test.accepted != hypothesis for test in tests) / runs
    lengths = [sum(test.counts) for test in tests]
    low, high = bounds(sprt.alpha, sprt.beta)
    accepts_1 = sprt.alpha if hypothesis == "H0" else 1 - sprt.beta
    large = 1e6
    each = llr([large * chance for chance in chances], sprt.elo0, sprt.elo1, sprt.model) / large
    expected = ((1 - accepts_1) * low + accepts_1 * high) / each
    return Runs(
        wrong,
        math.sqrt(max(wrong, 1 / runs) * (1 - wrong) / runs),
        fmean(lengths),
        stdev(lengths) / math.sqrt(runs),
        expected,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Error rates and lengths of the sequential test.")
    parser.add_argument("--runs", type=int, default=2000, help="of each test under each hypothesis")
    arguments = parser.parse_args()
    rows = []
    for text in ("0,30", "-10,10,0.02,0.1", "0,40,normalized"):
        sprt = Sprt.parse(text)
        for hypothesis, allowed in (("H0", sprt.alpha), ("H1", sprt.beta)):
            found = measure(sprt, hypothesis, arguments.runs)
            rows.append(
                [
                    text,
                    hypothesis,
                    f"{found.wrong:.4f} ± {found.error:.4f}",
                    f"{allowed}",
                    f"{found.pairs:.0f} ± {found.pairs_error:.0f}",
                    f"{found.theory:.0f}",
                    f"{found.pairs / found.theory:.2f}",
                ]
            )
    headers = ["test", "true", "decided wrongly", "at most", "pairs", "in theory", "ratio"]
    print(tabulate(rows, headers, disable_numparse=True))


if __name__ == "__main__":
    main()
