"""A part of the referee in another process, which ends with this one."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from referee.processes.launcher import START_S, readable_within

END_S = 10.0  # how long it may take to end


@contextlib.contextmanager
def running_beside(program: str, stderr: int | None = None) -> Iterator[bytes]:
    """The first line that this code in Python prints; empty where none comes in time. At the end, and when
    this process is gone, its stdin ends, and so should it.

    It has a session of its own, so that Ctrl-C, which stops the referee after the current games, does not
    end it. `stderr` as for `subprocess.Popen`.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}; {program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    try:
        yield process.stdout.readline() if readable_within(process.stdout, START_S) else b""
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.stdout.close()
        process.wait()
