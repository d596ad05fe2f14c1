"""A worker process: plays the tasks that it is sent, and ends with the referee."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from enum import Enum
from queue import SimpleQueue

from referee.core.errors import Stopped
from referee.core.stop import SIGNALS
from referee.processes import libc
from referee.processes.adoption import adopt, end_adopted, end_all_adopted
from referee.processes.launcher import Launcher
from referee.tournament.workers.message_socket import MalformedMessage, MessageSocket
from referee.tournament.workers.task import Player, Task, Waiting


class WorkerOrder(Enum):
    """The orders to a worker, apart from tasks."""

    STOP = "stop after the current game"
    END_IDLE_BOTS = "end the idle bots"


class WorkerSignal(Enum):
    """The messages of a worker, apart from its reports."""

    ALIVE = "it is not blocked"
    DONE = "it has done what it was told"


class Worker:
    """The state of a worker process."""

    def __init__(self, message_socket: MessageSocket, label: str) -> None:
        self._message_socket = message_socket
        self._orders: SimpleQueue[Task | WorkerOrder] = SimpleQueue()
        self._stopping = threading.Event()
        self._player = Player(message_socket.send, self._stopping.is_set, self._report_alive, worker=label)

    def run(self) -> None:
        """Obeys orders until the referee is gone."""
        threading.Thread(target=self._take_orders, daemon=True).start()
        while True:
            order = self._orders.get()
            if isinstance(order, Task):
                self._player.play(order)
            else:
                self._player.close()
            end_all_adopted(Launcher.family())
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
        end_adopted(Launcher.family())
        self._message_socket.send(waiting or WorkerSignal.ALIVE)


def main(descriptor: int, core: int | None, name: str, label: str) -> None:
    """Runs a worker that is connected to the referee by this socket, on this core if one is given; `name` is
    in the names of all scratch folders of its bots, `label` is what records call it.
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
    Worker(MessageSocket(socket.socket(fileno=descriptor), waits=True), label).run()
