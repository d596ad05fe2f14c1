"""Hashes of the files that a bot's command names, so that a changed program is noticed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from referee.core.regular import open_regular
from referee.processes.bot import Bot

Files = dict[str, dict[str, str]]
"""By bot, the SHA-256 of each file that its command names, its program first."""

LARGEST = 1 << 30
"""The most bytes of a file that is hashed: this much takes a second or two."""

_CHUNK = 1 << 20


class _Version(NamedTuple):
    """What the file system says of a file; it differs after the file was written or replaced."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> _Version:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Programs:
    """The programs of bots. A file is read again only if its size, its times or its inode are different."""

    def __init__(self) -> None:
        self._hashes: dict[Path, tuple[_Version, str]] = {}
        """Of each file: the version that was hashed, and its hash."""
        self._last: Files = {}

    def changes(self, bots: Iterable[Bot]) -> Files:
        """The bots whose files are different from the last time that they were asked for, or were not asked
        for yet, each with all its files.
        """
        now = {bot.name: self._of(bot) for bot in bots if not bot.is_person}
        changed = {name: files for name, files in now.items() if self._last.get(name) != files}
        self._last |= changed
        return changed

    def _of(self, bot: Bot) -> dict[str, str]:
        files = ((word, self._hash(path)) for word, path in _named(bot))
        return {word: found for word, found in files if found}

    def _hash(self, path: Path) -> str:
        """The hash of a file; empty where it is no regular file, cannot be read or is larger than `LARGEST`.
        Whether it can be started is not judged here.
        """
        known, found = self._hashes.get(path, (None, ""))
        try:
            if known == _Version.of(path.stat()):
                return found
            with open_regular(path) as file:
                version = _Version.of(os.fstat(file.fileno()))
                found = _digest(file, version.size)
        except OSError:
            return ""
        self._hashes[path] = (version, found)
        return found


def _named(bot: Bot) -> Iterator[tuple[str, Path]]:
    """The words of a bot's command that may be files, and where these are."""
    program, *rest = bot.argv
    if bot.command[0] != "{python}":
        path = shutil.which(program, path=bot.environment().get("PATH", os.defpath))
        yield bot.command[0], bot.cwd / (path or program)
    for word in rest:
        yield word, bot.cwd / word


def _digest(file: BinaryIO, size: int) -> str:
    """The hash of a file's first `size` bytes: a file may grow as fast as it is read."""
    if size > LARGEST:  # guard: size-of-programs
        return ""
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(size, _CHUNK))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()
