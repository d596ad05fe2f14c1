"""Plays tasks on a cluster: chooses the machine of each, and notices which are lost.

The referee gives each Dask worker orders of its own: it greets it, sends it the files that it lacks, has it
prepare the bots, and then gives it tasks, an encounter each. Which bots play is settled before the first
task. A task goes to one machine, and is given to another one only when the first one is lost. Whatever a lost
machine sends later has a key that nobody waits for.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import count
from pathlib import Path
from secrets import token_hex

import referee
from referee.cluster.bot_files import SentFiles
from referee.cluster.dask_client import (
    ClusterEvent,
    DaskClient,
    Disconnected,
    InPlay,
    Member,
    Members,
    OrderAnswered,
    OrderFailed,
)
from referee.cluster.games_in_play import WATCH_S, SlotReceiver
from referee.cluster.orders import (
    BotFilesChanged,
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
    is_answer,
    replayed,
)
from referee.core.errors import EnvironmentLacksError, RefereeError, UsageError
from referee.core.seeds import shared_by
from referee.core.text import counted, shown
from referee.core.units import TimeControl
from referee.gameplay.terms import Terms
from referee.records.amendments import LeftOut
from referee.tournament.run.durations import LongestGame
from referee.tournament.tournament import Tournament
from referee.tournament.workers.task import (
    Backend,
    Began,
    Notice,
    Report,
    ReportHandler,
    Task,
    TaskLost,
    WorkerDied,
)
from referee.wire.stopwatch import CPU_WALL, CPU_WALL_NS

SILENT_S = 300.0  # seconds in which the scheduler hears nothing of a Dask worker after which this is lost

GREETING_S = 120.0
"""Seconds that a Dask worker may take to answer a greeting, or to take a part of a bot's files."""

PREPARING_S = 3600.0  # seconds that a machine may take to get ready: bots may have to be built

WAIT_S = 600.0  # seconds in which the run waits for a machine that can play

FAILURES = 3  # how often in a row a Dask worker may fail before it is not used any more, if others can play

OTHERS_S = 10.0  # seconds to wait for other machines when none of those present is usable

LOOK_S = 1.0  # seconds between two checks whether machines are still alive and answer in time

_RAN_S = 1.0  # the maximum of seconds between two checks: if more have passed, the referee itself was stopped

REST_S = 10.0  # seconds in which machines end their idle bots

SPARE_S = 60.0  # seconds for each game beyond what its clocks allow, after which a task is lost

HOMES = 100_000  # the number of encounters whose machine is remembered: games that are played again come soon


class WorkerStage(Enum):
    """How far a Dask worker's preparation is."""

    GREETED = "it was asked for a report"
    SENT = "it is receiving files"
    PREPARING = "it is preparing the bots"
    PREPARED = "it has prepared the bots, but the run has not begun"
    READY = "it is playing"
    STALE = "it has to prepare the bots again after its games in progress"


@dataclass
class DaskWorker:
    """A Dask worker, as the referee sees it."""

    address: str
    member: Member
    heard_s: float  # when the scheduler was last seen to have heard of it
    stage: WorkerStage = WorkerStage.GREETED
    order: str = ""  # the key of the order that it is to answer before it can play
    due_s: float = 0.0  # when this has to be answered
    greeting: Greeting | None = None
    parts: Iterator[FilePart] = field(default_factory=lambda: iter(()))
    unsent: dict[str, str] = field(default_factory=dict)
    """By digest of a bot, why files that it lacks cannot be sent."""
    prepared: MachineReady | None = None  # what it answered when it had prepared the bots
    unfit: tuple[LeftOut, ...] = ()  # the bots that it could not prepare
    playing: dict[str, Task] = field(default_factory=dict)  # the tasks that it was given, by key
    playing_until_s: dict[str, float] = field(default_factory=dict)
    """The deadlines after which tasks count as lost, by key."""
    failures: int = 0
    """How often in a row it failed to play; what it was given at the same time fails together."""
    unready: int = 0  # how often in a row it failed to get ready
    has_played: bool = False  # whether it has played a task to its end
    first_core: int | None = None
    """Which of its machine's cores its first game is pinned to; the others follow. None before it is known.
    """

    def wait(self, seconds: float) -> None:
        """Gives it more time for all that it is to do."""
        self.due_s += seconds
        for key in self.playing_until_s:
            self.playing_until_s[key] += seconds

    @property
    def name(self) -> str:
        """Its label in messages and records."""
        return f"{self.greeting.name} ({self.address})" if self.greeting else self.address

    @property
    def machine(self) -> str:
        """What stands for its machine."""
        return f"{self.member.host} {self.greeting.name}" if self.greeting else self.address

    @property
    def room(self) -> int:
        """How many more tasks it can be given."""
        return self.member.slots - len(self.playing) if self.stage is WorkerStage.READY else 0

    @property
    def load(self) -> float:
        """How many tasks it has for each game that it can play at a time."""
        return len(self.playing) / self.member.slots


def first_core(worker: DaskWorker, there: Iterable[DaskWorker]) -> int:
    """The first of some cores in a row that no other worker of its machine has."""
    if worker.first_core is not None:
        return worker.first_core
    taken = {
        other.first_core + number
        for other in there
        if other.first_core is not None
        for number in range(other.member.slots)
    }
    return next(first for first in count() if taken.isdisjoint(range(first, first + worker.member.slots)))


class ClusterBackend(Backend):
    """Plays tasks on the machines of a cluster."""

    def __init__(
        self,
        client: DaskClient,
        required: Requirement,
        sent: SentFiles,
        take: ReportHandler,
    ) -> None:
        """`sent` has the files of the bots; `take` gets the notices until the run begins."""
        self._client = client
        self._required = required
        self._sent = sent
        self._take = take
        self._has_begun = False
        self._is_closed = False
        self._workers: dict[str, DaskWorker] = {}  # by address
        self._of: dict[str, DaskWorker] = {}  # by key of an order, the worker that is to answer it
        self._pending: deque[Task] = deque()  # tasks that wait for room on a machine, or for a machine
        self._players: list[DaskWorker] = []
        """The workers that can be given tasks. They are counted after each look at the cluster, not for each
        task.
        """
        self._room = 0  # how many tasks they can be given
        self._homes: OrderedDict[str, tuple[str, bool]] = OrderedDict()
        """By encounter, the machine that has it, and whether it was lost there: then another one is to play
        it, if there is one. For the last `HOMES` encounters.
        """
        self._levels: dict[str, str] = {}  # by bot, its level of isolation on the first machine
        self._shared_files: dict[str, dict[str, str]] = {}
        """For each bot that is found on the machines, the hashes of its files on the first one."""
        self._numbers = count(1)
        self._reports: list[Report] = []
        self._is_stopping = False
        self._is_connected = True
        self._mute: set[str] = set()
        """Addresses of machines whose Dask worker ended before it had said anything, which was told then."""
        self._is_empty = False  # whether it has no Dask workers, which was told then
        self._now_s = self._useful_s = 0.0
        """Seconds in which this process ran, and when there was last a machine that could play."""
        self._looked_s = time.monotonic()
        self._looked_after_s = 0.0
        self._refused: dict[str, str] = {}  # by address, why a worker is not used
        self._silent: dict[str, float] = {}
        """By address, the beat of workers that were lost since nothing more was heard of them."""
        self._in_play: SlotReceiver | None = None
        self._watch_due_s = 0.0  # when machines are to be told that somebody looks at games

    def unfit_bots(self) -> list[LeftOut]:
        """Waits until machines have prepared the bots, and returns those that the run is played without: what
        the machine with the most bots could not prepare. Machines that lack more are not used.

        Raises `EnvironmentLacksError` where no machine can play.
        """
        while (best := self._best()) is None:
            self.take_reports(0.1)
        out = {one.bot for one in best.unfit}
        fit = tuple(files for files in self._required.bots if files.bot.name not in out)  # guard: unfit-bots
        self._required = self._required._replace(bots=fit)
        return [*best.unfit]

    def _best(self) -> DaskWorker | None:
        """The worker that prepared the most bots; None while another one may have more."""
        prepared = [one for one in self._workers.values() if one.stage is WorkerStage.PREPARED]
        best = min(prepared, key=lambda one: len(one.unfit), default=None)
        is_sure = best and (not best.unfit or len(prepared) == len(self._workers))  # guard: other-machines
        return best if is_sure else None

    def begin(self, take: ReportHandler, slots: Path | None = None) -> ClusterBackend:
        """Begins the run, whose reports `take` gets: machines that have prepared its bots can play. What they
        play is told in the folder `slots`, if one is given.
        """
        self._take, self._has_begun = take, True
        self._in_play = SlotReceiver(slots) if slots else None
        for worker in [*self._workers.values()]:
            if worker.stage is WorkerStage.PREPARED:
                self._admit(worker)
        return self

    @property
    def has_room(self) -> bool:
        """Whether a machine can play a task at once; where there is none yet, one task may wait for it."""
        if not self._players:
            return not self._pending and not self.busy
        return self._room > len(self._pending)

    @property
    def busy(self) -> bool:
        """Whether a task is being played, or waits."""
        return bool(self._pending) or any(worker.playing for worker in self._workers.values())

    def play(self, task: Task) -> None:
        """Gives a task to the machine with the most room; the games of an encounter go to the same one."""
        self._pending.append(task)
        self._give_pending()

    def _give_pending(self) -> None:
        for _ in range(len(self._pending)):
            task = self._pending.popleft()
            if worker := self._worker_for(task):
                self._give(worker, task)
            else:
                self._pending.append(task)

    def _worker_for(self, task: Task) -> DaskWorker | None:
        """The worker that is to play a task: one of the machine that has its encounter, of another machine
        than the one that lost it, or else with the most room. None where the task has to wait for room.
        """
        home, is_lost = self._homes.get(_encounter(task), ("", False))

        def cost(worker: DaskWorker) -> tuple[bool, float]:
            return (worker.machine == home) is is_lost, worker.load

        found = min(self._players, key=cost, default=None)
        return found if found and found.room > 0 else None

    def _give(self, worker: DaskWorker, task: Task) -> None:
        key = self._ask(worker, Play(task))
        worker.playing[key] = task
        self._room -= 1
        self._homes[_encounter(task)] = worker.machine, False
        if len(self._homes) > HOMES:
            self._homes.popitem(last=False)
        worker.playing_until_s[key] = self._now_s + longest_s(task)
        self._reports.append(Began(task.games[0][0].id))

    def _ask(self, worker: DaskWorker, order: MachineOrder) -> str:
        key = str(next(self._numbers))
        self._of[key] = worker
        self._client.ask(key, worker.address, order)
        return key

    def _prepare_by(
        self, worker: DaskWorker, stage: WorkerStage, order: MachineOrder, seconds: float
    ) -> None:
        """Gives a worker an order that it has to answer in time before it can play."""
        worker.stage = stage
        worker.due_s = self._now_s + seconds
        worker.order = self._ask(worker, order)

    def take_reports(self, seconds: float) -> None:
        """Takes what machines have answered, and looks after all of them.

        Raises `EnvironmentLacksError` where no machine can play, for too long.
        """
        events = self._client.events(0 if self._reports else seconds)
        now_s = time.monotonic()
        passed_s, self._looked_s = min(now_s - self._looked_s, _RAN_S), now_s
        self._now_s += passed_s
        for there in self._workers.values():
            if there.member.has_others:  # guard: shared-machine
                there.wait(passed_s)
        for event in events:
            self._take_event(event)
        if self._now_s - self._looked_after_s >= LOOK_S:
            self._looked_after_s = self._now_s
            self._look_after_all()
        self._players = [one for one in self._workers.values() if one.stage is WorkerStage.READY]
        self._room = sum(worker.room for worker in self._players)
        self._give_pending()
        self._watch()
        reports, self._reports = self._reports, []
        if reports:
            self._take(reports)
        self._check_hope()

    def _take_event(self, event: ClusterEvent) -> None:
        match event:
            case Members(found):
                self._see(found)
            case Disconnected(why):
                self._lose_all(why)
            case OrderAnswered(key, answer):
                if worker := self._of.pop(key, None):
                    self._answered(worker, key, answer)
            case OrderFailed(key, why):
                if worker := self._of.pop(key, None):
                    self._failed(worker, key, why)
            case InPlay(address, message):
                if self._in_play and address in self._workers:
                    self._in_play.take(address, message)

    def _watch(self) -> None:
        """Tells machines now and then that somebody looks at the games in play."""
        if not self._in_play or not self._in_play.is_watched():
            self._watch_due_s = 0.0
        elif self._now_s >= self._watch_due_s:
            self._watch_due_s = self._now_s + WATCH_S
            self._client.tell([worker.address for worker in self._players], WatchGames())

    def _see(self, found: Mapping[str, Member]) -> None:
        if not self._is_connected:
            self._is_connected = True
            self._remark("connected to the scheduler of the Dask cluster again")
        if not found and not self._is_empty:
            self._remark("the Dask cluster has no Dask workers; the run waits for one to be started")
        self._is_empty = not found
        for address in self._workers.keys() - found.keys():
            gone = self._workers[address]
            if gone.greeting is None and gone.member.host not in self._mute:
                self._mute.add(gone.member.host)
                self._remark(
                    f"the Dask worker at {address} exited on the first request: see its output; it needs "
                    "the referee, and the same version of Dask as this machine"
                )
            self._lose(gone, "its connection to the scheduler ended")
        for address in self._refused.keys() - found.keys():
            del self._refused[address]
        for address, member in found.items():
            if self._silent.get(address) == member.beat:
                continue
            self._silent.pop(address, None)
            worker = self._workers.get(address)
            if worker is None and address not in self._refused:
                worker = self._workers[address] = DaskWorker(address, member, self._now_s)
                self._prepare_by(worker, WorkerStage.GREETED, Greet(self._required.bots), GREETING_S)
            elif worker and worker.member.beat != member.beat:
                worker.member, worker.heard_s = member, self._now_s

    def _answered(self, worker: DaskWorker, key: str, answer: MachineAnswer) -> None:
        if key in worker.playing:
            self._played(worker, key, answer)
        elif isinstance(answer, PlayedTask):  # the idle bots have ended
            self._reports += answer.reports
        elif isinstance(answer, MachineUnfit):
            self._refuse(worker, answer.why)
        elif isinstance(answer, Greeting):
            worker.greeting = answer
            if answer.code != code_digest():  # guard: other-code
                self._refuse(
                    worker,
                    f"its referee {answer.version} has different code from {referee.__version__} here; "
                    "install the same version there, and restart its Dask worker",
                )
            else:
                worker.parts = self._parts(worker, answer.lacking)
                self._send_next_part(worker)
        elif isinstance(answer, MachineReady):
            self._prepared(worker, answer)
        else:
            self._send_next_part(worker)

    def _parts(self, worker: DaskWorker, digests: Sequence[str]) -> Iterator[FilePart]:
        """The parts of these archives, each read when it is sent; what cannot be sent is noted."""
        worker.unsent.clear()
        for digest in digests:
            try:
                for offset, data in self._sent.parts(digest):
                    yield FilePart(digest, offset, data)
            except UsageError as error:
                worker.unsent[digest] = str(error)

    def _send_next_part(self, worker: DaskWorker) -> None:
        """Sends a worker the next part of the files that it lacks, or has it get ready after the last one."""
        if part := next(worker.parts, None):
            self._prepare_by(worker, WorkerStage.SENT, part, GREETING_S)
        else:
            self._prepare(worker)

    def _prepare(self, worker: DaskWorker) -> None:
        self._forget_games(worker)
        there = [one for one in self._workers.values() if one.member.host == worker.member.host]
        slots = sum(one.member.slots for one in there)
        worker.first_core = first_core(worker, there)
        unsent = {one.bot for one in self._unsent_bots(worker)}
        bots = tuple(files for files in self._required.bots if files.bot.name not in unsent)
        required = self._required._replace(bots=bots)
        order = Prepare(required, worker.member.name, worker.member.slots, slots, worker.first_core)
        self._prepare_by(worker, WorkerStage.PREPARING, order, PREPARING_S)

    def _unsent_bots(self, worker: DaskWorker) -> Iterator[LeftOut]:
        """The bots with a file that a worker lacks and that cannot be sent."""
        for files in self._required.bots:
            if why := worker.unsent.get(files.digest):
                yield LeftOut(files.bot.name, why)

    def _prepared(self, worker: DaskWorker, answer: MachineReady) -> None:
        for line in answer.remarks:
            self._remark(f"{worker.name}: {line}")
        assert worker.greeting
        there = f" (on {shown(worker.greeting.name, 80)})"
        unfit = (one._replace(reason=one.reason + there) for one in answer.unfit)
        worker.prepared, worker.unfit = answer, (*self._unsent_bots(worker), *unfit)
        worker.stage, worker.order, worker.unready = WorkerStage.PREPARED, "", 0
        if self._has_begun:
            self._admit(worker)

    def _admit(self, worker: DaskWorker) -> None:
        """Lets a worker play from now on, if it has all bots, the same as the other machines."""
        ready = worker.prepared
        assert ready and worker.greeting
        lacking = {one.bot: one for one in worker.unfit}
        for files in self._required.bots:
            name = files.bot.name
            if one := lacking.get(name):  # guard: lacking-machine
                self._refuse(worker, ": ".join((one.error, *one.output[-1:])))
                return
            if files.shared and self._shared_files.setdefault(name, ready.files[name]) != ready.files[name]:
                self._refuse(worker, f"bot `{name}` differs there from the one on the first machine")
                return
        for name, level in ready.levels.items():
            if level != (first := self._levels.setdefault(name, level)):
                self._remark(
                    f"{worker.name} isolates `{name}` with `{level}`, but other machines with `{first}`"
                )
        worker.stage = WorkerStage.READY
        self._watch_due_s = 0.0
        slots = counted(worker.member.slots, "game")
        self._remark(f"{worker.name} plays, {slots} at a time: {worker.greeting.cpu}")

    def _played(self, worker: DaskWorker, key: str, answer: MachineAnswer) -> None:
        task = worker.playing.pop(key)
        del worker.playing_until_s[key]
        if isinstance(answer, BotFilesChanged):
            self._lose_task(worker, task, f"{answer.bot} was changed there: {answer.what}")
            return
        if isinstance(answer, MachineUnfit):
            self._lost(worker, task, answer.why)
            self._refuse(worker, answer.why)
            return
        reports = answer.reports if isinstance(answer, PlayedTask) else ()
        try:
            reports = replayed(task, reports)
        except RefereeError as error:
            why = f"it sent a record that was not accepted: {shown(str(error), 300)}"
            self._lost(worker, task, why, alone=False)
            self._refuse(worker, why)
            return
        if not isinstance(answer, PlayedTask) or not is_answer(task, reports, self._is_stopping):
            self._lose_task(worker, task, "the games it was given were not all played to the end")
        else:
            worker.failures, worker.has_played = 0, True
            first = Began(task.games[0][0].id)
            self._reports += [
                report._replace(task=task) if isinstance(report, WorkerDied) else report
                for report in reports
                if report != first
            ]
            if worker.stage is WorkerStage.STALE:
                self._begin_again(worker, "")

    def _failed(self, worker: DaskWorker, key: str, why: str) -> None:
        if key in worker.playing:
            del worker.playing_until_s[key]
            self._lose_task(worker, worker.playing.pop(key), why)
        elif key == worker.order:
            worker.unready += 1
            worker.stage = WorkerStage.STALE
            self._begin_again(worker, why)

    def _lose_task(self, worker: DaskWorker, task: Task, why: str) -> None:
        """Takes into account that a task was not played. What was played at the same time may fail as well,
        and all of it is one failure.
        """
        self._lost(worker, task, why)
        if worker.stage is not WorkerStage.STALE:  # guard: failed-together
            worker.failures += 1
            worker.stage = WorkerStage.STALE
        self._begin_again(worker, why)

    def _begin_again(self, worker: DaskWorker, why: str) -> None:
        """Has a worker that failed prepare the bots anew, once it plays no more; or does not use it any more,
        if it fails again and again.

        A bot may be the cause, which shows only if its games go on: the last machine is used on if it could
        play before.
        """
        others = any(
            other.stage is WorkerStage.READY for other in self._workers.values() if other is not worker
        )
        plays = worker.failures < FAILURES or (worker.has_played and not others)  # guard: failing-machine
        if not plays or worker.unready >= FAILURES:
            self._refuse(worker, f"it failed {FAILURES} times in a row: {why}")
        elif not worker.playing:
            self._prepare_by(worker, WorkerStage.GREETED, Greet(self._required.bots), GREETING_S)

    def _lost(self, worker: DaskWorker, task: Task, why: str, alone: bool = True) -> None:
        """Reports a task as lost with its machine, `alone` or with all other machines."""
        self._homes[_encounter(task)] = worker.machine, True
        how = f"the machine {worker.name} that played it was lost: {why}"
        self._reports.append(TaskLost(task, how, by_bot=alone))

    def _lose(self, worker: DaskWorker, why: str, alone: bool = True) -> None:
        """Gives up a worker, with all that it was to do; `alone` or with all others."""
        del self._workers[worker.address]
        self._forget_games(worker)
        for key in [key for key, of in self._of.items() if of is worker]:
            del self._of[key]
            self._client.forget(key)
        for task in worker.playing.values():
            self._lost(worker, task, why, alone)

    def _forget_games(self, worker: DaskWorker) -> None:
        if self._in_play:
            self._in_play.forget(worker.address)

    def _lose_all(self, why: str) -> None:
        if self._is_connected:
            self._is_connected = False
            self._remark(
                f"the connection to the scheduler is lost ({why}); the run continues when it is back"
            )
        for worker in [*self._workers.values()]:
            self._lose(worker, "the connection to the scheduler was lost", alone=False)
        self._refused.clear()

    def _refuse(self, worker: DaskWorker, why: str) -> None:
        self._refused[worker.address] = why
        self._remark(f"{worker.name} is not used: {why}")
        self._lose(worker, why)

    def _look_after_all(self) -> None:
        for worker in [*self._workers.values()]:
            if self._now_s - worker.heard_s > SILENT_S:  # guard: silent-machine
                self._silent[worker.address] = worker.member.beat
                self._lose(worker, f"the scheduler has heard nothing from it for {SILENT_S:.0f} s")
            elif worker.order and self._now_s > worker.due_s:
                self._client.forget(worker.order)
                self._of.pop(worker.order, None)
                self._failed(worker, worker.order, "it did not get ready in time")
            elif self._now_s > min(worker.playing_until_s.values(), default=math.inf):  # guard: endless-task
                self._refuse(worker, "a game took longer than its clocks allow")

    def _check_hope(self) -> None:
        """Raises `EnvironmentLacksError` where no machine will play."""
        waited_s = self._now_s - self._useful_s
        if self._workers or (self._has_begun and not self.busy):
            self._useful_s = self._now_s
        elif self._refused and waited_s > OTHERS_S:
            reasons = "; ".join(dict.fromkeys(self._refused.values()))
            raise EnvironmentLacksError(
                f"none of the machines in the Dask cluster can play: {shown(reasons, 600)}"
            )
        elif waited_s > WAIT_S:
            raise EnvironmentLacksError(f"the Dask cluster has had no workers for {WAIT_S:.0f} s")

    def _remark(self, line: str) -> None:
        self._reports.append(Notice(line))

    def stop(self) -> None:
        """Tells all machines, once."""
        if not self._is_stopping:
            self._is_stopping = True
            self._pending.clear()
            self._client.tell([*self._workers], StopMachine())

    def end_idle_bots(self) -> None:
        """Tells all machines to end their idle bots, and waits until they have answered or the time is up."""
        ready = [worker for worker in self._workers.values() if worker.stage is WorkerStage.READY]
        resting = {self._ask(worker, EndIdleBots()) for worker in ready}
        until_s = self._now_s + REST_S
        while resting & self._of.keys() and self._now_s < until_s:
            self.take_reports(0.1)

    def close(self) -> None:
        """Ends the run on all machines, also on those that are not used; once."""
        if not self._is_closed:
            self._is_closed = True
            if self._in_play:
                self._in_play.close()
            self._client.close([*self._workers, *self._refused])


@contextmanager
def cluster_backend(
    scheduler: str,
    sent: SentFiles,
    tournament: Tournament,
    out: Collection[str],
    say: Callable[[str], None],
) -> Iterator[ClusterBackend]:
    """A backend for the Dask cluster of this scheduler, whose machines prepare the bots at once, but for
    those that are `out`. Until the run begins, `say` is called with lines for the user.
    """
    plans = tournament.plans
    playing = {*tournament.names} - {*out}
    required = Requirement(
        tuple(files for files in sent.bots if files.bot.name in playing),
        max(plan.seats for plan in plans),
        tournament.pin,
        any(entrant.control.by_cpu for plan in plans for entrant in plan.entrants),
    )

    def take(reports: Sequence[Report]) -> None:
        for report in reports:
            if isinstance(report, Notice):
                say(report.line)

    backend = ClusterBackend(DaskClient(scheduler, token_hex(6)), required, sent, take)
    try:
        yield backend
    finally:
        backend.close()


def _encounter(task: Task) -> str:
    return shared_by(task.games[0][0].id)


def longest_s(task: Task) -> float:
    """The longest that a task may take, in seconds."""
    plan = task.plan
    moves = plan.game.longest(plan.options)
    forgiven = {entrant.bot.name for entrant in plan.entrants if entrant.bot.forgive_waiting}
    games = (
        LongestGame(moves, _on_the_wall(plan.terms(pairing), moves, forgiven)) for pairing, _ in task.games
    )
    return sum(game.us(plan.start_us) for game in games) / 1_000_000 + SPARE_S * len(task.games)


def _on_the_wall(terms: Terms, moves: int, forgiven: Set[str]) -> tuple[TimeControl, ...]:
    """The clocks of a game with the most time that passes meanwhile: an answer may be late by the margin, and
    a bot whose processor time counts, or that is in `forgiven` for its waiting for processors, may wait for
    longer than it computes, again for each move.
    """
    controls = []
    for name, control in zip(terms.bots, terms.controls, strict=True):
        move_us = control.move_us + terms.margin_us
        if control.by_cpu or name in forgiven:
            all_us = move_us + control.reserve_us + moves * control.increment_us
            move_us = CPU_WALL * all_us + CPU_WALL_NS // 1000
        controls.append(replace(control, move_us=move_us))
    return tuple(controls)
