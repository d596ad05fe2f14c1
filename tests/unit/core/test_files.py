"""Files of others: only regular ones are opened, without waiting; and files are whole or not there at all."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from unittest import mock

import pytest

from referee.core import files
from referee.core.errors import StorageError, UsageError
from referee.core.files import is_regular, open_regular, read_start, write_whole
from tests.command import ended_after
from tests.waiting import TOO_LONG_S


def test_at_most_the_start_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    (tmp_path / "link").symlink_to(path)
    assert read_start(path, 4) == b"abcd"
    assert read_start(tmp_path / "link", 100) == b"abcdef"


def test_what_is_no_regular_file_is_refused_and_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
    kinds = {"fifo": "a FIFO", "link": "a FIFO", "zero": "a device", "socket": "a socket", ".": "a folder"}
    for name, kind in kinds.items():
        with ended_after(TOO_LONG_S), pytest.raises(OSError) as refused:
            open_regular(tmp_path / name)
        assert refused.value.strerror == f"it is {kind}, expected a regular file"


def test_whether_there_is_a_regular_file_can_be_asked_of_any_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    names = ["file", ".", "none", "file/none", "loop", "a" * 300, "a/" * 5000]
    assert [name for name in names if is_regular(tmp_path / name)] == ["file"]


def test_a_file_that_is_replaced_by_a_fifo_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").touch()
    before = (tmp_path / "file").stat()
    monkeypatch.setattr(Path, "stat", lambda _: before)
    open_files = len(os.listdir("/dev/fd"))  # noqa: PTH208 - `Path` is patched
    with ended_after(TOO_LONG_S), pytest.raises(OSError, match="it is a FIFO"):
        open_regular(tmp_path / "fifo")
    assert len(os.listdir("/dev/fd")) == open_files  # noqa: PTH208


def write(path: Path, data: bytes = b"<!doctype html>new") -> None:
    write_whole(path, data, b"<!doctype html>", "a page")


def test_a_new_file_and_one_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    before = os.umask(0o027)
    try:
        write(path, b"<!doctype html>old")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    write(path)
    assert path.read_bytes() == b"<!doctype html>new"
    assert path.stat().st_mode & 0o777 == 0o604
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(b'{"kind":"tournament"}')
    with pytest.raises(UsageError, match=r"`.*games.jsonl` already exists and is not a page, expected a"):
        write(path)
    assert path.read_bytes() == b'{"kind":"tournament"}'
    assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_stays_where_the_new_one_cannot_be_completed(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<!doctype html>old")

    def full(descriptor: int, data: bytes, path: Path) -> None:
        os.write(descriptor, data[:3])
        os.close(descriptor)
        raise StorageError("the disk is full")

    with mock.patch.object(files, "_write_all", full), pytest.raises(StorageError):
        write(path)
    assert path.read_bytes() == b"<!doctype html>old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_followed_and_devices_written_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(real)
    write(link)
    assert link.is_symlink()
    assert real.read_bytes() == b"<!doctype html>new"
    write(Path(os.devnull))
    assert Path(os.devnull).is_char_device()
    with pytest.raises(StorageError, match="No space left"):
        write(Path("/dev/full"))


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path, tmp_path / "none" / "page.html", loop):
        with pytest.raises(UsageError, match="cannot write `"):
            write(path)
