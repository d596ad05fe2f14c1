"""The lock of the folder: one referee at a time plays there, and the kernel unlocks it when it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.files import open_without_links
from referee.core.text import shown
from referee.records import journal
from referee.records.run_files import LOCK, make_folder

_ATTEMPTS = 10  # how often a lock is tried that another referee removes meanwhile

PROBE_S = 0.01
"""How long to wait where somebody asks `is_locked`, which takes the lock for less than a moment."""

MAX_PROBES = 1000
"""How often that is done: on a busy machine a moment can take long, but nobody may hold up a run for ever."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes a folder where it is missing, and locks it until the end, or until this process dies. If no run
    has begun in it by then, what was made is removed.

    Raises `UsageError` where another referee has locked it, or it cannot be written.
    """
    lock, made = _lock(folder)
    try:
        yield
    finally:
        if not os.path.lexists(folder / journal.NAME):
            with suppress(OSError):  # something else is there by now
                for path in made:
                    path.rmdir() if path.is_dir() else path.unlink()
        os.close(lock)


def _lock(folder: Path) -> tuple[int, list[Path]]:
    """A descriptor of the lock file, which is locked, and what was made for it, the innermost first."""
    path = folder / LOCK
    made: list[Path] = []
    for _ in range(_ATTEMPTS):
        made = make_folder(folder) or made
        is_new = not os.path.lexists(path)
        try:
            lock = open_without_links(path, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError:
            continue  # another referee has just removed the folder that it had made
        except OSError as error:
            raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
        if not _lock_alone(lock):
            os.close(lock)
            break
        if os.path.lexists(path) and path.lstat().st_ino == os.fstat(lock).st_ino:  # guard: removed-lock
            return lock, [path, *made] if is_new else made
        os.close(lock)  # another referee has just removed it
    raise UsageError(
        f"another referee is already running in `{shown(str(folder))}`, expected only one at a time"
    )


def is_locked(folder: Path) -> bool:
    """Whether a referee is running in a folder. Writes nothing, and does not keep one from starting."""
    try:
        lock = open_without_links(folder / LOCK)
    except OSError:
        return False
    try:
        return not _take(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def _lock_alone(file: int) -> bool:
    """Locks a file as a referee does; false where another referee has locked it. Whoever only asks shares the
    lock, and is waited for.
    """
    for _ in range(MAX_PROBES):
        if _take(file, fcntl.LOCK_EX):
            return True
        if not _take(file, fcntl.LOCK_SH):
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        time.sleep(PROBE_S)
    return False


def _take(file: int, kind: int) -> bool:
    """Locks a file unless somebody else's lock prevents that; whether it did."""
    with suppress(OSError):
        fcntl.flock(file, kind | fcntl.LOCK_NB)
        return True
    return False
