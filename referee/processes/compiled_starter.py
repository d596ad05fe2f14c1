"""Compiles `starter.c`, once for each user, where there is a compiler: it starts bots with half the work."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from referee.core.files import open_without_links

STARTS = "REFEREE_STARTS"
"""With `python` in this variable of the environment, bots are started in Python alone."""

SOURCE = Path(__file__).with_name("starter.c")

COMPILE_S = 60


def compiled_starter() -> BinaryIO | None:
    """The library that `Starter` loads, open; None where there is none, whatever the reason. It is to be
    loaded by its descriptor: at its path, whoever can rename a folder above it may have put another one.
    """
    if sys.platform != "linux" or os.environ.get(STARTS) == "python":
        return None
    try:
        source = SOURCE.read_bytes()
        name = sha256(os.uname().machine.encode() + b"\n" + source).hexdigest()
        with _own_folder() as folder:
            return _found(folder, name) or _compiled(folder, name)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None


@contextlib.contextmanager
def _own_folder() -> Iterator[Path]:
    """The folder for compiled libraries, which nobody else can read or write, by its descriptor, so that it
    stays the same one. Raises `OSError`.
    """
    cache_folder = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(cache_folder) if cache_folder.startswith("/") else Path.home() / ".cache"
    path = parent / "game-referee" / "starter"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise PermissionError(f"`{path}` does not belong to this user alone")
        yield Path(f"/proc/self/fd/{folder}")
    finally:
        os.close(folder)


def _found(folder: Path, name: str) -> BinaryIO | None:
    """A library of this source that is there, and whole: its name ends with the hash of its content."""
    for path in folder.glob(f"{name}-*.so"):
        file = os.fdopen(open_without_links(path), "rb")
        if path.name == _name(name, file.read()):
            return file
        file.close()
    return None


def _compiled(folder: Path, name: str) -> BinaryIO | None:
    """Compiles the source. Raises `OSError` or `SubprocessError`."""
    if (compiler := shutil.which("cc")) is None:
        return None
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", "starter.so", str(SOURCE)]
        nothing = subprocess.DEVNULL
        subprocess.run(
            command, cwd=temporary, stdin=nothing, capture_output=True, check=True, timeout=COMPILE_S
        )
        library = Path(temporary, "starter.so")
        library.rename(folder / _name(name, library.read_bytes()))
    return _found(folder, name)


def _name(name: str, content: bytes) -> str:
    return f"{name}-{sha256(content).hexdigest()}.so"
