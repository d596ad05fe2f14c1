"""Bots that use up the memory of the machine lose by that, and buy no void game.

The referee runs in a control group with little memory, which stands for the machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import PLAIN, ROOT
from tests.processes.encounters import LONG
from tests.processes.runs import games, toml
from tests.programs import needs_level
from tests.waiting import TOO_LONG_S, eventually

pytestmark = pytest.mark.slow

MEMORY = 400 << 20
"""Far more than the referee needs with its worker."""

FILLS = """
import sys
print("hello 1", flush=True)
for line in sys.stdin:
    word = line.split()[0]
    if word == "prepare":
        print("ready", flush=True)
    elif word == "ask":
        {fills}
"""

BY_ITSELF = "held = [bytearray(b'x' * (8 << 20)) for _ in range(10_000)]"

BY_MANY = """import os
        for _ in range(25):
            if not os.fork():
                held = bytearray(b'x' * (20 << 20))
                sys.stdin.read()
        held = [bytearray(b'x' * (8 << 20)) for _ in range(10_000)]"""
"""Each process has less than the worker. The more often memory runs out, the longer it takes to fill it."""


BY_A_CHILD = """import os
        if not os.fork():
            held = [bytearray(b'x' * (8 << 20)) for _ in range(10_000)]
        ended = os.wait()[1]
        print("resign", line.split()[1], flush=ended == 9)"""
"""It resigns once the child has been killed."""


@pytest.fixture
def group() -> Iterator[Path]:
    """The file by which a process enters a control group with little memory."""
    rows = Path("/proc/self/cgroup").read_text().splitlines() if sys.platform == "linux" else []
    own = next((row.split(":", 2)[2] for row in rows if row.split(":")[1] == "memory"), None)
    folder = Path(f"/sys/fs/cgroup/memory{own}", f"test-{os.getpid()}")
    try:
        folder.mkdir()
        (folder / "memory.limit_in_bytes").write_text(str(MEMORY))
    except OSError:
        pytest.skip("no control group of version 1 for memory can be made")
    yield folder / "cgroup.procs"
    eventually(lambda: is_removed(folder))


def is_removed(group: Path) -> bool:
    """Whether a control group is gone: it can be removed when its processes are."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def run_in(group: Path, file: Path, level: str) -> subprocess.CompletedProcess[str]:
    enters = f'echo $$ >{group} && exec "$@"'
    command = ["sh", "-c", enters, "sh", sys.executable, "-m", "referee", "run", str(file)]
    words = ["--isolation", level]
    return subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, timeout=TOO_LONG_S)


def tournament(folder: Path, level: str, fills: str) -> Path:
    """The file of one in which a bot without a limit fills the memory when it is asked."""
    needs_level(level)
    (folder / "filler.py").write_text(FILLS.format(fills=fills))
    bots = {"filler": f"{{python}} -I -S {folder / 'filler.py'}", "plain": PLAIN}
    file = toml(folder / "t.toml", bots, rounds=1, workers=1, clock=LONG, start=LONG)
    file.write_text(file.read_text() + '[limits]\nmemory = "none"\n')
    return file


def played(done: subprocess.CompletedProcess[str], folder: Path) -> list[dict[str, Any]]:
    """The games of the tournament, none of which was void before."""
    assert done.returncode == 0, done.stderr
    found = list(games(folder / "t-results").values())
    assert [game["attempt"] for game in found] == [1, 1]
    return found


def faults(game: dict[str, Any]) -> dict[str, str]:
    return dict(zip(game["bots"], game["faults"], strict=True))


@pytest.mark.parametrize(
    ("level", "fills"),
    [
        pytest.param("none", BY_ITSELF, id="none by itself"),
        pytest.param("bwrap", BY_ITSELF, id="bwrap by itself"),
        pytest.param("bwrap", BY_MANY, id="bwrap by many"),
    ],
)
def test_a_bot_that_uses_up_all_memory_loses_by_that(
    level: str, fills: str, group: Path, tmp_path: Path
) -> None:
    done = run_in(group, tournament(tmp_path, level, fills), level)
    for game in played(done, tmp_path):
        assert faults(game) == {"filler": "limit", "plain": ""}, json.dumps(game)[:2000]


@pytest.mark.parametrize("level", ["none", "bwrap"])
def test_a_bot_whose_child_uses_up_all_memory_plays_on(level: str, group: Path, tmp_path: Path) -> None:
    file = tournament(tmp_path, level, BY_A_CHILD)
    for game in played(run_in(group, file, level), tmp_path):
        assert faults(game) == {"filler": "", "plain": ""}, json.dumps(game)[:2000]
        assert game["ending"] == "resigned", json.dumps(game)[:2000]
