"""What the figures of a machine mean for a tournament, and what to do about them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from referee.core.units import about, about_size
from referee.gameplay.terms import MARGIN_US
from referee.machine.measure import Figures, Spread
from referee.machine.survey import Limit

TRUST = 10
"""A clock is not to be trusted below so many times what the referee itself may take of a move."""

REST_PERCENT = 25
"""Of a core: so much is always busy somewhere."""

FILES = 32
FILES_A_WORKER = 4
"""Descriptors that the referee has open, and so many more for each of its workers …"""

WORKER_FILES = 64
"""… of which each has so many itself, at a table of four."""

PROCESSES_A_WORKER = 16
"""A worker and its bots, with threads, if the bots are modest."""

MEMORY_A_WORKER = 128 << 20
"""The same."""

LEAST_DISK = 500_000_000
"""Bytes for the records of some ten thousand games."""

SLOW_SYNC_US = 50_000
LATE_SLEEP_US = 5_000
"""By which the referee takes it that it was itself not running."""

COARSE_STEP_NS = 100_000

PIN_ONLY = "if every bot computes in one thread, and on its own time only"


class Level(Enum):
    """How much a finding matters."""

    FINE = "fine"
    WARNING = "warning"
    LACK = "lack"
    """No tournament can be run."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    about: str
    level: Level
    measured: str
    meaning: str
    advice: str = ""
    """Empty where nothing is to be done."""


class Advice(NamedTuple):
    """What a tournament's file should say on this machine."""

    workers: int
    margin_ms: int
    pin: bool
    shortest_clock_ms: int
    """Allowances below this are not to be trusted."""


class Diagnosis(NamedTuple):
    """All findings, and what follows."""

    findings: tuple[Finding, ...]
    advice: Advice

    @property
    def lacks(self) -> tuple[Finding, ...]:
        """What is missing without which no tournament can be run."""
        return tuple(finding for finding in self.findings if finding.level is Level.LACK)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What to do something about."""
        return tuple(finding for finding in self.findings if finding.level is Level.WARNING)


def judge(figures: Figures) -> Diagnosis:
    """What the figures mean."""
    advice = _advice(figures)
    return Diagnosis(tuple(_findings(figures, advice)), advice)


def _advice(figures: Figures) -> Advice:
    slow_us = figures.moves.p999_us if figures.moves else 0
    return Advice(
        workers=max(1, min(figures.workers, *_most_workers(figures).values())),
        margin_ms=_ms(max(MARGIN_US, 2 * slow_us)),
        pin=_pin(figures),
        shortest_clock_ms=_ms(max(1, TRUST * slow_us)),
    )


def _pin(figures: Figures) -> bool:
    """Where it makes moves steadier, and every game can have a core that nobody else uses."""
    free, pinned = figures.moves, figures.pinned_moves
    if not free or not pinned or _crowded(figures):
        return False
    return pinned.p99_us < free.p99_us and pinned.p999_us < free.p999_us


def _most_workers(figures: Figures) -> dict[str, int]:
    """How many games at a time each thing allows, where it sets a limit."""
    machine = figures.machine
    most = {"cores": max(1, (machine.physical or machine.cores) - 1)}
    if machine.group.cpu_percent is not None:
        most["quota"] = max(1, machine.group.cpu_percent // 100 - 1)
    if machine.files.soft is not None:
        most["files"] = _by_files(machine.files.soft)
    if (room := _process_room(figures)) is not None:
        most["processes"] = room // PROCESSES_A_WORKER
    if (memory := _memory(figures)) is not None:
        most["memory"] = memory // MEMORY_A_WORKER
    return most


def _by_files(limit: int) -> int:
    return max(0, limit - FILES) // FILES_A_WORKER if limit >= WORKER_FILES else 0


def _process_room(figures: Figures) -> int | None:
    """How many more processes there may be; the user's own limit does not hold for root."""
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
    """What others use, of one core."""
    return figures.machine.load_percent if figures.busy_percent is None else figures.busy_percent


def _crowded(figures: Figures) -> bool:
    """Whether others use more than the cores that the workers leave."""
    left = max(0, figures.machine.cores - figures.workers)
    return _busy_percent(figures) > 100 * left + REST_PERCENT


def _findings(figures: Figures, advice: Advice) -> Iterator[Finding]:
    if figures.lack:
        yield Finding(
            "bots",
            Level.LACK,
            figures.lack,
            "no tournament can be run here",
            "see `files`, `processes` and `memory` below",
        )
    if figures.moves:
        yield _moves(figures, figures.moves, advice)
    if figures.moves and figures.pinned_moves:
        yield _pinning(figures.moves, figures.pinned_moves, advice)
    if figures.starts:
        yield Finding(
            "start",
            Level.FINE,
            f"a bot in Python is ready after {about(figures.starts.p50_us)}, "
            f"the slowest of {figures.starts.number} after {about(figures.starts.max_us)}",
            "where each game gets new processes, it costs that much more for each bot, on nobody's clock",
        )
    yield _load(figures)
    yield _cores(figures)
    yield _quota(figures)
    yield _files(figures)
    yield _processes(figures)
    yield _memory_finding(figures)
    yield _timers(figures)
    yield _clock(figures)
    yield _disk(figures)
    yield _abilities(figures)
    yield _isolation(figures)


def _moves(figures: Figures, moves: Spread, advice: Advice) -> Finding:
    measured = f"{_spread(moves)} in {moves.number} instant moves, {_workers(figures.workers)}"
    if 2 * moves.p999_us <= MARGIN_US:
        return Finding(
            "moves",
            Level.FINE,
            measured,
            f"so much of a bot's time is the referee's and the machine's; clocks from "
            f"{advice.shortest_clock_ms} ms a move on are to be trusted",
        )
    return Finding(
        "moves",
        Level.WARNING,
        measured,
        f"the default margin of {MARGIN_US // 1000} ms does not cover this; clocks below "
        f"{advice.shortest_clock_ms} ms a move are not to be trusted",
        f'set `margin = "{advice.margin_ms}ms"`; fewer workers or a quieter machine make it less',
    )


def _pinning(free: Spread, pinned: Spread, advice: Advice) -> Finding:
    return Finding(
        "pinning",
        Level.FINE,
        f"with each game on one core: {_spread(pinned)}",
        "this is steadier" if advice.pin else "this is no steadier, or there is no core to spare for it",
        f"`pin = true`, {PIN_ONLY}" if advice.pin else "",
    )


def _load(figures: Figures) -> Finding:
    cores = figures.machine.cores
    measured = f"others use {_cores_of(_busy_percent(figures))} of {cores} cores"
    if figures.stolen_percent:
        measured += f"; {_cores_of(figures.stolen_percent)} of it other virtual machines"
    if not _crowded(figures):
        return Finding("load", Level.FINE, measured, "there is room")
    return Finding(
        "load",
        Level.WARNING,
        measured,
        f"too much beside {_workers(figures.workers)}: bots wait for a core while their clocks run",
        "end what else runs, or wait until it is done",
    )


def _cores(figures: Figures) -> Finding:
    machine = figures.machine
    threads = machine.physical is not None and machine.physical < machine.cores
    measured = f"{machine.cores} may be used"
    if machine.physical is None:
        measured += "; how many of them are threads of one core is not known here"
    elif threads:
        measured += f", which are threads of {machine.physical}"
    most = _most_workers(figures)["cores"]
    if figures.workers > machine.cores:
        meaning = "more games at a time than cores: bots wait for a core while their clocks run"
    elif threads and figures.workers > most:
        meaning = "two threads of a core slow each other: how fast a bot is depends on its neighbour"
    elif figures.workers > most and machine.cores > 1:
        meaning = "no core is left to the referee and the rest of the machine"
    else:
        return Finding("cores", Level.FINE, measured, f"enough for {_workers(figures.workers)}")
    return Finding("cores", Level.WARNING, measured, meaning, f"`workers = {most}`")


def _quota(figures: Figures) -> Finding:
    machine = figures.machine
    percent = machine.group.cpu_percent
    if percent is None:
        return Finding("quota", Level.FINE, "no CPU quota", "all cores may be used all the time")
    measured = f"the control group gets {_cores_of(percent)} of {machine.cores} cores"
    if percent >= 100 * machine.cores:
        return Finding("quota", Level.FINE, measured, "all cores may be used all the time")
    return Finding(
        "quota",
        Level.WARNING,
        measured,
        "when that is used up all stand still for a part of each period, in the midst of moves",
        f"lift the quota, or `workers = {_most_workers(figures)['quota']}` at most",
    )


def _files(figures: Figures) -> Finding:
    limit = figures.machine.files
    measured = f"{_limit(limit)} open files"
    if limit.soft is None:
        return Finding("files", Level.FINE, measured, "enough")
    most = _by_files(limit.soft)
    if most >= figures.workers:
        return Finding("files", Level.FINE, measured, f"enough for {_workers(most)}")
    needed = max(WORKER_FILES, FILES + FILES_A_WORKER * figures.workers)
    way = f"`ulimit -n {needed}` before the referee is started"
    return Finding(
        "files",
        Level.WARNING,
        measured,
        f"enough for {_workers(most)}: games fail in their midst when there are no more",
        way if limit.hard is None or needed <= limit.hard else f"have the hard limit raised, then {way}",
    )


def _processes(figures: Figures) -> Finding:
    machine = figures.machine
    measured = f"{_limit(machine.processes)} processes"
    if machine.root:
        measured += ", which does not hold for root"
    elif machine.processes_used is None:
        measured += "; how many there are is not known here"
    else:
        measured += f", {machine.processes_used} in use"
    if machine.group.processes is not None:
        measured += f"; the control group has room for {machine.group.processes}"
    most = _most_workers(figures).get("processes")
    if most is None:
        return Finding("processes", Level.FINE, measured, "enough")
    if most >= figures.workers:
        return Finding("processes", Level.FINE, measured, f"enough for {_workers(most)} with modest bots")
    return Finding(
        "processes",
        Level.WARNING,
        measured,
        f"enough for {_workers(most)}: bots and their threads cannot be started when there are no more",
        "raise the limit (`ulimit -u`, or that of the container), or end what else runs",
    )


def _memory_finding(figures: Figures) -> Finding:
    limit = figures.machine.group.memory_bytes
    known = figures.machine.memory_bytes
    measured = "not known here" if known is None else f"{about_size(known)} available"
    if limit is not None:
        measured += f"; the control group may have {about_size(limit)}"
    most = _most_workers(figures).get("memory")
    if most is None:
        return Finding("memory", Level.FINE, measured, "see what your bots need")
    if most >= figures.workers:
        return Finding("memory", Level.FINE, measured, f"enough for {_workers(most)} with modest bots")
    return Finding(
        "memory",
        Level.WARNING,
        measured,
        f"enough for {_workers(most)} with modest bots: the system ends processes when there is no more",
        "fewer workers, or more memory",
    )


def _timers(figures: Figures) -> Finding:
    late = figures.sleeps
    measured = f"a sleep of 1 ms ends late by {_spread(late)}"
    if late.p99_us <= LATE_SLEEP_US:
        return Finding("timers", Level.FINE, measured, "deadlines are kept")
    return Finding(
        "timers",
        Level.WARNING,
        measured,
        "the referee is often kept from running, and takes that off the bots' times as well as it can",
        "end what else runs; a virtual machine's host may be too busy",
    )


def _clock(figures: Figures) -> Finding:
    tick = figures.machine.coarse_tick_us
    coarse = "not known here" if tick is None else about(tick)
    measured = f"steps of {figures.clock_step_ns} ns; the tick of the coarse clock: {coarse}"
    if figures.clock_step_ns <= COARSE_STEP_NS:
        return Finding("clock", Level.FINE, measured, "times are good to the microsecond")
    return Finding(
        "clock",
        Level.WARNING,
        measured,
        "moves cannot be timed more finely than that",
        "choose long clocks; a virtual machine's clock source may be a poor one",
    )


def _disk(figures: Figures) -> Finding:
    disk = figures.disk
    free = f"{about_size(disk.free_bytes)} free in this folder"
    if disk.sync is None:
        return Finding(
            "disk",
            Level.WARNING,
            f"{free}, but nothing can be written",
            "results can only be stored elsewhere",
            "`-o` names another folder",
        )
    measured = f"{free}; to store a record takes {_spread(disk.sync)}"
    if disk.free_bytes < LEAST_DISK:
        return Finding(
            "disk", Level.WARNING, measured, "a long tournament may not fit", "make room, or use `-o`"
        )
    if disk.sync.p50_us > SLOW_SYNC_US:
        return Finding(
            "disk",
            Level.WARNING,
            measured,
            "each finished game waits so long, though on no bot's clock",
            "use a disk of this machine's, not one of the network",
        )
    return Finding("disk", Level.FINE, measured, "no game waits for that")


def _abilities(figures: Figures) -> Finding:
    found = figures.machine.abilities
    told = {
        "pinning": (found.pinning, "`pin` is ignored"),
        "sub-reaper": (found.subreaper, "what a bot started and let go of may outlive it"),
        "/proc": (found.proc, "what processes there are is harder to know"),
        "CPU clocks of others": (found.cpu_clocks, "what bots compute cannot be read while they live"),
        "ptys": (found.ptys, "no bot can have a terminal"),
    }
    words = {True: "yes", False: "no", None: "not known here"}
    measured = ", ".join(f"{name}: {words[has]}" for name, (has, _) in told.items())
    without = "; ".join(f"without {name}: {lost}" for name, (has, lost) in told.items() if not has)
    return Finding("system", Level.FINE, measured, without or "all that the referee can make use of")


def _isolation(figures: Figures) -> Finding:
    return Finding(
        "isolation",
        Level.WARNING if figures.machine.root else Level.FINE,
        f"bots run as your user{', which is root' if figures.machine.root else ''}",
        "bots can read each other's files and memory, and yours",
        "run the referee as an ordinary user"
        if figures.machine.root
        else "run no bots that you would not run yourself",
    )


# --- Figures for people -------------------------------------------------------------------------------


def _ms(us: int) -> int:
    """Whole milliseconds, rounded up."""
    return -(-us // 1000)


def _spread(spread: Spread) -> str:
    points = [("p50", spread.p50_us), ("p99", spread.p99_us), ("p99.9", spread.p999_us)]
    # With few measurements the upper points are all the last one.
    shown = [f"{name} {about(us)}" for name, us in points if name == "p50" or us < spread.max_us]
    return ", ".join([*shown, f"max {about(spread.max_us)}"])


def _cores_of(percent: int) -> str:
    return f"{percent // 100}.{percent % 100 // 10}"


def _workers(count: int) -> str:
    return f"{count} game{'' if count == 1 else 's'} at a time"


def _limit(limit: Limit) -> str:
    soft, hard = ("no limit" if n is None else str(n) for n in limit)
    return soft if soft == hard else f"{soft} (at most {hard})"
