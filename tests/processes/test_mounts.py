"""What a bot in namespaces of its own can write to: each writable mount has a size, and is counted."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.processes.limits import Limits
from referee.processes.program import Program
from tests.processes.programs import PYTHON, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")

SURVEY = """
import os, sys

def succeeds(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return False
    return True

def make(path):
    open(path, "x").close()

for line in open("/proc/self/mountinfo"):
    fields, _, system = line.partition(" - ")
    path, kind = fields.split()[4], system.split()[0]
    if os.path.isdir(path):
        ways = (make, os.mkdir, lambda new: os.symlink("x", new))
        if any([succeeds(way, f"{path}/new-{number}") for number, way in enumerate(ways)]):
            print("write", path)
    if kind not in ("proc", "tmpfs"):  # those are its own
        mode = os.stat(path).st_mode & 0o7777
        if any([succeeds(os.chmod, path, mode), succeeds(os.utime, path, (0, 0))]):
            print("change", path)
if succeeds(os.openpty):
    print("terminals")
print("end")
"""
"""Prints which mounts it can write to, which files of the machine it can change, and whether it can take
terminals.
"""

FILL = """
import sys, time
path = sys.argv[1]
try:
    for number in range(4000):
        open(f"{path}/{number}", "x").close()
    with open(path + "/fill", "wb") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
except OSError as error:
    print(error.strerror, flush=True)
    time.sleep(10)
print("filled")
"""
"""Makes 4,000 files and writes 300 MiB, and waits for a while where it cannot."""

LIMITS = {
    "memory": Limits.parse({"memory": "150MB", "scratch": "none", "scratch_files": "none"}),
    "scratch": Limits.parse({"memory": "none", "scratch": "50MB", "scratch_files": "none"}),
    "scratch_files": Limits.parse({"memory": "none", "scratch": "none", "scratch_files": "1000"}),
}

HIDDEN = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
"""Closes a process to others of its user."""


def inside(program: str, user: str, *arguments: str) -> Program:
    return Program(
        "x", (PYTHON, "-I", "-S", "-c", program, *arguments), Path("/"), isolation="bwrap", user=user
    )


def test_only_what_has_a_size_can_be_written_to(user: str, open_folder: Path) -> None:
    own, results = open_folder / "bot", open_folder / "bot" / "results"
    results.mkdir(parents=True)
    bot = replace(inside(SURVEY, user), cwd=own, hidden=(results,))
    said, complaints, _ = run(bot)
    assert (said.split("\n"), complaints) == (["write /tmp", "write /dev/shm", "end", ""], "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "limit"), [("/dev/shm", "memory"), ("/tmp", "scratch"), ("/dev/shm", "scratch_files")]
)
def test_a_bot_that_fills_a_mount_loses_by_the_limit(path: str, limit: str, user: str) -> None:
    said, _, process = run(replace(inside(HIDDEN + FILL, user, path), limits=LIMITS[limit]))
    assert "filled" not in said
    expected = "of memory" if limit == "memory" else "in its scratch folder"
    assert expected in process.excess
