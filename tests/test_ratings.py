"""Two-bot statistics against published numbers."""

from __future__ import annotations

import math
from itertools import product

import pytest

from referee.ratings.two import compare, elo

# Disservin/fastchess, app/tests/elo_test.cpp: counts from the worst score to the best, Elo, ±, LOS in %.
PUBLISHED = [
    ((89, 123, 76), -15.69, 30.46, 15.53),
    ((96, 111, 136), 40.70, 30.43, 99.60),
    ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 100.00),
    ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 5.05),
]


@pytest.mark.parametrize(("counts", "difference", "half", "los"), PUBLISHED)
def test_published_numbers(counts: tuple[int, ...], difference: float, half: float, los: float) -> None:
    result = compare(counts)
    assert result.half_width is not None
    assert round(result.elo, 2) == difference
    assert round(result.half_width, 2) == half
    assert round(100 * result.superiority, 2) == los


def test_the_other_side_sees_the_negative() -> None:
    for counts in ((3, 4, 9), (1, 0, 2), (1, 2, 3, 4, 5)):
        one, other = compare(counts), compare(counts[::-1])
        assert one.elo == pytest.approx(-other.elo)
        assert one.half_width == pytest.approx(other.half_width)
        assert one.superiority == pytest.approx(1 - other.superiority)


def test_four_times_the_games_halve_the_interval() -> None:
    one, four = compare((300, 300, 400)), compare((1200, 1200, 1600))
    assert one.half_width and four.half_width
    assert four.half_width == pytest.approx(one.half_width / 2, rel=0.01)


@pytest.mark.parametrize("size", [3, 5])
def test_no_small_result_gives_nan_or_inf(size: int) -> None:
    for counts in product(range(3), repeat=size):
        result = compare(counts)
        for number in (result.score, result.elo, result.half_width or 0.0, result.superiority):
            assert math.isfinite(number)
        if sum(count > 0 for count in counts) <= 1:
            assert result.half_width is None, "results that are all alike measure no chance"


def test_the_clamp_is_said() -> None:
    assert compare((0, 0, 7)).clamped and compare((7, 0, 0)).clamped
    assert not compare((3, 0, 3)).clamped
    assert elo(1.0) == elo(0.999) == pytest.approx(1199.83, abs=0.01)
