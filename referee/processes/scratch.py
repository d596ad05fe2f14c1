"""Scratch folders of bots: made before the start, measured while the bot runs, removed after its end.

What lies in them was made by bots: no link is followed, and every walk is bounded in depth and length. The
module imports little, since the launcher has to start quickly.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import namedtuple
from collections.abc import Callable

REMOVE_S = 3.0  # maximum number of seconds that the removal of a folder takes while games are played

REMOVE_AT_END_S = 20.0
"""Maximum number of seconds that the removal of what is still left takes when the referee ends."""

MAX_FILES = 1_000_000  # maximum number of files that are looked at where their number is not limited

MAX_DEPTH = 100
"""Maximum number of folders that lie in one another: the warden has one open for each while it counts."""

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE, _WRITABLE = 0o500, 0o700
"""Modes with which the owner of a folder can count what is in it, and remove it."""


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


class ScratchUsage(namedtuple("ScratchUsage", "size files is_too_deep")):
    """The usage of a folder: bytes, files and folders, and whether folders are nested too deeply."""


def usage(path: str, most: int) -> ScratchUsage:
    """Counts what is below a folder; stops counting beyond `most` files and folders, or `MAX_DEPTH`.

    A file with several names counts once. A folder that its owner may not read is made readable.
    """
    count = _Count(most)
    count.add(path, None, 0)
    return ScratchUsage(count.size, len(count.seen), count.is_too_deep)


class _Count:
    """What has been counted of a folder so far."""

    def __init__(self, most: int) -> None:
        self.size = 0
        self.seen: set[int] = set()
        self.is_too_deep = False
        self._most = most

    def add(self, name: str, parent: int | None, depth: int) -> None:
        """Counts what is below a folder."""
        self.is_too_deep |= depth > MAX_DEPTH
        if self._has_ended():
            return
        try:
            folder = _open(name, parent, _READABLE)
        except OSError:  # it has been removed meanwhile, or is no folder any more
            return
        try:
            for below in self._look_into(folder):
                self.add(below, folder, depth + 1)
        finally:
            os.close(folder)

    def _look_into(self, folder: int) -> list[str]:
        """Counts what is in a folder. Returns the names of the folders in it."""
        below = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if self._has_ended():
                    break
                with contextlib.suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    if found.st_ino not in self.seen:
                        self.seen.add(found.st_ino)
                        self.size += found.st_blocks * 512
                        if stat.S_ISDIR(found.st_mode):
                            below.append(entry.name)
        return below

    def _has_ended(self) -> bool:
        return self.is_too_deep or len(self.seen) > self._most


def usage_of_mount(path: str) -> tuple[int, int]:
    """Bytes and files in the file system that is mounted at a path, without its root. Raises `OSError`."""
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree - 1


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


def _open(name: str, parent: int | None = None, mode: int = _WRITABLE) -> int:
    """Opens a folder, which gets a mode first that lets its owner do so. Raises `OSError`.

    No link is followed, also where the bot puts one in its place meanwhile. Root needs no mode, and changes
    none.
    """
    if not hasattr(os, "O_PATH"):  # macOS
        _succeeds(os.chmod, name, mode, dir_fd=parent, follow_symlinks=False)
        return os.open(name, os.O_RDONLY | _FOLDER, dir_fd=parent)
    place = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        before = stat.S_IMODE(os.fstat(place).st_mode)
        if os.geteuid() != 0 and before & mode != mode:
            _succeeds(os.chmod, f"/proc/self/fd/{place}", before | mode)  # guard: modes-of-links
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=place)
    finally:
        os.close(place)


def _succeeds(call: Callable[..., None], *arguments: object, **named: object) -> bool:
    try:
        call(*arguments, **named)
    except OSError:
        return False
    return True
