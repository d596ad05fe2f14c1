"""The files of games in play: written by one process, read by another without trust, waiting for nobody."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import pytest

from referee.live import slots
from referee.live.slots import MOST, WATCHED, SlotReader, SlotWriter, Watch, make_folder, say_watched

WriterOf = Callable[..., SlotWriter]


@pytest.fixture
def writer_of(tmp_path: Path) -> Iterator[WriterOf]:
    """Makes writers of slots, and closes them at the end."""
    with ExitStack() as opened:
        yield lambda name, folder=tmp_path: opened.enter_context(closing(SlotWriter(folder, name)))


def test_what_is_written_is_read_and_what_has_not_changed_is_the_same_object(
    writer_of: WriterOf, tmp_path: Path
) -> None:
    reader = SlotReader(tmp_path)
    writers = [writer_of(name) for name in ("w2", "w10", "w1")]
    assert reader.read() == {}, "no game has begun"
    for writer in writers:
        writer.begin({"id": "1:a:b"})
    first = reader.read()
    assert [*first] == ["w1", "w2", "w10"] and {game.told for game in first.values()} == {b""}
    writers[0].append(b"one\n")
    writers[0].append(b"two\n")
    second = reader.read()
    assert second["w2"].told == b"one\ntwo\n" and second["w2"].head is first["w2"].head
    assert second["w1"] is first["w1"]
    writers[0].replace(b"another")
    third = reader.read()["w2"]
    assert third.told == b"another" and third.head is first["w2"].head
    writers[0].begin({"id": "1:a:b"})
    assert reader.read()["w2"].head is not third.head, "a game that is played again is another game"
    assert not reader.is_elsewhere
    writers[0].close()
    assert [*reader.read()] == ["w1", "w10"]


def test_files_are_for_their_owner_alone_and_a_new_worker_has_a_new_one(
    writer_of: WriterOf, tmp_path: Path
) -> None:
    old = writer_of("w1")
    old.begin({"id": "old"})
    reader = SlotReader(tmp_path)
    assert reader.read()["w1"].head["id"] == "old"
    writer_of("w1").begin({"id": "new"})
    old.append(b"late")
    assert reader.read()["w1"].head["id"] == "new"
    say_watched(tmp_path)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == dict.fromkeys(
        ("w1", WATCHED), 0o600
    )


@pytest.mark.parametrize("replaced", [False, True])
def test_a_slot_that_was_removed_or_replaced_is_back_with_the_next_game(
    writer_of: WriterOf, tmp_path: Path, replaced: bool
) -> None:
    writer, reader, slot = writer_of("w1"), SlotReader(tmp_path), tmp_path / "w1"
    writer.begin({"id": "1:a:b"})
    slot.unlink()
    if replaced:
        os.mkfifo(slot)
    writer.append(b"nobody sees this")
    assert reader.read() == {}
    writer.begin({"id": "2:a:b"})
    writer.append(b"seen")
    assert reader.read()["w1"].told == b"seen" and [*tmp_path.iterdir()] == [slot]


def test_what_a_slot_cannot_hold_is_left_out(writer_of: WriterOf, tmp_path: Path) -> None:
    writer, reader = writer_of("w1"), SlotReader(tmp_path)
    writer.begin({"id": "x"})
    writer.append(b"a" * (MOST // 2))
    writer.append(b"b" * (MOST // 2))
    writer.append(b"what makes no sense without the one before")
    assert reader.read()["w1"].told == b"a" * (MOST // 2)
    writer.replace(b"c" * MOST)
    assert reader.read() == {}
    writer.begin({"id": "x" * MOST})
    writer.append(b"d")
    assert reader.read() == {}
    writer.begin({"id": "x"})
    assert reader.read()["w1"].told == b""
    assert (tmp_path / "w1").stat().st_size <= MOST + 64


def test_slots_of_another_machine_are_named_and_left_alone(
    writer_of: WriterOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer_of("w1").begin({"id": "x"})
    monkeypatch.setattr(slots, "boot_id", lambda: "another")
    reader = SlotReader(tmp_path)
    assert reader.read() == {} and reader.is_elsewhere


@pytest.mark.slow
def test_a_slot_is_read_whole_or_not_at_all_while_it_is_written(writer_of: WriterOf, tmp_path: Path) -> None:
    writer, reader, done = writer_of("w1"), SlotReader(tmp_path), threading.Event()
    writer.begin({"id": "x"})
    reader.read()  # so that there is something to keep while it meets changes alone

    def write() -> None:
        for number in count():
            text = f"{number % 10}".encode()
            writer.replace(text * (1 + number * 7 % 3000))
            writer.append(text * 100)
            if done.is_set():
                return

    writing = threading.Thread(target=write)
    writing.start()
    try:
        seen = set[bytes]()
        while len(seen) < 50:
            told = reader.read()["w1"].told
            assert not told.strip(told[:1]), "a mixture of two"
            seen.add(told)
    finally:
        done.set()
        writing.join()


def test_a_reader_that_always_meets_a_change_keeps_what_it_had(
    writer_of: WriterOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = writer_of("w1"), SlotReader(tmp_path)
    writer.begin({"id": "x"})
    writer.replace(b"whole")
    before = reader.read()["w1"]
    pread = os.pread

    def write_meanwhile(file: int, length: int, place: int) -> bytes:
        writer.replace(b"again")
        return pread(file, length, place)

    monkeypatch.setattr(os, "pread", write_meanwhile)
    assert reader.read()["w1"] is before
    assert SlotReader(tmp_path).read() == {}
    monkeypatch.undo()
    assert reader.read()["w1"].told == b"again"
    with (tmp_path / "w1").open("r+b") as file:  # its worker was killed while it wrote
        file.write(struct.pack("<8sII", b"RFLIVE1\0", 99, 0))
    assert reader.read()["w1"].told == b"again" and SlotReader(tmp_path).read() == {}


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.rename(path.with_name(".elsewhere"))
    path.symlink_to(path.with_name(".elsewhere"))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _written(data: bytes, place: int = 0) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(place)
            file.write(data)

    return write


def _whole(body: bytes, size: int | None = None) -> Callable[[Path], None]:
    head = struct.pack("<8sII", b"RFLIVE1\0", 2, len(body) if size is None else size)
    return _written(head.ljust(64, b"\0") + body)


@pytest.mark.parametrize(
    "damage",
    [
        _fifo,
        _link,
        _folder,
        lambda path: path.unlink(),
        lambda path: os.truncate(path, 0),
        lambda path: os.truncate(path, 12),
        lambda path: os.truncate(path, 70),
        _written(b"JUNK"),
        _written(b"\0" * 500),
        _written(b"\xff" * 4, place=12),
        _written(b"[1]", place=64),
        _whole(b"{}"),
        _whole(b"{}\n", size=1000),
        _whole(b"[" * 100_000 + b"\n"),
        _whole(b'{"id": ' + b"9" * 100_000 + b"}\n"),
        _whole(b'{"id": "\xff"}\n'),
        _whole(b'{"id": "x", "boot": ["?"]}\n'),
        _whole(b'{"id": "x"}\n' * 100_000),
    ],
)
def test_a_damaged_slot_has_no_game_and_is_whole_again_with_the_next_where_it_can_be(
    writer_of: WriterOf, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    writer, reader = writer_of("w1"), SlotReader(tmp_path)
    writer.begin({"id": "x", "bots": ["a", "b"]})
    writer.append(b"something\n")
    assert reader.read()["w1"].told == b"something\n"
    inode = (tmp_path / "w1").stat().st_ino
    damage(tmp_path / "w1")
    reader.read()
    assert SlotReader(tmp_path).read() == {}
    writer.append(b"more\n")
    reader.read()
    writer.begin({"id": "y"})
    writer.append(b"again\n")
    if (tmp_path / "w1").exists() and (tmp_path / "w1").lstat().st_ino == inode:
        assert reader.read()["w1"].told == b"again\n"


@pytest.mark.parametrize("obstacle", ["no folder", "a file", "in the way"])
def test_a_worker_that_cannot_write_goes_on_without(
    writer_of: WriterOf, tmp_path: Path, obstacle: str
) -> None:
    folder = tmp_path / "live"
    if obstacle == "a file":
        folder.write_text("")
    elif obstacle == "in the way":
        (folder / ".w1.new").mkdir(parents=True)
    writer = writer_of("w1", folder)
    writer.begin({"id": "x"})
    writer.append(b"one")
    writer.close()
    assert SlotReader(folder).read() == {}


def test_a_disk_that_is_full_removes_the_slot(
    writer_of: WriterOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = writer_of("w1"), SlotReader(tmp_path)
    writer.begin({"id": "x"})
    assert [*reader.read()] == ["w1"]
    monkeypatch.setattr(os, "pwrite", lambda file, data, place: len(data) - 1)
    writer.append(b"one")
    writer.append(b"two")
    writer.begin({"id": "y"})
    assert reader.read() == {} and [*tmp_path.iterdir()] == []


def test_whether_somebody_looks_is_known_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000_000
    monkeypatch.setattr(slots, "now_us", lambda: now)
    watch = Watch(tmp_path)
    assert not watch.is_on
    say_watched(tmp_path)
    assert not watch.is_on, "it looks only a few times a second"
    now += slots._LOOK_US
    assert watch.is_on
    now += slots.FRESH_US
    assert not watch.is_on
    now += slots._LOOK_US
    say_watched(tmp_path)
    assert watch.is_on
    now -= slots.FRESH_US  # it was written on another machine, or before this one was started
    assert not Watch(tmp_path).is_on


@pytest.mark.parametrize("content", [None, b"", b"1234567", b"\xff" * 8, b"\0" * 8, b"x" * 1000])
def test_a_damaged_word_of_who_looks_is_nobody(tmp_path: Path, content: bytes | None) -> None:
    if content is None:
        os.mkfifo(tmp_path / WATCHED)
        with pytest.raises(OSError, match="FIFO"):
            say_watched(tmp_path)
    else:
        (tmp_path / WATCHED).write_bytes(content)
    assert not Watch(tmp_path).is_on


def test_nothing_is_written_through_a_link(writer_of: WriterOf, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"precious")
    (tmp_path / WATCHED).symlink_to("other")
    with pytest.raises(OSError, match="link"):
        say_watched(tmp_path)
    (tmp_path / ".w1.new").symlink_to("other")
    writer_of("w1").begin({"id": "x"})
    assert (tmp_path / "other").read_bytes() == b"precious"
    assert [*SlotReader(tmp_path).read()] == ["w1"]


@pytest.mark.parametrize("is_link", [True, False])
def test_what_is_in_the_place_of_the_folder_is_replaced(is_link: bool, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "live", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    if is_link:
        folder.symlink_to(elsewhere)
    else:
        folder.touch()
    make_folder(folder)
    assert folder.is_dir() and not folder.is_symlink() and not [*folder.iterdir()]
    assert (elsewhere / "kept").exists()
