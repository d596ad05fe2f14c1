"""`referee doctor` on this machine, and on one that lacks something."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.machine import calibration, measure
from referee.machine.calibration import calibrate
from referee.machine.measure import loopback
from tests.command import referee
from tests.waiting import TOO_LONG_S


@pytest.mark.promise("PLATFORMS", "`doctor` measures this machine.")
@pytest.mark.slow
def test_it_measures_this_machine() -> None:
    done = referee("doctor", "--workers", "1", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["can_run"] is True
    assert report["advice"]["workers"] == 1 and report["advice"]["margin_ms"] >= 10
    assert {"moves", "load", "cores", "files", "disk", "bwrap", "user"} <= {
        found["about"] for found in report["findings"]
    }
    figures = report["figures"]
    moves = figures["moves"]
    assert moves["number"] >= 100 and 0 < moves["p50_us"] <= moves["p99_us"] <= moves["p999_us"]
    assert (figures["pinned_moves"] is None) == (not hasattr(os, "sched_setaffinity"))
    assert figures["starts"]["p50_us"] > 1000 and figures["disk"]["sync"]["max_us"] > 0
    assert figures["machine"]["cores"] >= 1 and figures["lack"] == ""


def limited(files: int, workers: int) -> subprocess.CompletedProcess[str]:
    command = shlex.join([sys.executable, "-m", "referee", "doctor", "--workers", str(workers)])
    return subprocess.run(
        ["sh", "-c", f"ulimit -n {files} && exec {command}"],
        capture_output=True,
        text=True,
        timeout=TOO_LONG_S,
    )


@pytest.mark.slow
def test_a_machine_that_lacks_descriptors_cannot_run_a_tournament() -> None:
    done = limited(files=14, workers=1)
    assert done.returncode == 5 and "Traceback" not in done.stderr
    assert done.stdout.startswith("No tournament can be run here.")
    assert "run `ulimit -n 64` before you start the referee" in " ".join(done.stdout.split())
    assert done.stderr.splitlines()[-1].endswith("Too many open files")


@pytest.mark.slow(seconds=15)
def test_the_number_of_descriptors_that_is_reported_as_enough_is_enough() -> None:
    done = limited(files=64, workers=8)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.promise("PLATFORMS", "`doctor` says when games cannot be played here.")
@pytest.mark.slow
def test_games_cannot_be_played_if_bots_do_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "INSTANT_BOT", ("false",))
    with pytest.raises(EnvironmentLacksError, match="an instant bot lost"):
        loopback(1, pin=False, seconds=0.1)
    figures = measure.measure_machine(1, Path())
    assert figures.moves is None and "does not start" in figures.lack


@pytest.mark.parametrize(
    ("program", "why"), [("true", "exited too early"), ("no-such-program", "cannot start 2")]
)
def test_the_speed_is_not_known_where_programs_do_not_start(
    monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(EnvironmentLacksError, match=why):
        calibrate(2)


def test_the_work_that_measures_the_speed_is_the_same_everywhere() -> None:
    text = calibration.text_to_compress()
    digest = "3d2d401ab87673f1778a9c8ebf0aa8396f3b0dd1848c4ab0465b458e72009a72"
    assert (len(text), hashlib.sha256(text).hexdigest()) == (100_000, digest)
    assert calibration.random_moves() == calibration.random_moves() == 1822
