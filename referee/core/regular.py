"""Opens regular files only: a pipe or device in place of one is neither waited for nor opened."""

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
    (stat.S_ISLNK, "a symbolic link"),
)

_WITHOUT_WAITING = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading; symbolic links are followed.

    Raises `OSError`, whose `strerror` says what else lies at the path where it is no regular file.
    """
    return os.fdopen(_opened(path, os.O_RDONLY), "rb")


def open_without_links(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file, which is created for its owner alone where `flags` ask for it. A
    symbolic link is refused.

    Raises `OSError`, as `open_regular` does.
    """
    return _opened(path, flags | os.O_NOFOLLOW)


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


def _opened(path: Path, flags: int) -> int:
    # A look before the file is opened, since opening a device may already have an effect.
    try:
        _refuse_others(path.lstat() if flags & os.O_NOFOLLOW else path.stat())
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    # Whoever owns the folder may replace the file at any moment, so opening must not wait either.
    file = os.open(path, flags | _WITHOUT_WAITING, 0o600)  # guard: regular-files
    try:
        _refuse_others(os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _refuse_others(found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):  # guard: regular
        return
    kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
    raise OSError(errno.EINVAL, f"it is {kind}, expected a regular file")
