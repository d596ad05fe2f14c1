"""Calls of the kernel that Python does not have, by way of the C library."""

from __future__ import annotations

import os
import sys
from functools import cache

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_DUMPABLE = 4  # PR_SET_DUMPABLE

TRACEABLE = "REFEREE_TRACEABLE"
"""With this variable in the environment, debuggers and profilers of the same user can be used."""


def hide(hidden: bool = True) -> None:
    """Whether `/proc/PID` of this process, its memory and descriptors too, is closed to others of its user.

    A program that it executes begins open again. While it is closed, its files in `/proc` belong to root.
    """
    if not hidden or TRACEABLE not in os.environ:
        prctl(_DUMPABLE, int(not hidden))  # guard: hidden


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
