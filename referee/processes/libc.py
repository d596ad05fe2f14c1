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


try:
    import ctypes
except ImportError:  # some small builds of Python lack it
    ctypes = None  # type: ignore[assignment]


def prctl(option: int, *values: int | bytes) -> bool:
    """Calls prctl(2) where there is one, with up to four values; the others are 0."""
    library = _library()
    if library is None:
        return False
    padded = [_argument(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return bool(library.prctl(option, *padded) == 0)


def syscall(number: int, *values: int | bytes | None) -> int:
    """Calls the kernel directly. Raises `OSError`."""
    library = _library()
    if library is None:
        raise OSError(38, os.strerror(38))  # ENOSYS
    result: int = library.syscall(ctypes.c_long(number), *map(_argument, values))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def address(data: bytes) -> int:
    """Returns the address of bytes in memory, valid as long as they exist: for structures that point to
    others.
    """
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _argument(value: int | bytes | None) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


@cache
def _library() -> ctypes.CDLL | None:
    """The C library on Linux; loaded once, before any fork."""
    if sys.platform != "linux" or ctypes is None:
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
