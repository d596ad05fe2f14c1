"""Collects what the operating system reports: cores, limits, load, features. Takes no measurable time.

Values that a system does not report are None; outside Linux, many are.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from referee.core.control_groups import ControlGroup, control_group, system_text, usable_memory
from referee.core.cores import usable_cores
from referee.core.this_machine import this_machine
from referee.processes import cgroups, cpu, stamped
from referee.processes.confinement import landlock_abi

PROC = Path("/proc")
CPUS = Path("/sys/devices/system/cpu")

_GET_CHILD_SUBREAPER = 37
"""The number of an operation of Linux's `prctl`; where it can be read, it can also be set."""


class ResourceLimit(NamedTuple):
    """A resource limit of this process, as `ulimit` has them; None is no limit."""

    soft: int | None
    hard: int | None


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

    name: str
    cpu: str
    """The model of its processor."""
    python: str
    """The Python that the referee runs on."""
    system: str
    root: bool
    cores: int
    """Cores that this process may use."""
    physical: int | None
    """Physical cores among them; fewer than `cores` if some are threads of one core."""
    group: ControlGroup
    total_memory_bytes: int
    """Memory of the machine, or of the control group if that has less."""
    bot_groups: tuple[str, ...] | None
    """The controllers of the control groups that bots get; None where they get none."""
    load_percent: int
    """The mean load of the last minute, in hundredths of one core."""
    memory_bytes: int | None
    """Memory that is available."""
    files: ResourceLimit
    """The limit of open files of a process."""
    processes: ResourceLimit
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
    name, cpu_model = this_machine()
    return Machine(
        name=name,
        cpu=cpu_model,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=sys.platform,
        root=os.geteuid() == 0,
        cores=len(cores),
        physical=physical_cores(cores),
        group=control_group(),
        total_memory_bytes=usable_memory(),
        bot_groups=_bot_groups(),
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


def _bot_groups() -> tuple[str, ...] | None:
    parent = cgroups.parent_of_groups()
    return None if parent is None else cgroups.controllers(parent)


def physical_cores(cores: Iterable[int], folder: Path = CPUS) -> int | None:
    """The number of physical cores: the threads of one core count once."""
    if sys.platform == "darwin":
        done = subprocess.run(["sysctl", "-n", "hw.physicalcpu"], capture_output=True, check=False)
        return int(done.stdout) if done.stdout.strip().isdigit() else None
    siblings = {system_text(folder / f"cpu{core}" / "topology" / "thread_siblings_list") for core in cores}
    return None if None in siblings else len(siblings)


def available_memory(path: Path = PROC / "meminfo") -> int | None:
    """Bytes of memory that are available without swapping."""
    for line in (system_text(path) or "").splitlines():
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
    for line in (system_text(path) or "").splitlines():
        name, *numbers = line.split()
        if name in wanted and len(numbers) >= len(sums):
            sums = [a + int(b) for a, b in zip(sums, numbers, strict=False)]
    idle, waiting, stolen, total = sums[3], sums[4], sums[7], sum(sums)
    return Ticks(total - idle - waiting, stolen, total) if total else None


def processes_of(user: int, proc: Path = PROC) -> int | None:
    """Counts the processes and threads of a user; a limit counts both."""
    count = 0
    for folder in proc.glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user:
                count += sum(1 for _ in (folder / "task").iterdir())
        except OSError:
            continue  # it has ended meanwhile
    return count or None


def _limit(which: int) -> ResourceLimit:
    soft, hard = (None if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(which))
    return ResourceLimit(soft, hard)


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
