"""SHA-256 of files: a file is read again only if its size, its times or its inode are different."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from referee.core.regular import open_regular

LARGEST = 1 << 30  # maximum number of bytes of a file that is hashed: this much takes a second or two

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
        """The hash of a file; None where it is no regular file, cannot be read or is larger than `LARGEST`.
        Whether it can be started is not judged here.
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
    if size > LARGEST:  # guard: size-of-programs
        return ""
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(size, _CHUNK))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()
