"""A run that is killed anywhere continues as if it had not been."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.command import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("run", "every"),
    [
        ("hidden seed", 7),
        ("swiss with strikes", 41),
        ("stages of three seats", 61),
        ("league with strikes", 61),
        ("strikes annulled", 41),
        ("void game", 23),
    ],
)
def test_no_game_is_lost_doubled_or_another_one_wherever_the_referee_is_killed(run: str, every: int) -> None:
    """`python -m tests.tools.crash_points` has all points, and more runs."""
    words = ["-m", "tests.tools.crash_points", "--runs", run, "--every", str(every), "0"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_larger_run_is_killed_at_random_moments() -> None:
    words = ["-m", "tests.tools.crash_points", "--runs", "", "4"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
