"""The file of records: what is written, and when it counts."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import StorageError
from referee.records import journal

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
