"""Chances from estimates: fitted in one half of the games, judged in the other."""

from __future__ import annotations

from math import exp

import pytest

from referee.analysis.calibration import LEAST_GAMES, Calibration, ScoredGame, calibration, tens
from referee.kit import Quick


def games(number: int, slope: float, late: float, steps: int = 21) -> dict[str, ScoredGame]:
    """Games whose results follow from their estimates with this slope, which grows by `late` to the end."""
    rng = Quick(f"{number} {slope} {late}")
    found = {}
    for key in range(number):
        result = float(rng.below(2))
        scores = []
        for step in range(steps):
            # Drawn so that the chance of seat 1 at a score of ±1 is that of the logistic curve.
            chance = 1 / (1 + exp(-(slope + late * (step / (steps - 1)) ** 2)))
            is_right = rng.below(1000) < 1000 * chance
            scores.append(1.0 if is_right == (result == 1) else -1.0)
        found[f"{key:04}"] = ScoredGame(result, scores)
    return found


@pytest.mark.slow
def test_the_chances_are_those_that_the_results_were_drawn_from() -> None:
    fitted = calibration(games(2000, 0.2, 2.0))
    for a, b in fitted.fits:
        assert a == pytest.approx(0.2, abs=0.1) and b == pytest.approx(2.0, abs=0.2)
    assert fitted.chance("0001", 1.0, 1.0) == pytest.approx(1 / (1 + exp(-2.2)), abs=0.02)
    assert fitted.chance("0001", 1.0, -1.0) == pytest.approx(1 - 1 / (1 + exp(-2.2)), abs=0.02)


def test_a_quarter_is_open_where_the_chances_are_hardly_better_than_a_coin() -> None:
    fitted = calibration(games(400, 0.0, 2.5))
    early, second, third, last = (brier or 0 for brier in fitted.briers)
    assert early > 0.24 and second > 0.24 and third < 0.24 and last < 0.18
    assert [fitted.is_open(phase) for phase in (0.1, 0.3, 0.6, 0.9)] == [True, True, False, False]
    assert fitted.chance("0001", 0.3, 5.0) is None
    assert calibration(games(400, 3.0, 0.0)).is_open(0.1), "nothing is said of the first quarter"


def test_estimates_that_say_nothing_are_found_out_by_the_games_that_were_left_out() -> None:
    noise = calibration(games(40, 0.0, 0.0))
    assert [brier for brier in noise.briers if brier is not None and brier < 0.24] == []


def test_draws_make_estimates_that_say_nothing_no_better() -> None:
    noise = games(80, 0.0, 0.0)
    drawn = {key: game._replace(result=0.5) if int(key, 16) % 4 < 2 else game for key, game in noise.items()}
    assert [brier for brier in calibration(drawn).briers if brier is None or brier < 0.24] == []


def test_few_games_or_no_estimates_leave_everything_open() -> None:
    few = calibration(games(LEAST_GAMES - 1, 3.0, 0.0))
    assert few.games == LEAST_GAMES - 1 and few.is_open(0.9) and few.chance("0001", 0.9, 1.0) is None
    none = calibration({str(key): ScoredGame(1.0, [None] * 5) for key in range(50)})
    assert none == Calibration(50)


def test_estimates_that_are_never_wrong_and_enormous_ones_have_finite_chances() -> None:
    certain = {str(key): ScoredGame(key % 2, [(1e9 if key % 2 else -1e9)] * 9) for key in range(40)}
    fitted = calibration(certain)
    assert 0.9 < (fitted.chance("3", 0.9, 1e9) or 0) < 1


def test_no_game_is_in_its_own_fit() -> None:
    given = games(100, 1.0, 1.0)
    before = calibration(given)
    flipped = given | {"0003": ScoredGame(1 - given["0003"].result, given["0003"].scores)}
    after = calibration(flipped)
    assert after.chance("0003", 0.9, 1.0) == before.chance("0003", 0.9, 1.0)
    assert after.chance("0002", 0.9, 1.0) != before.chance("0002", 0.9, 1.0)


def test_people_are_shown_tens_and_never_certainty() -> None:
    assert [tens(chance) for chance in (0.001, 0.14, 0.5, 0.86, 0.999)] == [10, 10, 50, 90, 90]
