"""Where encounters are played: in processes behind an `Executor`, or in this one.

A worker plays one encounter at a time and reports each game as it is finished. Between the referee and
its workers there are three things beside the executor: a pipe for reports, an event that asks them to
stop after the game that is on, and a lifeline, a pipe that nobody writes to. When the referee closes it,
or is killed, every worker sees its end, kills its bots and goes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from referee.core.errors import Stopped
from referee.core.stop import SIGNALS
from referee.tournament.task import Player, Report, Task

ARRIVAL_S = 120
"""So long all workers together may take to start."""

Take = Callable[[Sequence[Report]], None]
"""Told of the reports that are there together, in their order."""


class Workers(ABC):
    """Who plays tasks."""

    room: int
    """How many tasks may be submitted and not yet done."""

    @abstractmethod
    def submit(self, task: Task) -> Future[None]:
        """Plays a task as soon as a worker is free."""

    @abstractmethod
    def listen(self, seconds: float) -> None:
        """Takes the reports that are there, and waits for the first one if there are none."""

    @abstractmethod
    def stop(self) -> None:
        """Asks the workers to stop after the game that is on."""

    @abstractmethod
    def dismiss(self) -> None:
        """Ends the bots that were kept, when no task is left."""

    @abstractmethod
    def close(self) -> None:
        """Ends everything that is still on, at once."""

    @abstractmethod
    def casualties(self) -> set[int]:
        """Ends everything too, and says which workers had not gone because they were told to."""


def open_workers(count: int, pin: bool, take: Take, stopping: Callable[[], bool]) -> Workers:
    """So many workers, or none at all: then tasks are played when they are submitted."""
    return _Pool(count, pin, take) if count else _Inline(take, stopping)


class _Inline(Workers):
    """Plays in this process, at once: for debugging, and for tests that watch."""

    room = 1

    def __init__(self, take: Take, stopping: Callable[[], bool]) -> None:
        self._player = Player(lambda report: take([report]), stopping)

    def submit(self, task: Task) -> Future[None]:
        """The future is done when it is given back."""
        future: Future[None] = Future()
        self._player.play(task)
        future.set_result(None)
        return future

    def listen(self, seconds: float) -> None:
        """All was taken already."""

    def stop(self) -> None:
        """The player looks for itself."""

    def dismiss(self) -> None:
        """The same as `close`, as nothing is on."""
        self._player.close()

    def close(self) -> None:
        """Only bots that were kept can still be on."""
        self._player.close()

    def casualties(self) -> set[int]:
        """There is nobody who could have died."""
        return set()


class _Pool(Workers):
    """So many processes."""

    def __init__(self, count: int, pin: bool, take: Take) -> None:
        # One more than can be played at a time, so that no worker waits for its next task.
        self.room = count + 1
        self._count = count
        self._take = take
        context = multiprocessing.get_context("spawn")
        self._reports, sender = context.Pipe(duplex=False)
        mortal, self._lifeline = context.Pipe(duplex=False)
        self._stop = context.Event()
        counter = context.Value("i", 0) if pin else None
        everybody = context.Barrier(count)
        shared = _Shared(sender, context.Lock(), self._stop, mortal, counter, everybody)
        self._executor = ProcessPoolExecutor(count, context, _begin, (shared,))
        # All are started now, with the signals blocked that are meant for the referee alone.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        others = set(multiprocessing.active_children())
        try:
            self._each(_arrive)
            self._staff = set(multiprocessing.active_children()) - others
        except BaseException:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            # With the workers' ends closed here, their death is the end of what they report.
            sender.close()
            mortal.close()

    def _each(self, function: Callable[[], None]) -> None:
        """Has every worker call a function that waits for everybody in its end."""
        for call in [self._executor.submit(function) for _ in range(self._count)]:
            call.result()

    def submit(self, task: Task) -> Future[None]:
        """Raises `BrokenProcessPool` where a worker died."""
        return self._executor.submit(_serve, task)

    def listen(self, seconds: float) -> None:
        """What the workers said before one of them died is taken too."""
        reports: list[Report] = []
        try:
            while self._reports.poll(0 if reports else seconds):
                reports.append(self._reports.recv())
        except (EOFError, OSError):
            time.sleep(seconds)  # all workers are gone, one perhaps in the midst of a report
        if reports:
            self._take(reports)

    def stop(self) -> None:
        """They look between two games."""
        self._stop.set()

    def dismiss(self) -> None:
        """Raises `BrokenProcessPool` where a worker died."""
        self._each(_leave)
        self.listen(0)

    def close(self) -> None:
        """The workers see the end of their lifeline."""
        self._lifeline.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._reports.close()

    def casualties(self) -> set[int]:
        """Known by how they ended."""
        self.close()
        told = (None, 0, Stopped.exit_code)
        return {worker.pid or 0 for worker in self._staff if worker.exitcode not in told}


class _Shared(NamedTuple):
    """What a worker process has of the referee."""

    reports: Connection
    lock: Any
    stop: Any
    lifeline: Connection
    counter: Any
    """Workers so far, if each is to have a core of its own."""
    everybody: Any
    """Where the workers wait for each other at the beginning and in the end."""


class _Worker:
    """What a worker process is while it lives."""

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self.player = Player(self._report, shared.stop.is_set)

    def wait_for_everybody(self) -> None:
        """So that each worker gets one of as many calls."""
        self._shared.everybody.wait(ARRIVAL_S)

    def _report(self, report: Report) -> None:
        with self._shared.lock:
            self._shared.reports.send(report)


_worker: _Worker
"""This process, where it is a worker."""


def _begin(shared: _Shared) -> None:
    """In a worker process, before its first task."""
    global _worker
    _worker = _Worker(shared)
    for number in SIGNALS:  # it is the referee that they are meant for; SIGTERM may come from it
        signal.signal(number, _end if number == signal.SIGTERM else signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if shared.counter is not None:
        with shared.counter.get_lock():
            worker = shared.counter.value
            shared.counter.value += 1
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[worker % len(cores)]})
    threading.Thread(target=_live, args=(shared.lifeline,), daemon=True).start()


def _live(lifeline: Connection) -> None:
    """Waits for the end of the referee, and goes with it."""
    lifeline.poll(None)
    _end()


def _end(*_: object) -> None:
    """Ends this worker; its bots end with it, since their wardens see it go."""
    os._exit(Stopped.exit_code)


def _arrive() -> None:
    _worker.wait_for_everybody()


def _serve(task: Task) -> None:
    _worker.player.play(task)


def _leave() -> None:
    _worker.player.close()
    _worker.wait_for_everybody()
