"""Builds a bot: runs its build command, with a limit for the time, and keeps the end of its output."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from referee.core.text import shown
from referee.processes import tree

LONGEST_S = 1800
"""The most seconds that a build may take."""

_MOST_OUTPUT = 1 << 16
"""The bytes of output that are kept: the last ones."""

_LOOK_S = 0.2
"""The seconds after which a build that has ended is noticed though others hold its output open."""


class Failure(NamedTuple):
    """How a build failed."""

    reason: str
    output: tuple[str, ...]
    """The last lines of its output, safe to be shown."""


def build(
    command: Iterable[str],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    longest_s: float = LONGEST_S,
) -> Failure | None:
    """Runs a build command, in which `{python}` stands for the interpreter that runs the referee, and returns
    how it failed; None where it did not. The environment is the referee's own where none is given.
    """
    words = [word.replace("{python}", sys.executable) for word in command]
    try:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        return Failure(f"{error.strerror}: `{shown(words[0])}`", ())
    with process:
        try:
            output, in_time = _output(process, time.monotonic() + longest_s)
        finally:
            if process.poll() is None:
                for pid in (process.pid, *tree.descendants(process.pid)):
                    tree.kill(pid)
            process.wait()
    lines = tuple(shown(line) for line in output.splitlines()[-10:])
    if not in_time:
        return Failure(f"`{shown(words[0])}` did not end within {longest_s:.0f} s", lines)
    if process.returncode:
        return Failure(f"`{shown(words[0])}` exited with status {process.returncode}", lines)
    return None


def _output(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """The end of the output of a process until it ended, and whether it did before the deadline."""
    assert process.stdout is not None
    kept = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            ended = process.poll() is not None
            if selector.select(0 if ended else min(left, _LOOK_S)):
                part = os.read(process.stdout.fileno(), _MOST_OUTPUT)
                kept = (kept + part)[-_MOST_OUTPUT:]
                if part:
                    continue
                selector.unregister(process.stdout)
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    break
                return kept, True
            if ended:
                return kept, True
    return kept, False
