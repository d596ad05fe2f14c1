"""Files that are whole or not there at all."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from referee.core import whole_file
from referee.core.errors import StorageError, UsageError
from referee.core.whole_file import write_whole


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

    with mock.patch.object(whole_file, "_write", full), pytest.raises(StorageError):
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
