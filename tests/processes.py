"""What is there on this machine: processes, descriptors. For tests that nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from referee.wire.warden import children as children_of


def living(word: str) -> list[str]:
    """The command lines that have this argument, zombies not among them."""
    done = subprocess.run(["ps", "-ww", "-e", "-o", "stat=,args="], capture_output=True, text=True)
    rows = [line.split(None, 1) for line in done.stdout.splitlines()]
    return [args for stat, args in rows if word in args.split() and not stat.startswith("Z")]


def gone_within(word: str, seconds: float) -> bool:
    """Whether none of these is there any more, at the latest after so many seconds."""
    deadline = time.monotonic() + seconds
    while living(word):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def children() -> set[int]:
    """The processes that this one started and that are still there, zombies too."""
    if Path("/proc/self/task").exists():
        return set(children_of(os.getpid()))
    done = subprocess.run(["ps", "-ww", "-o", "pid=,ppid=,comm=", "-e"], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    return {int(pid) for pid, parent, name in rows if int(parent) == os.getpid() and name.strip() != "ps"}


def descriptors() -> int:
    """How many are open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0
