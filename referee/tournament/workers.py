"""Worker processes that play encounters behind an `Executor`, or this process in their place.

A worker plays one encounter at a time and reports each game as it is finished. Beside the executor, the
referee and its workers share a pipe for reports, an event that asks them to stop after the current game,
and a pipe that is never written to. When the referee closes that pipe, or is killed, every worker reads its
end, kills its bots and exits.
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

START_S = 120
"""Seconds that all workers together may take to start."""

Take = Callable[[Sequence[Report]], None]
"""Called with the reports that arrived together, in their order."""


class Workers(ABC):
    """Plays tasks."""

    room: int
    """How many tasks may be pending at a time."""

    @abstractmethod
    def submit(self, task: Task) -> Future[None]:
        """Plays a task as soon as a worker is free."""

    @abstractmethod
    def take_reports(self, seconds: float) -> None:
        """Takes the reports that have arrived; if there are none, waits up to `seconds` for one."""

    @abstractmethod
    def stop(self) -> None:
        """Asks the workers to stop after the current game."""

    @abstractmethod
    def end_idle_bots(self) -> None:
        """Ends idle bots, when no task remains."""

    @abstractmethod
    def close(self) -> None:
        """Ends all workers and their bots at once."""

    @abstractmethod
    def close_and_find_crashed(self) -> set[int]:
        """Does what `close` does, and returns the process ids of the workers that had crashed."""


def open_workers(count: int, pin: bool, take: Take, stopping: Callable[[], bool]) -> Workers:
    """`count` worker processes; with 0, tasks are played in this process when they are submitted."""
    return _Pool(count, pin, take) if count else _Inline(take, stopping)


class _Inline(Workers):
    """Plays in this process, at once: for debugging and for tests."""

    room = 1

    def __init__(self, take: Take, stopping: Callable[[], bool]) -> None:
        self._player = Player(lambda report: take([report]), stopping)

    def submit(self, task: Task) -> Future[None]:
        """Plays the task; the future that is returned is done."""
        future: Future[None] = Future()
        self._player.play(task)
        future.set_result(None)
        return future

    def take_reports(self, seconds: float) -> None:
        """Does nothing: reports are taken at once."""

    def stop(self) -> None:
        """Does nothing: the player asks `stopping` itself."""

    def end_idle_bots(self) -> None:
        """Ends idle bots."""
        self._player.close()

    def close(self) -> None:
        """Ends idle bots: no others can be running."""
        self._player.close()

    def close_and_find_crashed(self) -> set[int]:
        """There are no worker processes that could have crashed."""
        return set()


class _Pool(Workers):
    """A pool of worker processes."""

    def __init__(self, count: int, pin: bool, take: Take) -> None:
        # One more than can be played at a time, so that no worker waits for its next task.
        self.room = count + 1
        self._count = count
        self._take = take
        context = multiprocessing.get_context("spawn")
        self._reports, sender = context.Pipe(duplex=False)
        alive_reader, self._alive_writer = context.Pipe(duplex=False)
        self._stop = context.Event()
        counter = context.Value("i", 0) if pin else None
        barrier = context.Barrier(count)
        shared = _Shared(sender, context.Lock(), self._stop, alive_reader, counter, barrier)
        self._executor = ProcessPoolExecutor(count, context, _init_worker, (shared,))
        # All are started now, with signals blocked that are meant for the referee alone.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        others = set(multiprocessing.active_children())
        try:
            self._call_in_each(_wait_until_started)
            self._processes = set(multiprocessing.active_children()) - others
        except BaseException:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            # With the workers' ends closed here, the pipe of reports ends when the workers do.
            sender.close()
            alive_reader.close()

    def _call_in_each(self, function: Callable[[], None]) -> None:
        """Calls a function once in every worker; it must end with a wait for all the others."""
        for call in [self._executor.submit(function) for _ in range(self._count)]:
            call.result()

    def submit(self, task: Task) -> Future[None]:
        """Submits a task. Raises `BrokenProcessPool` where a worker died."""
        return self._executor.submit(_play, task)

    def take_reports(self, seconds: float) -> None:
        """Takes reports, also those sent before a worker died."""
        reports: list[Report] = []
        try:
            while self._reports.poll(0 if reports else seconds):
                reports.append(self._reports.recv())
        except (EOFError, OSError):
            time.sleep(seconds)  # all workers have ended, one perhaps in the middle of a report
        if reports:
            self._take(reports)

    def stop(self) -> None:
        """Sets the event that workers check between games."""
        self._stop.set()

    def end_idle_bots(self) -> None:
        """Ends idle bots in every worker. Raises `BrokenProcessPool` where a worker died."""
        self._call_in_each(_end_idle_bots)
        self.take_reports(0)

    def close(self) -> None:
        """Closes the pipe whose end makes the workers exit."""
        self._alive_writer.close()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._reports.close()

    def close_and_find_crashed(self) -> set[int]:
        """Finds crashed workers by their exit codes."""
        self.close()
        expected = (None, 0, Stopped.exit_code)
        return {worker.pid or 0 for worker in self._processes if worker.exitcode not in expected}


class _Shared(NamedTuple):
    """What a worker process shares with the referee."""

    reports: Connection
    lock: Any
    stop: Any
    referee_alive: Connection
    """Never written to; it ends when the referee does."""
    counter: Any
    """How many workers have started, if each is pinned to a core."""
    barrier: Any
    """Where the workers wait for each other at the start and at the end."""


class _Worker:
    """The state of a worker process."""

    def __init__(self, shared: _Shared) -> None:
        self._shared = shared
        self.player = Player(self._report, shared.stop.is_set)

    def wait_for_all(self) -> None:
        """Waits for all workers, so that each gets exactly one of the calls."""
        self._shared.barrier.wait(START_S)

    def _report(self, report: Report) -> None:
        with self._shared.lock:
            self._shared.reports.send(report)


_worker: _Worker
"""The state of this process, if it is a worker."""


def _init_worker(shared: _Shared) -> None:
    """Prepares a worker process for its first task."""
    global _worker
    _worker = _Worker(shared)
    for number in SIGNALS:  # meant for the referee, which itself may send SIGTERM
        signal.signal(number, _exit if number == signal.SIGTERM else signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if shared.counter is not None:
        with shared.counter.get_lock():
            worker = shared.counter.value
            shared.counter.value += 1
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[worker % len(cores)]})
    threading.Thread(target=_exit_with_referee, args=(shared.referee_alive,), daemon=True).start()


def _exit_with_referee(referee_alive: Connection) -> None:
    """Waits for the end of the referee, then exits."""
    referee_alive.poll(None)
    _exit()


def _exit(*_: object) -> None:
    """Exits this worker; its wardens notice and end its bots."""
    os._exit(Stopped.exit_code)


def _wait_until_started() -> None:
    _worker.wait_for_all()


def _play(task: Task) -> None:
    _worker.player.play(task)


def _end_idle_bots() -> None:
    _worker.player.close()
    _worker.wait_for_all()
