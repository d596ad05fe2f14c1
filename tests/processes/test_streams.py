"""The commands where a standard stream is closed, full, or read by nobody: no traceback, nothing lost."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli import cli
from tests.command import PLAIN, referee
from tests.programs import path_of
from tests.waiting import TOO_LONG_S

FAST = ("--option", "size=3", "--option", "target=2")
MATCH = ("match", "blooms", f"a={PLAIN}", f"b={PLAIN}", *FAST)

COMMANDS = {
    "": (),
    "--help": ("--help",),
    "--version": ("--version",),
    "wrong": ("wrong",),
    "games": ("games", "blooms"),
    "docs": ("docs", "events"),
    "examples": ("examples", "--help"),  # it writes a folder only once
    "new-bot": ("new-bot", "petal", "--game", "blooms"),
    "table": ("table", "run"),
    "find": ("find", "run"),
    "find --dialogue": ("find", "run", "--dialogue"),
    "replay": ("replay", "run", "1"),
    "moves": ("moves", "blooms"),
    "play": ("play", "blooms", "me", "bob=me"),
    "replay --image": ("replay", "run", "1", "--image", "-"),
    "report": ("report", "run", "--workers", "0"),
    "verify": ("verify", "run"),
    "status": ("status", "run"),
    "serve": ("serve", "--help"),  # it does not end by itself
    "export": ("export", "run"),
    "analyse": ("analyse", "run"),
    "diagnose": ("diagnose", "run", "a"),
    "suite": ("suite", "--help"),  # these print as others do
    "test": ("test", "--help"),
    "tune": ("tune", "--help"),
    "amend": ("amend", "--help"),  # it has nothing to say on stdout
    "match": (*MATCH, "-n", "2"),
    "rerun": ("rerun", "run", "1"),
    "run": ("run", "t.toml"),
    "check": ("check", "--help"),  # it takes long, as does `doctor`, and prints as the others do
    "doctor": ("doctor", "--help"),
}
STREAMS = (
    ">&-",
    "2>&-",
    "<&-",
    "<&- >&- 2>&-",
    ">/dev/full",
    "2>/dev/full",
    ">/dev/full 2>/dev/full",
    "| true",
    "2>&1 >/dev/null | true",
)

TOML = f"""
[tournament]
game = "blooms"
rounds = 1
clock = "10s"
workers = 1
[options]
size = 3
target = 2
[[bot]]
name = "a"
cmd = {json.dumps(PLAIN)}
[[bot]]
name = "b"
cmd = {json.dumps(PLAIN)}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it."""
    folder = tmp_path_factory.mktemp("streams")
    assert referee(*MATCH, "-n", "2", "-o", str(folder / "run")).code == 0
    return folder


def test_every_command_is_tried() -> None:
    assert {words[0] for words in COMMANDS.values() if words} >= set(cli.commands)


TRIED = {"table": STREAMS, "run": (">&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full", "2>&1 >/dev/null | true")}
"""With which streams commands are tried: one that prints a table, and one that tells of what it does."""

OTHERWISE = (">/dev/full",)
"""What other commands are tried with, which share these ways to print."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "streams"),
    [
        pytest.param(name, streams, id=f"{name} {streams}")
        for name in COMMANDS
        for streams in TRIED.get(name, OTHERWISE)
    ],
)
def test_a_command_without_a_stream(name: str, streams: str, place: Path, tmp_path: Path) -> None:
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "run").symlink_to(place / "run")
    (tmp_path / "t.toml").write_text(TOML)
    command = f"{shlex.join([sys.executable, '-m', 'referee', *COMMANDS[name]])} {streams}"
    done = subprocess.run(
        [path_of("bash"), "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TOO_LONG_S,
    )
    told = (done.stdout + done.stderr).decode()
    assert "Traceback" not in told and "Exception" not in told, told
    fine = 2 if name in ("", "wrong") else 0
    prints_data = name not in ("", "wrong")
    lost = prints_data and (">&-" in streams.split() or ">/dev/full" in streams.split())
    assert done.returncode == (4 if lost else fine), told
    if lost and "2>" not in streams:
        assert told.splitlines()[-1].startswith("referee: cannot write to standard output: "), told
    if name == "run":
        stored = (tmp_path / "t-results" / "games.jsonl").read_text().splitlines()
        kinds = [json.loads(line)["kind"] for line in stored]
        assert kinds == ["tournament", "game", "game", "change"], "both games, and the seed behind them"
