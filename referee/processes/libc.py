"""Calls of the kernel that Python does not have, by way of the C library."""

from __future__ import annotations

import sys
from functools import cache

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
PARENT_DEATH = 1  # PR_SET_PDEATHSIG


def prctl(option: int, value: int) -> bool:
    """Calls prctl(2) where there is one."""
    library = _library()
    return library is not None and bool(library.prctl(option, value, 0, 0, 0) == 0)  # type: ignore[attr-defined]


@cache
def _library() -> object:
    """The C library where it has prctl(2); loaded once, before any fork."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        return ctypes.CDLL(None)
    except (ImportError, OSError):
        return None
