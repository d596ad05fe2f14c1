"""The process that plays on a machine: it prepares the bots, and has a pool of workers.

It is told what to do by a Dask worker, over a socket, and ends with it. Games are played beside the Dask
worker and not inside it: a process can adopt orphans and hide from bots only for itself, and nothing else is
to compute in the process that times the moves.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import referee
from referee.cluster.bot_files import BotFiles
from referee.cluster.games_in_play import SEND_S, SlotSender
from referee.cluster.orders import (
    IN_PLAY,
    BotFilesChanged,
    CancelTask,
    EndIdleBots,
    FilePart,
    Greet,
    Greeting,
    MachineAnswer,
    MachineOrder,
    MachineReady,
    MachineUnfit,
    Play,
    PlayedTask,
    Prepare,
    Requirement,
    StopMachine,
    WatchGames,
    code_digest,
    to_bytes,
)
from referee.cluster.store import BotUnfit, FileStore, default_store
from referee.core.errors import EnvironmentLacksError, RefereeError
from referee.core.files import FileHashes
from referee.core.text import shown
from referee.core.this_machine import this_machine, usable_cores, usable_memory
from referee.core.work import DutyCycle
from referee.live.slots import FOLDER
from referee.processes import cpu, levels, libc, owned
from referee.processes.launcher import Launcher, readable_within
from referee.processes.limits import share_of
from referee.processes.message_socket import MalformedMessage, MessageSocket
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.tournament.file.file_list import hashes_of_words
from referee.tournament.run.readiness import with_hidden
from referee.tournament.workers.local_backend import WorkerPool
from referee.tournament.workers.task import (
    Began,
    Finished,
    IgnoredQuit,
    LeftBehind,
    Report,
    Task,
    Void,
    WorkerDied,
)
from referee.tournament.workers.worker import WorkerSignal

ALIVE_S = 1.0  # seconds between two signs of life

IDLE_S = 3600.0  # seconds without orders after which it ends: its referee was killed

LOOKING = 0.02  # maximum share of the time that is spent on looking whether files have changed

FLUSH_S = 0.01  # seconds after which is tried again to send what there was no room for

Say = Callable[[str, MachineAnswer], None]  # called with the key of an order, and its answer


class Host:
    """The work of a machine for one run."""

    def __init__(self, store: Path, say: Say, orders: socket.socket) -> None:
        """`store` is the folder for the files of bots. While the socket `orders` can be read, there are more
        of them. Raises `EnvironmentLacksError` where the folder cannot be written.
        """
        self._remarks: list[str] = []  # notes for the user about the bots on this machine
        self._store = FileStore(store, self._remarks.append)
        owned.remove_left(str(self._store.folder))  # slots of hosts that were killed
        self._slots = self._store.folder / f"{owned.prefix()}{FOLDER}"
        self._sender = SlotSender(self._slots)
        self._say = say
        self._orders = orders
        self._files: dict[str, BotFiles] = {}
        self._bots: dict[str, Program] = {}  # the bots as they are started on this machine, by name
        self._hashes = FileHashes()
        self._words: dict[str, dict[str, str]] = {}
        """By bot, the hashes of the files that its command names, as they were when it got ready."""
        self._rations: dict[str, DutyCycle] = {}
        """Limits how often the files of each bot are checked for changes."""
        self._pool: WorkerPool | None = None
        self._tasks: dict[str, Task] = {}  # the tasks in progress, by key
        self._reports: dict[str, list[Report]] = {}  # their reports so far, by key
        self._is_stopping = False

    def obey(self, key: str, order: MachineOrder) -> None:
        """Does what it is told, or begins to."""
        match order:
            case Greet(bots):
                self._say(key, self._greeting(bots))
            case FilePart():
                self._say(key, self._add(order))
            case Prepare():
                self._say(key, self._ready(order))
            case Play(task):
                self._play(key, task)
            case EndIdleBots():
                self._tasks.clear()
                self._reports[""] = []
                if self._pool:
                    self._pool.end_idle_bots()
                self._say(key, PlayedTask(tuple(self._reports.pop(""))))
            case CancelTask(other):
                if self._pool and other in self._tasks:
                    self._pool.give_up(self._tasks[other])
            case StopMachine():
                self._is_stopping = True
                if self._pool:
                    self._pool.stop()
            case WatchGames():
                self._sender.watch()

    def go_on(self, seconds: float) -> None:
        """Waits up to `seconds` for something to happen, and answers for the tasks that are over."""
        if self._pool is None:
            readable_within(self._orders, seconds)
            return
        self._pool.take_reports(seconds)
        for key in [key for key, task in self._tasks.items() if not self._pool.plays(task)]:
            del self._tasks[key]
            self._say(key, PlayedTask(tuple(self._reports.pop(key))))

    @property
    def pause_s(self) -> float:
        """The maximum of seconds to wait for something to happen."""
        return SEND_S if self._sender.is_watched else ALIVE_S

    def games_in_play(self) -> bytes:
        """What is to be sent of the games in play, if anything is."""
        return self._sender.message()

    @property
    def is_playing(self) -> bool:
        """Whether there are tasks that are not over."""
        return bool(self._tasks)

    def close(self) -> None:
        """Ends all games and bots."""
        if self._pool:
            self._pool.close()
        self._store.close()
        Launcher.close()

    def _greeting(self, bots: Sequence[BotFiles]) -> Greeting:
        return Greeting(*this_machine(), referee.__version__, code_digest(), tuple(self._store.lacking(bots)))

    def _add(self, part: FilePart) -> MachineUnfit | None:
        try:
            self._store.add(*part)
        except RefereeError as error:
            return MachineUnfit(str(error))
        return None

    def _ready(self, order: Prepare) -> MachineReady | MachineUnfit:
        required = order.requirement
        if self._pool:
            self._pool.close()
        for of_task in (self._remarks, self._tasks, self._reports):
            of_task.clear()
        if lacking := _lacking(required):
            return MachineUnfit(lacking)
        try:
            bots, unfit = self._fit_bots(required)
            bots = with_hidden(levels.settled(bots), [self._slots])
        except (RefereeError, OSError) as error:
            return MachineUnfit(str(error))
        finally:
            self._store.forget_archives()
        share = share_of(usable_memory(), order.slots_of_machine * required.seats)
        self._bots = {bot.name: replace(bot, limits=replace(bot.limits, share=share)) for bot in bots}
        self._files = {files.bot.name: files for files in required.bots}
        self._words = {bot.name: hashes_of_words(bot, self._hashes) for bot in bots}
        self._rations = {bot.name: DutyCycle(time.monotonic, LOOKING) for bot in bots}
        Launcher.close()  # of the trials of levels; the workers have launchers of their own
        cores = _cores_from(order.first_core) if required.pin else []
        self._pool = WorkerPool(
            order.slots, cores, self._take, self._slots, f"{order.label}/", self._orders.fileno()
        )
        levels_of_bots = {bot.name: bot.isolation for bot in bots}
        return MachineReady(levels_of_bots, dict(self._words), tuple(self._remarks), tuple(unfit))

    def _fit_bots(self, required: Requirement) -> tuple[list[Program], list[LeftOut]]:
        """The bots as they are started here, and those that cannot be prepared here. Raises
        `EnvironmentLacksError`.
        """
        fit, unfit = [], []
        for files in required.bots:
            try:
                fit.append(self._store.ready(files))
            except BotUnfit as error:
                unfit.append(error.bot)
        return fit, unfit

    def _play(self, key: str, task: Task) -> None:
        if self._is_stopping or self._pool is None:
            self._say(key, PlayedTask(()))
            return
        for name in sorted(task.started):
            if changed := self._changed(name):
                self._say(key, BotFilesChanged(name, shown(changed, 200)))
                return
        bots = (entrant.bot for entrant in task.plan.entrants)
        given = [replace(self._bots.get(bot.name, bot), parameters=bot.parameters) for bot in bots]
        plan = task.plan.with_bots(given)  # some of them are not started
        here = replace(task, plan=plan)
        try:
            self._pool.play(here)
        except EnvironmentLacksError as error:
            self._say(key, MachineUnfit(str(error)))
            return
        self._tasks[key], self._reports[key] = here, []

    def _changed(self, name: str) -> str:
        """A file of a bot that has changed here since it got ready; empty if there is none."""
        now = hashes_of_words(self._bots[name], self._hashes)
        if changed := next((word for word, was in self._words[name].items() if now.get(word) != was), ""):
            return changed
        duty_cycle = self._rations[name]
        if not duty_cycle.is_due:
            return ""
        with duty_cycle.spent():
            return self._store.changed(self._files[name])

    def _take(self, reports: Sequence[Report]) -> None:
        for report in reports:
            for key in self._keys(report):
                self._reports[key].append(report)

    def _keys(self, report: Report) -> list[str]:
        """The key of the task that a report belongs to, if it is still of interest."""
        match report:
            case Began(game) | Void(id=game) | Finished(game=game):
                name = game if isinstance(game, str) else game.id
                found = [k for k, task in self._tasks.items() if any(p.id == name for p, _ in task.games)]
            case LeftBehind(bot) | IgnoredQuit(bot):
                found = [k for k, task in self._tasks.items() if bot in task.plan.names] or [
                    k for k in self._reports if not k
                ]
            case WorkerDied(task):
                found = [k for k, one in self._tasks.items() if one is task]
            case _:
                found = []
        return found[:1]


def main(descriptor: int) -> None:
    """Runs the host that is connected to a Dask worker by this socket, until the other end is closed."""
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # it may be stopped
    libc.hide()  # from builds too
    end = socket.socket(fileno=descriptor)
    message_socket = MessageSocket(end, waits=False)

    def say(key: str, answer: MachineAnswer) -> None:
        message_socket.send((key, to_bytes(answer)))

    with contextlib.suppress(MalformedMessage), contextlib.ExitStack() as stack:
        host, lack = None, ""
        try:
            host = Host(default_store(), say, end)
            stack.callback(host.close)
        except RefereeError as error:
            lack = str(error)
        told_s = 0.0
        asked_s = time.monotonic()
        while message_socket.is_open and time.monotonic() - asked_s < IDLE_S:
            seconds = FLUSH_S if message_socket.has_unsent else host.pause_s if host else ALIVE_S
            host.go_on(seconds) if host else readable_within(end, seconds)
            if host and host.is_playing:
                asked_s = time.monotonic()
            for key, data in message_socket.receive():
                asked_s = time.monotonic()
                try:
                    order: MachineOrder = pickle.loads(data)
                except Exception as error:  # such as a game that is not installed here
                    say(key, MachineUnfit(f"it cannot read what is sent to it: {shown(str(error), 200)}"))
                    continue
                host.obey(key, order) if host else say(key, MachineUnfit(lack))
            if time.monotonic() - told_s >= ALIVE_S:
                message_socket.send(WorkerSignal.ALIVE)
                told_s = time.monotonic()
            message_socket.flush()
            if host and not message_socket.has_unsent and (told := host.games_in_play()):
                message_socket.send((IN_PLAY, told))


def _lacking(required: Requirement) -> str:
    if required.cpu_clocks and not cpu.AVAILABLE:
        return "a clock counts processor time, which needs Linux"
    if any(files.bot.forgive_waiting for files in required.bots) and not cpu.COUNTS_WAITING:
        return f"`forgive_waiting` {cpu.WAITING_NEEDED}"
    if required.pin and not hasattr(os, "sched_setaffinity"):
        return "`pin` is set, which needs Linux"
    return ""


def _cores_from(first: int) -> list[int]:
    """The usable cores, from the one with this number on, and then those before it."""
    cores = sorted(usable_cores())
    at = first % len(cores)
    return cores[at:] + cores[:at]
