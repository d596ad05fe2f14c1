"""Processes that this one adopts: those of bots that killed their warden and the launcher above it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection

from referee.processes import libc, tree
from referee.processes.watch import UNKILLABLE_S

_RETRY_S = 0.001  # seconds after which killed processes are looked at again


def adopt(orphans: bool) -> None:
    """Whether orphans among the descendants of this process become its children, where the system can."""
    libc.prctl(libc.SUBREAPER, int(orphans))  # guard: sub-reaper


def end_adopted(spare: Collection[int]) -> bool:
    """Kills the children of this process except `spare`, and reaps those that have ended.

    Returns whether there were any. Their own children are adopted when they die.
    """
    adopted = [pid for pid in tree.children(os.getpid()) if pid not in spare]
    for pid in adopted:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(adopted)


def end_all_adopted(spare: Collection[int]) -> None:
    """Kills the children of this process except `spare`, and their children, until none is left.

    Gives up those that hang in the kernel.
    """
    deadline = time.monotonic() + UNKILLABLE_S
    while end_adopted(spare) and time.monotonic() < deadline:
        time.sleep(_RETRY_S)
