from itertools import product
from math import comb

import pytest

from referee.analysis.significance import Count, by_clusters, exceeds, fisher


def test_fishers_test_of_the_lady_tasting_tea() -> None:
    assert fisher(Count(3, 4), Count(1, 4)) == pytest.approx(17 / 70)  # 1, 16, 36, 16, 1 of 70
    assert fisher(Count(4, 4), Count(0, 4)) == pytest.approx(1 / 70)


def test_fishers_test_adds_up_all_tables_with_as_many_cases() -> None:
    def likely(cases: int) -> float:
        return comb(20, cases) * comb(30, 12 - cases) / comb(50, 12)

    expected = likely(10) + likely(11) + likely(12)
    assert fisher(Count(10, 20), Count(2, 30)) == pytest.approx(expected)
    assert fisher(Count(3000, 20_000), Count(3000, 20_000)) == pytest.approx(0.5, abs=0.01)


def test_changing_places_is_counted_over_all_ways() -> None:
    """As the definition says it: in each cluster, any of its players may be the one in question."""
    clusters = [
        [Count(3, 5), Count(0, 5)],
        [Count(2, 5), Count(1, 5), Count(0, 5)],
        [Count(2, 5), Count(1, 5)],
        [Count(1, 5), Count(1, 5)],
    ]
    sums = [sum(count.cases for count in chosen) for chosen in product(*clusters)]
    more = sum(each >= 8 for each in sums) / len(sums)
    assert by_clusters(clusters) == pytest.approx(more)


def test_cases_of_one_encounter_are_one_accident() -> None:
    """Thirty cases against none, but all in five encounters: Fisher's test would be sure."""
    clusters = [[Count(6, 20), Count(0, 20)]] * 5 + [[Count(0, 20), Count(0, 20)]] * 20
    own, others = Count(30, 500), Count(0, 500)
    assert fisher(own, others) < 1e-6
    assert by_clusters(clusters) == pytest.approx(1 / 32)
    assert exceeds(own, others, clusters) is None
    spread = [[Count(1, 20), Count(0, 20)]] * 30
    assert exceeds(own, others, spread) == by_clusters(spread) == pytest.approx(1 / 2**30)


def test_few_cases_or_a_small_factor_are_not_told() -> None:
    nine = [[Count(1, 10), Count(0, 10)]] * 9
    assert exceeds(Count(9, 90), Count(0, 90), nine) is None
    much = [[Count(10, 10), Count(6, 10)]] * 50
    assert exceeds(Count(500, 500), Count(300, 500), much) is None
