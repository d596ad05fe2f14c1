"""Compiles `starter.c`, once for each user, where there is a compiler: it starts bots with half the work."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

from referee.core.regular import open_without_links

STARTS = "REFEREE_STARTS"
"""With `python` in this variable of the environment, bots are started in Python alone."""

SOURCE = Path(__file__).with_name("starter.c")

COMPILE_S = 60


@cache
def compiled_starter() -> str:
    """The path of the library that `Starter` loads; empty where there is none, whatever the reason."""
    if sys.platform != "linux" or os.environ.get(STARTS) == "python":
        return ""
    try:
        source = SOURCE.read_bytes()
        name = sha256(os.uname().machine.encode() + b"\n" + source).hexdigest()
        folder = _own_folder()
        return _found(folder, name) or _compiled(folder, name)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return ""


def _own_folder() -> Path:
    """The folder for compiled libraries, which nobody else can read or write. Raises `OSError`."""
    cache_folder = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(cache_folder) if cache_folder.startswith("/") else Path.home() / ".cache"
    folder = parent / "game-referee" / "starter"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"`{folder}` does not belong to this user alone")
    return folder


def _found(folder: Path, name: str) -> str:
    """A library of this source that is there, and whole: its name ends with the hash of its content."""
    for path in folder.glob(f"{name}-*.so"):
        with os.fdopen(open_without_links(path), "rb") as file:
            if path.name == _name(name, file.read()):
                return str(path)
    return ""


def _compiled(folder: Path, name: str) -> str:
    """Compiles the source. Raises `OSError` or `SubprocessError`."""
    if (compiler := shutil.which("cc")) is None:
        return ""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        library = Path(temporary, "starter.so")
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=COMPILE_S)
        return str(library.rename(folder / _name(name, library.read_bytes())))


def _name(name: str, content: bytes) -> str:
    return f"{name}-{sha256(content).hexdigest()}.so"
