"""The method of tuning: its gains to the digit, and what it gains in simulated games."""

from __future__ import annotations

import math
from random import Random

import pytest

from referee.core.seeds import Stream, derive
from referee.tuning.expectation import expectation
from referee.tuning.spsa import Spsa

UNUSED = Stream(b"")


def test_the_gains_follow_from_the_numbers_of_games_and_of_parameters() -> None:
    gains = Spsa([0.5] * 2, 250, UNUSED)
    assert gains.rate == 0.02
    assert gains.spread(1) == pytest.approx(0.1746594, abs=1e-7)
    assert gains.step(1, 1) / gains.spread(1) == pytest.approx(0.0271213, abs=1e-7)
    assert gains.step(1, 2) == pytest.approx(0.00947398, abs=1e-8)
    assert gains.spread(250) == pytest.approx(0.1)
    assert gains.step(250, 2) == pytest.approx(0.004)
    assert sum(gains.step(pair, 2) for pair in range(1, 251)) == pytest.approx(1.4821258, abs=1e-7)
    gains = Spsa([0.5] * 5, 1000, UNUSED)
    assert gains.rate == pytest.approx(0.01265)
    assert gains.step(1, 2) == pytest.approx(0.00530197, abs=1e-8)
    assert sum(gains.step(pair, 2) for pair in range(1, 1001)) == pytest.approx(3.7539465, abs=1e-7)


def test_both_sides_and_the_values_stay_in_the_range_and_go_where_the_wins_are() -> None:
    random = Stream(b"27")
    assert [random.below(2) for _ in range(6)] == [1, 0, 1, 1, 1, 1]
    spsa = Spsa([0.1, 0.95], 250, Stream(b"27"))
    plus, minus = spsa.ask()
    assert plus == pytest.approx((0.2746594, 0.7753406)) and minus == (0.0, 1.0)
    again, _ = spsa.ask()
    assert again == pytest.approx((0.1 + spsa.spread(2), 1.0)), "the first was not told yet"
    spsa.tell(2)
    assert spsa.values[-1] == pytest.approx((0.10947398, 0.94052602))
    spsa.ask()
    spsa.tell(-2)
    step = spsa.step(2, 2)
    assert spsa.values[-1] == pytest.approx((0.10947398 - step, 0.94052602 - step))
    spsa.tell(0)
    assert spsa.values[-1] == pytest.approx((0.10947398 - step, 0.94052602 - step))


AHEAD = 16


def gained(parameters: int, seed: int, games: int = 2000) -> float:
    """The Elo gained on a simulated surface where 40 can be, with pairs that are told late."""
    best = 0.5 + 0.25 / math.sqrt(parameters)
    random, pairs = Random(seed), games // 2

    def elo(values: tuple[float, ...]) -> float:
        return -640.0 * sum((value - best) ** 2 for value in values)

    spsa = Spsa([0.5] * parameters, pairs, Stream(derive(b"test", str(seed))))
    results: list[int] = []
    for pair in range(pairs + AHEAD):
        if pair >= AHEAD:
            spsa.tell(results[pair - AHEAD])
        if pair < pairs:
            plus, minus = spsa.ask()
            chance = 1 / (1 + 10 ** ((elo(minus) - elo(plus)) / 400))
            results.append(sum(1 if random.random() < chance else -1 for _ in range(2)))
    return 40 + elo(spsa.values[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "expected"), [(2, 38.1), (5, 37.0), (10, 35.1)])
def test_most_of_the_elo_that_can_be_gained_is_gained(parameters: int, expected: float) -> None:
    """The means of 400 runs; steps that are 4 times too large or too small miss them by 1.7 at least."""
    gains = [gained(parameters, seed) for seed in range(50)]
    assert sum(gains) / len(gains) == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize(
    ("parameters", "games", "expected"),
    [
        (10, 500, "with 10 parameters and 500 games, expect −7 to +26 Elo"),
        (2, 8000, "with 2 parameters and 8,000 games, expect −1 to +39 Elo"),
        (3, 1000, "with 3 parameters and 1,000 games, expect −2 to +35 Elo"),
        (50, 100, "with 50 parameters and 100 games, expect −7 to +26 Elo"),
    ],
)
def test_what_may_be_expected_is_said(parameters: int, games: int, expected: str) -> None:
    said = expectation(parameters, games)
    assert said.startswith(expected)
    assert ("it is worse" in said) == (parameters > 10 or games < 500)
