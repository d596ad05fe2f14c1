"""The live view of a run on a real terminal: boards of the games in play, where there is room for them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.command import BAD, PLAIN, ROOT
from tests.processes.runs import toml
from tests.processes.test_signals import IN_A_TERMINAL
from tests.waiting import TOO_LONG_S

pexpect = pytest.importorskip("pexpect")


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "is_shown"), [(120, True), (99, False)])
def test_boards_are_shown_where_there_is_room(columns: int, is_shown: bool, tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": f"{BAD} sleep 0.3", "b": PLAIN}, rounds=2, clock="5s", workers=1)
    screen = pexpect.spawn(
        sys.executable,
        ["-m", "referee", "run", str(file)],
        dimensions=(40, columns),
        cwd=str(ROOT),
        env=IN_A_TERMINAL,
        encoding="utf-8",
        timeout=TOO_LONG_S,
    )
    screen.expect(pexpect.EOF)
    screen.close()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.before)
    assert bool(re.search(r"^A  .* A3\r\nB  .* B4\r$", shown, re.MULTILINE)) == is_shown
