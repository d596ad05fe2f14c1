"""`referee table` on runs that were played."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.cli.output import pasteable
from tests.command import BAD, HERE, PLAIN, ROOT, THIS_PYTHON, Done, referee

SMALL = ["--option", "size=3", "--option", "target=2", *HERE]
INSTANT = f"{{python}} {ROOT / 'tests' / 'bots' / 'instant_bot.py'}"


def match(folder: Path, *bots: str, count: int = 4) -> Done:
    done = referee(
        "match", "blooms", *bots, "-n", str(count), "-o", str(folder), "--isolation", "none", *SMALL
    )
    assert done.code == 0
    return done


def data(*words: str) -> dict[str, Any]:
    done = referee("table", *words, "--format", "json")
    assert done.code == 0
    value = json.loads(done.out)
    assert isinstance(value, dict)
    return value


def test_a_match_and_its_table_are_the_same(tmp_path: Path) -> None:
    done = match(tmp_path / "run", f"a={PLAIN}", f"b={PLAIN}")
    table = referee("table", str(tmp_path / "run"))
    assert table.out == done.out and table.err in done.err


@pytest.mark.slow
def test_a_run_ends_with_commands_that_can_be_pasted(tmp_path: Path) -> None:
    """The program is named as it was called, where its name alone is not found."""
    folder, page = tmp_path / "my results", tmp_path / "my results.html"
    done = match(folder, f"a={PLAIN}", f"b={PLAIN}")
    head, replay, report = done.err.splitlines()[-3:]
    assert "head hash" in head and replay == f"next: referee replay '{folder}'"
    script = f"cd '{tmp_path}'; {replay.removeprefix('next: ')}; {report}"
    caller = tmp_path / "referee"
    caller.write_text(f'#!/bin/sh\nexec {THIS_PYTHON} -m referee "$@"\n')
    caller.chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    pasted = subprocess.run(["sh", "-c", script], env=path, capture_output=True, text=True)
    assert pasted.returncode == 0 and "1:a:b" in pasted.stdout and page.exists(), pasted.stderr


def test_a_command_to_paste_calls_the_program_as_it_was_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/no/such/folder")
    monkeypatch.setattr(sys, "argv", [".venv/bin/referee", "run"])
    assert pasteable("replay", Path("a b")) == ".venv/bin/referee replay 'a b'"
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert pasteable("table") == "referee table"


@pytest.mark.slow
def test_several_runs_have_one_table(tmp_path: Path) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    match(tmp_path / "one", f"a={PLAIN}", f"b={PLAIN}", count=4)
    match(tmp_path / "other", f"b={PLAIN}", f"c={PLAIN}", count=6)
    rows = {row["bot"]: row for row in data(one, other)["standings"]}
    assert {name: row["games"] for name, row in rows.items()} == {"a": 4, "b": 10, "c": 6}
    assert {name: row["encounters"] for name, row in rows.items()} == {"a": 2, "b": 5, "c": 3}
    told = referee("table", one, other).err
    assert f"{one}: 4 games, head hash" in told and f"{other}: 6 games, head hash" in told


@pytest.mark.slow
def test_bots_that_repeat_their_games_are_told_so(tmp_path: Path) -> None:
    done = match(tmp_path / "run", f"a={INSTANT}", f"b={INSTANT}", count=12)
    assert "10 of 12 games repeat another one" in done.out and "random openings" in done.out
    assert data(str(tmp_path / "run"))["standings"][0]["encounters"] == 1


def test_times_are_read_from_the_records(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    match(folder, f"a={PLAIN}", f"b={BAD} rejected", count=2)
    text = referee("table", str(folder), "--times").out
    assert "median" in text and "longest" in text
    moves = dict.fromkeys("ab", 0)
    longest = dict.fromkeys("ab", 0)
    for line in (folder / "games.jsonl").read_text().splitlines():
        game = json.loads(line)
        for event, time in zip(
            game.get("events", ()), game.get("measured", {}).get("events", ()), strict=True
        ):
            if "move" in event:
                bot = game["bots"][event["seat"] - 1]
                moves[bot] += 1
                longest[bot] = max(longest[bot], time["used_us"])
    times = {row["bot"]: row["times"] for row in data(str(folder), "--times")["standings"]}
    assert {name: time["moves"] for name, time in times.items()} == moves
    assert all(times[name]["max_us"] == (longest[name] or None) for name in "ab")
    assert "times" not in data(str(folder))["standings"][0], "only if they are asked for"


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    match(tmp_path / "run", f"a={PLAIN}", f"b={PLAIN}", count=1)
    for words in (["--columns", "elos"], ["--show", "all"], ["--format", "csv", "--show", "los,pairs"]):
        done = referee("table", str(tmp_path / "run"), *words)
        assert done.code == 2 and "expected one" in done.err and not done.out
