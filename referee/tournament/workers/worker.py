"""A worker process: plays the tasks that it is sent as messages over a socket, and ends with the referee."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from queue import SimpleQueue

from referee.core.errors import EnvironmentLacksError, Stopped, StorageError
from referee.core.pairing import Pairing
from referee.core.stop import SIGNALS
from referee.core.text import shown
from referee.gameplay.terms import Terms
from referee.live.feed import Feed
from referee.processes import libc
from referee.processes.launcher import Launcher
from referee.processes.message_socket import MalformedMessage, MessageSocket
from referee.processes.process import ExitReport
from referee.processes.tree import adopt, kill_all_children, kill_children
from referee.records.journal import body_of
from referee.records.record import (
    BY_REFEREE,
    LABEL_CAP,
    GameRecord,
    bot_totals,
    summary_of,
    timed_moves,
    to_json,
)
from referee.tournament.plan import Plan
from referee.tournament.workers.encounter import (
    IDLE_PER_SEAT,
    Hooks,
    IdleBots,
    ProcessUse,
    end_and_report,
    names_left,
    play_encounter,
)
from referee.tournament.workers.task import (
    Began,
    Finished,
    IgnoredQuit,
    LeftBehind,
    Observer,
    Report,
    Task,
    Void,
    Waiting,
)
from referee.wire.dialogue import STDERR, Dialogue, Tap
from referee.wire.process_wire import Waited

DIALOGUE_CAP = 65_536
"""Characters of a game's dialogue that are kept from its beginning, and as many from its end."""


class WorkerOrder(Enum):
    """The orders to a worker, apart from tasks."""

    STOP = "stop after the current game"
    END_IDLE_BOTS = "end the idle bots"


class WorkerSignal(Enum):
    """The messages of a worker, apart from its reports."""

    ALIVE = "it is not blocked"
    DONE = "it has done what it was told"


class Player:
    """Plays tasks one after the other, and keeps bot processes between them where that is configured."""

    def __init__(
        self,
        report: Callable[[Report], None],
        stopping: Callable[[], bool],
        report_alive: Callable[[Waiting | None], None] = lambda waiting: None,
        observer: Observer | None = None,
        worker: str = BY_REFEREE,
        feed: Feed | None = None,
    ) -> None:
        """`report` is called at once for each report, `report_alive` now and then during a game, and
        `stopping` between games. `worker` is the name of this worker in records. `feed` is told of the games.
        """
        self._observer = observer
        self._feed = feed or Feed()
        self._report = report
        self._stopping = stopping
        self._report_alive = report_alive
        self._game = ""  # the id of the game that is played
        self._worker = shown(worker, LABEL_CAP)[:LABEL_CAP]
        self._transcript = Transcript()
        self._idle = IdleBots()

    def play(self, task: Task) -> None:
        """Plays a task's games in their order; stops between two games when asked to."""
        left = list(task.games)
        while left and not self._stopping():
            try:
                for record in self._games(task, left):
                    self._finish(replace(record, attempt=left.pop(0)[1]), task.keep)
            except StorageError:
                raise  # only where tasks are played in the referee's own process
            except Exception as error:
                # No bot loses by it: the game is played again, and the next one gets new processes.
                pairing, attempt = left.pop(0)
                known = isinstance(error, EnvironmentLacksError)
                what = str(error) if known else traceback.format_exc(limit=-8)
                self._report(Void(pairing.id, attempt, what, task.suspects(error)))
        end_and_report(self._idle.pop_beyond(IDLE_PER_SEAT * task.plan.seats), self._on_exit)

    def close(self) -> None:
        """Ends the idle processes."""
        end_and_report(self._idle.pop_beyond(0), self._on_exit)

    def _games(self, task: Task, left: list[tuple[Pairing, int]]) -> Iterator[GameRecord]:
        entrants = task.plan.entrants
        return play_encounter(
            [entrant.bot for entrant in entrants],
            self._terms(task.plan, [pairing for pairing, _ in left]),
            self._observer.show if self._observer else None,
            self._tap(task.keep),
            task.plan.start_us,
            ProcessUse(
                fresh={entrant.bot.name for entrant in entrants if entrant.processes == "game"},
                reused={entrant.bot.name for entrant in entrants if entrant.processes == "worker"},
                idle=self._idle,
                failures=task.failures,
                patient=self._observer is not None and self._observer.patient,
            ),
            Hooks(self._on_exit, self._on_wait, feed=self._feed),
        )

    def _tap(self, keep: str) -> Tap | None:
        taps = [*self._observer.taps] if self._observer else []
        if keep != "nothing":
            taps.append(self._transcript.__call__)  # of all that passes: a method is called twice as fast
        if len(taps) < 2:
            return taps[0] if taps else None

        def tap(name: str, direction: str, data: bytes) -> None:
            for each in taps:
                each(name, direction, data)

        return tap

    def _terms(self, plan: Plan, pairings: list[Pairing]) -> Iterator[Terms]:
        for pairing in pairings:
            if self._stopping():
                return
            self._transcript.clear()
            self._game = pairing.id
            self._report(Began(self._game))
            yield plan.terms(pairing)

    def _finish(self, record: GameRecord, keep: str) -> None:
        value = to_json(record)
        value["measured"]["machine"] = {**record.measured["machine"], "worker": self._worker}
        wanted = keep == "all" or (keep == "faults" and any(record.faults))
        dialogue = self._transcript.text() if wanted else ""
        self._report(
            Finished(summary_of(record), body_of(value), timed_moves(value), bot_totals(value), dialogue)
        )

    def _on_wait(self, waited: Waited | None) -> None:
        self._report_alive(Waiting(self._game, waited) if waited else None)
        self._feed.look(waited.waited_us if waited else 0)

    def _on_exit(self, bot: str, exit_report: ExitReport) -> None:
        if names := names_left(exit_report):
            self._report(LeftBehind(bot, names))
        if exit_report.ignored_quit:
            self._report(IgnoredQuit(bot))


class Transcript:
    """A tap that keeps the first and last bytes of a dialogue, unformatted: most of it is never read."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets the dialogue so far."""
        self._head: list[tuple[int, str, str, bytes]] = []
        self._tail: deque[tuple[int, str, str, bytes]] = deque()
        self._head_room, self._tail_size = DIALOGUE_CAP, 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes bytes that were sent to a bot or came from it; its stderr is in the record."""
        if direction == STDERR:
            return
        chunk = (time.monotonic_ns(), name, direction, data)
        room = self._head_room = self._head_room - len(data)
        if room >= 0:
            self._head.append(chunk)
            return
        self._tail.append(chunk)
        self._tail_size += len(data)
        while self._tail_size > DIALOGUE_CAP:
            self._tail_size -= len(self._tail.popleft()[3])

    def text(self) -> str:
        """The dialogue as lines of text."""
        lines: list[str] = []
        chunks = [*self._head, *self._tail]
        dialogue = Dialogue(lines.append, chunks[0][0] if chunks else 0)
        for now_ns, name, direction, data in chunks:
            dialogue.take(now_ns, name, direction, data)
        dialogue.close(chunks[-1][0] if chunks else 0)
        return "\n".join(lines)


class Worker:
    """The state of a worker process."""

    def __init__(self, message_socket: MessageSocket, label: str, feed: Feed) -> None:
        self._message_socket = message_socket
        self._orders: SimpleQueue[Task | WorkerOrder] = SimpleQueue()
        self._stopping = threading.Event()
        self._player = Player(
            message_socket.send, self._stopping.is_set, self._report_alive, worker=label, feed=feed
        )

    def run(self) -> None:
        """Obeys orders until the referee is gone."""
        threading.Thread(target=self._take_orders, daemon=True).start()
        while True:
            order = self._orders.get()
            if isinstance(order, Task):
                self._player.play(order)
            else:
                self._player.close()
            kill_all_children(Launcher.family())
            self._message_socket.send(WorkerSignal.DONE)

    def _take_orders(self) -> None:
        """Runs in a thread: receives orders, and exits at once when the referee is gone."""
        with contextlib.suppress(MalformedMessage):
            while self._message_socket.is_open:
                for order in self._message_socket.receive():
                    if order is WorkerOrder.STOP:
                        self._stopping.set()
                    else:
                        self._orders.put(order)
        os._exit(Stopped.exit_code)  # its wardens notice, and end its bots

    def _report_alive(self, waiting: Waiting | None) -> None:
        """Ends orphans and reports that it is alive, or what it waits for; called now and then while a game
        is played.
        """
        kill_children(Launcher.family())
        self._message_socket.send(waiting or WorkerSignal.ALIVE)


def main(descriptor: int, core: int | None, name: str, label: str, slots: str, slot: str) -> None:
    """Runs a worker that is connected to the referee by this socket, on this core if one is given; `name` is
    in the names of all scratch folders of its bots, `label` is what records call it. What it plays is told in
    this slot of the folder `slots`.
    """
    Launcher.use_name(name)
    libc.hide()
    adopt(orphans=True)
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # it may be stopped
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # meant for the referee
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if core is not None:
        os.sched_setaffinity(0, {core})
    feed = Feed(Path(slots) if slots else None, slot)
    Worker(MessageSocket(socket.socket(fileno=descriptor), waits=True), label, feed).run()
