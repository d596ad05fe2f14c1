"""Measurements of the machine: how long moves, starts of bots, sleeps and disk writes take, and its speed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from referee.core.cores import usable_cores
from referee.core.defaults import START_US
from referee.core.errors import EnvironmentLacksError
from referee.core.isolation import LEVELS
from referee.core.text import counted, shown
from referee.core.timecontrol import TimeControl
from referee.gameplay.api import Failure, GameDescription, Silence
from referee.games import GAMES
from referee.machine.calibration import Speed, calibrate
from referee.machine.survey import Machine, Ticks, survey_machine, ticks
from referee.processes.bot import Bot
from referee.processes.levels import reason
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Finished, Report, Task, Void, WorkerDied
from referee.wire.connection import BotConnection, end_connections
from referee.wire.process_wire import ProcessWire

LOOPBACK_S = 1.0
"""How long the instant bots play."""

STARTS = 5
SLEEPS = 300
SYNCS = 20
SYNCS_S = 0.5
"""After this time no more disk writes are measured: the disk is slow."""

CONTROL = TimeControl.parse("10s")

INSTANT_BOT = ("{python}", "-I", "-S", str(Path(__file__).with_name("instant_bot.py")))


class Distribution(NamedTuple):
    """Percentiles of measured times."""

    number: int
    p50_us: int
    p99_us: int
    p999_us: int
    max_us: int

    @classmethod
    def of(cls, times_us: Iterable[int]) -> Distribution:
        """The distribution of at least one time; each percentile is a time that was measured."""
        times = sorted(times_us)
        return cls(len(times), *(_point(times, per_mille) for per_mille in (500, 990, 999, 1000)))


def _point(times: list[int], per_mille: int) -> int:
    return times[-(-len(times) * per_mille // 1000) - 1]


class Disk(NamedTuple):
    """The disk of a folder."""

    free_bytes: int
    sync: Distribution | None
    """Time to write a small file and sync it; None if nothing can be written."""


class Figures(NamedTuple):
    """All measurements, and the properties of the machine."""

    workers: int
    """Games at a time while the moves were measured."""
    machine: Machine
    moves: Distribution | None
    """Times of an instant bot's moves, with this many games at a time."""
    pinned_moves: Distribution | None
    """The same with each game pinned to one core, where that is possible."""
    starts: Distribution | None
    """Times from the start of a bot in Python until it is ready."""
    speed: Speed | None
    """How fast the machine computes, with this many games at a time."""
    lack: str
    """Why no games can be played; empty if they can."""
    busy_percent: int | None
    """Use of the available cores by other programs meanwhile, in hundredths of one core."""
    stolen_percent: int | None
    """Time that the host gave to other virtual machines, in hundredths of one core."""
    sleeps: Distribution
    """How late a sleep of one millisecond ends."""
    clock_step_ns: int
    """The smallest step of the clock that times moves."""
    disk: Disk
    isolation: dict[str, str]
    """By level of isolation, why it does not work here; an empty text where it does."""


def measure_machine(workers: int, folder: Path) -> Figures:
    """Measures everything, which takes some seconds."""
    machine = survey_machine()
    sleeps, busy_percent, stolen_percent = _sleeps()
    moves = pinned = starts = speed = None
    lack = ""
    try:
        starts = Distribution.of(_start_us(number) for number in range(STARTS))
        moves = loopback(workers, pin=False)
        if machine.abilities.pinning:
            pinned = loopback(workers, pin=True)
        speed = calibrate(workers)
    except EnvironmentLacksError as error:
        lack = str(error)
    return Figures(
        workers=workers,
        machine=machine,
        moves=moves,
        pinned_moves=pinned,
        starts=starts,
        speed=speed,
        lack=lack,
        busy_percent=busy_percent,
        stolen_percent=stolen_percent,
        sleeps=sleeps,
        clock_step_ns=_clock_step_ns(),
        disk=_disk(folder),
        isolation={level: reason(level) for level in LEVELS if level != "none"},
    )


def loopback(workers: int, pin: bool, seconds: float = LOOPBACK_S) -> Distribution:
    """Times of an instant bot's moves with `workers` games at a time, played as in a tournament: with 0, one
    game in this process.

    Raises `EnvironmentLacksError` if the games cannot be played.
    """
    collected = _Collected()
    why = ""
    try:
        _play(workers, pin, seconds, collected)
    except OSError as error:
        why = error.strerror or str(error)
    if why := why or collected.failure:
        raise EnvironmentLacksError(f"cannot play {counted(workers, 'game')} at a time: {shown(why)}")
    return Distribution.of(collected.used_us)


@dataclass
class _Collected:
    """Collects what the workers report."""

    used_us: list[int] = field(default_factory=list)
    failure: str = ""

    def __call__(self, reports: Sequence[Report]) -> None:
        for report in reports:
            match report:
                case Finished(game):
                    self.used_us += (event["used_us"] for event in report.record()["measured"]["events"])
                    if any(game.faults):
                        self.failure = f"an instant bot lost: {game.sentence}"
                case WorkerDied(_, how):
                    self.failure = f"a worker process {how}"
                case Void(error=error):
                    line = error.strip().rpartition("\n")[2]
                    self.failure = line.partition(": ")[2] or line


def _play(workers: int, pin: bool, seconds: float, collected: _Collected) -> None:
    until = time.monotonic() + seconds

    def is_over() -> bool:
        return bool(collected.failure or (collected.used_us and time.monotonic() > until))

    backend = local_backend(workers, pin)(collected, is_over)
    try:
        for number in range(1, max(1, workers) + 1):
            backend.play(_task(number, seconds))
        until = time.monotonic() + seconds
        while backend.busy:
            backend.take_reports(0.05)
            if is_over():
                backend.stop()
    finally:
        backend.close()


def _task(number: int, seconds: float) -> Task:
    """A task with more games than can be played in this time: a game has about two hundred moves."""
    game = GAMES["blooms"]
    bots = [Bot(name, INSTANT_BOT, Path("/")) for name in ("left", "right")]
    entrants = tuple(Entrant(bot, CONTROL) for bot in bots)
    plan = Plan(game, game.settle({"size": "5", "target": "100"}), entrants, "doctor")
    pairing = encounter(number, plan.names).games[0]
    return Task(plan, ((pairing, 1),) * int(100 * seconds + 1), keep="faults")


def _start_us(number: int) -> int:
    """Time from the start of an instant bot until it is ready. Raises `EnvironmentLacksError`."""
    game = GAMES["blooms"]
    began = time.monotonic_ns()
    connection = BotConnection(Bot("instant", INSTANT_BOT, Path("/")))
    try:
        wire = ProcessWire([connection], START_US)
        wire.open(0, GameDescription(game.slug, game.rules, 2, game.settle({}), CONTROL, number))
        reply = wire.next_reply()
        ready = time.monotonic_ns()
    finally:
        end_connections([connection])
    if isinstance(reply.content, Failure | Silence):
        raise EnvironmentLacksError(f"a minimal bot in Python does not start: {shown(reply.content.detail)}")
    return (ready - began) // 1000


def _sleeps() -> tuple[Distribution, int | None, int | None]:
    """Measures how late short sleeps end, and how much other programs use the cores meanwhile."""
    cores = usable_cores()
    before = ticks(cores)
    late_us = []
    for _ in range(SLEEPS):
        began = time.monotonic_ns()
        time.sleep(0.001)
        late_us.append(max(0, time.monotonic_ns() - began - 1_000_000) // 1000)
    after = ticks(cores)
    busy_percent = stolen_percent = None
    if before and after:
        busy_percent, stolen_percent = shares(before, after, len(cores))
    return Distribution.of(late_us), busy_percent, stolen_percent


def shares(before: Ticks, after: Ticks, cores: int) -> tuple[int, int]:
    """Busy and stolen time of this many cores between two readings, in hundredths of a core."""
    total = max(1, after.total - before.total)
    busy, stolen = after.busy - before.busy, after.stolen - before.stolen
    return busy * cores * 100 // total, stolen * cores * 100 // total


def _clock_step_ns() -> int:
    """The smallest of many steps between two readings."""
    readings = [time.monotonic_ns() for _ in range(10_000)]
    steps = [b - a for a, b in pairwise(readings) if b > a]
    return min(steps, default=readings[-1] - readings[0] or 1)


def _disk(folder: Path) -> Disk:
    free = shutil.disk_usage(folder).free
    times: list[int] = []
    until = time.monotonic() + SYNCS_S
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            while len(times) < SYNCS and (not times or time.monotonic() < until):
                began = time.monotonic_ns()
                file.write(b"x" * 4096)
                os.fsync(file.fileno())
                times.append((time.monotonic_ns() - began) // 1000)
    except OSError:
        return Disk(free, None)
    return Disk(free, Distribution.of(times))
