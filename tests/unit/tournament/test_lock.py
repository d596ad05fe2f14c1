"""The lock of a run's folder: one referee at a time, and nothing is left of a run that did not begin."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from referee.core.errors import UsageError
from referee.records.run_files import LOCK, RECORDS
from referee.tournament.run import lock as of_run
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import set_aside


def test_a_refused_run_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="refused"), locked(tmp_path / "a" / "b"):
        raise UsageError("refused")
    assert not any(tmp_path.iterdir())


def test_only_what_was_made_is_removed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / LOCK).write_text("someone's")
    with locked(tmp_path / "there"):
        pass
    with locked(tmp_path / "new"):
        (tmp_path / "new" / "notes").touch()
    assert (tmp_path / "there" / LOCK).read_text() == "someone's"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["notes"]


def test_a_run_that_began_keeps_its_lock(tmp_path: Path) -> None:
    with locked(tmp_path / "run"):
        (tmp_path / "run" / RECORDS).touch()
    assert {path.name for path in (tmp_path / "run").iterdir()} == {LOCK, RECORDS}


def test_one_referee_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with locked(folder):
        with pytest.raises(UsageError, match="another referee is already running"), locked(folder):
            pass
        assert (folder / LOCK).exists()


@pytest.mark.parametrize("later", ["open_without_links", "flock"])
def test_a_lock_that_its_owner_removes_meanwhile_is_made_again(
    later: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other referee is refused between two steps of this one: otherwise both would hold a lock."""
    folder = tmp_path / "run"
    other = locked(folder)
    other.__enter__()
    module = of_run if later == "open_without_links" else fcntl
    step, left = getattr(module, later), [other]

    def slow(*arguments: object) -> object:
        if left:
            left.pop().__exit__(None, None, None)
        return step(*arguments)

    monkeypatch.setattr(module, later, slow)
    with locked(folder):
        assert (folder / LOCK).exists() and os.access(folder, os.W_OK)
        with pytest.raises(UsageError, match="another referee is already running"), locked(folder):
            pass
    assert not folder.exists()


def test_a_run_waits_for_who_only_asks_and_not_for_a_referee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the one who asks gets no processor while it has the lock."""
    waited = []
    with open(tmp_path / LOCK, "w") as asking:  # noqa: PTH123
        fcntl.flock(asking, fcntl.LOCK_SH)

        def wait(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 100:
                fcntl.flock(asking, fcntl.LOCK_UN)

        monkeypatch.setattr(time, "sleep", wait)
        refused = pytest.raises(UsageError, match="another referee is already running")
        with locked(tmp_path), refused, locked(tmp_path):
            pass
    assert len(waited) == 100


def test_the_folder_of_a_run_is_set_aside_under_a_free_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    assert set_aside(folder) is None and not folder.exists()
    folder.mkdir()
    (folder / "notes.txt").touch()
    assert set_aside(folder) is None and folder.exists(), "no run is there"
    (folder / RECORDS).write_text("games")
    (tmp_path / "run-1").touch()
    with locked(folder), pytest.raises(UsageError, match="another referee is already running"):
        set_aside(folder)
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="is the working directory or above it"):
        set_aside(Path())
    monkeypatch.chdir(tmp_path)
    assert set_aside(Path("run")) == Path("run-2") and not folder.exists()
    assert (tmp_path / "run-2" / RECORDS).read_text() == "games"
