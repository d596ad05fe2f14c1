"""The content of files on a machine of a cluster, kept by SHA-256: complete, or not there at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.cluster.bot_files import PART_BYTES
from referee.core.errors import EnvironmentLacksError
from referee.core.file_hashes import LARGEST, FileHashes
from referee.core.regular import open_regular
from referee.core.text import shown

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass
class _Incoming:
    """Content that has arrived in part."""

    path: Path
    digest: hashlib._Hash
    size: int = 0


class Blobs:
    """A folder with the content of files. Several processes may use it at the same time."""

    def __init__(self, folder: Path, hashes: FileHashes) -> None:
        self.folder = folder
        self._hashes = hashes
        self._incoming: dict[str, _Incoming] = {}

    def close(self) -> None:
        """Gives up what has not arrived in whole."""
        for incoming in self._incoming.values():
            with contextlib.suppress(OSError):
                incoming.path.unlink()
        self._incoming.clear()

    def has(self, sha256: str) -> bool:
        """Whether the content of a hash is here; what is damaged is removed, and is not."""
        blob = self._blob(sha256)
        if (found := self._hashes.of(blob)) is None:
            return False
        with contextlib.suppress(OSError):
            if found.sha256 == sha256:  # guard: damaged-blobs
                os.utime(blob)
                return True
            blob.unlink()
        return False

    def add(self, sha256: str, offset: int, part: bytes, size: int) -> None:
        """Adds a part of content of so many bytes; the parts come in their order. Raises
        `EnvironmentLacksError` where they cannot be stored, or the whole is not what its hash says.
        """
        blob = self._blob(sha256)
        with writing("a bot's file"):
            if offset == 0 and (before := self._incoming.pop(sha256, None)):
                before.path.unlink(missing_ok=True)
            incoming = self._incoming.get(sha256) or self._begun(sha256)
            is_next = offset == incoming.size and offset + len(part) <= min(size, LARGEST)
            if is_next and len(part) <= PART_BYTES:
                with incoming.path.open("ab") as file:
                    file.write(part)
                incoming.digest.update(part)
                incoming.size += len(part)
                if part and incoming.size < size:
                    return
            del self._incoming[sha256]
            if incoming.size == size and incoming.digest.hexdigest() == sha256:  # guard: blobs
                blob.parent.mkdir(mode=0o700, exist_ok=True)
                incoming.path.replace(blob)
                return
            incoming.path.unlink(missing_ok=True)
        raise EnvironmentLacksError(
            f"a bot's file was damaged in transfer or changed in the meantime, expected SHA-256 {sha256}"
        )

    def _begun(self, sha256: str) -> _Incoming:
        descriptor, path = tempfile.mkstemp(".part", sha256[:8], self.folder)
        os.close(descriptor)
        self._incoming[sha256] = _Incoming(Path(path), hashlib.sha256())
        return self._incoming[sha256]

    def copy(self, sha256: str, to: Path, mode: int) -> bool:
        """Copies the content of a hash to a file, which is whole or not there; whether it is here. Raises
        `OSError`.
        """
        blob, digest = self._blob(sha256), hashlib.sha256()
        descriptor, new = tempfile.mkstemp(".new", dir=to.parent)
        try:
            with os.fdopen(descriptor, "wb") as file, open_regular(blob) as content:
                while part := content.read(PART_BYTES):
                    digest.update(part)
                    file.write(part)
            if digest.hexdigest() != sha256:
                blob.unlink()
                return False
            Path(new).chmod(mode)
            Path(new).replace(to)
            return True
        except FileNotFoundError:
            return False
        finally:
            Path(new).unlink(missing_ok=True)

    def touch(self, sha256: str) -> None:
        """Notes that content is used now."""
        with contextlib.suppress(OSError):
            os.utime(self._blob(sha256))

    def remove_older(self, than_s: float) -> None:
        """Removes what was not used since a time, in seconds as `time.time` has it."""
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                if not path.is_dir() and path.lstat().st_mtime < than_s:
                    path.unlink()

    def _blob(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):  # guard: names-of-blobs
            raise EnvironmentLacksError(f"`{shown(sha256, 80)}` is not a SHA-256")
        return self.folder / sha256[:2] / sha256


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Raises `EnvironmentLacksError` in the place of `OSError`."""
    try:
        yield
    except OSError as error:
        where = f" `{shown(str(error.filename))}`" if error.filename else ""
        raise EnvironmentLacksError(f"cannot write {what}: {error.strerror}{where}") from None
