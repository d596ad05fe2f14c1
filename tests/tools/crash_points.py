"""Kills a run wherever it touches its folder, and continues it.

    python -m tests.tools.crash_points TOML FOLDER

For each such point there is a run in FOLDER, numbered from 1. It is killed there, killed again at the
same point of its continuation, and then continued to its end. Each attempt is forked from this process, so
that Python starts only once.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from referee.cli import cli
from referee.records import append_only

TOUCHES = ("open", "os.mkdir", "os.remove", "os.rename")
"""What Python itself tells an audit. Writing, syncing and cutting are watched in `append_only`."""


def die_at(point: int, folder: Path) -> None:
    """Has this process die there."""
    points = count(1)

    def is_it() -> bool:
        return next(points) == point

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write(file: int, data: bytes) -> int:
        if is_it():
            die()
        if is_it():
            os.write(file, data[: len(data) // 2])
            die()
        return os.write(file, data)

    def fsync(file: int) -> None:
        if is_it():
            die()
        os.fsync(file)

    def ftruncate(file: int, length: int) -> None:
        if is_it():
            die()
        os.ftruncate(file, length)

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in TOUCHES and str(arguments[0]).startswith(str(folder)) and is_it():
            die()

    watched = {"write": write, "fsync": fsync, "ftruncate": ftruncate}
    vars(append_only)["os"] = SimpleNamespace(**{**vars(os), **watched})
    sys.addaudithook(audit)


def run(file: Path, folder: Path, point: int = 0) -> int:
    """Runs the tournament in a process of its own; how that ended."""
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if point:
            die_at(point, folder)
        words = ["run", str(file), "-o", str(folder), "--workers", "0"]
        try:
            cli.main(words, standalone_mode=False)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(file: Path, folder: Path) -> None:
    """Goes through all points."""
    for point in count(1):
        run_folder = folder / str(point)
        if run(file, run_folder, point) == 0:
            return  # there is no such point
        run(file, run_folder, point)
        if run(file, run_folder) != 0:
            sys.exit(f"the run that was killed at point {point} cannot be continued")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
