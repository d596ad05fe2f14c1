"""What the operating system reports: cores, limits, load, features. Takes no measurable time.

Values that a system does not report are None; outside Linux, many are.
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
from referee.processes.confinement import landlock_abi

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
CPUS = Path("/sys/devices/system/cpu")

NO_LIMIT = 1 << 60
"""A control group of version 1 has no limit if its number is at least this large."""

_GET_CHILD_SUBREAPER = 37
"""The number of an operation of Linux's `prctl`; where it can be read, it can also be set."""


class Limit(NamedTuple):
    """A resource limit of this process, as for `ulimit`; None is no limit."""

    soft: int | None
    hard: int | None


class ControlGroup(NamedTuple):
    """The tightest limits of the control groups that this process is in; None is no limit."""

    cpu_percent: int | None
    """In hundredths of one core."""
    memory_bytes: int | None
    processes: int | None
    """How many more processes are allowed."""


class Abilities(NamedTuple):
    """Features of the system; None where it is not known whether they exist."""

    pinning: bool
    subreaper: bool | None
    """Whether a process can adopt its descendants when their parents have exited."""
    proc: bool
    cpu_clocks: bool | None
    """Whether the processor time of other processes can be read from clocks."""
    ptys: bool


class Machine(NamedTuple):
    """Everything that the system reports about the machine."""

    system: str
    root: bool
    cores: int
    """Cores that this process may use."""
    physical: int | None
    """Physical cores among them; fewer than `cores` if some are threads of one core."""
    group: ControlGroup
    load_percent: int
    """The mean load of the last minute, in hundredths of one core."""
    memory_bytes: int | None
    """Memory that is available."""
    files: Limit
    """The limit of open files of a process."""
    processes: Limit
    """The limit of processes of the user."""
    processes_used: int | None
    """How many processes and threads the user has."""
    landlock_abi: int
    """The version of Landlock, which isolates bots; 0 if there is none."""
    coarse_tick_us: int | None
    abilities: Abilities


def survey_machine() -> Machine:
    """Reads the properties of this machine, as they are now."""
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
        landlock_abi=landlock_abi(),
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
    """The number of physical cores: the threads of one core count once."""
    if sys.platform == "darwin":
        done = subprocess.run(["sysctl", "-n", "hw.physicalcpu"], capture_output=True, check=False)
        return int(done.stdout) if done.stdout.strip().isdigit() else None
    siblings = {_text(folder / f"cpu{core}" / "topology" / "thread_siblings_list") for core in cores}
    return None if None in siblings else len(siblings)


def control_group(listing: Path = PROC / "self" / "cgroup", root: Path = CGROUPS) -> ControlGroup:
    """The limits of this process's control groups and all their parents, of version 1 and 2."""
    folders = list(_folders(_text(listing) or "", root))
    return ControlGroup(
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
    """A group's folder in each hierarchy, and the folders of its parents.

    In a container the path may exist only on the host; the root is always included.
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
    """The CPU quota of a group, in hundredths of a core."""
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
    """Bytes of memory that are available without swapping."""
    for line in (_text(path) or "").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


class Ticks(NamedTuple):
    """The time of some cores since the machine was started, in ticks."""

    busy: int
    stolen: int
    """Time that the host gave to other virtual machines."""
    total: int


def ticks(cores: Iterable[int], path: Path = PROC / "stat") -> Ticks | None:
    """The time of these cores so far, or None if the system does not report it."""
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
            continue  # it has ended meanwhile
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
    """The text of a system file, or None if it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _number(path: Path) -> int | None:
    text = _text(path) or ""
    return int(text) if text.isdigit() else None
