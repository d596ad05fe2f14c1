"""A run whose processes are killed, stopped and starved ends as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.command import ROOT
from tests.programs import needs_level

pytestmark = pytest.mark.slow


def test_processes_that_are_killed_stopped_and_starved_change_nothing() -> None:
    """`python -m tests.tools.chaos` does it at every level and for every format, and more often."""
    needs_level("landlock")
    words = ["-m", "tests.tools.chaos", "--kills", "6", "--formats", "knockout", "--levels", "landlock"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
