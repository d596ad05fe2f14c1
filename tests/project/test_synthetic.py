"""Synthetic runs, on which the speed of reading is measured: they are like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import referee
from tests.tools.synthetic import write


@pytest.mark.slow
def test_a_synthetic_run_verifies_and_has_nothing_left_to_play(tmp_path: Path) -> None:
    assert write(tmp_path, 4, 30) == 24, "whole rounds"
    done = referee("verify", str(tmp_path / "pool-results"))
    assert done.code == 0 and done.out.startswith("24 games verified")
    done = referee("run", str(tmp_path / "pool.toml"), "--workers", "0")
    assert done.code == 0 and "24 of 24 games played" in done.err
