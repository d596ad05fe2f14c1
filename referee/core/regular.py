"""Opens regular files for reading: never waits for a FIFO, and never opens a device."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading; symbolic links are followed.

    Raises `OSError`, whose `strerror` says what else lies at the path where it is no regular file.
    """
    _refuse_others(path.stat())  # before the file is opened: opening a device may already have an effect
    # Whoever owns the path may replace the file at any moment, so opening must not wait either.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)  # guard: regular-files
    try:
        _refuse_others(os.fstat(opened))
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def read_start(path: Path, most: int) -> bytes:
    """At most the first `most` bytes of a regular file. Raises `OSError`, as `open_regular` does."""
    with open_regular(path) as file:
        return file.read(most)


def is_regular(path: Path) -> bool:
    """Whether there is a regular file at a path, whatever the path is: False also where nobody can tell."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _refuse_others(found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
    raise OSError(errno.EINVAL, f"it is {kind}, expected a regular file")
