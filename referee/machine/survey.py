"""What the system says of itself: cores, limits, load, what it can do. Nothing here takes time.

What a system does not tell is None, as much of this is outside Linux.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from referee.core.cores import usable_cores
from referee.processes import cpu, stamped

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
CPUS = Path("/sys/devices/system/cpu")

NO_LIMIT = 1 << 60
"""How a control group of version 1 says that there is no limit: by a number beyond all memory."""

_GET_CHILD_SUBREAPER = 37
"""Of Linux's `prctl`: asking is enough to know that it can be set."""


class Limit(NamedTuple):
    """A limit of this process's, as `ulimit` knows it; None is no limit."""

    soft: int | None
    hard: int | None


class Group(NamedTuple):
    """What the control groups allow that this process is in, the tightest of each; None is no limit."""

    cpu_percent: int | None
    """Of one core."""
    memory_bytes: int | None
    processes: int | None
    """How many more there may be."""


class Abilities(NamedTuple):
    """What the system can do; None where that is not known."""

    pinning: bool
    subreaper: bool | None
    """Whether a process can be told of what its children's children become when their parent is gone."""
    proc: bool
    cpu_clocks: bool | None
    """Whether the processor time of another process can be read like a clock."""
    ptys: bool


class Machine(NamedTuple):
    """All of it."""

    system: str
    root: bool
    cores: int
    """That may be used."""
    physical: int | None
    """That these are; fewer where some are threads of one core."""
    group: Group
    load_percent: int
    """Of one core, the mean of the last minute."""
    memory_bytes: int | None
    """What is available."""
    files: Limit
    """Descriptors of a process."""
    processes: Limit
    """Of the user."""
    processes_used: int | None
    """Of them."""
    coarse_tick_us: int | None
    abilities: Abilities


def look() -> Machine:
    """This machine, now."""
    cores = usable_cores()
    return Machine(
        system=sys.platform,
        root=os.geteuid() == 0,
        cores=len(cores),
        physical=physical_cores(cores),
        group=control_group(),
        load_percent=round(os.getloadavg()[0] * 100),
        memory_bytes=available_memory(),
        files=_limit(resource.RLIMIT_NOFILE),
        processes=_limit(resource.RLIMIT_NPROC),
        processes_used=processes_of(os.geteuid()),
        coarse_tick_us=stamped.TICK_NS // 1000 or None,
        abilities=Abilities(
            pinning=hasattr(os, "sched_setaffinity"),
            subreaper=_has_subreaper(),
            proc=(PROC / "self" / "stat").exists(),
            cpu_clocks=cpu.AVAILABLE,
            ptys=_has_ptys(),
        ),
    )


def physical_cores(cores: Iterable[int], folder: Path = CPUS) -> int | None:
    """How many cores these are when the threads of one count once."""
    if sys.platform == "darwin":
        done = subprocess.run(["sysctl", "-n", "hw.physicalcpu"], capture_output=True, check=False)
        return int(done.stdout) if done.stdout.strip().isdigit() else None
    siblings = {_text(folder / f"cpu{core}" / "topology" / "thread_siblings_list") for core in cores}
    return None if None in siblings else len(siblings)


def control_group(listing: Path = PROC / "self" / "cgroup", root: Path = CGROUPS) -> Group:
    """The limits of this process's groups and of all groups around them, of version 1 and 2."""
    folders = list(_folders(_text(listing) or "", root))
    return Group(
        _least(_quota_percent(folder) for folder in folders),
        _least(
            number
            for folder in folders
            for name in ("memory.max", "memory.limit_in_bytes")
            if (number := _number(folder / name)) is not None and number < NO_LIMIT
        ),
        _least(_room(folder) for folder in folders),
    )


def _folders(listing: str, root: Path) -> Iterator[Path]:
    """A group's folder in each hierarchy, and those of the groups around it.

    In a container the path may be one that only its host can see; the root is looked at in any case.
    """
    for line in listing.splitlines():
        _, controllers, path = line.split(":", 2)
        parts = PurePosixPath(path).parts[1:]
        if ".." in parts:
            parts = ()
        # Version 2 has no controllers in its line, and a folder of its own beside those of version 1.
        mounts = (
            {root / name for name in (controllers, *controllers.split(","))}
            if controllers
            else {
                root,
                root / "unified",
            }
        )
        for mount in mounts:
            for depth in range(len(parts) + 1):
                yield mount.joinpath(*parts[:depth])


def _quota_percent(folder: Path) -> int | None:
    """The processor time that a group gets, in hundredths of a core."""
    quota, _, period = (_text(folder / "cpu.max") or "").partition(" ")
    if not period:
        quota = _text(folder / "cpu.cfs_quota_us") or ""
        period = _text(folder / "cpu.cfs_period_us") or ""
    return int(quota) * 100 // int(period) if quota.isdigit() and period.isdigit() else None


def _room(folder: Path) -> int | None:
    """How many more processes a group may have."""
    most, current = _number(folder / "pids.max"), _number(folder / "pids.current")
    return None if most is None else max(0, most - (current or 0))


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def available_memory(path: Path = PROC / "meminfo") -> int | None:
    """Bytes that could be had now without swapping."""
    for line in (_text(path) or "").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


class Ticks(NamedTuple):
    """What some cores did since the machine was started, in ticks."""

    busy: int
    stolen: int
    """What another guest of a virtual machine's host got instead."""
    total: int


def ticks(cores: Iterable[int], path: Path = PROC / "stat") -> Ticks | None:
    """What these cores did so far."""
    wanted = {f"cpu{core}" for core in cores}
    sums = [0] * 8
    for line in (_text(path) or "").splitlines():
        name, *numbers = line.split()
        if name in wanted and len(numbers) >= len(sums):
            sums = [a + int(b) for a, b in zip(sums, numbers, strict=False)]
    idle, waiting, stolen, total = sums[3], sums[4], sums[7], sum(sums)
    return Ticks(total - idle - waiting, stolen, total) if total else None


def processes_of(user: int, proc: Path = PROC) -> int | None:
    """How many processes and threads a user has; a limit counts both."""
    count = 0
    for folder in proc.glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user:
                count += sum(1 for _ in (folder / "task").iterdir())
        except OSError:
            continue  # it is gone meanwhile
    return count or None


def _limit(which: int) -> Limit:
    soft, hard = (None if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(which))
    return Limit(soft, hard)


def _has_subreaper() -> bool | None:
    if sys.platform != "linux":
        return None
    answer = ctypes.c_int()
    code: int = ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return code == 0


def _has_ptys() -> bool:
    try:
        descriptors = os.openpty()
    except OSError:
        return False
    for descriptor in descriptors:
        os.close(descriptor)
    return True


def _text(path: Path) -> str | None:
    """A small file of the system's; None where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _number(path: Path) -> int | None:
    text = _text(path) or ""
    return int(text) if text.isdigit() else None
