"""The files of a run: their names, the folder, made for its owner alone, and files that are only appended to:
what is appended is synced, and a change by another program is noticed.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.files import open_without_links
from referee.core.text import shown

RECORDS = "games.jsonl"
TOML = "tournament.toml"
NEW_TOML = "tournament.toml.new"
DIALOGUES = "dialogues.jsonl"
ANALYSIS = "analysis.jsonl"
LOCK = "lock"

_NAMES = {RECORDS, TOML, NEW_TOML, DIALOGUES, ANALYSIS, LOCK}


def results_folder(toml: Path) -> Path:
    """The default folder of the results of a tournament file: beside it."""
    return toml.with_name(f"{toml.stem}-results")


def make_folder(folder: Path) -> list[Path]:
    """Makes a run's folder, and its parents, where they are missing: only their owner may enter them. Returns
    what was made, the innermost first.

    A folder that is there already is closed to others if it holds nothing but a run. Raises `UsageError`.
    """
    try:
        made = [part for part in (folder, *folder.parents) if not part.exists()]
        for missing in reversed(made):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise FileExistsError
        mode = folder.stat().st_mode
        if mode & 0o077 and all(found.name in _NAMES for found in folder.iterdir()):
            with contextlib.suppress(OSError):  # some file systems have no permissions
                folder.chmod(mode & 0o700)
        return made
    except FileExistsError:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: it is not a folder") from None
    except OSError as error:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None


FLAGS = os.O_RDWR | os.O_APPEND


class ChangedByOthers(Exception):
    """The file at a path is not what was written there; the message says what is wrong with it."""


class AppendOnlyFile:
    """An open file that knows which bytes it must have."""

    def __init__(self, path: Path, flags: int = 0) -> None:
        """Opens the file for its owner alone. Raises `OSError` if that fails or it is not a regular file."""
        self._path = path.absolute()
        self.descriptor = open_without_links(path, FLAGS | flags)
        status = os.fstat(self.descriptor)
        if status.st_mode & 0o077:
            with contextlib.suppress(OSError):  # some file systems have no permissions
                os.fchmod(self.descriptor, 0o600)
        self.length = status.st_size  # bytes that are surely in the file
        self._most = self.length
        """Bytes that may be in the file: more than `length` after an append that failed."""

    def append(self, data: bytes, sync: bool = True) -> None:
        """Adds bytes; with `sync` they are on disk when this returns.

        Raises `OSError`; then any number of the bytes may have been added.
        """
        self._most = self.length + len(data)
        write_all(self.descriptor, data)
        if sync:
            os.fsync(self.descriptor)
        self.length = self._most

    def ends_a_line(self) -> bool:
        """Whether the file is empty or ends with a newline. Raises `OSError`."""
        return not self.length or os.pread(self.descriptor, 1, self.length - 1) == b"\n"

    def cut(self, length: int) -> None:
        """Removes all after the first `length` bytes. Raises `OSError`."""
        os.ftruncate(self.descriptor, length)
        self.length = self._most = length

    def check(self) -> None:
        """Raises `ChangedByOthers` where the path leads to another file, or the length is another."""
        held = os.fstat(self.descriptor)
        try:
            there = os.lstat(self._path)
        except OSError:
            raise ChangedByOthers("was removed") from None
        if (there.st_dev, there.st_ino) != (held.st_dev, held.st_ino):  # guard: replaced-file
            raise ChangedByOthers("was replaced by another file")
        if not self.length <= held.st_size <= self._most:  # guard: length-of-file
            raise ChangedByOthers(
                f"was changed by another program: it has {held.st_size} bytes, expected {self.length}"
            )

    def close(self) -> None:
        """Closes the file."""
        os.close(self.descriptor)


def write_all(file: int, data: bytes) -> None:
    """Writes all bytes. Raises `OSError`."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]
