"""Pipes on which the kernel notes when they were last written to.

Who reads a pipe knows when he read, not when it was written. Where the reader was stopped or starved in
between, that is a difference, and a bot should not answer for it. A named pipe is a file, and its time of
change is set by the kernel at each write, in ticks of some milliseconds; nobody can set it back. A few ways
of writing, such as splice(2), leave it as it is.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
import time
from functools import cache
from typing import NamedTuple

_COARSE = 5  # CLOCK_REALTIME_COARSE, from which files get their times


def _tick_ns() -> int:
    with contextlib.suppress(OSError):
        return round(time.clock_getres(_COARSE) * 1e9) if sys.platform == "linux" else 0
    return 0


TICK_NS = _tick_ns()
"""How exact such a time is: it is that of the last tick before the write."""


class Pipe(NamedTuple):
    """A pipe's two ends; neither is inherited."""

    read_end: int
    write_end: int
    stamped: bool
    """Whether `written_ns` can be asked of it."""


def make() -> Pipe:
    """A pipe, stamped where this machine can do it. Raises `OSError`."""
    if folder := _folder():
        with contextlib.suppress(OSError):
            return _in_folder(folder)
    return Pipe(*os.pipe(), stamped=False)


def written_ns(read_end: int) -> int:
    """When the pipe was last written to at the latest, by the system's clock (`time.time_ns`)."""
    return os.fstat(read_end).st_ctime_ns + 2 * TICK_NS  # a tick may itself be late


def _in_folder(folder: str) -> Pipe:
    path = f"{folder}/referee-{secrets.token_hex(8)}"
    os.mkfifo(path, 0o600)  # which fails where there is such a file
    try:
        read_end = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return Pipe(read_end, os.open(path, os.O_WRONLY | os.O_CLOEXEC), stamped=True)
        except BaseException:
            os.close(read_end)
            raise
    finally:
        os.unlink(path)  # noqa: PTH108 - no bot's start is to wait for more than it needs


@cache
def _folder() -> str:
    """A folder whose pipes are stamped, or nothing: some file systems keep no times of pipes."""
    if TICK_NS:
        for folder in ("/dev/shm", tempfile.gettempdir()):
            with contextlib.suppress(OSError):
                if _works(folder):
                    return folder
    return ""


def _works(folder: str) -> bool:
    pipe = _in_folder(folder)
    try:
        time.sleep(3 * TICK_NS / 1e9)
        before = time.time_ns()
        os.write(pipe.write_end, b"x")
        return before <= written_ns(pipe.read_end) <= time.time_ns() + 2 * TICK_NS
    finally:
        os.close(pipe.read_end)
        os.close(pipe.write_end)
