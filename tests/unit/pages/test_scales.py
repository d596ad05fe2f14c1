"""Scales of charts: everything lies on them, and few round values are labelled."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from referee.pages.report.charts import MAX_TICKS, SCALE_WIDTH, Scale, bins, round_step, round_values

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)
TIMES = st.lists(st.integers(0, 10**10), min_size=1, max_size=20)


@given(NUMBERS)
@example([-1.1754943508222875e-38, -1.175494351e-38])
def test_all_values_lie_on_their_scale_in_their_order(values: list[float]) -> None:
    scale = Scale.over(values)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= SCALE_WIDTH
    assert scale.low < min(values) and max(values) < scale.high
    assert 1 <= len(scale.ticks) <= MAX_TICKS + 1
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(TIMES)
def test_a_logarithmic_scale_is_labelled_with_powers_of_ten(values: list[int]) -> None:
    scale = Scale.over(values, is_logarithmic=True)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= SCALE_WIDTH
    assert len(scale.ticks) <= MAX_TICKS
    assert all(str(round(tick)).strip("0") == "1" for tick in scale.ticks)


def test_equal_steps_of_a_logarithmic_scale_are_equal_factors() -> None:
    scale = Scale(1, 10_000, is_logarithmic=True)
    places = [scale.at(value) for value in (0.1, 1, 100, 10_000, 10**6)]
    assert places == [0, 0, SCALE_WIDTH / 2, SCALE_WIDTH, SCALE_WIDTH]


def test_no_values_have_a_scale_too() -> None:
    assert 0 < Scale.over([]).at(1.0) < SCALE_WIDTH
    assert Scale.over([], is_logarithmic=True).ticks == [1]


def test_steps_are_round() -> None:
    steps = [round_step(least) for least in (0.011, 0.1, 0.3, 1, 1.1, 2.1, 5.1, 99, 101)]
    assert steps == [0.02, 0.1, 0.5, 1, 2, 5, 10, 100, 200]
    assert round_values(-120, 130, 6) == [-100, -50, 0, 50, 100]


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 40))
def test_bins_cover_each_number_once(one: int, other: int, most: int) -> None:
    low, high = sorted((one, other))
    found = bins(low, high, most)
    assert found[0][0] <= low and high < found[-1][1] and len(found) <= most + 1
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert len({end - begin for begin, end in found}) == 1
