"""The tests that take longest begin first, spread over the workers."""

from __future__ import annotations

from typing import cast

import pytest

from tests.conftest import longest_first


class Named:
    """A test that takes so many seconds, or not many."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        assert name == "slow"
        return [pytest.mark.slow(seconds=self.seconds).mark] if self.seconds else [pytest.mark.slow.mark]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 20])
def test_each_worker_s_share_begins_with_long_ones(workers: int) -> None:
    tests = [Named(seconds) for seconds in (0, 10, 0, 0, 0, 30, 0, 0, 20, 0, 0, 40)]
    ordered = cast(list[Named], longest_first(cast(list[pytest.Item], tests), workers))
    assert sorted(map(id, ordered)) == sorted(map(id, tests))
    assert [test for test in ordered if not test.seconds] == [test for test in tests if not test.seconds]
    share = len(tests) // workers or 1  # they can be divided, but among 20
    shares = [[test.seconds for test in ordered[n : n + share]] for n in range(0, len(tests), share)]
    assert [one[0] for one in shares[:4]] == [40, 30, 20, 10][:workers]
    assert all(one == sorted(one, reverse=True) for one in shares)
