"""Every benchmark and tool has a row in TOOLS.md, and runs as it says there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, environment_of_contributors
from tests.needed import LACKING

ROWS = re.findall(r"^\| `(tests\.[\w.]+) ?(.*?)` \|", (ROOT / "tests" / "TOOLS.md").read_text(), re.MULTILINE)
"""What is to be run as `.venv/bin/python -m MODULE WORDS`."""


def test_the_table_has_a_row_for_each_benchmark_and_tool() -> None:
    programs = {
        f"tests.{path.parent.name}.{path.stem}"
        for folder in ("bench", "tools")
        for path in (ROOT / "tests" / folder).glob("*.py")
        if 'if __name__ == "__main__":' in path.read_text()
    }
    assert sorted(module for module, _ in ROWS) == sorted(programs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "words"), [row for row in ROWS if row[0].startswith(("tests.bench.", "tests.tools.soak"))]
)
def test_what_no_other_test_uses_runs(module: str, words: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *shlex.split(words)],
        cwd=ROOT,
        env={**environment_of_contributors(), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode == LACKING:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout[-2000:] + done.stderr[-4000:]
