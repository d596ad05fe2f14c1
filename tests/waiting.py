"""Waiting for what another process does: for an event or a relation, never for a number of seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TOO_LONG_S = 300.0
"""What takes longer hangs, on a busy machine too. The only bound on waiting in the tests."""

POLL_S = 0.01


def let_others_go_on(seconds: float) -> None:
    """Lets other processes go on, where nothing tells whether they have done what they should not do, or how
    far they are. If the machine stands still meanwhile, a test looks at less, but must not fail.
    """
    time.sleep(seconds)


def eventually(look: Callable[[], T]) -> T:
    """The first true value that `look` returns. Raises `AssertionError` with the last one if none comes."""
    deadline = time.monotonic() + TOO_LONG_S
    while not (value := look()):
        assert time.monotonic() < deadline, f"still {value!r} after {TOO_LONG_S:g} s"
        time.sleep(POLL_S)
    return value
