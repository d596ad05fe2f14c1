"""What a bot's processes use together, compared with its limits.

Memory counts as follows: what is private to a process, what processes share, files that lie in memory and
are held open (memfd, `/dev/shm`, also where they have been deleted), and all files in the file systems of a
bot in namespaces of its own, which lie in memory too. The first sums are an upper bound,
since memory that a fork shares counts for each process; only where they exceed the limit are the processes
measured exactly, which takes longer. Not counted: a file in `/dev/shm` that no process of the bot holds open,
which could be anyone's, and System V segments that nobody has attached.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence

from referee.processes import scratch, tree
from referee.processes.cgroups import Group
from referee.processes.messages import (
    MEMORY,
    PROCESSES,
    SCRATCH_BYTES,
    SCRATCH_DEPTH,
    SCRATCH_FILES,
    WRITABLE_INSIDE,
    Request,
)

INTERVAL_S = 0.1  # seconds between two checks

SHARE = 50
"""A check is followed by a pause of this many times its processor time: checks take 2 % of a core at most."""

Excess = tuple[str, int, int]  # which limit is exceeded, what the bot had, and what is allowed


class LimitChecker:
    """Checks the limits of one bot from time to time."""

    def __init__(self, request: Request, bot: int, folder: str, group: Group | None) -> None:
        self._memory: int | None = request.memory_bytes
        self._processes: int | None = request.processes
        self._scratch: int | None = request.scratch_bytes
        self._files: int | None = request.scratch_files
        self._bot = bot
        self._is_wrapped = bool(request.program_filter)
        self._around: int = request.processes_around
        self._folder = folder
        self._group = group
        limits = (self._memory, self._processes, self._scratch, self._files)
        self._is_limited = any(limit is not None for limit in limits)
        self._devices: frozenset[int] | None = None
        """The devices of files in memory, which are found at the first check."""
        self._check_s = time.monotonic() + INTERVAL_S

    def wait_ms(self) -> float | None:
        """Milliseconds until the next check; None where nothing is limited."""
        return max(0.0, self._check_s - time.monotonic()) * 1000 if self._is_limited else None

    def check(self) -> Excess | None:
        """Checks the limits if it is time for that, and returns the one that is exceeded."""
        if not self._is_limited or time.monotonic() < self._check_s:
            return None
        began_s = time.process_time()
        try:
            inside = self._usage_inside() if self._is_wrapped else None
            return self.enforced() or self._scratch_excess(inside) or self._tree_excess(inside)
        finally:
            pause_s = max(INTERVAL_S, SHARE * (time.process_time() - began_s))  # guard: cost-of-checks
            self._check_s = time.monotonic() + pause_s

    def enforced(self) -> Excess | None:
        """Returns the limit that the kernel has enforced, if any."""
        return self._group.excess() if self._group else None

    def _tree_excess(self, inside: tuple[int, int] | None) -> Excess | None:
        if self._processes is None and self._memory is None:
            return None
        pids = [self._bot, *(pid for pid in tree.descendants(os.getpid()) if pid != self._bot)]
        states = [tree.state(pid) for pid in pids]
        threads = sum(state.threads for state in states) - self._around
        if self._processes is not None and threads > self._processes:  # guard: processes
            return PROCESSES, threads, self._processes
        memory = self._memory_beyond(pids, states, inside[0] if inside else 0)
        if self._memory is not None and memory > self._memory:  # guard: memory
            return MEMORY, memory, self._memory
        return None

    def _memory_beyond(self, pids: list[int], states: list[tree.ProcessState], in_mounts: int) -> int:
        """The bytes of memory that processes use, with those `in_mounts`; 0 where that is surely allowed."""
        if self._memory is None:
            return 0
        private, shared = sum(state.private for state in states), sum(state.shared for state in states)
        self._devices = self._devices or _devices_in_memory()
        in_files = _held_in_memory(pids, self._devices)
        in_files += in_mounts  # guard: scratch-in-memory
        if private + shared + in_files <= self._memory:
            return 0
        exact = [
            tree.exact_memory(pid) or (state.private, state.shared)
            for pid, state in zip(pids, states, strict=True)
        ]
        return sum(private for private, _ in exact) + max(sum(shared for _, shared in exact), in_files)

    def _scratch_excess(self, inside: tuple[int, int] | None) -> Excess | None:
        if self._scratch is None and self._files is None:
            return None
        most = scratch.MAX_FILES if self._files is None else self._files
        size, files, is_too_deep = (*inside, False) if inside else scratch.usage(self._folder, most)
        if self._scratch is not None and size > self._scratch:  # guard: scratch-bytes
            return SCRATCH_BYTES, size, self._scratch
        if self._files is not None and files > self._files:  # guard: scratch-files
            return SCRATCH_FILES, files, self._files
        if is_too_deep:  # guard: scratch-depth
            return SCRATCH_DEPTH, scratch.MAX_DEPTH + 1, scratch.MAX_DEPTH
        return None

    def _usage_inside(self) -> tuple[int, int]:
        """Bytes and files in the file systems that a bot in namespaces of its own can write to."""
        outside = _devices_of(WRITABLE_INSIDE)
        for pid in tree.descendants(self._bot):
            inside = [f"/proc/{pid}/root{path}" for path in WRITABLE_INSIDE]
            # Until its namespaces are ready, a process sees the folders of everybody.
            if outside & _devices_of(inside):  # guard: own-mounts
                continue
            with contextlib.suppress(OSError):
                mounts = [scratch.usage_of_mount(path) for path in inside]
                return sum(size for size, _ in mounts), sum(files for _, files in mounts)
        return 0, 0


def _devices_of(paths: Sequence[str]) -> set[int]:
    """The devices of the paths that exist."""
    devices: set[int] = set()
    for path in paths:
        with contextlib.suppress(OSError):
            devices.add(os.stat(path).st_dev)  # noqa: PTH116 - pathlib starts slowly
    return devices


def _held_in_memory(pids: list[int], devices: frozenset[int]) -> int:
    """Bytes of the files on devices in memory that these processes hold open, each file once."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208 - pathlib starts slowly
                with contextlib.suppress(OSError):
                    file = os.stat(f"{folder}/{name}")  # noqa: PTH116 - the same
                    if file.st_dev in devices:  # guard: files-in-memory
                        found[file.st_dev, file.st_ino] = file.st_blocks * 512
    return sum(found.values())


def _devices_in_memory() -> frozenset[int]:
    """The devices of memfd and of `/dev/shm`."""
    devices: set[int] = set()
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.memfd_create("referee")
        devices.add(os.fstat(descriptor).st_dev)
        os.close(descriptor)
    return frozenset(devices | _devices_of(["/dev/shm"]))
