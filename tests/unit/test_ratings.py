"""Two-bot statistics against published numbers."""

from __future__ import annotations

import math
from itertools import product

import pytest

from referee.core.rng import Stream
from referee.ratings.pool import ELO, Rating, Result, fit
from referee.ratings.two import compare, elo

# Disservin/fastchess, app/tests/elo_test.cpp: counts from the worst score to the best, normalized Elo, ±,
# Elo, ±, LOS in %.
PUBLISHED = [
    ((89, 123, 76), -20.76, 40.13, -15.69, 30.46, 15.53),
    ((96, 111, 136), 49.77, 36.77, 40.70, 30.43, 99.60),
    ((34, 54, 31 + 32, 64, 75), 57.94, 28.28, 55.58, 27.65, 100.00),
    ((332, 433, 457 + 41, 333, 334), -9.17, 10.96, -8.64, 10.33, 5.05),
]


@pytest.mark.parametrize(("counts", "nelo", "nelo_half", "difference", "half", "los"), PUBLISHED)
def test_published_numbers(
    counts: tuple[int, ...], nelo: float, nelo_half: float, difference: float, half: float, los: float
) -> None:
    result = compare(counts)
    assert result.half_width is not None
    assert result.nelo is not None and result.nelo_half_width is not None
    assert round(result.nelo, 2) == nelo
    assert round(result.nelo_half_width, 2) == nelo_half
    assert round(result.elo, 2) == difference
    assert round(result.half_width, 2) == half
    assert round(100 * result.superiority, 2) == los


def test_ratios_of_draws_and_pairs() -> None:
    pairs = compare((34, 54, 31 + 32, 64, 75))
    assert pairs.draw_ratio == pytest.approx((31 + 32) / 290)
    assert pairs.pairs_ratio == pytest.approx((64 + 75) / (34 + 54))
    games = compare((89, 123, 76))
    assert games.draw_ratio == pytest.approx(123 / 288)
    assert games.pairs_ratio is None
    assert compare((0, 0, 3, 1, 0)).pairs_ratio is None, "no pair was lost"


def test_the_other_side_sees_the_negative() -> None:
    for counts in ((3, 4, 9), (1, 0, 2), (1, 2, 3, 4, 5)):
        one, other = compare(counts), compare(counts[::-1])
        assert one.elo == pytest.approx(-other.elo)
        assert one.half_width == pytest.approx(other.half_width)
        assert one.superiority == pytest.approx(1 - other.superiority)
        assert one.nelo is not None and other.nelo is not None
        assert one.nelo == pytest.approx(-other.nelo)
        assert one.nelo_half_width == other.nelo_half_width


def test_four_times_the_games_halve_the_interval() -> None:
    one, four = compare((300, 300, 400)), compare((1200, 1200, 1600))
    assert one.half_width and four.half_width
    assert four.half_width == pytest.approx(one.half_width / 2, rel=0.01)
    assert one.nelo_half_width and four.nelo_half_width == pytest.approx(one.nelo_half_width / 2)


@pytest.mark.parametrize("size", [3, 5])
def test_no_small_result_gives_nan_or_inf(size: int) -> None:
    for counts in product(range(3), repeat=size):
        result = compare(counts)
        for number in result:
            assert number is None or math.isfinite(number)
        if sum(count > 0 for count in counts) <= 1:
            assert result.half_width is None, "results that are all alike measure no chance"


def test_the_clamp_is_said() -> None:
    assert compare((0, 0, 7)).clamped and compare((7, 0, 0)).clamped
    assert not compare((3, 0, 3)).clamped
    assert elo(1.0) == elo(0.999) == pytest.approx(1199.83, abs=0.01)


# --- The pool --------------------------------------------------------------------------------------------


def pair(one: str, other: str, wins: int, draws: int, losses: int) -> list[Result]:
    results = [((1, 2), wins), ((1, 1), draws), ((2, 1), losses)]
    return [
        Result((one, other), ranks, (one, other, ranks, number))
        for ranks, count in results
        for number in range(count)
    ]


def ranking(*order: str) -> Result:
    return Result(order, tuple(range(1, len(order) + 1)), order)


def plain(results: list[Result], names: str) -> dict[str, float]:
    """Strengths in natural units, without prior and without an advantage."""
    pool = fit(results, list(names), virtual_draws=0, advantage=False)
    return {name: rating.elo / ELO for name, rating in pool.ratings.items()}


def test_plain_bradley_terry_of_a_published_pool() -> None:
    # talkchess t=44180
    results = pair("H", "S", 18, 9, 3) + pair("S", "K", 18, 9, 3) + pair("H", "K", 24, 6, 0)
    elo_of = {name: round(strength * ELO, 2) for name, strength in plain(results, "HSK").items()}
    assert elo_of == {"H": 190.85, "S": 0.0, "K": -190.85}


def test_choix_s_pairwise_case() -> None:
    results = [ranking(*order) for order in ("01", "12", "20")] + [Result(("0", "1"), (1, 2), "again")]
    strengths = plain(results, "012")
    assert [round(strengths[name], 4) for name in "012"] == [0.4196, -0.4196, 0.0]


def test_choix_s_rankings_case() -> None:
    strengths = plain([ranking(*order) for order in ("012", "320", "13")], "0123")
    published = [-0.4433, 0.6951, -0.6707, 0.4189]
    assert [strengths[name] for name in "0123"] == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize("counts", [*product(range(3), repeat=3), (50, 0, 0), (0, 50, 0), (0, 0, 50)])
def test_every_small_result_of_a_pool_is_finite(counts: tuple[int, int, int]) -> None:
    for names, results in (
        ("ab", pair("a", "b", *counts)),
        ("abc", pair("a", "b", *counts) + pair("b", "c", 1, 0, 0)),
        ("abcd", pair("a", "b", *counts) + pair("c", "d", *counts)),
    ):
        pool = fit(results, list(names))
        ratings = [*pool.ratings.values(), *(seat for seats in pool.advantages.values() for seat in seats)]
        numbers = [x for rating in ratings for x in rating[:2] if x is not None]
        assert all(math.isfinite(x) for x in numbers)
        assert sum(pool.fitted.values()) == pytest.approx(0, abs=1e-6)


def test_names_and_order_change_nothing() -> None:
    results = pair("a", "b", 5, 2, 1) + pair("b", "c", 3, 3, 3) + pair("c", "a", 1, 0, 4)
    pool = fit(results, list("abc"))
    again = fit(results[::-1], list("cab"))
    renamed = fit([r._replace(bots=tuple(name.upper() for name in r.bots)) for r in results], list("ABC"))
    for name in "abc":
        for other in (again.ratings[name], renamed.ratings[name.upper()]):
            assert other.elo == pytest.approx(pool.ratings[name].elo, abs=1e-6)
            assert other.half_width == pytest.approx(pool.ratings[name].half_width, abs=1e-6)


def test_the_advantage_of_seat_1_is_found_and_not_put_down_to_a_bot() -> None:
    pool = fit(pair("a", "b", 70, 0, 30) + pair("b", "a", 70, 0, 30), ["a", "b"])
    assert pool.ratings["a"].elo == pytest.approx(0, abs=1e-6)
    assert pool.advantages["", 2][0].elo == pytest.approx(elo(0.7), abs=5)  # the prior takes a little


def test_draws_narrow_the_interval_and_pairs_that_always_split_close_it() -> None:
    drawn, decided = (
        fit(pair("a", "b", *counts) + pair("b", "a", *counts), ["a", "b"])
        for counts in ((10, 80, 10), (50, 0, 50))
    )
    assert drawn.ratings["a"].half_width and decided.ratings["a"].half_width
    assert drawn.ratings["a"].half_width < 0.6 * decided.ratings["a"].half_width
    # In every pair one game each: as pairs these say much more exactly that the bots are equal.
    games = [
        (number, bots, ranks)
        for number in range(50)
        for bots, ranks in (
            (("a", "b"), (1, 2) if number % 2 else (2, 1)),
            (("b", "a"), (1, 2) if number % 2 else (2, 1)),
        )
    ]
    paired = fit([Result(bots, ranks, number) for number, bots, ranks in games], ["a", "b"])
    single = fit([Result(bots, ranks, (number, bots)) for number, bots, ranks in games], ["a", "b"])
    assert paired.ratings["a"].half_width and single.ratings["a"].half_width
    assert paired.ratings["a"].half_width < 0.5 * single.ratings["a"].half_width


@pytest.mark.slow
def test_the_interval_covers_what_it_says() -> None:
    """500 pools of two equal bots with half the games drawn: 95 of 100 intervals hold the truth."""
    rng, held = Stream(b"coverage"), 0
    for _ in range(500):
        counts = [0, 0, 0]
        for _ in range(200):
            counts[(0, 1, 1, 2)[rng.below(4)]] += 1
        rating = fit(pair("a", "b", *counts), ["a", "b"], advantage=False).ratings["a"]
        assert rating.half_width is not None
        held += abs(rating.elo) <= rating.half_width
    assert 0.92 * 500 <= held <= 0.98 * 500


def test_bots_that_never_met_are_told_apart() -> None:
    pool = fit(pair("a", "b", 3, 0, 1) + pair("c", "d", 1, 0, 1), list("abcde"))
    assert sorted(map(tuple, pool.groups)) == [("a", "b"), ("c", "d"), ("e",)]
    assert pool.ratings["e"] == Rating(0.0, None)


def test_more_than_two_seats_with_ties() -> None:
    results = [Result(tuple("abc"), (1, 2, 2), number) for number in range(20)]
    pool = fit(results, list("abc"), advantage=False)
    assert pool.ratings["a"].elo > 0 > pool.ratings["b"].elo == pytest.approx(pool.ratings["c"].elo)
