"""What the commands say of one run, word by word."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command import referee
from tests.scenes import require_scene
from tests.unit.records.test_records import record
from tests.unit.tournament.test_exports import written

COMMANDS = """
table run
status run
find run
find run --bot b --lost-by a --format csv
find run --fault any --dialogue
find run --moves L:A1 --format github
find run --section x
replay run
replay run 2
replay run 2 --step 9
replay run 3 --move 2
diagnose run b
diagnose run c
diagnose run b --since 9 --json
verify run
export run
export run --format csv
amend run --annul 2:a:b --reason 'wrong komi'
amend run --withdraw c --reason x
table run
verify run
games
games blooms
games chess
moves blooms --option size=3 --picture L:A1 'L:B1 D:B2'
moves blooms --option size=3 --news L:A1
moves blooms --option size=3 --perft 2
moves blooms --option size=3 --count --json
match blooms a=true
match blooms a=true b=true --no-clock --start 2s
run t.toml --workers 2 --cluster local:2
docs no such words anywhere
"""


def test_commands_say_what_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    games = [
        record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2")),
        record("x", "L:A1", "resign {n}", others=("L:A1", "L:A2"), number=2),
        record("L:A1", others=(None,), number=3),
        record(*["x"] * 10, number=4),
    ]
    written(Path("run"), *games)
    said = []
    for line in COMMANDS.strip().split("\n"):
        done = referee(*shlex.split(line))
        end = f"exits with {done.code}" if done.code else ""
        texts = [f"$ referee {line}", done.out.rstrip(), done.err.rstrip(), end]
        said.append(re.sub("[0-9a-f]{64}", "HASH", "\n".join(filter(None, texts))))
    require_scene("commands", *said)
