"""Pipes whose last write the kernel times.

The reader of a pipe knows when it read, not when the writer wrote. If the reader was stopped or starved in
between, the two differ, and the bot must not be charged for that. A named pipe is a file, and the kernel
sets its change time at each write, in ticks of some milliseconds; no program can set it back. So of several
writes only the time of the last is known. A few ways of writing, such as splice(2), do not change it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import tempfile
import termios
import time
from functools import cache
from typing import NamedTuple

from referee.processes import owned

_COARSE = 5  # CLOCK_REALTIME_COARSE, from which files get their times


def _tick_ns() -> int:
    with contextlib.suppress(OSError):
        return round(time.clock_getres(_COARSE) * 1e9) if sys.platform == "linux" else 0
    return 0


TICK_NS = _tick_ns()  # the resolution of such a time, which is that of the last tick before the write


class Pipe(NamedTuple):
    """The two ends of a pipe; neither is inherited."""

    read_end: int
    write_end: int
    stamped: bool  # whether `written_ns` works for it


def make() -> Pipe:
    """A pipe, with write times where this machine has them. Raises `OSError`."""
    if folder := _folder():
        with contextlib.suppress(OSError):
            return _in_folder(folder)
    return Pipe(*os.pipe(), stamped=False)


def written_ns(read_end: int) -> int:
    """An upper bound of the time of the last write, by the system's clock (`time.time_ns`).

    A tick may itself be late by one. It is later still where a virtual machine was stopped during the tick,
    and then the bound is too early, which is in the writer's favour.
    """
    return os.fstat(read_end).st_ctime_ns + 2 * TICK_NS


def is_empty(read_end: int) -> bool:
    """Whether nothing lies unread in a pipe."""
    count = fcntl.ioctl(read_end, termios.FIONREAD, bytes(4))
    return not any(count)


def _in_folder(folder: str) -> Pipe:
    path = f"{folder}/{owned.prefix()}{os.urandom(8).hex()}"
    os.mkfifo(path, 0o600)  # fails where the file exists
    try:
        read_end = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return Pipe(read_end, os.open(path, os.O_WRONLY | os.O_CLOEXEC), stamped=True)
        except BaseException:
            os.close(read_end)
            raise
    finally:
        os.unlink(path)  # noqa: PTH108 - faster, for the start of bots


def is_write_stamped(pipe: Pipe) -> bool:
    """Whether a write that is made some ticks after the last one gets its own time."""
    time.sleep(3 * TICK_NS / 1e9)
    before = time.time_ns()
    os.write(pipe.write_end, b"x")
    return before <= written_ns(pipe.read_end) <= time.time_ns() + 2 * TICK_NS


SHARED_MEMORY = "/dev/shm"


@cache
def _folder() -> str:
    """A folder whose pipes have write times, or an empty text: some file systems keep none."""
    if TICK_NS:
        for folder in (SHARED_MEMORY, tempfile.gettempdir()):
            with contextlib.suppress(OSError):
                if _works(folder):
                    return folder
    return ""


def _works(folder: str) -> bool:
    pipe = _in_folder(folder)
    try:
        # Several times, since a tick may be missed while the machine is busy.
        return any(is_write_stamped(pipe) for _ in range(5))
    finally:
        os.close(pipe.read_end)
        os.close(pipe.write_end)
