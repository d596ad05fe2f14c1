"""Time by two clocks, in short: nobody loses who was in time, and nobody is spared who was not."""

from __future__ import annotations

import pytest

from tests.tools.fairness import Answered, run, verdict


def answered(
    accepted: bool, before_us: int | None, after_us: int | None, stopped_us: int = 0, talked: bool = False
) -> Answered:
    """A question that was read after 40 ms, of an allowance of 200 and a margin of 10."""
    return Answered(accepted, 40_000, before_us, after_us, 200_000, stopped_us, 200_000, 10_000, talked)


@pytest.mark.slow
def test_nobody_is_wronged_and_nobody_is_spared() -> None:
    ledger = run(60, "short", 1)
    assert len(ledger.answers) >= 60
    assert verdict(ledger) == []
    assert all(answer.before_us is not None for answer in ledger.answers if answer.accepted)
    assert all(answer.over_us > 0 for answer in ledger.answers if answer.accepted and not answer.stopped_us)


def test_who_is_wronged() -> None:
    assert answered(False, 199_000, 200_000).wronged
    assert answered(False, 199_000, None).wronged, (
        "it was ended before it could write down that it had answered"
    )
    assert not answered(False, 199_000, 200_001).wronged and answered(False, 199_000, 200_001).in_doubt
    assert not answered(False, 200_001, 200_002).wronged and not answered(False, 200_001, None).in_doubt
    assert not answered(False, None, None).wronged
    assert not answered(True, 199_000, 200_000).wronged


def test_who_is_spared() -> None:
    assert answered(True, 210_001, 210_002).spared
    assert not answered(True, 210_000, 210_001).spared
    assert not answered(False, 210_001, 210_002).spared
    assert not answered(True, 240_000, 240_001, stopped_us=30_000).spared
    assert answered(True, 240_001, 240_002, stopped_us=30_000).spared
    assert answered(True, 250_001, 250_002, stopped_us=900_000).spared, "it was stopped while the bot thought"
    assert not answered(True, 250_001, 250_002, stopped_us=900_000, talked=True).spared, "nobody knows when"
    assert answered(True, 250_001, 250_002, stopped_us=40_000, talked=True).spared
