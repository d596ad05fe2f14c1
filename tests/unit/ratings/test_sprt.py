"""The sequential probability ratio test: published numbers and properties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import cycle, product
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.columns import NONE, estimate_text
from referee.ratings.sprt import MODELS, SprtResult, bounds, estimate, llr
from referee.ratings.two import NORMALIZED, elo
from referee.tournament.stopping import SequentialTest, Sprt

# Disservin/fastchess, app/tests/sprt_test.cpp: counts from the worst score to the best.
PUBLISHED = [
    ("normalized", (36027, 68692, 36433), 0, 2, 0.92),
    ("logistic", (21184, 40708, 21404), 0.5, 2.5, -1.57),
    ("normalized", (365, 16618, 36029 + 200, 16974, 390), 0, 2, 2.25),
    ("logistic", (223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
]


# --- Simulated tests --------------------------------------------------------------------------------------
#
# The two games of a pair are not independent: half the openings favour seat 1 by 150 Elo, half seat 2, and
# both games of a pair have the same; draws are Rao and Kupper's. Theory of the length is A. Wald's (1945):
# the mean LLR at the end divided by the mean LLR of a pair; real tests overshoot, and are a little longer.

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


@pytest.mark.parametrize(("model", "counts", "elo0", "elo1", "published"), PUBLISHED)
def test_published_llrs(
    model: str, counts: tuple[int, ...], elo0: float, elo1: float, published: float
) -> None:
    assert round(llr(counts, elo0, elo1, model), 2) == published


def test_bounds() -> None:
    low, high = bounds(0.05, 0.05)
    assert (round(low, 2), round(high, 2)) == (-2.94, 2.94)
    low, high = bounds(0.01, 0.1)
    assert low == pytest.approx(math.log(0.1 / 0.99)) and high == pytest.approx(math.log(0.9 / 0.01))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [3, 5])
def test_no_small_result_gives_nan_or_inf(model: str, size: int) -> None:
    for counts in product(range(3), repeat=size):
        assert math.isfinite(llr(counts, 0, 10, model))
    for place, trials in product(range(size), (1, 100, 100_000)):
        alike = [trials if i == place else 0 for i in range(size)]
        assert math.isfinite(llr(alike, -5, 100, model))


def test_no_trials_are_no_evidence() -> None:
    assert llr((0, 0, 0, 0, 0), 0, 10) == 0


COUNTS = st.lists(st.integers(0, 50), min_size=3, max_size=3) | st.lists(
    st.integers(0, 50), min_size=5, max_size=5
)
ELO = st.integers(-50, 50)


@given(COUNTS, ELO, ELO, st.sampled_from(MODELS))
def test_the_other_side_sees_the_negative(counts: list[int], elo0: int, elo1: int, model: str) -> None:
    one, other = llr(counts, elo0, elo1, model), llr(counts[::-1], -elo0, -elo1, model)
    assert one == pytest.approx(other, rel=1e-4, abs=1e-4)
    assert llr(counts, elo1, elo0, model) == pytest.approx(-one)


@given(st.lists(st.integers(1, 50), min_size=5, max_size=5), st.sampled_from(MODELS))
def test_evidence_grows_with_the_trials(counts: list[int], model: str) -> None:
    once, thrice = llr(counts, 0, 20, model), llr([3 * count for count in counts], 0, 20, model)
    assert thrice == pytest.approx(3 * once, rel=1e-4, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("hypothesis", ["H0", "H1"])
def test_simulated_runs_hold_the_error_rates(hypothesis: str) -> None:
    runs = 200
    found = measure(Sprt(0, 100), hypothesis, runs)
    assert found.wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.75 < found.pairs / found.theory < 1.35


def test_the_simulated_difference_is_the_one_that_is_tested() -> None:
    chances = distribution_at(30, "logistic")
    mean = sum(chance * i / 4 for i, chance in enumerate(chances))
    assert sum(chances) == pytest.approx(1)
    assert mean == pytest.approx(1 / (1 + 10 ** (-30 / 400)))


# --- After a test -------------------------------------------------------------------------------------------


def decided(
    counts: tuple[int, ...], accepted: str, elo1: float = 40.0, model: str = "logistic"
) -> SprtResult:
    return SprtResult("", "a", "b", 0.0, elo1, 0.05, 0.05, model, counts, 3.0, accepted)


class Bounded(NamedTuple):
    elo: float
    low: float
    high: float


def bounded(test: SprtResult) -> Bounded:
    """An estimate whose interval has two ends."""
    found = estimate(test)
    assert found and found.elo is not None and found.low is not None and found.high is not None
    return Bounded(found.elo, found.low, found.high)


def test_where_nothing_bounds_a_difference_no_number_is_shown() -> None:
    # No test ends with these pairs: its bounds are reached before, or after.
    never = SprtResult("", "a", "b", -20.0, 20.0, 0.05, 0.05, "logistic", (2, 0, 9, 0, 14), 3.0, "H1")
    assert estimate(never) == (None, None, None) and estimate_text(never) == NONE


def test_an_estimate_needs_a_decision() -> None:
    assert estimate(decided((0, 0, 3, 0, 5), "")) is None
    assert estimate(decided((0, 0, 0, 0, 5), "H1", model="normalized")) is None, "too few pairs"


@pytest.mark.slow
@pytest.mark.parametrize(("text", "difference"), [("0,200", 100.0), ("0,40", 40.0), ("0,40", 0.0)])
def test_the_estimate_after_a_test_is_in_its_interval_and_less_extreme_than_the_score(
    text: str, difference: float
) -> None:
    for test in play(Sprt.parse(text), distribution_at(difference, "logistic"), 3, 2):
        found = bounded(test.result())
        score = sum(count * i / 4 for i, count in enumerate(test.counts)) / sum(test.counts)
        assert found.low < found.elo < found.high
        assert (found.elo < elo(score) + 1) if test.accepted == "H1" else (found.elo > elo(score) - 1)


def sure(points: Iterable[float]) -> SprtResult:
    """A test that ends while pairs of games give these points to the first bot, again and again."""
    test = SequentialTest(Sprt.parse("-100,100"), "a", "b")
    for each in cycle(points):
        if test.accepted:
            return test.result()
        test.add(each)
    raise AssertionError


def test_h0_and_h1_mirror_each_other() -> None:
    pairs = [2.0, 1.0, 2.0, 0.0, 2.0, 1.0, 1.0]
    counts = (100, 200, 500, 270, 130)
    large = SprtResult("", "a", "b", -20.0, 20.0, 0.05, 0.05, "logistic", counts, 3.0, "H1")
    for one, mirrored in (
        (sure(pairs), sure(2 - each for each in pairs)),
        (large, large._replace(counts=counts[::-1], llr=-3.0, accepted="H0")),
    ):
        assert (one.accepted, mirrored.accepted) == ("H1", "H0")
        upper, lower = bounded(one), bounded(mirrored)
        assert lower == pytest.approx((-upper.elo, -upper.high, -upper.low), abs=0.01)


def test_the_ways_to_a_short_test_are_all_counted() -> None:
    """A bot that won all pairs of a test that ended as early as it could: chance that it does, as by hand."""
    test = SequentialTest(Sprt.parse("0,200"), "a", "b")
    while not test.accepted:
        test.add(2.0)
    found, pairs = estimate(test.result()), sum(test.counts)
    assert found and found.low is not None
    # At the lower end the chance of so many in a row, of which half counts, is 2.5 %; the others are drawn
    # or lost.
    won = 0.05 ** (1 / pairs)
    assert elo(won) <= found.low <= elo((1 + won) / 2)
    assert found.elo is found.high is None, "any larger difference would do"
    assert estimate_text(test.result()) == f"at least +{found.low:.0f}"
    counts = test.result().counts[::-1]
    lost = test.result()._replace(counts=counts, accepted="H0", elo0=-200.0, elo1=0.0)
    assert estimate_text(lost) == f"at most −{found.low:.0f}"


@pytest.mark.slow
@pytest.mark.parametrize(("text", "difference"), [("0,30", 0.0), ("0,30", 15.0), ("0,300", 0.0)])
def test_the_intervals_after_a_test_hold_the_truth_and_the_estimate_is_as_often_too_low(
    text: str, difference: float
) -> None:
    """After long tests, and after those so short that all ways to them are counted."""
    tests = [
        test.result() for test in play(Sprt.parse(text), distribution_at(difference, "logistic"), 150, 4)
    ]
    found = [*map(bounded, tests)]
    held = sum(one.low <= difference <= one.high for one in found) / len(found)
    below = sum(one.elo < difference for one in found) / len(found)
    assert 0.90 <= held <= 0.995
    assert 0.38 <= below <= 0.62
