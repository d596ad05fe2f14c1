"""Checks of this machine: what works here, what to install, and how many games fit at once.

What a system does not report is left out; outside Linux that is much.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from referee.core.settings import CONFINED, LEVELS
from referee.core.text import counted, listed
from referee.core.this_machine import control_group, system_text, usable_cores, usable_memory
from referee.core.units import about_size
from referee.processes import cgroups
from referee.processes.confinement import SIGNALS_ABI, landlock_abi
from referee.processes.launcher import compiled_starter
from referee.processes.levels import reason
from referee.processes.limits import DEFAULT, share_of
from referee.templates import LANGUAGES

PROC = Path("/proc")
CPUS = Path("/sys/devices/system/cpu")

LOOK_S = 0.5  # how long the load of other programs is measured

BACKGROUND_PERCENT = 25  # load of other programs that no check warns of, in hundredths of one core

FILES = 32
FILES_A_WORKER = 4  # descriptors that the referee opens itself, and how many more for each worker

WORKER_FILES = 64  # descriptors that a worker opens itself, in a game of four seats

PROCESSES_A_WORKER = 16  # processes and threads of a worker and its bots, if the bots need few

MEMORY_A_WORKER = 128 << 20  # bytes of memory of a worker and its bots, if the bots need little

MIN_DISK = 500_000_000  # bytes for the records of about ten thousand games


class Level(Enum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    LACK = "lack"  # without this no tournament can be run


class Check(NamedTuple):
    """One check: what it is about, what was found, and what to do."""

    about: str
    level: Level
    found: str
    advice: str = ""  # empty if there is nothing to do


def room() -> dict[str, int]:
    """How many games at a time each resource of this machine allows, as far as it bounds them."""
    group, cores, root = control_group(), usable_cores(), os.geteuid() == 0
    memory = [size for size in (available_memory(), group.memory_bytes) if size is not None]
    processes = [] if group.processes is None else [group.processes]
    if not root and (limit := _soft_limit(resource.RLIMIT_NPROC)) is not None:
        processes.append(max(0, limit - processes_of(os.geteuid())))
    most = {
        "cores": max(1, (physical_cores(cores) or len(cores)) - 1),
        "quota": None if group.cpu_percent is None else max(1, group.cpu_percent // 100 - 1),
        "files": games_by_files(_soft_limit(resource.RLIMIT_NOFILE)),
        "processes": min(processes) // PROCESSES_A_WORKER if processes else None,
        "memory": min(memory) // MEMORY_A_WORKER if memory else None,
    }
    return {name: games for name, games in most.items() if games is not None}


def games_by_files(limit: int | None) -> int | None:
    """How many games at a time a limit of open files allows; None where it is no bound."""
    if limit is None:
        return None
    return max(0, limit - FILES) // FILES_A_WORKER if limit >= WORKER_FILES else 0


def checks(room: Mapping[str, int], folder: Path) -> Iterator[Check]:
    """Runs all checks, which takes about a second. `room` is how many games at a time each resource allows;
    `folder` is where results would be stored.
    """
    games = min(room.values())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check("system", Level.OK, f"{python} on {platform.system()} {platform.release()}")
    yield from _isolation()
    yield _user()
    yield _starter()
    yield _limits(games)
    yield _cores(room["cores"])
    yield _load(games)
    yield from _tight(room)
    yield _disk(folder)
    yield _languages()


def _isolation() -> Iterator[Check]:
    reasons = {level: reason(level) for level in reversed(LEVELS) if level != "none"}
    is_confined = any(not reasons[level] for level in CONFINED)
    for level, why in reasons.items():
        if not why:
            yield Check(f"isolation {level}", Level.OK, "works")
        else:
            advice = (
                ""
                if is_confined
                else "until one of `landlock` and `bwrap` works, only run bots that you trust"
            )
            yield Check(f"isolation {level}", Level.OK if is_confined else Level.WARNING, why, advice)
    if 0 < (abi := landlock_abi()) < SIGNALS_ABI:
        yield Check(
            "signals",
            Level.WARNING,
            f"Landlock {abi}: at `basic` and `landlock` a bot can send signals to processes of its user",
            "use Linux 6.12 or later, or `bwrap`",
        )


def _user() -> Check:
    if os.geteuid() != 0:
        return Check("user", Level.OK, "an ordinary user")
    return Check(
        "user",
        Level.WARNING,
        "root: at `none` and `basic` a bot can change any file",
        'run the referee as an ordinary user, or name one for the bots: `user = "nobody"`',
    )


def _starter() -> Check:
    if compiled_starter():
        return Check("C compiler", Level.OK, "bots are started by compiled code")
    return Check(
        "C compiler",
        Level.OK,
        "none that works: starting a bot takes about twice as much work",
        "install one, such as the package `gcc`",
    )


def _limits(games: int) -> Check:
    bots = 2 * max(1, games)
    share = (
        f"with {counted(bots, 'bot')} at once, each may use {about_size(share_of(usable_memory(), bots))} of "
        f"memory, {DEFAULT.processes} processes and threads"
    )
    parent = cgroups.parent_of_groups()
    if parent is not None and {*cgroups.CONTROLLERS} <= {*cgroups.controllers(parent)}:
        return Check("limits", Level.OK, f"{share}; the kernel enforces it")
    return Check(
        "limits",
        Level.OK,
        f"{share}; the referee looks several times a second",
        "for limits by the kernel, run the referee in a control group of its own: "
        "`systemd-run --user --scope -p Delegate=yes referee …`",
    )


def _cores(games: int) -> Check:
    cores = usable_cores()
    physical = physical_cores(cores)
    text = counted(len(cores), "core")
    if physical is not None and physical < len(cores):
        text += f", as threads of {counted(physical, 'physical core')}"
    return Check("cores", Level.OK, f"{text}: room for {counted(games, 'game')} at a time")


def _load(games: int) -> Check:
    cores = usable_cores()
    before = ticks(cores)
    time.sleep(LOOK_S)
    after = ticks(cores)
    if not before or not after:
        return Check("load", Level.OK, "not reported by this system")
    *parts, total = (now - then for then, now in zip(before, after, strict=True))
    busy, stolen = (100 * len(cores) * part // max(1, total) for part in parts)
    text = f"other programs use {busy / 100:.1f} of {counted(len(cores), 'core')}"
    if stolen:
        text += f"; the host of this virtual machine takes {stolen / 100:.1f} away"
    if busy + stolen <= 100 * max(0, len(cores) - games) + BACKGROUND_PERCENT:
        return Check("load", Level.OK, text)
    return Check(
        "load",
        Level.WARNING,
        f"{text}: bots would wait for a core while their clocks run",
        "stop the other programs, or play fewer games at a time",
    )


def _tight(room: Mapping[str, int]) -> Iterator[Check]:
    """The resources that allow fewer games at a time than the cores do."""
    needed = WORKER_FILES + FILES + FILES_A_WORKER * room["cores"]
    advice = {
        "quota": ("the control group's share of the processors", "remove the quota, or use fewer workers"),
        "files": ("the limit of open files", f"run `ulimit -n {needed}` before you start the referee"),
        "processes": ("the limit of processes", "raise it (`ulimit -u`, or that of the container)"),
        "memory": ("the available memory", "use fewer workers, or a machine with more memory"),
    }
    for name, (what, remedy) in advice.items():
        most = room.get(name, room["cores"])
        if most < room["cores"]:
            level = Level.LACK if most == 0 else Level.WARNING
            yield Check(name, level, f"{what} allows {counted(most, 'game')} at a time", remedy)


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    text = f"{about_size(free)} free in this folder"
    if not os.access(folder, os.W_OK):
        return Check(
            "disk", Level.WARNING, f"{text}, but nothing can be written", "use another folder with `-o`"
        )
    if free < MIN_DISK:
        return Check("disk", Level.WARNING, text, "free disk space, or use another folder with `-o`")
    return Check("disk", Level.OK, text)


def _languages() -> Check:
    lacking = {
        language.name: [name for name in language.needs if not shutil.which(name)]
        for language in LANGUAGES.values()
    }
    work = [name for name, programs in lacking.items() if not programs]
    missing = [f"{name} (`{'`, `'.join(programs)}`)" for name, programs in lacking.items() if programs]
    advice = f"for {listed(missing)}, install these programs" if missing else ""
    return Check("starter bots", Level.OK, listed(work), advice)


# --- What the system reports ------------------------------------------------------------------------------


def physical_cores(cores: Iterable[int], folder: Path = CPUS) -> int | None:
    """The number of physical cores: the threads of one core count once."""
    siblings = {system_text(folder / f"cpu{core}" / "topology" / "thread_siblings_list") for core in cores}
    return None if None in siblings else len(siblings)


def available_memory(path: Path = PROC / "meminfo") -> int | None:
    """Bytes of memory that are available without swapping."""
    for line in (system_text(path) or "").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


def ticks(cores: Iterable[int], path: Path = PROC / "stat") -> tuple[int, int, int] | None:
    """The ticks of these cores since the machine was started: busy, given to other virtual machines by the
    host, and all; None if the system does not report them.
    """
    wanted = {f"cpu{core}" for core in cores}
    sums = [0] * 8
    for line in (system_text(path) or "").splitlines():
        name, *numbers = line.split()
        if name in wanted and len(numbers) >= len(sums):
            sums = [a + int(b) for a, b in zip(sums, numbers, strict=False)]
    idle, waiting, stolen, total = sums[3], sums[4], sums[7], sum(sums)
    return (total - idle - waiting - stolen, stolen, total) if total else None


def processes_of(user: int, proc: Path = PROC) -> int:
    """Counts the processes and threads of a user, as a limit does; 0 where nothing reports them."""
    count = 0
    for folder in proc.glob("[0-9]*"):
        try:
            if folder.stat().st_uid == user:
                count += sum(1 for _ in (folder / "task").iterdir())
        except OSError:
            continue  # it has ended meanwhile
    return count


def _soft_limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft
