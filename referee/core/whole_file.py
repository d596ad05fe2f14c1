"""Writes files that are whole or not there at all, in place of older ones of the same kind only."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from referee.core.errors import StorageError, UsageError
from referee.core.regular import read_start
from referee.core.text import shown


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
            _write(os.open(place, os.O_WRONLY), data, path)
            return
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its symbolic links form a loop"
        raise UsageError(f"cannot write `{shown(str(path))}`: {reason}") from None
    try:
        os.fchmod(descriptor, stat.S_IMODE(mode) if mode is not None else 0o666 & ~umask())
        _write(descriptor, data, path)
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


def _write(descriptor: int, data: bytes, path: Path) -> None:
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
