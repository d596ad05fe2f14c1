"""Files that others may change meanwhile: only regular ones are opened, without waiting; they are hashed once
for each version, and written whole or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from referee.core.errors import StorageError, UsageError
from referee.core.text import shown

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link"),
)

_WITHOUT_WAITING = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_regular(path: Path, buffering: int = -1) -> BinaryIO:
    """A regular file, open for reading; symbolic links are followed. `buffering` is that of `open`.

    Raises `OSError`, whose `strerror` says what else lies at the path where it is no regular file.
    """
    return os.fdopen(_opened(path, os.O_RDONLY), "rb", buffering)


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


def write_whole(path: Path, data: bytes, start: bytes, kind: str) -> None:
    """Writes a file, for which another takes its place only when it is complete; symbolic links are followed,
    and devices and pipes written to.

    `start` is how all files of this `kind` (`a page`) begin; a file that begins otherwise is left alone, so
    that no results are lost by a wrong name. Raises `UsageError` where the file cannot be written at all,
    `StorageError` where it cannot be completed.
    """
    try:
        place = path.resolve()
        mode = _mode(place)
        if mode is None or stat.S_ISREG(mode):
            if mode is not None and read_start(place, len(start)) not in (start, b""):
                raise UsageError(
                    f"`{shown(str(path))}` already exists and is not {kind}, expected a new name"
                )
            descriptor, name = tempfile.mkstemp(".new", f".{place.name[:100]}-", place.parent)
        else:
            _write_all(os.open(place, os.O_WRONLY), data, path)
            return
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its symbolic links form a loop"
        raise UsageError(f"cannot write `{shown(str(path))}`: {reason}") from None
    try:
        os.fchmod(descriptor, stat.S_IMODE(mode) if mode is not None else 0o666 & ~umask())
        _write_all(descriptor, data, path)
        Path(name).replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _mode(place: Path) -> int | None:
    """The type and the permissions of what lies there, or None where there is nothing."""
    try:
        return place.stat().st_mode
    except FileNotFoundError:
        return None


def _write_all(descriptor: int, data: bytes, path: Path) -> None:
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise StorageError(f"cannot write `{shown(str(path))}`: {error.strerror}") from None


def umask() -> int:
    """The permissions that new files and folders do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


MAX_HASHED = 1 << 30  # maximum number of bytes of a file that is hashed: this much takes a second or two

_CHUNK = 1 << 20


class HashedFile(NamedTuple):
    """What is known of a regular file."""

    sha256: str
    size: int
    executable: bool  # whether its owner may execute it


class _Version(NamedTuple):
    """What the file system says of a file; it differs after the file was written or replaced."""

    device: int
    inode: int
    size: int
    mode: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> _Version:
        return cls(
            found.st_dev, found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns
        )


class FileHashes:
    """The hashes of files, each computed once for each version of its file."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[_Version, HashedFile | None]] = {}
        """For each file, the version that was hashed, and its hash."""

    def of(self, path: Path) -> HashedFile | None:
        """The hash of a file; None where it is no regular file, cannot be read or is larger than
        `MAX_HASHED`. Whether it can be started is not judged here.
        """
        known, found = self._known.get(path, (None, None))
        try:
            if known == _Version.of(path.stat()):
                return found
            with open_regular(path) as file:
                version = _Version.of(os.fstat(file.fileno()))
                digest = _digest(file, version.size)
        except (OSError, ValueError):
            return None
        found = HashedFile(digest, version.size, bool(version.mode & stat.S_IXUSR)) if digest else None
        self._known[path] = (version, found)
        return found


def _digest(file: BinaryIO, size: int) -> str:
    """The hash of a file's first `size` bytes: a file may grow as fast as it is read."""
    if size > MAX_HASHED:  # guard: size-of-programs
        return ""
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(size, _CHUNK))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()
