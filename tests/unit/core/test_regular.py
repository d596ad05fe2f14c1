"""Files of others are opened for reading only where they are regular files, and without waiting."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from referee.core.regular import is_regular, open_regular, read_start
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
