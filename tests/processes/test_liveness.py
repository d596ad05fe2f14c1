"""Bots that do not answer free their place, in short."""

from __future__ import annotations

import pytest

from tests.tools.liveness import EXPECTED, VICES, complaints, run


@pytest.mark.promise("PROTOCOL", "A bot that does not answer is ended soon after its deadline.")
@pytest.mark.slow
def test_bots_that_do_not_answer_free_their_place() -> None:
    freed = run(2, 4)
    assert len(freed) == 2 * len(EXPECTED) * len(VICES)
    assert complaints(freed) == []
    assert all(one.after_us > 0 for one in freed), "nobody is sent away before the deadline"
