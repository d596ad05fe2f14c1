"""The file of records: append-only, one JSON object a line, each line chained to the one before.

Every line ends with `"prev"`, the hash of the line before it (zeros for the first), and `"hash"`, the
SHA-256 of the line's bytes without that last member. So any changed byte is detected, and in which line. A
last line without a newline was torn by a crash.

While the file is written it is locked, and compared with a copy that has no name: what others remove,
replace or change is noticed, and can be restored.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from referee.core.errors import RecordError, StorageError, UsageError
from referee.core.files import open_regular, open_without_links
from referee.core.text import shown
from referee.core.work import Advance, untold
from referee.records.record import LINE_CAP, json_of
from referee.records.run_files import RECORDS, AppendOnlyFile, ChangedByOthers, make_folder, write_all

NAME = RECORDS

FIRST = "0" * 64
"""The value of `prev` in the first line."""

_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
_HASH_SIZE = len(b',"hash":""}') + 64
_PREV = re.compile(rb',"prev":"([0-9a-f]{64})"\}')
_PREV_SIZE = len(b',"prev":""}') + 64


class JournalLine(NamedTuple):
    """A line of the file as it was read."""

    number: int
    """Counted from 1."""
    text: bytes
    """Without its newline; a line that is too long is cut."""
    error: str
    """What is wrong with its hash or its place in the chain; empty if nothing is."""
    hash: str = ""
    """The hash at its end."""
    torn: bool = False
    """Whether it has no newline; only the last line can be torn."""
    size: int = 0
    """Its bytes in the file, with its newline."""


class StoredLine(NamedTuple):
    """A line as it was stored."""

    text: bytes
    """Without its newline."""
    hash: str
    """The hash at its end."""


def body_of(value: dict[str, Any]) -> bytes:
    """The JSON of a line, without its chain."""
    return json_of(value)


def chained(body: bytes, prev: str) -> tuple[bytes, str]:
    """The line of a body, with its chain and newline, and its hash. The body has at least one member."""
    linked = body[:-1] + f',"prev":"{prev}"}}'.encode()
    digest = hashlib.sha256(linked).hexdigest()
    return linked[:-1] + f',"hash":"{digest}"}}\n'.encode(), digest


def unchained(line: bytes) -> bytes:
    """The body of a line that is in the chain."""
    return line[: -_HASH_SIZE - _PREV_SIZE + 1] + b"}"


class Journal:
    """A file of records, open for writing; `create` and `reopen` give one."""

    def __init__(self, path: Path, file: AppendOnlyFile, prev: str) -> None:
        """Takes over an open file whose last hash is `prev`. Raises `OSError` where it cannot be copied."""
        self._path = path
        self._file = file
        self._damage = ""
        """What others did to the file, and where its records are now; empty while it is as written."""
        self.head = prev
        """The hash of the last line, which stands for the whole file."""
        self.is_whole = True
        """Whether the last line is complete, so that another may follow: false after an interruption or an
        error while lines were being stored.
        """
        self._copy = tempfile.TemporaryFile(dir=path.parent, buffering=0)  # noqa: SIM115
        for chunk in _chunks(file.descriptor):
            write_all(self._copy.fileno(), chunk)

    @classmethod
    def create(cls, folder: Path) -> Journal:
        """Creates the file, in a folder that only its owner can read.

        Raises `UsageError` where there are records already, or the folder cannot be used.
        """
        path = folder / NAME
        make_folder(folder)
        try:
            file = AppendOnlyFile(path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise UsageError(
                f"cannot write to `{shown(str(folder))}`: `{shown(str(path))}` "
                "already exists, expected a new folder"
            ) from None
        except OSError as error:
            raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
        return cls._locked(path, file, FIRST)

    @classmethod
    def reopen(cls, folder: Path, prev: str, length: int, torn: int = 0) -> Journal:
        """Continues a file after its first `length` bytes, whose last hash is `prev`.

        The remaining `torn` bytes are a line that was torn by a crash, and are removed. Raises
        `StorageError`, and `UsageError` where another referee writes to the file.
        """
        path = folder / NAME
        try:
            file = AppendOnlyFile(path)
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(path))}`: {error.strerror}") from None
        return cls._locked(path, file, prev, length, torn)

    @classmethod
    def _locked(cls, path: Path, file: AppendOnlyFile, prev: str, length: int = 0, torn: int = 0) -> Journal:
        """Locks an open file, removes its torn line, and makes it a journal. Raises as `reopen` does."""
        try:
            try:
                fcntl.flock(file.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # guard: lock-of-records
            except OSError:
                raise UsageError(
                    f"another referee is already writing to `{shown(str(path))}`, expected only one at a time"
                ) from None
            if file.length != length + torn:
                raise StorageError(f"`{shown(str(path))}` was modified while it was being read")
            if torn:
                file.cut(length)
            return cls(path, file, prev)
        except OSError as error:
            file.close()
            raise StorageError(f"cannot write to `{shown(str(path))}`: {error.strerror}") from None
        except BaseException:
            file.close()
            raise

    def append(self, value: dict[str, Any]) -> list[StoredLine]:
        """Stores one object; see `extend`."""
        return self.extend([json_of(value)])

    def extend(self, bodies: Iterable[bytes]) -> list[StoredLine]:
        """Stores objects, a line each; all of them are on disk when this returns the lines.

        Raises `StorageError`; then some of the lines may be stored, and the last of these may be torn.
        """
        lines: list[bytes] = []
        stored: list[StoredLine] = []
        head = self.head
        self.is_whole = False
        for body in bodies:
            line, head = chained(body, head)
            lines.append(line)
            stored.append(StoredLine(line[:-1], head))
        data = b"".join(lines)
        try:
            self._file.append(data)
            write_all(self._copy.fileno(), data)
        except OSError as error:
            raise StorageError(
                f"cannot store a game in `{shown(str(self._path))}`: {error.strerror}"
            ) from None
        self.head = head
        self.is_whole = True
        self._check(whole=False)
        return stored

    def check(self) -> None:
        """Compares the file in the folder with all that was written, byte by byte.

        Raises `StorageError` where it differs; then the message names a file with all that was written.
        """
        self._check(whole=True)

    def _check(self, whole: bool) -> None:
        if self._damage:
            raise StorageError(self._damage)
        try:
            self._file.check()
            if whole and not self._is_as_written():  # guard: content-of-file
                raise ChangedByOthers("was changed by another program")
        except ChangedByOthers as error:
            self._damage = f"`{shown(str(self._path))}` {error}; {self._rescue()}"
            raise StorageError(self._damage) from None
        except OSError as error:
            raise StorageError(f"cannot read `{shown(str(self._path))}`: {error.strerror}") from None

    def _is_as_written(self) -> bool:
        """Whether the file begins with all that was written; more may follow where an append failed."""
        stored, written = _chunks(self._file.descriptor), _chunks(self._copy.fileno())
        return all(chunk.startswith(known) for chunk, known in zip_longest(stored, written, fillvalue=b""))

    def _rescue(self) -> str:
        """Writes all records to a new file, and says where it is, or that there is none."""
        folder = self._path.absolute().parent
        for place in (folder.parent, Path(tempfile.gettempdir())):
            try:
                return f"all its records are in `{shown(str(self._write_to(place, folder.name)))}`"
            except OSError as error:
                reason = error.strerror
        return f"its records could not be written elsewhere: {reason}"

    def _write_to(self, place: Path, name: str) -> str:
        """Writes all records to a new file in a folder; its path. Raises `OSError`."""
        file, path = tempfile.mkstemp(".jsonl", f"{name}-rescued-", place)
        try:
            for chunk in _chunks(self._copy.fileno()):
                write_all(file, chunk)
            os.fsync(file)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(path).unlink()
            raise
        finally:
            os.close(file)
        return path

    def close(self) -> None:
        """Closes the file, and with it removes the copy."""
        self._file.close()
        self._copy.close()


_CHUNK = 1 << 16

AHEAD = 1 << 20  # the buffer for reading line by line: a small one takes five times as long for long lines


def _chunks(file: int) -> Iterator[bytes]:
    """The bytes of an open file from its beginning. Raises `OSError`."""
    at = 0
    while chunk := os.pread(file, _CHUNK, at):
        yield chunk
        at += len(chunk)


def _opened(path: Path, in_folder: bool, buffering: int = -1) -> BinaryIO:
    """A file of records, where it lies in a run's folder without following a link; `buffering` is that of
    `open`. Raises `OSError`.
    """
    if in_folder:
        return os.fdopen(open_without_links(path), "rb", buffering)
    return open_regular(path, buffering)


def read(path: Path, advance: Advance = untold) -> Iterator[JournalLine]:
    """The lines of a file, or of the one in a folder; `advance` is told how many bytes have been read.

    Raises `UsageError` where it cannot be read.
    """
    try:
        in_folder = path.is_dir()
        if in_folder:
            path = path / NAME
        with _opened(path, in_folder, AHEAD) as file:
            done, in_all = 0, os.fstat(file.fileno()).st_size
            for line in lines_from(file):
                yield line
                done += line.size
                advance(done, in_all)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


def lines_from(file: BinaryIO, first: int = 1, before: str = FIRST) -> Iterator[JournalLine]:
    """The lines of an open file from where it stands: the first of them has this number, and `before` is the
    hash of the line before it. A torn line is the last one. Raises `OSError`.
    """
    prev = before.encode()
    for number, (text, size, ended) in enumerate(bounded_lines(file), first):
        if ended and (digest := _linked(text, prev)):
            yield JournalLine(number, text, "", digest, False, size)
            prev = digest.encode()
            continue
        if not ended:
            error = "incomplete line: no newline at its end"
            yield JournalLine(number, text, error, torn=True, size=size)
            return
        match = _HASH.fullmatch(text[-_HASH_SIZE:])
        found = match[1] if match else b"?"
        error = f"it has more than {LINE_CAP} bytes" if len(text) > LINE_CAP else ""
        yield JournalLine(number, text, error or _chain_error(text, prev), found.decode(), size=size)
        prev = found


def line_at(path: Path, at: int, size: int, digest: str) -> bytes:
    """The line of a file, or of the one in a folder, that begins at this byte, without its newline; `size`
    and `digest` are those of the `JournalLine` as which it was read; without a digest, as for a line that is
    damaged, nothing is compared. Raises `RecordError` where it is not there any more.
    """
    in_folder = path.is_dir()
    file_path = path / NAME if in_folder else path
    try:
        with _opened(file_path, in_folder) as file:
            file.seek(at)
            line = file.read(size).removesuffix(b"\n")
    except OSError as error:
        raise RecordError(f"cannot read `{shown(str(file_path))}`: {error.strerror}") from None
    if not digest:
        return line
    hashed = hashlib.sha256(line[:-_HASH_SIZE] + b"}").hexdigest()
    if hashed != digest or not line.endswith(b',"hash":"%b"}' % digest.encode()):  # guard: line-read-again
        raise RecordError(f"`{shown(str(file_path))}` was modified after it was read")
    return line


def bounded_lines(file: BinaryIO) -> Iterator[tuple[bytes, int, bool]]:
    """The lines of a file: the text without its newline, its bytes in the file, and whether it has a newline.

    Of a line of more than `LINE_CAP` bytes only the beginning is given, one byte more than these.
    """
    while line := file.readline(LINE_CAP + 2):
        size, end = len(line), line[-1:]
        while end != b"\n" and (more := file.readline(_CHUNK)):
            size, end = size + len(more), more[-1:]
        yield line.removesuffix(b"\n")[: LINE_CAP + 1], size, end == b"\n"


def _linked(line: bytes, prev: bytes) -> str:
    """The hash of a line that is as it should be after the line with the hash `prev`; else an empty text."""
    if len(line) > LINE_CAP or len(prev) != len(FIRST):
        return ""
    hashed = hashlib.sha256(memoryview(line)[:-_HASH_SIZE])
    hashed.update(b"}")
    digest = hashed.hexdigest()
    return digest if line.endswith(b',"prev":"%b","hash":"%b"}' % (prev, digest.encode())) else ""


def _chain_error(line: bytes, prev: bytes) -> str:
    """What is wrong with a line's hash or its place in the chain."""
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
