"""Scratch folders of bots: made before the start, measured while the bot runs, removed after its end.

What lies in them was made by bots: no link is followed, no depth is walked by recursion, and every walk is
bounded. The module imports little, since the launcher has to start quickly.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable

REMOVE_S = 3.0
"""The most seconds that the removal of a folder takes while games are played."""

REMOVE_AT_END_S = 20.0
"""The most seconds that the removal of what is still left takes when the referee ends."""

MOST_FILES = 1_000_000
"""The most files that are looked at where their number is not limited."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make(prefix: str) -> str:
    """A new empty folder that only its owner can enter; `prefix` is the beginning of its path.

    Raises `OSError`.
    """
    path = prefix + os.urandom(6).hex()
    os.mkdir(path, 0o700)  # noqa: PTH102 - pathlib starts slowly
    return path


def variables(path: str) -> dict[str, str]:
    """The environment variables that name its scratch folder to a bot."""
    return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), path)


def usage(path: str, most: int) -> tuple[int, int]:
    """Bytes, and the number of files and folders, below a folder; it stops counting beyond `most` of them.

    A file with several names counts once. Folders that are too deep to be named count as too many, and one
    that its owner may not read is made readable for the next time.
    """
    total = 0
    seen: set[int] = set()
    pending = [path]
    while pending and len(seen) <= most:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if found.st_ino not in seen:
                        seen.add(found.st_ino)
                        total += found.st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                    if len(seen) > most:
                        break
        except PermissionError:
            _succeeds(os.chmod, folder, 0o700)
        except OSError as error:  # most have been removed meanwhile
            if error.errno == errno.ENAMETOOLONG:
                return total, most + 1
    return total, len(seen)


def usage_of_mount(path: str) -> tuple[int, int]:
    """Bytes and inodes in use of the file system that is mounted at a path. Raises `OSError`."""
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


def remove(path: str, seconds: float = REMOVE_S) -> bool:
    """Removes a folder with all that is in it. Returns whether nothing is left."""
    deadline = time.monotonic() + seconds
    try:
        folder = _open(path)
    except FileNotFoundError:
        return True
    except OSError:  # the bot put something else in its place
        return _succeeds(os.unlink, path)
    try:
        while _clear(folder, deadline):
            pass
    finally:
        os.close(folder)
    return _succeeds(os.rmdir, path)


def remove_all(prefix: str, seconds: float = REMOVE_S) -> None:
    """Removes all folders whose paths begin with a prefix, in so much time for each."""
    parent, _, beginning = prefix.rpartition("/")
    with contextlib.suppress(OSError):
        for name in os.listdir(parent or "/"):  # noqa: PTH208 - pathlib starts slowly
            if name.startswith(beginning):
                remove(f"{parent}/{name}", seconds)


def _clear(top: int, deadline: float) -> bool:
    """Removes the files and folders in a folder. The folders in these folders are moved up into `top`, so
    that the depth of the tree does not matter. Returns whether there may be more that can be removed.
    """
    marked = os.urandom(6).hex()
    moved = done = 0
    with os.scandir(top) as entries:
        for entry in entries:
            if time.monotonic() > deadline:
                return False
            if not entry.is_dir(follow_symlinks=False):
                done += _succeeds(os.unlink, entry.name, dir_fd=top)
                continue
            if _succeeds(os.rmdir, entry.name, dir_fd=top):
                done += 1
                continue
            with contextlib.suppress(OSError):
                moved += _flatten(entry.name, top, f"{marked}-{moved}-", deadline)
            done += _succeeds(os.rmdir, entry.name, dir_fd=top)
    return moved + done > 0


def _flatten(name: str, top: int, moved_to: str, deadline: float) -> int:
    """Removes the files in a folder of `top`, and moves its folders to `top`. Returns how many it moved.

    Raises `OSError` where it cannot be read.
    """
    folder = _open(name, top)
    moved = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() > deadline:
                    break
                if not entry.is_dir(follow_symlinks=False):
                    _succeeds(os.unlink, entry.name, dir_fd=folder)
                elif not _succeeds(os.rmdir, entry.name, dir_fd=folder):
                    with contextlib.suppress(OSError):
                        os.close(_open(entry.name, folder))  # one that its owner may not write is not moved
                        os.rename(entry.name, f"{moved_to}{moved}", src_dir_fd=folder, dst_dir_fd=top)
                        moved += 1
    finally:
        os.close(folder)
    return moved


def _open(name: str, parent: int | None = None) -> int:
    """Opens a folder, which is made readable and writable for its owner first. Raises `OSError`.

    Root needs no mode, and changes none: somebody else may have put a link in its place.
    """
    if os.geteuid() != 0 and stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
        _succeeds(os.chmod, name, 0o700, dir_fd=parent)
    return os.open(name, _OPEN, dir_fd=parent)


def _succeeds(call: Callable[..., None], *arguments: object, **named: object) -> bool:
    """Whether a call of the system succeeds."""
    try:
        call(*arguments, **named)
    except OSError:
        return False
    return True
