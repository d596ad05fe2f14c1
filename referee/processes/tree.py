"""Trees of processes: found, named, measured, adopted and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import namedtuple
from collections.abc import Collection

from referee.processes import libc

UNKILLABLE_S = 5.0
"""A process that SIGKILL does not end within this many seconds hangs in the kernel, and is given up."""

RETRY_S = 0.001  # seconds after which killed processes are checked again

MAX_PROCESSES = 5000  # maximum number of processes of a tree that are looked at


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
        if len(found) > MAX_PROCESSES:
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


def began_ticks(pid: int) -> int:
    """Returns when a process began, in ticks since the system was started; 0 where that is unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read(4096).rpartition(b")")[2].split()[19])
    return 0


class ProcessState(namedtuple("ProcessState", "threads private shared")):
    """The resources of a process: the number of its threads; bytes of memory without mapped files, also of
    what a fork shares with it; bytes of memory that it shares with others on purpose.
    """


def state(pid: int) -> ProcessState:
    """Returns the threads and the memory of a process; a zombie has one thread and no memory."""
    found = _numbers(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:", b"VmSwap:", b"Threads:"))
    private = found.get(b"RssAnon:", 0) + found.get(b"VmSwap:", 0)
    return ProcessState(found.get(b"Threads:", 1), private * 1024, found.get(b"RssShmem:", 0) * 1024)


def exact_memory(pid: int) -> tuple[int, int] | None:
    """Bytes of private and of shared memory of a process, where memory that several processes have counts
    for each of them in part; None where the system does not tell. Takes some milliseconds for each GB.
    """
    found = _numbers(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:"))
    if b"Pss_Anon:" not in found:
        return None
    private = found[b"Pss_Anon:"] + found.get(b"SwapPss:", 0)
    return private * 1024, found.get(b"Pss_Shmem:", 0) * 1024


def _numbers(path: str, names: tuple[bytes, ...]) -> dict[bytes, int]:
    """The numbers on the lines of a file that begin with these names."""
    found: dict[bytes, int] = {}
    with contextlib.suppress(OSError, ValueError, IndexError), open(path, "rb") as file:
        for row in file:
            if row.startswith(names):
                name, number = row.split()[:2]
                found[name] = int(number)
    return found


STOP_S = 0.1
"""Maximum number of seconds that the stop of a tree takes: one that forks all the time may be ahead forever.
"""


def stop(pid: int) -> None:
    """Stops all descendants of a process. One that is stopped cannot fork, so that there are no others once
    none is found that is new.
    """
    deadline = time.monotonic() + STOP_S
    stopped: set[int] = set()
    while new := [one for one in descendants(pid) if one not in stopped]:
        for one in new:
            _signal(one, signal.SIGSTOP)
        stopped.update(new)
        if time.monotonic() > deadline:
            break


def resume(pid: int) -> None:
    """Resumes all descendants of a process."""
    for one in descendants(pid):
        _signal(one, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill(pid: int) -> None:
    """Sends SIGKILL to a process, if it still exists."""
    _signal(pid, signal.SIGKILL)


def kill_children(spare: Collection[int]) -> bool:
    """Kills and reaps the children of this process except `spare`. Returns whether there were any.

    Their own children are reparented to this process when they die, and are killed by the next call.
    """
    living = [pid for pid in children(os.getpid()) if pid not in spare]
    for pid in living:
        kill(pid)
    for pid in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(living)


def kill_all_children(spare: Collection[int]) -> None:
    """Kills the children of this process except `spare`, and their children, until none is left, or those
    that are hang in the kernel.
    """
    deadline = time.monotonic() + UNKILLABLE_S
    while kill_children(spare) and time.monotonic() < deadline:
        time.sleep(RETRY_S)


def adopt(orphans: bool) -> None:
    """Whether orphans among the descendants of this process become its children, where the system can: those
    of bots that killed their warden and the launcher above it.
    """
    libc.prctl(libc.SUBREAPER, int(orphans))  # guard: sub-reaper
