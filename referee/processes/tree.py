"""Trees of processes: found, named, measured and killed."""

from __future__ import annotations

import contextlib
import os
import signal

MOST = 5000
"""The most processes of a tree that are looked at."""


def own_children() -> list[int]:
    """The children of this process, which has one thread; with zombies, where the system lists them."""
    pid = os.getpid()
    return _children_of_task(f"/proc/{pid}/task/{pid}/children")


def children(pid: int) -> list[int]:
    """The children of a process; with zombies, where the system lists them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            found += _children_of_task(f"/proc/{pid}/task/{task}/children")
    return found


def _children_of_task(path: str) -> list[int]:
    try:
        with open(path, "rb", buffering=0) as file:
            return [*map(int, file.readall().split())]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """All descendants of a process, each parent before its children."""
    found = children(pid)
    for one in found:
        found += children(one)
        if len(found) > MOST:
            break
    return found


def name(pid: int) -> str:
    """The name of a process with its id, for people."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", "rb") as file:
        return f"{file.read(100).decode('utf-8', 'replace').strip()} (pid {pid})"
    return f"pid {pid}"


def is_dead(pid: int) -> bool:
    """Whether a process is a zombie or does not exist any more."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read(4096).rpartition(b")")[2].split()[0] == b"Z"
    return True


def memory(pid: int) -> int:
    """Bytes of memory of a process, without mapped files."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as file:
        for row in file:
            if row.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:")):
                total += int(row.split()[1]) * 1024
    return total


def threads(pid: int) -> int:
    """How many threads a process has."""
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 1


def kill(pid: int) -> None:
    """Sends SIGKILL to a process, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_children(spare: set[int]) -> bool:
    """Kills and reaps the children of this process except `spare`. Returns whether there were any.

    Their own children are reparented to this process when they die, and are killed by the next call.
    """
    living = [pid for pid in own_children() if pid not in spare]
    for pid in living:
        kill(pid)
    for pid in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(living)
