"""Interprets the measurements of a machine for tournaments, and recommends settings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from referee.core.defaults import MARGIN_US
from referee.core.isolation import CONFINED
from referee.core.units import about, about_size
from referee.machine.calibration import Rates, Speed
from referee.machine.measure import Distribution, Figures
from referee.machine.survey import ResourceLimit
from referee.processes.cgroups import CONTROLLERS
from referee.processes.confinement import SIGNALS_ABI
from referee.processes.limits import DEFAULT, SCRATCH, SHARED_PERCENT, share_of
from referee.processes.usage import INTERVAL_S

OVERHEAD_FACTOR = 10
"""The shortest clock that is reliable is this many times the overhead of a slow move."""

BACKGROUND_PERCENT = 25
"""Background load that is always allowed, in hundredths of a core."""

FILES = 32
FILES_A_WORKER = 4
"""Descriptors that the referee opens itself, and how many more for each worker."""

WORKER_FILES = 64
"""Descriptors that a worker opens itself, in a game of four seats."""

PROCESSES_A_WORKER = 16
"""Processes and threads of a worker and its bots, if the bots need few."""

MEMORY_A_WORKER = 128 << 20
"""Memory of a worker and its bots, if the bots need little."""

GAME_SEATS = 2
"""Bots of a game, where the game is not known."""

MIN_DISK = 500_000_000
"""Bytes for the records of about ten thousand games."""

SLOW_SYNC_US = 50_000
LATE_SLEEP_US = 5_000
"""A wake-up that is later means that the referee itself was not running."""

COARSE_STEP_NS = 100_000

PIN_ONLY = "if every bot uses one thread, and computes only in its own turn"


class Severity(Enum):
    """How serious a finding is."""

    FINE = "fine"
    WARNING = "warning"
    LACK = "lack"
    """Something is missing without which no tournament can be run."""


class Finding(NamedTuple):
    """One property of the machine: what was measured, what it means, and what to do."""

    about: str
    level: Severity
    measured: str
    meaning: str
    advice: str = ""
    """Empty if there is nothing to do."""


class Advice(NamedTuple):
    """Recommended settings for tournaments on this machine."""

    workers: int
    margin_ms: int
    pin: bool
    shortest_clock_ms: int
    """Clocks with a shorter allowance are not reliable."""


class Diagnosis(NamedTuple):
    """All findings, and the recommended settings."""

    findings: tuple[Finding, ...]
    advice: Advice

    @property
    def lacks(self) -> tuple[Finding, ...]:
        """Findings because of which no tournament can be run."""
        return tuple(finding for finding in self.findings if finding.level is Severity.LACK)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that need attention."""
        return tuple(finding for finding in self.findings if finding.level is Severity.WARNING)


def diagnose(figures: Figures) -> Diagnosis:
    """Findings and recommended settings for the figures of a machine."""
    advice = _advice(figures)
    return Diagnosis(tuple(_findings(figures, advice)), advice)


def _advice(figures: Figures) -> Advice:
    slow_us = figures.moves.p999_us if figures.moves else 0
    return Advice(
        workers=max(1, min(figures.workers, *_max_workers(figures).values())),
        margin_ms=_to_ms(max(MARGIN_US, 2 * slow_us)),
        pin=_should_pin(figures),
        shortest_clock_ms=_to_ms(max(1, OVERHEAD_FACTOR * slow_us)),
    )


def _should_pin(figures: Figures) -> bool:
    """Whether pinning makes move times steadier and every game can have a core of its own."""
    free, pinned = figures.moves, figures.pinned_moves
    if not free or not pinned or _is_overloaded(figures):
        return False
    return pinned.p99_us < free.p99_us and pinned.p999_us < free.p999_us


def _max_workers(figures: Figures) -> dict[str, int]:
    """The number of games at a time that each limited resource allows."""
    machine = figures.machine
    most = {"cores": max(1, (machine.physical or machine.cores) - 1)}
    if machine.group.cpu_percent is not None:
        most["quota"] = max(1, machine.group.cpu_percent // 100 - 1)
    if machine.files.soft is not None:
        most["files"] = _max_workers_by_files(machine.files.soft)
    if (room := _process_room(figures)) is not None:
        most["processes"] = room // PROCESSES_A_WORKER
    if (memory := _memory(figures)) is not None:
        most["memory"] = memory // MEMORY_A_WORKER
    return most


def _max_workers_by_files(limit: int) -> int:
    return max(0, limit - FILES) // FILES_A_WORKER if limit >= WORKER_FILES else 0


def _process_room(figures: Figures) -> int | None:
    """Counts how many more processes are allowed; the limit of the user does not apply to root."""
    machine = figures.machine
    rooms = [machine.group.processes]
    if machine.processes.soft is not None and not machine.root:
        rooms.append(max(0, machine.processes.soft - (machine.processes_used or 0)))
    return min((room for room in rooms if room is not None), default=None)


def _memory(figures: Figures) -> int | None:
    machine = figures.machine
    known = [n for n in (machine.memory_bytes, machine.group.memory_bytes) if n is not None]
    return min(known, default=None)


def _busy_percent(figures: Figures) -> int:
    """The load of other programs, in hundredths of one core."""
    return figures.machine.load_percent if figures.busy_percent is None else figures.busy_percent


def _is_overloaded(figures: Figures) -> bool:
    """Whether other programs need more cores than the workers leave free."""
    spare = max(0, figures.machine.cores - figures.workers)
    return _busy_percent(figures) > 100 * spare + BACKGROUND_PERCENT


def _findings(figures: Figures, advice: Advice) -> Iterator[Finding]:
    if figures.lack:
        yield Finding(
            "bots",
            Severity.LACK,
            figures.lack,
            "tournaments cannot be run on this machine",
            "see `files`, `processes` and `memory` below",
        )
    if figures.moves:
        yield _moves(figures, figures.moves, advice)
    if figures.moves and figures.pinned_moves:
        yield _pinning(figures.moves, figures.pinned_moves, advice)
    if figures.starts:
        yield Finding(
            "start",
            Severity.FINE,
            f"a bot in Python is ready after {about(figures.starts.p50_us)}, the slowest of "
            f"{figures.starts.number} after {about(figures.starts.max_us)}",
            "with new processes for every game, each game takes that much longer; no clock is charged",
        )
    if figures.speed:
        yield _speed(figures, figures.speed)
    yield _load(figures)
    yield _cores(figures)
    yield _quota(figures)
    yield _files(figures)
    yield _processes(figures)
    yield _memory_finding(figures)
    yield _limits(figures)
    yield _timers(figures)
    yield _clock(figures)
    yield _disk(figures)
    yield _abilities(figures)
    yield from _isolation(figures)


def _moves(figures: Figures, moves: Distribution, advice: Advice) -> Finding:
    measured = f"{_spread(moves)} in {moves.number} instant moves, {_asked(figures)}"
    if 2 * moves.p999_us <= MARGIN_US:
        return Finding(
            "moves",
            Severity.FINE,
            measured,
            "this much of a bot's time is overhead of the referee and the machine; clocks of "
            f"{advice.shortest_clock_ms} ms per move or more are reliable",
        )
    return Finding(
        "moves",
        Severity.WARNING,
        measured,
        f"the default margin of {MARGIN_US // 1000} ms does not cover this; clocks below "
        f"{advice.shortest_clock_ms} ms per move are not reliable",
        f'set `margin = "{advice.margin_ms}ms"`; fewer workers or a less busy machine reduce it',
    )


def _pinning(free: Distribution, pinned: Distribution, advice: Advice) -> Finding:
    return Finding(
        "pinning",
        Severity.FINE,
        f"with each game pinned to one core: {_spread(pinned)}",
        "steadier" if advice.pin else "not steadier, or there are not enough free cores",
        f"`pin = true`, {PIN_ONLY}" if advice.pin else "",
    )


def _speed(figures: Figures, speed: Speed) -> Finding:
    return Finding(
        "speed",
        Severity.FINE,
        f"{_rates(speed.together)} with {_asked(figures)}; alone {_rates(speed.alone)}",
        "for comparing machines: compiled code that compresses, and moves of random games on "
        f"{figures.machine.python}, per second of processor time on one core",
    )


def _rates(rates: Rates) -> str:
    return f"{rates.native / 1000:.1f} MB/s and {rates.python:,} moves/s"


def _load(figures: Figures) -> Finding:
    cores = figures.machine.cores
    measured = f"other programs use {_cores_of(_busy_percent(figures))} of {cores} cores"
    if figures.stolen_percent:
        measured += f"; {_cores_of(figures.stolen_percent)} of that are used by other virtual machines"
    if not _is_overloaded(figures):
        return Finding("load", Severity.FINE, measured, "enough cores are free")
    return Finding(
        "load",
        Severity.WARNING,
        measured,
        f"too much for {_asked(figures)}: bots wait for a core while their clocks run",
        "stop the other programs, or wait until they are done",
    )


def _cores(figures: Figures) -> Finding:
    machine = figures.machine
    threads = machine.physical is not None and machine.physical < machine.cores
    measured = f"{machine.cores} available"
    if machine.physical is None:
        measured += "; the number of physical cores is not known on this system"
    elif threads:
        measured += f", as threads of {machine.physical} physical cores"
    most = _max_workers(figures)["cores"]
    if figures.workers > machine.cores:
        meaning = "more simultaneous games than cores: bots wait for a core while their clocks run"
    elif threads and figures.workers > most:
        meaning = "two threads of a core slow each other down: a bot's speed depends on the other thread"
    elif figures.workers > most and machine.cores > 1:
        meaning = "no core is left for the referee and other programs"
    else:
        return Finding("cores", Severity.FINE, measured, f"enough for {_asked(figures)}")
    return Finding("cores", Severity.WARNING, measured, meaning, f"`workers = {most}`")


def _quota(figures: Figures) -> Finding:
    machine = figures.machine
    percent = machine.group.cpu_percent
    if percent is None:
        return Finding("quota", Severity.FINE, "no CPU quota", "all cores can be used all the time")
    measured = f"the control group gets {_cores_of(percent)} of {machine.cores} cores"
    if percent >= 100 * machine.cores:
        return Finding("quota", Severity.FINE, measured, "all cores can be used all the time")
    return Finding(
        "quota",
        Severity.WARNING,
        measured,
        "when the quota is used up, all processes pause for the rest of the period, even in the middle of a "
        "move",
        f"remove the quota, or set at most `workers = {_max_workers(figures)['quota']}`",
    )


def _files(figures: Figures) -> Finding:
    limit = figures.machine.files
    measured = f"{_limit(limit)} open files"
    if limit.soft is None:
        return Finding("files", Severity.FINE, measured, "enough")
    most = _max_workers_by_files(limit.soft)
    if most >= figures.workers:
        return Finding("files", Severity.FINE, measured, f"enough for {_workers(most)}")
    needed = max(WORKER_FILES, FILES + FILES_A_WORKER * figures.workers)
    way = f"run `ulimit -n {needed}` before you start the referee"
    return Finding(
        "files",
        Severity.WARNING,
        measured,
        f"enough for {_workers(most)}: games fail when no more files can be opened",
        way
        if limit.hard is None or needed <= limit.hard
        else f"ask the administrator to raise the hard limit, then {way}",
    )


def _processes(figures: Figures) -> Finding:
    machine = figures.machine
    measured = f"{_limit(machine.processes)} processes"
    if machine.root:
        measured += "; the limit does not apply to root"
    elif machine.processes_used is None:
        measured += "; the number in use is not known on this system"
    else:
        measured += f", {machine.processes_used} in use"
    if machine.group.processes is not None:
        measured += f"; the control group allows {machine.group.processes} more"
    most = _max_workers(figures).get("processes")
    if most is None:
        return Finding("processes", Severity.FINE, measured, "enough")
    if most >= figures.workers:
        return Finding("processes", Severity.FINE, measured, f"enough for {_workers(most)} if bots need few")
    return Finding(
        "processes",
        Severity.WARNING,
        measured,
        f"enough for {_workers(most)}: beyond the limit, bots and their threads cannot be started",
        "raise the limit (`ulimit -u`, or that of the container), or stop other programs",
    )


def _memory_finding(figures: Figures) -> Finding:
    limit = figures.machine.group.memory_bytes
    known = figures.machine.memory_bytes
    measured = "not known on this system" if known is None else f"{about_size(known)} available"
    if limit is not None:
        measured += f"; the control group allows {about_size(limit)}"
    most = _max_workers(figures).get("memory")
    if most is None:
        return Finding("memory", Severity.FINE, measured, "check that your bots have enough memory")
    if most >= figures.workers:
        return Finding("memory", Severity.FINE, measured, f"enough for {_workers(most)} if bots need little")
    return Finding(
        "memory",
        Severity.WARNING,
        measured,
        f"enough for {_workers(most)} if bots need little: the system kills processes when memory runs out",
        "use fewer workers, or a machine with more memory",
    )


def _limits(figures: Figures) -> Finding:
    machine = figures.machine
    bots = GAME_SEATS * max(1, figures.workers)
    share = share_of(machine.total_memory_bytes, bots)
    measured = (
        f"by default a bot may use {about_size(share)} of memory ({SHARED_PERCENT} % of "
        f"{about_size(machine.total_memory_bytes)}, divided by the {bots} bots of {_asked(figures)}), "
        f"{DEFAULT.processes} processes and threads, and in its scratch folder {about_size(SCRATCH)} and "
        f"{DEFAULT.scratch_files:,} files"
    )
    checked = f"checked every {INTERVAL_S} s"
    if machine.bot_groups is None:
        meaning = f"all limits are {checked}, and a bot's processes are killed one by one"
    elif not {*CONTROLLERS} <= {*machine.bot_groups}:
        meaning = f"all limits are {checked}, and a bot's processes are killed together, in a control group"
    else:
        return Finding(
            "limits",
            Severity.FINE,
            measured,
            f"the kernel enforces the limits on memory and processes; the scratch folder is {checked}",
        )
    return Finding(
        "limits",
        Severity.FINE,
        measured,
        meaning,
        "to let the kernel enforce them, run the referee as root or in a version 2 control group of its own "
        "(`systemd-run --user --scope -p Delegate=yes referee …`) with the controllers `memory` and `pids`",
    )


def _timers(figures: Figures) -> Finding:
    delays = figures.sleeps
    measured = f"delay at the end of a sleep of 1 ms: {_spread(delays)}"
    if delays.p99_us <= LATE_SLEEP_US:
        return Finding("timers", Severity.FINE, measured, "deadlines are met")
    return Finding(
        "timers",
        Severity.WARNING,
        measured,
        "the referee is often delayed; it subtracts the delay from the bots' times as far as it can",
        "stop other programs; if this is a virtual machine, its host may be too busy",
    )


def _clock(figures: Figures) -> Finding:
    tick = figures.machine.coarse_tick_us
    coarse = "not known on this system" if tick is None else about(tick)
    measured = f"steps of {figures.clock_step_ns} ns; the tick of the coarse clock: {coarse}"
    if figures.clock_step_ns <= COARSE_STEP_NS:
        return Finding("clock", Severity.FINE, measured, "times are accurate to the microsecond")
    return Finding(
        "clock",
        Severity.WARNING,
        measured,
        "moves cannot be timed more finely than that",
        "use longer clocks; the clock source of a virtual machine may be coarse",
    )


def _disk(figures: Figures) -> Finding:
    disk = figures.disk
    free = f"{about_size(disk.free_bytes)} free in this folder"
    if disk.sync is None:
        return Finding(
            "disk",
            Severity.WARNING,
            f"{free}, but nothing can be written",
            "results cannot be stored in this folder",
            "use another folder with `-o`",
        )
    measured = f"{free}; storing a record takes {_spread(disk.sync)}"
    if disk.free_bytes < MIN_DISK:
        return Finding(
            "disk",
            Severity.WARNING,
            measured,
            "a long tournament may not fit",
            "free disk space, or use another folder with `-o`",
        )
    if disk.sync.p50_us > SLOW_SYNC_US:
        return Finding(
            "disk",
            Severity.WARNING,
            measured,
            "each finished game waits that long; no clock is charged",
            "use a local disk, not a network disk",
        )
    return Finding("disk", Severity.FINE, measured, "no noticeable delay")


def _abilities(figures: Figures) -> Finding:
    found = figures.machine.abilities
    features = {
        "pinning": (found.pinning, "`pin` is ignored"),
        "sub-reaper": (found.subreaper, "detached processes of a bot may outlive it"),
        "/proc": (found.proc, "processes are harder to find"),
        "CPU clocks of other processes": (
            found.cpu_clocks,
            "processor time of bots cannot be read while they run",
        ),
        "ptys": (found.ptys, "bots cannot be given a terminal"),
    }
    words = {True: "yes", False: "no", None: "not known on this system"}
    measured = ", ".join(f"{name}: {words[has]}" for name, (has, _) in features.items())
    without = "; ".join(f"without {name}: {lost}" for name, (has, lost) in features.items() if not has)
    return Finding("system", Severity.FINE, measured, without or "has every feature that the referee uses")


_PREVENTED = {
    "basic": "all processes of a bot end with it, and its resources are limited; but it can read your files",
    "landlock": "a bot can read only what it needs to start and its own folder, can write only to its "
    "scratch folder, and has no "
    "network",
    "bwrap": "a bot sees only what it needs to start, its own folder and its own processes, and has no "
    "network",
}


def _isolation(figures: Figures) -> Iterator[Finding]:
    """A finding for each level of isolation, the strongest first, and one for root."""
    works = {level for level, reason in figures.isolation.items() if not reason}
    for level, reason in reversed(figures.isolation.items()):
        if not reason:
            yield Finding(level, Severity.FINE, f"isolation `{level}` works here", _PREVENTED[level])
        else:
            yield Finding(
                level,
                Severity.FINE if works.intersection(CONFINED) else Severity.WARNING,
                f"isolation `{level}` does not work here",
                reason,
                "" if works.intersection(CONFINED) else "without it, only run bots that you trust",
            )
    if 0 < figures.machine.landlock_abi < SIGNALS_ABI:
        yield Finding(
            "signals",
            Severity.WARNING,
            f"version {figures.machine.landlock_abi} of Landlock",
            "at `basic` and `landlock` a bot can send signals to other processes of its user",
            "Linux 6.12 or later prevents this, and so does `bwrap`",
        )
    root = figures.machine.root
    yield Finding(
        "user",
        Severity.WARNING if root else Severity.FINE,
        f"the referee and its bots run as {'root' if root else 'an ordinary user'}",
        f"at `none` and `basic` a bot can change {'any file' if root else 'whatever this user can'}",
        'run the referee as an ordinary user, or name one for the bots: `user = "nobody"`' if root else "",
    )


# --- Figures for people -------------------------------------------------------------------------------


def _to_ms(us: int) -> int:
    """Whole milliseconds, rounded up."""
    return -(-us // 1000)


def _spread(spread: Distribution) -> str:
    points = [("p50", spread.p50_us), ("p99", spread.p99_us), ("p99.9", spread.p999_us)]
    # With few measurements the upper percentiles all equal the maximum.
    shown = [f"{name} {about(us)}" for name, us in points if name == "p50" or us < spread.max_us]
    return ", ".join([*shown, f"max {about(spread.max_us)}"])


def _cores_of(percent: int) -> str:
    return f"{percent // 100}.{percent % 100 // 10}"


def _workers(count: int) -> str:
    return f"{count} game{'' if count == 1 else 's'} at a time"


def _asked(figures: Figures) -> str:
    """Returns the number of games at a time; without workers it is one."""
    return _workers(max(1, figures.workers))


def _limit(limit: ResourceLimit) -> str:
    soft, hard = ("no limit" if n is None else str(n) for n in limit)
    return soft if soft == hard else f"{soft} (at most {hard})"
