"""Installed programs: which folders belong to one, and which other programs it needs.

A program may be a script with an interpreter, or a symbolic link into a virtual environment, whose own
interpreter lies elsewhere, and so on. What belongs to each of them are a few folders beside its `bin`.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from referee.core.files import read_start
from referee.processes.bot import INTERPRETERS

BIN = ("bin", "sbin", "shims", "Scripts")  # the names of folders of programs

_BESIDE_BIN = (
    *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "conf"),
    *("pyvenv.cfg", "ssl", "release"),
    *("shims", "versions", "version", "installs", "plugins", "pyenv.d"),
)
"""What may belong to an installation, beside its folder of programs. Other files, such as those in `etc`, are
not read by interpreters, and may be secret.
"""

_READ_BYTES = 65_536  # how much of a file is read to find what it names

_MAX_FILES = 2000  # maximum number of entries of a folder with packages that are looked at

_MAPPING = re.compile(rb"^MAPPING(?:: [^=]+)? = (\{.*\})$", re.MULTILINE)
"""How setuptools writes where the packages are that are being developed."""


def parts(program: Path) -> list[Path]:
    """The folders that belong to an installed program, or the program itself where it was not installed."""
    prefix = program.parent.parent
    if program.parent.name not in BIN:
        return [program]
    if prefix.name == ".local":  # `share` beside it has the user's data
        return [program.parent, prefix / "lib"]
    return [prefix / name for name in _BESIDE_BIN]


def is_interpreter(program: Path) -> bool:
    """Whether a program is an interpreter of an installation, as its name and the folders beside it show."""
    return (
        program.parent.name == "bin"
        and INTERPRETERS.fullmatch(program.name) is not None
        and is_program(program)
        and any((program.parent.parent / name).is_dir() for name in ("lib", "lib64"))
    )


def is_program(path: Path) -> bool:
    """Whether a file can be executed: as machine code, or as a script that names its interpreter."""
    return os.access(path, os.X_OK) and _beginning(path, 4).startswith((b"\x7fELF", b"#!"))


def needed_programs(program: Path, search: str) -> list[Path]:
    """The programs that a program names: the interpreters in its first line, which are searched for along the
    path `search`, and the one that its virtual environment was made from.
    """
    named = []
    with contextlib.suppress(ValueError):
        first, _, _ = _beginning(program, 4096).partition(b"\n")
        if first.startswith(b"#!"):
            words = shlex.split(os.fsdecode(first[2:]))
            named += [word for word in words if word.startswith("/")]
            if words and os.path.basename(words[0]) == "env":  # noqa: PTH119
                named += [found for word in words[1:] if (found := shutil.which(word, path=search))]
    settings = _beginning(program.parent.parent / "pyvenv.cfg") if program.parent.name in BIN else b""
    for line in settings.decode(errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home" and value.strip().startswith("/"):
            named.append(f"{value.strip()}/python3")
    return [Path(path) for path in named if "\0" not in path]


def developed(folder: Path) -> Iterator[Path]:
    """The folders of packages that are being developed: which a Python installation uses although they do
    not lie in its folder `lib`, since a file beside its packages names them.
    """
    for packages in folder.glob("python*/*-packages"):
        try:
            with os.scandir(packages) as entries:
                names = [entry.name for entry in itertools.islice(entries, _MAX_FILES)]
        except OSError:
            continue
        for name in names:
            if name.endswith(".pth"):
                for line in _beginning(packages / name).decode(errors="replace").splitlines():
                    if line.startswith("/") and "\0" not in line:
                        yield Path(line.strip())
            elif name.startswith("__editable__") and name.endswith("_finder.py"):
                for mapping in _MAPPING.findall(_beginning(packages / name)):
                    with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                        found = ast.literal_eval(mapping.decode())
                        yield from (Path(str(path)) for path in found.values() if str(path).startswith("/"))


def _beginning(path: Path, size: int = _READ_BYTES) -> bytes:
    """The first bytes of a regular file; empty for anything else, and where it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return read_start(path, size)
    return b""
