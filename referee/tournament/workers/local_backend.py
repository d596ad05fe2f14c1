"""Plays tasks on this machine: in worker processes, or in this one.

A worker plays one encounter at a time and reports each game as it is finished. It is started when there is a
task for it. Nobody waits for a worker: what is sent goes through sockets that do not block, and a worker that
is stopped is continued. One that is stopped again and again, or shows no life for `SILENT_S`, is ended. When
the process that has the pool closes its end of the socket, or is killed, every worker exits, and its wardens
end its bots.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from referee.core.errors import EnvironmentLacksError
from referee.core.stop import SIGNALS
from referee.core.this_machine import usable_cores
from referee.live.feed import Feed
from referee.live.slots import make_folder, remove_folder, remove_slot
from referee.processes import launcher, libc, tree
from referee.processes.cgroups import killed_for_memory
from referee.processes.message_socket import MalformedMessage, MessageSocket
from referee.processes.tree import UNKILLABLE_S, adopt, kill_all_children
from referee.tournament.workers.task import (
    Backend,
    BackendFactory,
    Observer,
    Report,
    ReportHandler,
    Task,
    WorkerDied,
)
from referee.tournament.workers.worker import (
    Player,
    WorkerOrder,
    WorkerSignal,
)

SILENT_S = 300.0
"""Seconds without a sign of life after which a busy worker is ended. While it waits for bots it gives one
every second, whatever their clocks; the start and the end of bots, and a step of the rules, take less.
"""

STOPS = 20  # how often a worker may be stopped during a task before it is ended

_LOOK_S = 0.1  # how often all workers are looked after, whether they have sent something or not

_RAN_S = 1.0
"""Maximum number of seconds between two looks at the workers that count as silence: if more have passed, the
referee was stopped itself, and its workers perhaps with it.
"""


class _Worker:
    def __init__(self, core: int | None, label: str, slots: Path | None, slot: str) -> None:
        """Starts it; records call it by this label. It tells what it plays in this slot, if there is a folder
        for slots. Raises `EnvironmentLacksError`.
        """
        end, worker_end = socket.socketpair()
        self.message_socket = MessageSocket(end, waits=False)
        self.task: Task | None = None
        self.busy = False  # whether it was told something that it has not done yet
        self._killed_before = 0
        """How many processes the system had killed for memory when the worker was told something."""
        self.failure = ""  # why it has to be ended; empty if nothing is wrong
        self._silent_s = 0.0  # how long it has given no sign of life
        self._stops = 0  # how often it was stopped since it was last told something
        self._name = launcher.new_name()
        self._slots, self._slot = slots, slot
        arguments = (
            f"{worker_end.fileno()}, {core}, {self._name!r}, {label!r}, {str(slots or '')!r}, {slot!r}"
        )
        program = f"from referee.tournament.workers.worker import main; main({arguments})"
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are meant for the referee alone
        try:
            with worker_end:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}; {program}"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[worker_end.fileno()],
                )
        except OSError as error:
            self.message_socket.close()
            raise EnvironmentLacksError(f"cannot start a worker process: {error.strerror}") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, what: Task | WorkerOrder, killed_before: int) -> None:
        """Tells it what to do next. `killed_before` is how many processes the system had killed for memory
        lately.
        """
        self.task = what if isinstance(what, Task) else None
        self.busy = True
        self._silent_s, self._stops = 0.0, 0
        self._killed_before = killed_before
        self.message_socket.send(what)

    @property
    def suspects(self) -> frozenset[str]:
        """The bots that may be the cause of its failure, once it has ended. Memory can be used up at any
        level: bots are killed for that before the worker is, unless what they use outlives them.
        """
        if self.task is None:
            return frozenset()
        was_killed = self._process.returncode == -signal.SIGKILL
        if was_killed and killed_for_memory() > self._killed_before:  # guard: memory-of-workers
            return self.task.started
        return self.task.able_to_reach

    def receive(self) -> list[Report]:
        """Returns its reports since the last call."""
        reports: list[Report] = []
        # Whether it has ended is asked first: what it sent before is then in the socket.
        ended = self._process.poll() is not None
        try:
            self.message_socket.flush()
            for message in self.message_socket.receive():
                self._silent_s = 0.0
                if message is WorkerSignal.DONE:
                    self.busy, self.task = False, None
                elif message is not WorkerSignal.ALIVE:
                    reports.append(message)
        except MalformedMessage:
            self.failure = "sent something that is not a report"
        if ended or not self.message_socket.is_open:
            self.failure = "died"
        return reports

    def look_after(self, seconds: float) -> None:
        """Continues it where it was stopped; notes a `failure` if it was too often, or has hung for too long.

        `seconds` have passed since the last call.
        """
        if not self.busy:
            return
        self._silent_s += seconds
        if _is_stopped(self.pid):
            self._stops += 1
            self.resume()
        if self._stops > STOPS:  # guard: stopped-worker
            self.failure = f"was stopped {self._stops} times, and was ended"
        elif self._silent_s > SILENT_S:  # guard: silent-worker
            self.failure = f"gave no sign of life for {SILENT_S:.0f} s, and was ended"

    def resume(self) -> None:
        """Continues it: a bot may have stopped it."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kills the worker, and does not wait for its end."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)

    def release(self) -> None:
        """Waits for the end of the process, which was killed, and closes the socket."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(UNKILLABLE_S)
        self.message_socket.close()

    def remove_left(self) -> None:
        """Removes its slot, and what its bots left, when all of them have ended."""
        launcher.remove_left(self._name)
        if self._slots:
            remove_slot(self._slots, self._slot)


class WorkerPool(Backend):
    """Worker processes, each of which is started when it is needed."""

    def __init__(
        self,
        count: int,
        cores: Sequence[int],
        take: ReportHandler,
        slots: Path | None = None,
        prefix: str = "",
        wake: int | None = None,
    ) -> None:
        """Up to `count` workers; each is pinned to one of the `cores`, if any are given. They tell what they
        play in the folder `slots`, if one is given. What they are called in records begins with `prefix`.
        Where the descriptor `wake` can be read, `take_reports` waits no longer.
        """
        self._slots = slots
        self._prefix = prefix
        self._count = count
        self._take = take
        self._cores = cores
        self._wake = wake
        self._workers: dict[int, _Worker] = {}  # by number, which decides the core of each
        self._looked_s = time.monotonic()
        self._killed: int | None = None  # what `_killed_lately` read; None after new reports
        self._others = set(tree.children(os.getpid()))
        """The children of this process that have nothing to do with the workers."""
        self._stopping = False
        if slots:
            make_folder(slots)
        libc.hide()
        adopt(orphans=True)

    @property
    def has_room(self) -> bool:
        """Whether a worker has nothing to do, or another one may be started."""
        return len(self._workers) < self._count or not all(w.busy for w in self._workers.values())

    @property
    def busy(self) -> bool:
        """Whether a worker has something to do."""
        return any(worker.busy for worker in self._workers.values())

    def play(self, task: Task) -> None:
        """Gives a task to a worker that has nothing to do, or to a new one."""
        idle = next((worker for worker in self._workers.values() if not worker.busy), None)
        (idle or self._start()).tell(task, self._killed_lately())

    def _killed_lately(self) -> int:
        """How many processes the system had killed for memory when tasks were given out first since the last
        reports: it takes longer to read than a task to send, and many workers may wait for tasks.
        """
        if self._killed is None:
            self._killed = killed_for_memory()
        return self._killed

    def _start(self) -> _Worker:
        number = next(number for number in range(self._count) if number not in self._workers)
        core = self._cores[number % len(self._cores)] if self._cores else None
        label, slot = f"{self._prefix}{number + 1}", f"w{number + 1}"
        worker = self._workers[number] = _Worker(core, label, self._slots, slot)
        return worker

    def take_reports(self, seconds: float) -> None:
        """Takes reports, also those that were sent before a worker died; looks after all workers."""
        told = self._wait(seconds)
        self._killed = None
        reports: list[Report] = []
        for worker in self._workers.values():
            if worker.message_socket.fileno() in told:
                reports += worker.receive()
        now_s = time.monotonic()
        if (passed_s := now_s - self._looked_s) >= _LOOK_S:
            self._looked_s = now_s
            for worker in self._workers.values():
                reports += worker.receive()
                if not worker.failure:
                    worker.look_after(min(passed_s, _RAN_S))
        failed = {number: worker for number, worker in self._workers.items() if worker.failure}
        for number, worker in failed.items():
            worker.kill()
            worker.release()
            del self._workers[number]
            reports.append(WorkerDied(worker.task, worker.failure, worker.suspects))
        if failed:
            kill_all_children(self._family())
            for worker in failed.values():
                worker.remove_left()
        if reports:
            self._take(reports)

    def _wait(self, seconds: float) -> set[int]:
        """Waits until workers have sent something, or have room for what could not be sent to them yet; the
        descriptors of their sockets.
        """
        poll = select.poll()
        for worker in self._workers.values():
            poll.register(
                worker.message_socket,
                select.POLLIN | (select.POLLOUT if worker.message_socket.has_unsent else 0),
            )
        if self._wake is not None:
            poll.register(self._wake, select.POLLIN)
        return {descriptor for descriptor, _ in poll.poll(seconds * 1000)}

    def _family(self) -> set[int]:
        return {*self._others, *(worker.pid for worker in self._workers.values())}

    def plays(self, task: Task) -> bool:
        """Whether a worker plays this task."""
        return any(worker.task is task for worker in self._workers.values())

    def give_up(self, task: Task) -> None:
        """Ends the worker that plays this task, if one does; `WorkerDied` is reported."""
        for worker in self._workers.values():
            if worker.task is task:
                worker.failure = "was told to give up its task"

    def stop(self) -> None:
        """Tells all workers, once."""
        if not self._stopping:
            self._stopping = True
            for worker in self._workers.values():
                worker.message_socket.send(WorkerOrder.STOP)

    def end_idle_bots(self) -> None:
        """Ends idle bots in every worker."""
        for worker in self._workers.values():
            worker.tell(WorkerOrder.END_IDLE_BOTS, self._killed_lately())
        while self.busy:
            self.take_reports(0.1)

    def close(self) -> None:
        """Kills all workers, and all processes that they leave behind."""
        for worker in self._workers.values():
            worker.kill()
        for worker in self._workers.values():
            worker.release()
        kill_all_children(self._others)
        for worker in self._workers.values():
            worker.remove_left()
        self._workers.clear()
        if self._slots:
            remove_folder(self._slots)
        adopt(orphans=False)


def _is_stopped(pid: int) -> bool:
    """Whether a child is stopped, as far as it is not known from an earlier call."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return False
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None
    return False


class InlineBackend(Backend):
    """Plays tasks in this process."""

    has_room = True
    busy = False

    def __init__(
        self, take: ReportHandler, stopping: Callable[[], bool], observer: Observer | None, slots: Path | None
    ) -> None:
        self._slots = slots
        if slots:
            make_folder(slots)
        self._feed = Feed(slots, "w1")
        self._player = Player(lambda report: take([report]), stopping, observer=observer, feed=self._feed)

    def play(self, task: Task) -> None:
        """Plays the task."""
        self._player.play(task)

    def take_reports(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)  # reports have already been taken

    def stop(self) -> None:
        """Does nothing: the player asks `stopping` itself."""

    def end_idle_bots(self) -> None:
        """Ends idle bots."""
        self._player.close()

    def close(self) -> None:
        """Ends idle bots: no others can be running."""
        self._player.close()
        self._feed.close()
        if self._slots:
            remove_folder(self._slots)


def local_backend(
    count: int, pin: bool = False, observer: Observer | None = None, slots: Path | None = None
) -> BackendFactory:
    """Up to `count` worker processes; with 0, this process plays the tasks, and an observer may look on. What
    is played is told in the folder `slots`, if one is given.

    As long as worker processes are open, this process must start no others that live on.
    """
    if count:
        cores = sorted(usable_cores()) if pin else []
        return lambda take, stopping: WorkerPool(count, cores, take, slots)
    return lambda take, stopping: InlineBackend(take, stopping, observer, slots)
