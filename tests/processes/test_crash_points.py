"""A run that is killed anywhere continues as if it had not been."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.command import ROOT
from tests.tools.crash_points import SCENARIOS

pytestmark = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("run", SCENARIOS)
def test_no_game_is_lost_doubled_or_another_one_wherever_the_referee_is_killed(run: str) -> None:
    """`python -m tests.tools.crash_points` has all points."""
    every = {"hidden seed": 2, "stages of three seats": 6}.get(run, 41)
    words = ["-m", "tests.tools.crash_points", "--runs", run, "--every", str(every), "0"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_larger_run_is_killed_at_random_moments() -> None:
    words = ["-m", "tests.tools.crash_points", "--runs", "", "4"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
