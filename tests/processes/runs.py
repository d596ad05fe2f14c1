"""Tournaments for the tests: their files, what they left in their folders."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.records import journal
from tests.command import PLAIN
from tests.waiting import TOO_LONG_S, eventually


def toml(path: Path, bots: dict[str, str] | None = None, options: str = "size = 3", **main: Any) -> Path:
    """Writes a tournament file; short games of three random bots without workers, if nothing else is said.

    None leaves a key out.
    """
    if bots is None:
        bots = dict.fromkeys("abc", PLAIN)
    main = {"game": "blooms", "rounds": 2, "clock": "5s", "seed": "s", "workers": 0, **main}
    given = {key: value for key, value in main.items() if value is not None}
    lines = ["[tournament]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
    lines += ["[options]", options]
    for name, cmd in bots.items():
        lines += ["[[bot]]", f"name = {json.dumps(name)}", f"cmd = {json.dumps(cmd)}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def resigning(when_asked: str = ":") -> str:
    """The command of a bot that resigns when it is asked, after it has run these words of a shell."""
    answer = f"{when_asked}; echo resign $n"
    return (
        "sh -c 'echo hello 1; while read word n rest; do "
        f"case $word in prepare) echo ready;; ask) {answer};; esac; done'"
    )


def until(path: Path) -> str:
    """Words of a shell that end when there is this file."""
    return f"until [ -e {path} ]; do sleep 0.01; done"


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's file; the last one may be being written, and is then not there yet."""
    whole, _, _ = (folder / "games.jsonl").read_text().rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def voids(folder: Path) -> list[dict[str, Any]]:
    """The attempts at games of a run that became void, in their order."""
    return [line for line in lines_of(folder) if line["kind"] == "void"]


def forged(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Writes a run's file anew with changed lines, all hashes right."""
    values = [{k: v for k, v in line.items() if k not in ("prev", "hash")} for line in lines_of(folder)]
    change(values)
    prev, data = journal.FIRST, b""
    for value in values:
        line, prev = journal.chained(journal.body_of(value), prev)
        data += line
    (folder / "games.jsonl").write_bytes(data)


def games(folder: Path) -> dict[str, dict[str, Any]]:
    """The games of a run by id, without what was measured; none may be there twice."""
    found = {}
    for game in lines_of(folder):
        if game["kind"] == "game":
            assert game["id"] not in found
            found[game["id"]] = {k: v for k, v in game.items() if k not in ("measured", "prev", "hash")}
    return found


def wait_for_games(folder: Path, count: int) -> None:
    """Waits until a run that is played by another process has this many games."""
    records = folder / "games.jsonl"
    eventually(lambda: records.exists() and records.read_bytes().count(b'\n{"kind":"game",') >= count)


def run_with(patch: str, file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`referee run` with something broken in it."""
    script = f"{patch}\nfrom referee.cli import main\nimport sys\nsys.argv[0] = 'referee'\nmain()"
    command = [sys.executable, "-c", script, "run", str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=TOO_LONG_S)
