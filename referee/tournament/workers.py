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
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from referee.core.errors import Stopped, StorageError
from referee.core.pairing import Pairing
from referee.core.stop import SIGNALS
from referee.gameplay.terms import Terms
from referee.processes.exit_report import ExitReport
from referee.records.record import faults, to_json
from referee.tournament.encounter import play_encounter, remains
from referee.tournament.plan import Plan
from referee.wire.dialogue import Dialogue

DIALOGUE_CAP = 65_536
"""Characters of a game's dialogue that are kept at its beginning, and again at its end."""


ARRIVAL_S = 120
"""So long all workers together may take to start."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is left of an encounter."""

    plan: Plan
    games: tuple[tuple[Pairing, int], ...]
    """With the number of the attempt."""
    keep: str
    given_up: frozenset[str] = frozenset()
    """Bots that are not to be started."""


class Began(NamedTuple):
    """A game is on."""

    id: str
    worker: int
    """The process that plays it."""


class Finished(NamedTuple):
    """A game came to its end."""

    record: dict[str, Any]
    dialogue: str
    """What passed between the referee and its bots, if it is to be kept."""


class Void(NamedTuple):
    """The referee itself failed at a game: a fault of ours, not of a bot's."""

    id: str
    attempt: int
    error: str


class Remains(NamedTuple):
    """A bot left something behind; all of it was ended."""

    bot: str
    found: str
    """Its processes, for people."""


Report = Began | Finished | Void | Remains


def play_task(task: Task, report: Callable[[Report], None], stopping: Callable[[], bool]) -> None:
    """Plays a task's games in their order, and stops between two of them when it is asked to."""
    entrants = [task.plan.entrant(name) for name in task.games[0][0].bots]
    bots = [entrant.bot for entrant in entrants]
    fresh = {entrant.bot.name for entrant in entrants if entrant.fresh}
    transcript = Transcript()
    tap = None if task.keep == "nothing" else transcript
    left = list(task.games)

    def games() -> Iterator[Terms]:
        for pairing, _ in list(left):
            if stopping():
                return
            transcript.clear()
            report(Began(pairing.id, os.getpid()))
            yield task.plan.terms(pairing)

    def on_exit(bot: str, exit_report: ExitReport) -> None:
        if found := remains(exit_report):
            report(Remains(bot, ", ".join(process for group in found.values() for process in group)))

    while left and not stopping():
        try:
            for record in play_encounter(
                bots,
                games(),
                tap=tap,
                start_us=task.plan.start_us,
                fresh=fresh,
                given_up=task.given_up,
                on_exit=on_exit,
            ):
                value = to_json(replace(record, attempt=left.pop(0)[1]))
                wanted = task.keep == "all" or (task.keep == "faults" and any(faults(record)))
                report(Finished(value, transcript.text() if wanted else ""))
        except (Stopped, StorageError):
            raise  # only where tasks are played in the referee's own process
        except Exception:
            # Nobody's game is lost for it: it is played again, and the next one gets fresh processes.
            pairing, attempt = left.pop(0)
            report(Void(pairing.id, attempt, traceback.format_exc(limit=-8)))


class Transcript:
    """A tap that keeps the beginning and the end of what passes, as it is: most of it is never read."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self._head: list[tuple[int, str, str, bytes]] = []
        self._tail: deque[tuple[int, str, str, bytes]] = deque()
        self._head_size = self._tail_size = 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what a bot is told or says."""
        passed = (time.monotonic_ns(), name, direction, data)
        if self._head_size + len(data) <= DIALOGUE_CAP:
            self._head.append(passed)
            self._head_size += len(data)
            return
        self._tail.append(passed)
        self._tail_size += len(data)
        while self._tail_size > DIALOGUE_CAP:
            self._tail_size -= len(self._tail.popleft()[3])

    def text(self) -> str:
        """The dialogue, a line a line."""
        lines: list[str] = []
        passed = [*self._head, *self._tail]
        dialogue = Dialogue(lines.append, passed[0][0] if passed else 0)
        for now_ns, name, direction, data in passed:
            dialogue.take(now_ns, name, direction, data)
        return "\n".join(lines)


class _Inline(Executor):
    """Plays in this process, at once: for debugging, and for tests that watch."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future is done when it is given back."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Workers:
    """So many workers, or none at all: then tasks are played when they are submitted."""

    def __init__(
        self, count: int, pin: bool, take: Callable[[Report], None], stopping: Callable[[], bool]
    ) -> None:
        self._take = take
        self._stopping = stopping
        self._executor: Executor
        if count == 0:
            self.room = 1
            self._executor = _Inline()
            return
        # One more than can be played at a time, so that no worker waits for its next task.
        self.room = count + 1
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
            for arrival in [self._executor.submit(_arrive) for _ in range(count)]:
                arrival.result()
            self._staff = set(multiprocessing.active_children()) - others
        except BaseException:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            # With the workers' ends closed here, their death is the end of what they report.
            sender.close()
            mortal.close()

    @property
    def _inline(self) -> bool:
        return isinstance(self._executor, _Inline)

    def submit(self, task: Task) -> Future[None]:
        """Plays a task as soon as a worker is free."""
        if self._inline:
            return self._executor.submit(play_task, task, self._take, self._stopping)
        return self._executor.submit(_serve, task)

    def listen(self, seconds: float) -> None:
        """Takes the reports that are there, and waits for the first one if there are none."""
        while not self._inline and self._reports.poll(seconds):
            try:
                report = self._reports.recv()
            except (EOFError, OSError):
                time.sleep(seconds)  # all workers are gone, one perhaps in the midst of a report
                return
            self._take(report)
            seconds = 0

    def stop(self) -> None:
        """Asks the workers to stop after the game that is on."""
        if not self._inline:
            self._stop.set()

    def close(self) -> None:
        """Ends everything that is still on, at once."""
        if not self._inline:
            self._lifeline.close()
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._reports.close()

    def casualties(self) -> set[int]:
        """Ends everything too, and says which workers had not gone because they were told to."""
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
    """Where the workers wait for each other at the beginning."""


_shared: _Shared


def _begin(shared: _Shared) -> None:
    """In a worker process, before its first task."""
    global _shared
    _shared = shared
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


def _arrive() -> None:
    """In a worker process: waits until all are there, so that each got one of these."""
    _shared.everybody.wait(ARRIVAL_S)


def _end(*_: object) -> None:
    """Ends this worker; its bots end with it, since their wardens see it go."""
    os._exit(Stopped.exit_code)


def _serve(task: Task) -> None:
    """In a worker process: plays a task."""
    play_task(task, _report, _shared.stop.is_set)


def _report(report: Report) -> None:
    with _shared.lock:
        _shared.reports.send(report)
