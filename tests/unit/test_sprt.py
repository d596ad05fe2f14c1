"""The sequential probability ratio test: published numbers and properties."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.sprt import MODELS, bounds, llr
from referee.tournament.stopping import Sprt
from tests.tools.sprt_runs import distribution_at, measure

# Disservin/fastchess, app/tests/sprt_test.cpp: counts from the worst score to the best.
PUBLISHED = [
    ("normalized", (36027, 68692, 36433), 0, 2, 0.92),
    ("logistic", (21184, 40708, 21404), 0.5, 2.5, -1.57),
    ("normalized", (365, 16618, 36029 + 200, 16974, 390), 0, 2, 2.25),
    ("logistic", (223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
]


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


@pytest.mark.promise("FORMATS", "A sequential test decides wrongly no more often than it says.", case="H1")
@pytest.mark.slow
@pytest.mark.parametrize("hypothesis", ["H0", "H1"])
def test_simulated_runs_hold_the_error_rates(hypothesis: str) -> None:
    """The short form of `tests.tools.sprt_runs`."""
    runs = 200
    found = measure(Sprt(0, 100), hypothesis, runs)
    assert found.wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.75 < found.pairs / found.theory < 1.35


def test_the_simulated_difference_is_the_one_that_is_tested() -> None:
    chances = distribution_at(30, "logistic")
    mean = sum(chance * i / 4 for i, chance in enumerate(chances))
    assert sum(chances) == pytest.approx(1)
    assert mean == pytest.approx(1 / (1 + 10 ** (-30 / 400)))
