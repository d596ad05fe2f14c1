"""Objects that a user names as `module.py:NAME`: the code of a game, for one.

Such code runs only if the user named its file, on the command line or in a tournament file. What a record
says of it is only compared, never run: a record is untrusted.
"""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from referee.core.errors import UsageError
from referee.core.files import read_start
from referee.core.text import shown

SIZE_CAP = 1 << 20  # maximum number of bytes of a file

_run: dict[str, str] = {}  # the files whose code was run, each with what its object is

_FILE = re.compile(r"(.+\.py):([A-Za-z_][A-Za-z0-9_]*)")


class Source(NamedTuple):
    """A file with the name of an object in it. It can be pickled, and means the same in every process."""

    kind: str  # what the object is, in a word for messages
    text: bytes  # the file
    path: str
    name: str

    @property
    def sha256(self) -> str:
        """The hash of the file, in hexadecimal."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def module(self) -> str:
        """The name of the module that is made of the file: the same bytes are one module."""
        return f"{self.kind}_{self.sha256[:32]}"

    def value(self) -> Any:
        """The object; the module is loaded once. Raises `UsageError`."""
        if self.module not in sys.modules:
            module = ModuleType(self.module)
            module.__file__ = self.path
            _run[self.path] = self.kind
            sys.modules[self.module] = module  # dataclasses look there for the module of their class
            try:
                exec(compile(self.text, self.path, "exec", dont_inherit=True), module.__dict__)
            except (Exception, SystemExit) as error:
                del sys.modules[self.module]
                what = located_error_text(error, self.path)
                raise UsageError(f"cannot load the {self.kind}'s file `{shown(self.path)}`: {what}") from None
        try:
            return getattr(sys.modules[self.module], self.name)
        except AttributeError:
            raise UsageError(
                f"`{shown(self.path)}` has no `{self.name}`, expected the name of a {self.kind} in that file"
            ) from None


def names_file(text: str) -> bool:
    """Whether a text has the form `module.py:NAME`."""
    return _FILE.fullmatch(text) is not None


def located(text: str, folder: Path) -> str:
    """The name of an object in a file, made absolute, so that it is valid in every process."""
    return str(Path(folder, text).absolute())


def source_of(text: str, folder: Path, kind: str) -> Source:
    """The source of `module.py:NAME`, the file relative to a folder. Raises `UsageError`."""
    path, _, name = located(text, folder).rpartition(":")
    try:
        source = read_start(Path(path), SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read the {kind}'s file `{shown(path)}`: {error.strerror}") from None
    if len(source) > SIZE_CAP:
        raise UsageError(f"`{shown(path)}` has more than {SIZE_CAP:,} bytes, expected a {kind}'s file")
    return Source(kind, source, path, name)


def error_text(error: BaseException) -> str:
    """An error of somebody else's code as shown in a message."""
    return f"{type(error).__name__}: {shown(str(error))}" if str(error) else type(error).__name__


def failure_text(error: BaseException) -> str | None:
    """An error that the code of a user's file raised, as a message; None for one from elsewhere."""
    for path, kind in _run.items():
        if lines := _lines(error, path):
            return f"the {kind}'s file `{shown(path)}` failed in line {lines[-1]}: {error_text(error)}"
    return None


def located_error_text(error: BaseException, path: str) -> str:
    """An error of the code in a file as shown in a message, after the line of the file where it happened."""
    lines = _lines(error, path)
    return f"line {lines[-1]}: {error_text(error)}" if lines else error_text(error)


def _lines(error: BaseException, path: str) -> list[int | None]:
    """The lines of a file that an error passed through, the innermost last."""
    frames = traceback.extract_tb(error.__traceback__, -100)  # the last ones: recursion may be deep
    return [frame.lineno for frame in frames if frame.filename == path]
