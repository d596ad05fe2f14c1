"""What has to be tried to be known of a machine: how long moves, starts, sleeps and the disk take."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import BrokenBarrierError
from typing import NamedTuple

from referee.core.cores import usable_cores
from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.gameplay.api import Failure, Opening, Silence
from referee.games import GAMES
from referee.machine.survey import Machine, Ticks, look, ticks
from referee.processes.bot import Bot
from referee.tournament.plan import START_US, Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.task import Finished, Report, Task, Void
from referee.tournament.workers import open_workers
from referee.wire.link import Link, end_links
from referee.wire.pipes import PipesWire

LOOPBACK_S = 1.0
"""So long the instant bots play."""

STARTS = 5
SLEEPS = 300
SYNCS = 20
SYNCS_S = 0.5
"""A disk that is slow enough has said so after this time."""

CONTROL = TimeControl.parse("10s")

INSTANT = ("{python}", "-I", "-S", str(Path(__file__).with_name("instant_bot.py")))


class Spread(NamedTuple):
    """A few points of how measured times are spread."""

    number: int
    p50_us: int
    p99_us: int
    p999_us: int
    max_us: int

    @classmethod
    def of(cls, times_us: Iterable[int]) -> Spread:
        """Of at least one time; each point is a time that was measured."""
        times = sorted(times_us)
        return cls(len(times), *(_point(times, per_mille) for per_mille in (500, 990, 999, 1000)))


def _point(times: list[int], per_mille: int) -> int:
    return times[-(-len(times) * per_mille // 1000) - 1]


class Disk(NamedTuple):
    """The one of a folder."""

    free_bytes: int
    sync: Spread | None
    """To write a little and have it on the disk; None where nothing can be written."""


class Figures(NamedTuple):
    """All that was found out."""

    workers: int
    """Games at a time when the moves were measured."""
    machine: Machine
    moves: Spread | None
    """What an instant bot's moves take, so many games at a time."""
    pinned_moves: Spread | None
    """The same with each game on one core, where that is possible."""
    starts: Spread | None
    """From the start of a bot in Python until it is ready."""
    lack: str
    """Why no games can be played, if that is so."""
    busy_percent: int | None
    """Of one core: what the usable ones did for others meanwhile …"""
    stolen_percent: int | None
    """… and what was taken from this virtual machine altogether."""
    sleeps: Spread
    """How late a sleep of a millisecond ends."""
    clock_step_ns: int
    """The smallest step of the clock that moves are timed with."""
    disk: Disk


def examine(workers: int, folder: Path) -> Figures:
    """Measures everything, which takes some seconds."""
    machine = look()
    sleeps, busy_percent, stolen_percent = _sleeps()
    moves = pinned = starts = None
    lack = ""
    try:
        starts = Spread.of(_start_us(number) for number in range(STARTS))
        moves = loopback(workers, pin=False)
        if machine.abilities.pinning:
            pinned = loopback(workers, pin=True)
    except EnvironmentLacksError as error:
        lack = str(error)
    return Figures(
        workers=workers,
        machine=machine,
        moves=moves,
        pinned_moves=pinned,
        starts=starts,
        lack=lack,
        busy_percent=busy_percent,
        stolen_percent=stolen_percent,
        sleeps=sleeps,
        clock_step_ns=_clock_step_ns(),
        disk=_disk(folder),
    )


def loopback(workers: int, pin: bool, seconds: float = LOOPBACK_S) -> Spread:
    """What an instant bot's moves take while so many games are played at a time, as a tournament plays them.

    Raises `EnvironmentLacksError` where they cannot be played.
    """
    heard = _Heard()
    why = ""
    try:
        _play(workers, pin, seconds, heard)
    except OSError as error:
        why = error.strerror or str(error)
    except (BrokenExecutor, BrokenBarrierError):
        why = "a worker's process ended at once"
    if why := why or heard.failure:
        raise EnvironmentLacksError(f"no games can be played with {workers} at a time: {shown(why)}")
    return Spread.of(heard.used_us)


@dataclass
class _Heard:
    """What the workers reported."""

    used_us: list[int] = field(default_factory=list)
    failure: str = ""

    def __call__(self, reports: Sequence[Report]) -> None:
        for report in reports:
            match report:
                case Finished(game):
                    self.used_us += (event["used_us"] for event in report.record()["measured"]["events"])
                    if any(game.faults):
                        self.failure = f"an instant bot lost: {game.sentence}"
                case Void(_, _, error):
                    line = error.strip().rpartition("\n")[2]
                    self.failure = line.partition(": ")[2] or line


def _play(workers: int, pin: bool, seconds: float, heard: _Heard) -> None:
    playing = open_workers(workers, pin, heard, lambda: False)
    try:
        tasks = [playing.submit(_task(number, seconds)) for number in range(1, workers + 1)]
        until = time.monotonic() + seconds
        while not all(task.done() for task in tasks):
            playing.take_reports(0.05)
            if heard.failure or (heard.used_us and time.monotonic() > until):
                playing.stop()
        playing.take_reports(0)
        for task in tasks:
            task.result()
    finally:
        playing.close()


def _task(number: int, seconds: float) -> Task:
    """More games than can be played in the time: a game has some two hundred moves."""
    game = GAMES["blooms"]
    bots = [Bot(name, INSTANT, Path("/")) for name in ("left", "right")]
    entrants = tuple(Entrant(bot, CONTROL) for bot in bots)
    plan = Plan(game, game.settle({"size": "5", "target": "100"}), entrants, "doctor")
    pairing = encounter(number, plan.names).games[0]
    return Task(plan, ((pairing, 1),) * int(100 * seconds + 1), keep="faults")


def _start_us(number: int) -> int:
    """From the start of an instant bot until it is ready. Raises `EnvironmentLacksError`."""
    game = GAMES["blooms"]
    began = time.monotonic_ns()
    link = Link(Bot("instant", INSTANT, Path("/")))
    try:
        wire = PipesWire([link], START_US)
        wire.open(0, Opening(game.slug, game.rules, 2, game.settle({}), CONTROL, number))
        reply = wire.next_reply()
        ready = time.monotonic_ns()
    finally:
        end_links([link])
    if isinstance(reply.what, Failure | Silence):
        raise EnvironmentLacksError(f"an instant bot in Python does not start: {shown(reply.what.detail)}")
    return (ready - began) // 1000


def _sleeps() -> tuple[Spread, int | None, int | None]:
    """How late short sleeps end, and what the cores did for others meanwhile."""
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
    return Spread.of(late_us), busy_percent, stolen_percent


def shares(before: Ticks, after: Ticks, cores: int) -> tuple[int, int]:
    """How busy so many cores were between two looks, and what was stolen of them, in hundredths of a core."""
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
    return Disk(free, Spread.of(times))
