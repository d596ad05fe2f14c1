"""The limits of the control groups that this process is in, and the memory that it may use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

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
