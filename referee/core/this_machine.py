"""This machine: its cores, memory, names and processor, as this process may use them."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from referee.core.text import shown


def usable_cores() -> frozenset[int]:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


LISTING = Path("/proc/self/cgroup")
CGROUPS = Path("/sys/fs/cgroup")

NO_LIMIT = 1 << 60  # A control group of version 1 has no limit if its number is at least this large


class ControlGroup(NamedTuple):
    """The tightest limits of the control groups that this process is in; None is no limit."""

    cpu_percent: int | None  # in hundredths of one core
    memory_bytes: int | None
    processes: int | None  # how many more processes are allowed


def usable_memory() -> int:
    """Bytes of memory of the machine, or of a control group that has less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(machine, control_group().memory_bytes or machine)


def control_group(listing: Path = LISTING, root: Path = CGROUPS) -> ControlGroup:
    """The limits of this process's control groups and all their parents, of version 1 and 2."""
    folders = list(_folders(system_text(listing) or "", root))
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
    quota, _, period = (system_text(folder / "cpu.max") or "").partition(" ")
    if not period:
        quota = system_text(folder / "cpu.cfs_quota_us") or ""
        period = system_text(folder / "cpu.cfs_period_us") or ""
    return int(quota) * 100 // int(period) if quota.isdigit() and period.isdigit() else None


def _room(folder: Path) -> int | None:
    """Counts how many more processes a group may have."""
    most, current = _number(folder / "pids.max"), _number(folder / "pids.current")
    return None if most is None else max(0, most - (current or 0))


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def system_text(path: Path) -> str | None:
    """The text of a system file, or None if it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _number(path: Path) -> int | None:
    text = system_text(path) or ""
    return int(text) if text.isdigit() else None


CPU_INFO = Path("/proc/cpuinfo")

UNKNOWN = "unknown"

MAX_TEXT = 100  # maximum number of characters of the name, and of the model

_READ = 1 << 14
"""Maximum number of bytes that are read of the description of the processors, which repeats itself for each
core.
"""

_MODELS = ("model name", "cpu model", "cpu", "uarch", "model", "hardware")
"""What the model is called there, what tells most first. On x86 `model` is a number, beside `model name`."""

_ARM = ("cpu implementer", "cpu part")  # the numbers that stand for a model of ARM where it has no name


class ThisMachine(NamedTuple):
    """A machine as it names itself; both texts are escaped and bounded."""

    name: str
    cpu: str  # the model of its processor


@cache
def this_machine() -> ThisMachine:
    """This machine; what the system does not tell is `unknown`."""
    return ThisMachine(_text(socket.gethostname()), _text(_model()))


def _text(text: str) -> str:
    return shown(" ".join(text.split()), MAX_TEXT)[:MAX_TEXT] or UNKNOWN


def _model() -> str:
    return (
        _sysctl("machdep.cpu.brand_string")
        if sys.platform == "darwin"
        else model_in(_cpu_info()) or platform.machine()
    )


def _cpu_info() -> str:
    with suppress(OSError), CPU_INFO.open("rb") as file:
        return file.read(_READ).decode(errors="replace")
    return ""


def model_in(text: str) -> str:
    """The model of the first processor in a text of the form of `/proc/cpuinfo`; empty where it has none."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            values.setdefault(name.strip().lower(), value.strip())
    for name in _MODELS:
        if name in values:
            return values[name]
    numbers = [f"{name.removeprefix('cpu ')} {values[name]}" for name in _ARM if name in values]
    return f"ARM {' '.join(numbers)}" if numbers else ""


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def boot_id() -> str:
    """Identifies this machine until it is started again. Times of `time.monotonic` can be compared between
    processes that have the same.
    """
    return system_text(BOOT_ID) or _sysctl("kern.bootsessionuuid").strip() or this_machine().name


def _sysctl(name: str) -> str:
    """A setting of macOS; empty where there is none."""
    command = ["sysctl", "-n", name]
    try:
        return subprocess.run(
            command, capture_output=True, check=False, timeout=10, text=True, errors="replace"
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
