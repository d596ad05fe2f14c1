"""The file of records: append-only, one JSON object a line, each line chained to the one before.

Every line ends with `"prev"`, the hash of the line before it (zeros for the first), and `"hash"`, the
SHA-256 of the line's bytes without that last member. So any changed byte is detected, and in which line. A
last line without a newline was torn by a crash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import StorageError, UsageError
from referee.core.regular import open_regular
from referee.core.text import shown
from referee.records.record import LINE_CAP

NAME = "games.jsonl"

FIRST = "0" * 64
"""The value of `prev` in the first line."""

_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
_HASH_SIZE = len(b',"hash":""}') + 64
_PREV = re.compile(rb',"prev":"([0-9a-f]{64})"\}')
_PREV_SIZE = len(b',"prev":""}') + 64


class Line(NamedTuple):
    """A line of the file as it was read."""

    number: int
    """Counted from 1."""
    text: bytes
    """Without its newline."""
    error: str
    """What is wrong with its hash or its place in the chain; empty if nothing is."""
    hash: str = ""
    """The hash at its end."""
    torn: bool = False
    """Whether it has no newline; only the last line can be torn."""


_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


def make_folder(folder: Path) -> None:
    """Makes a run's folder where it is missing. Raises `UsageError`."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: it is not a folder") from None
    except OSError as error:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None


def body_of(value: dict[str, Any]) -> bytes:
    """The JSON of a line, without its chain."""
    return json.dumps(value, separators=(",", ":")).encode()


def chained(body: bytes, prev: str) -> tuple[bytes, str]:
    """The line of a body, with its chain and newline, and its hash. The body has at least one member."""
    linked = body[:-1] + f',"prev":"{prev}"}}'.encode()
    digest = hashlib.sha256(linked).hexdigest()
    return linked[:-1] + f',"hash":"{digest}"}}\n'.encode(), digest


class Journal:
    """A file of records, open for writing; `create` and `reopen` give one."""

    def __init__(self, path: Path, file: int, prev: str) -> None:
        """Takes over the descriptor of a file whose last hash is `prev`."""
        self._path = path
        self._file = file
        self._prev = prev

    @classmethod
    def create(cls, folder: Path) -> Journal:
        """Creates the file, in a folder that only its owner can read: the seed in it predicts later games.

        Raises `UsageError` where there are records already, or the folder cannot be used.
        """
        path = folder / NAME
        make_folder(folder)
        try:
            file = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise UsageError(
                f"cannot write to `{shown(str(folder))}`: `{shown(str(path))}` exists already, "
                "expected a new folder"
            ) from None
        except OSError as error:
            raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
        return cls(path, file, FIRST)

    @classmethod
    def reopen(cls, folder: Path, prev: str, length: int) -> Journal:
        """Continues a file after its first `length` bytes, whose last hash is `prev`.

        The rest is a line that was torn by a crash, and is removed. Raises `StorageError`.
        """
        path = folder / NAME
        try:
            file = os.open(path, _FLAGS)
            try:
                if os.fstat(file).st_size > length:
                    os.ftruncate(file, length)
            except BaseException:
                os.close(file)
                raise
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(path))}`: {error.strerror}") from None
        return cls(path, file, prev)

    def append(self, value: dict[str, Any]) -> None:
        """Stores one object; see `extend`."""
        self.extend([body_of(value)])

    def extend(self, bodies: Iterable[bytes]) -> None:
        """Stores objects, a line each; all of them are on disk when this returns.

        Raises `StorageError`; then some of the lines may be stored, and the last of these may be torn.
        """
        lines: list[bytes] = []
        prev = self._prev
        for body in bodies:
            line, prev = chained(body, prev)
            lines.append(line)
        rest = b"".join(lines)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            raise StorageError(
                f"cannot store a game in `{shown(str(self._path))}`: {error.strerror}"
            ) from None
        self._prev = prev

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def read(path: Path) -> Iterator[Line]:
    """The lines of a file. Raises `UsageError` where it cannot be read."""
    try:
        if path.is_dir():
            path = path / NAME
        with open_regular(path) as file:
            prev = FIRST.encode()
            number = 0
            while line := file.readline(LINE_CAP + 2):
                number += 1
                if len(line) > LINE_CAP + 1:
                    yield Line(number, line, f"the line has more than {LINE_CAP} bytes")
                    return
                if not line.endswith(b"\n"):
                    yield Line(number, line, "incomplete line, it has no newline at its end", torn=True)
                    return
                line = line[:-1]
                match = _HASH.fullmatch(line[-_HASH_SIZE:])
                found = match[1] if match else b"?"
                yield Line(number, line, _chain_error(line, prev), found.decode())
                prev = found
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


def _chain_error(line: bytes, prev: bytes) -> str:
    stored_hash = _HASH.fullmatch(line[-_HASH_SIZE:])
    if not stored_hash:
        return "no hash at its end"
    body = line[:-_HASH_SIZE] + b"}"
    if hashlib.sha256(body).hexdigest().encode() != stored_hash[1]:
        return "hash mismatch"
    link = _PREV.fullmatch(body[-_PREV_SIZE:])
    if not link or link[1] != prev:
        return "its `prev` is not the hash of the line before it"
    return ""
