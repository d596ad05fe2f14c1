"""The files of games in play: written by workers while somebody looks, read without trust.

In the folder `live` of a run each worker has one file, its *slot*, and there is the file `watched`, by which
whoever looks says so. A slot begins with a magic number, a generation and the size of what follows from byte
64 on: a line of JSON that says which game it is, and after it what happened in the game. The generation is
odd while a slot is written anew. Nothing waits for anybody: whoever reads a slot while it is written, or one
that was cut or replaced, finds no game in it, and a worker that cannot write its slot plays on without.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import struct
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.files import open_without_links
from referee.core.this_machine import boot_id
from referee.records.record import parse_json

FOLDER = "live"
"""The folder of the slots, in that of a run."""

WATCHED = "watched"

FRESH_US = 5_000_000
"""How long workers write after somebody looked."""

MOST = 1 << 18  # maximum number of bytes of a slot's body

_LOOK_US = 1_000_000  # how often a worker looks whether somebody looks

_MAGIC = b"RFLIVE1\0"
_HEAD = struct.Struct("<8sII")  # magic number, generation, bytes of the body
_BODY_AT = 64
_TIME = struct.Struct("<Q")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_SLOTS = 1024
_ATTEMPTS = 3  # to read a slot that is being written


def now_us() -> int:
    """The time of all slots, in microseconds: one clock for all processes of a machine until it is started
    again.
    """
    return time.monotonic_ns() // 1000


def say_watched(folder: Path) -> None:
    """Says in a folder of slots that somebody looks at them now. Raises `OSError`."""
    descriptor = open_without_links(folder / WATCHED, os.O_WRONLY | os.O_CREAT)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        file.write(_TIME.pack(now_us()))


def make_folder(folder: Path) -> None:
    """Makes a folder of slots in the place of an earlier one; where that fails, nothing will be written."""
    remove_folder(folder)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700)


def remove_folder(folder: Path) -> None:
    """Removes a folder of slots, with whatever is in it."""
    for _ in range(3):  # whoever looks may write into it in between
        with contextlib.suppress(OSError):
            folder.unlink()  # a link or a file, which a bot at isolation `none` can put in its place
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)


def remove_slot(folder: Path, name: str) -> None:
    """Removes the slot of a worker that has ended."""
    with contextlib.suppress(OSError):
        (folder / name).unlink()


class Watch:
    """Whether somebody looks at the slots of a folder; nobody does if there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder and folder / WATCHED
        self._is_on = False
        self._looked_us = -_LOOK_US

    @property
    def is_on(self) -> bool:
        """Whether somebody looked lately; the file is read once a second at most."""
        now = now_us()
        if self._path and now - self._looked_us >= _LOOK_US:
            self._looked_us = now
            self._is_on = 0 <= now - _watched_us(self._path) < FRESH_US
        return self._is_on


def _watched_us(path: Path) -> int:
    """When somebody looked last; long ago where the file does not say it."""
    try:
        with os.fdopen(open_without_links(path), "rb", buffering=0) as file:
            return int(_TIME.unpack(file.read(_TIME.size))[0])
    except (OSError, struct.error):
        return -FRESH_US


class SlotWriter:
    """The slot of a worker, in a new file: what an earlier worker of the same name wrote is gone.

    Where a file cannot be made or written, it is removed, and nothing is written until the next game. One
    that was removed or replaced by something else is made anew with the next game.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Replaces an earlier slot of this name by one without a game, which says on which machine it is."""
        self._path = folder / name
        self._descriptor: int | None = None
        self._generation = 0
        self._first_line = b""
        self._size = 0
        self._is_full = False  # whether something was left out, and what comes after it makes no sense
        self.begin({})

    def begin(self, game: Mapping[str, Any], told: bytes = b"") -> None:
        """Begins a game that is described by these members, with what is told of it so far."""
        first = {**game, "boot": boot_id(), "began_us": now_us()}
        self._first_line = json.dumps(first, separators=(",", ":")).encode() + b"\n"
        if self._is_in_place:
            self.replace(told)
            return
        self.close()
        new = self._path.with_name(f".{self._path.name}.new")
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
            self._descriptor = open_without_links(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            new.replace(self._path)
            self.replace(told)

    @property
    def _is_in_place(self) -> bool:
        if self._descriptor is None:
            return False
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), self._path.lstat())
        return False

    def append(self, data: bytes) -> None:
        """Adds to what is told of the game, until it is more than a slot can hold."""
        self._is_full |= self._size + len(data) > MOST
        if not self._is_full:
            self._write(data, _BODY_AT + self._size)
            self._size += len(data)
            self._write_head()

    def replace(self, data: bytes) -> None:
        """Replaces all that was told of the game; what is more than a slot can hold is left out."""
        body = self._first_line + data
        body = body if len(body) <= MOST else b""
        self._is_full = False
        self._generation += 1
        self._size = 0
        self._write_head()
        self._write(body, _BODY_AT)
        self._generation += 1
        self._size = len(body)
        self._write_head()

    def _write_head(self) -> None:
        # All of it each time, so that a file that was cut is whole again with the next game.
        self._write(_HEAD.pack(_MAGIC, self._generation % (1 << 32), self._size), 0)

    def _write(self, data: bytes, place: int) -> None:
        try:
            if self._descriptor is None or os.pwrite(self._descriptor, data, place) == len(data):
                return
        except OSError:
            pass
        self.close()

    def close(self) -> None:
        """Removes the slot."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            remove_slot(self._path.parent, self._path.name)


class GameInPlay(NamedTuple):
    """What a slot held when it was read. None of it is trusted."""

    head: Mapping[str, Any]
    """The members of its first line: the same object as long as it is the same game."""
    told: bytes
    """What is told of the game: of an open game longer and longer, of others another picture each time."""


class _SlotVersion(NamedTuple):
    """What tells whether a slot has changed."""

    inode: int
    generation: int
    size: int  # of its body

    @classmethod
    def of(cls, file: int) -> _SlotVersion | None:
        """That of an open file, or None where it is no slot."""
        head = os.pread(file, _HEAD.size, 0)
        if len(head) < _HEAD.size:
            return None
        magic, generation, size = _HEAD.unpack(head)
        return cls(os.fstat(file).st_ino, generation, size) if magic == _MAGIC and size <= MOST else None


class _Read(NamedTuple):
    """A slot as it was read."""

    version: _SlotVersion
    first_line: bytes
    game: GameInPlay


class SlotReader:
    """Reads the slots of a folder, again and again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, _Read] = {}
        self.is_elsewhere = False
        """Whether a slot was written on another machine, or before this one was started: its times mean
        nothing here.
        """

    def read(self) -> dict[str, GameInPlay]:
        """All slots that have a game, by name: what has not changed since is the same object as before."""
        self._known = {name: known for name in self._names() if (known := self._look(name))}
        here = {name: known.game.head.get("boot") == boot_id() for name, known in self._known.items()}
        self.is_elsewhere = not all(here.values())
        return {
            name: known.game for name, known in self._known.items() if here[name] and "id" in known.game.head
        }

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._folder) as entries:
                names = [entry.name for entry in islice(entries, _MOST_SLOTS)]
        except OSError:
            return []
        slots = [name for name in names if name != WATCHED and _NAME.fullmatch(name)]
        return sorted(slots, key=lambda name: (len(name), name))  # w2 before w10

    def _look(self, name: str) -> _Read | None:
        """A slot as it is now, or as it was before it was changed just now; None where it makes no sense."""
        before = self._known.get(name)
        try:
            file = open_without_links(self._folder / name)
        except OSError:
            return None
        try:
            for _ in range(_ATTEMPTS):
                version = _SlotVersion.of(file)
                if not version or (before and before.version == version):
                    return before if version else None
                body = os.pread(file, version.size, _BODY_AT)
                after = _SlotVersion.of(file)
                # What is appended meanwhile is behind this body, and is read the next time.
                if after and version.generation == after.generation and version.generation % 2 == 0:
                    return _read(version, body, before)
        except (OSError, RecordError):
            return None
        finally:
            os.close(file)
        return before


def _read(version: _SlotVersion, body: bytes, before: _Read | None) -> _Read | None:
    """Raises `RecordError` where the first line is not what a worker writes."""
    first_line, end, told = body.partition(b"\n")
    if not end or len(body) < version.size:
        return None
    same = before is not None and before.first_line == first_line
    head = before.game.head if before and same else parse_json(first_line)
    return _Read(version, first_line, GameInPlay(head, told))
