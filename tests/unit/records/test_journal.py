"""The file of records: what is written, and when it counts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import StorageError
from referee.records import journal
from referee.records.run_files import AppendOnlyFile

VALUES: list[dict[str, Any]] = [{"kind": "tournament", "seed": "é\n"}, {"a": {"b": [1, None]}}, {"c": ""}]


def test_a_line_is_the_object_with_its_chain() -> None:
    """A body is made without knowing the line before; the line is the same as if it were made at once."""
    prev = journal.FIRST
    for value in VALUES:
        whole = json.dumps({**value, "prev": prev}, separators=(",", ":")).encode()
        digest = hashlib.sha256(whole).hexdigest()
        assert journal.chained(journal.body_of(value), prev) == (
            whole[:-1] + f',"hash":"{digest}"}}\n'.encode(),
            digest,
        )
        prev = digest


def test_lines_that_come_together_are_the_same_as_one_by_one(tmp_path: Path) -> None:
    for name, groups in (("one", [[value] for value in VALUES]), ("all", [VALUES]), ("some", [[], VALUES])):
        written = journal.Journal.create(tmp_path / name)
        for group in groups:
            written.extend(map(journal.body_of, group))
        written.close()
        found = list(journal.read(tmp_path / name))
        assert [line.error for line in found] == [""] * 3
    texts = {(tmp_path / name / journal.NAME).read_bytes() for name in ("one", "all", "some")}
    assert len(texts) == 1


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o602])
def test_a_file_that_others_may_open_is_closed_to_them(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    AppendOnlyFile(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_stored_is_told_as_it_stands_in_the_file(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    stored = written.extend(map(journal.body_of, VALUES))
    written.close()
    assert [line.text for line in stored] == (tmp_path / "run" / journal.NAME).read_bytes().splitlines()
    assert [line.hash for line in stored] == [json.loads(line.text)["hash"] for line in stored]


def test_lines_that_come_together_wait_for_the_disk_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(
        "referee.records.journal.os.fsync", lambda file: synced.append(os.fstat(file).st_size)
    )
    written = journal.Journal.create(tmp_path / "run")
    written.extend(map(journal.body_of, VALUES))
    written.close()
    assert synced == [(tmp_path / "run" / journal.NAME).stat().st_size]


def test_what_cannot_be_stored_does_not_go_on_in_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = journal.Journal.create(tmp_path / "run")
    with monkeypatch.context() as patched:

        def full(file: int) -> None:
            raise OSError(28, "No space left on device")

        patched.setattr("referee.records.journal.os.fsync", full)
        with pytest.raises(StorageError, match="No space left"):
            written.extend(map(journal.body_of, VALUES[:2]))
    written.close()
    found = list(journal.read(tmp_path / "run"))
    again = journal.Journal.reopen(tmp_path / "run", found[0].hash, found[0].size, found[1].size)
    again.append(VALUES[2])
    again.close()
    assert [(line.error, b'"c"' in line.text) for line in journal.read(tmp_path / "run")] == [
        ("", False),
        ("", True),
    ]


def test_records_are_rescued_to_the_temporary_folder_where_all_else_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    written = journal.Journal.create(tmp_path / "above" / "run")
    written.append(VALUES[0])
    shutil.rmtree(tmp_path / "above")
    with pytest.raises(StorageError, match="was removed; all its records are in"):
        written.extend(map(journal.body_of, VALUES[1:]))
    (rescued,) = tmp_path.iterdir()
    with pytest.raises(StorageError, match=rescued.name):
        written.check()
    assert list(tmp_path.iterdir()) == [rescued], "they are rescued once"
    written.close()
    assert [line.error for line in journal.read(rescued)] == [""] * 3


def test_rescued_records_are_on_disk_before_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(VALUES[0])
    size = (tmp_path / "run" / journal.NAME).stat().st_size
    (tmp_path / "run" / journal.NAME).unlink()
    synced: list[tuple[int, int]] = []

    def fsync(file: int) -> None:
        status = os.fstat(file)
        synced.append((status.st_ino, status.st_size))

    monkeypatch.setattr("referee.records.journal.os.fsync", fsync)
    with pytest.raises(StorageError, match="was removed; all its records are in"):
        written.check()
    written.close()
    (rescued,) = tmp_path.glob("run-rescued-*.jsonl")
    assert synced == [(rescued.stat().st_ino, size)]


def test_a_journal_that_is_closed_holds_no_file(tmp_path: Path) -> None:
    before = len([*Path("/dev/fd").iterdir()])
    written = journal.Journal.create(tmp_path / "run")
    assert len([*Path("/dev/fd").iterdir()]) == before + 2, "the file and the copy"
    written.close()
    assert len([*Path("/dev/fd").iterdir()]) == before


def test_what_cannot_be_rescued_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    written = journal.Journal.create(tmp_path / "above" / "run")
    shutil.rmtree(tmp_path / "above")
    with pytest.raises(StorageError, match="could not be written elsewhere: No such file"):
        written.check()
    written.close()


def test_a_file_that_changed_since_it_was_read_is_not_cut(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(VALUES[0])
    (first,) = journal.read(tmp_path / "run")
    written.append(VALUES[1])
    written.close()
    with pytest.raises(StorageError, match="was modified while it was being read"):
        journal.Journal.reopen(tmp_path / "run", first.hash, first.size)
    assert len(list(journal.read(tmp_path / "run"))) == 2


def test_a_continued_file_is_rescued_with_what_was_there_before(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(VALUES[0])
    written.close()
    path = tmp_path / "run" / journal.NAME
    path.write_bytes(path.read_bytes() + b"torn")
    first, torn = journal.read(tmp_path / "run")
    written = journal.Journal.reopen(tmp_path / "run", first.hash, first.size, torn.size)
    path.write_bytes(b"")
    with pytest.raises(StorageError, match="it has"):
        written.append(VALUES[1])
    written.close()
    (rescued,) = tmp_path.glob("run-rescued-*.jsonl")
    assert [line.error for line in journal.read(rescued)] == ["", ""]
