"""Hashes of programs: what changed is noticed, and nothing is read without need or without bounds."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from referee.core import files
from referee.core.files import open_regular
from referee.processes.program import Program
from referee.tournament.file.file_list import Programs
from tests.command import ended_after
from tests.waiting import TOO_LONG_S


@pytest.fixture
def bot(tmp_path: Path) -> Program:
    (tmp_path / "bot.py").write_text("1")
    return Program("a", ("{python}", "bot.py", "none"), tmp_path)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_what_changed_is_told_once(bot: Program) -> None:
    programs, file = Programs(), bot.cwd / "bot.py"
    assert programs.changes([bot]) == {"a": {"bot.py": sha256("1")}}
    assert programs.changes([bot]) == {}
    file.write_text("2 and more")
    assert programs.changes([bot]) == {"a": {"bot.py": sha256("2 and more")}}
    os.utime(file, (0, 0))
    assert programs.changes([bot]) == {}, "only its times are different"
    new = bot.cwd / "new"
    new.write_text("3 and more")
    os.utime(new, (0, 0))
    new.rename(file)
    assert programs.changes([bot]) == {"a": {"bot.py": sha256("3 and more")}}, "same size and time"
    file.unlink()
    assert programs.changes([bot]) == {"a": {}}
    (bot.cwd / "none").write_text("4")
    assert programs.changes([bot]) == {"a": {"none": sha256("4")}}


def test_a_program_on_the_path_is_hashed(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("x")
    (tmp_path / "program").chmod(0o700)
    bot = Program("a", ("program",), tmp_path / "nowhere", env=(("PATH", str(tmp_path)),))
    assert Programs().changes([bot]) == {"a": {"program": sha256("x")}}


def test_a_file_that_did_not_change_is_read_once_for_all_bots(
    bot: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def noted(path: Path) -> BinaryIO:
        opened.append(path)
        return open_regular(path)

    monkeypatch.setattr(files, "open_regular", noted)
    bots = [bot, Program("b", bot.command, bot.cwd)]
    programs = Programs()
    assert set(programs.changes(bots)) == {"a", "b"}
    programs.changes(bots)
    assert opened.count(bot.cwd / "bot.py") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/zero and sparse files")
def test_nothing_is_waited_for_and_nothing_is_read_without_end(bot: Program) -> None:
    programs, file = Programs(), bot.cwd / "bot.py"
    programs.changes([bot])
    file.unlink()
    with ended_after(TOO_LONG_S):
        os.mkfifo(file)
        assert programs.changes([bot]) == {"a": {}}
        file.unlink()
        file.symlink_to("/dev/zero")
        assert programs.changes([bot]) == {}
        file.unlink()
        file.touch()
        os.truncate(file, 1 << 40)
        assert programs.changes([bot]) == {}


def test_a_file_that_grows_is_read_as_far_as_it_was_long(
    bot: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = files._digest

    def grown(file: BinaryIO, size: int) -> str:
        (bot.cwd / "bot.py").write_text("1 and more")
        return digest(file, size)

    monkeypatch.setattr(files, "_digest", grown)
    programs = Programs()
    assert programs.changes([bot]) == {"a": {"bot.py": sha256("1")}}
    monkeypatch.setattr(files, "_digest", digest)
    assert programs.changes([bot]) == {"a": {"bot.py": sha256("1 and more")}}, "the next time"
