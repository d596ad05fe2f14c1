"""What runs in a Dask worker: it passes orders on to the host of its machine, and answers back.

The functions here are what the referee submits to Dask. Their arguments and results are bytes, so that
nothing between the referee and the machine has to know what is in them.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from referee.cluster.orders import IN_PLAY, CancelTask
from referee.processes.launcher import wake
from referee.processes.message_socket import MalformedMessage, MessageSocket
from referee.tournament.workers.worker import WorkerSignal

SILENT_S = 60.0
"""Seconds without a sign of life after which a host that plays is killed; it gives one every second."""

END_S = 20.0  # seconds that a host may take to end

LOOK_S = 0.5  # seconds between two looks whether all is well while an answer is waited for

IDLE_S = 120.0
"""Seconds without an order after which a host is ended: its referee was killed, or has nothing for it."""


class HostEnded(Exception):
    """The host has ended, or the answer is no longer needed."""


class _Host:
    def __init__(self, tell_all: Callable[[bytes], None]) -> None:
        """Starts it; `tell_all` is called with what it says of the games in play, in a thread. Raises
        `HostEnded`.
        """
        self._tell_all = tell_all
        end, host_end = socket.socketpair()
        self._message_socket = MessageSocket(end, waits=True)
        self._sending = threading.Lock()
        self._answers: dict[str, SimpleQueue[bytes]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._silent_s = 0.0
        self._asked_s = time.monotonic()
        started = threading.Event()
        threading.Thread(target=self._listen, args=(host_end, started), daemon=True).start()
        started.wait()
        if self._process is None:
            raise HostEnded("it could not be started")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._message_socket.is_open

    @property
    def is_idle(self) -> bool:
        return not self._answers and time.monotonic() - self._asked_s > IDLE_S

    def tell(self, key: str, order: bytes) -> None:
        if self._process:
            wake(self._process.pid)  # one that is stopped would not take it
        with self._sending:
            self._message_socket.send((key, order))

    def ask(self, key: str, order: bytes, is_playing: bool, is_wanted: Callable[[], bool]) -> bytes:
        """Its answer to an order that may be one to play. Raises `HostEnded`."""
        answers = self._answers[key] = SimpleQueue()
        self._asked_s, self._silent_s = time.monotonic(), 0.0
        looked_s = time.monotonic()
        try:
            self.tell(key, order)
            while True:
                with contextlib.suppress(Empty):
                    return answers.get(timeout=LOOK_S)
                now_s = time.monotonic()
                # If more time has passed, this process was stopped itself.
                self._silent_s += min(now_s - looked_s, 2 * LOOK_S)
                looked_s = now_s
                self._look_after(key, is_playing, is_wanted)
        finally:
            del self._answers[key]
            self._asked_s = time.monotonic()

    def _look_after(self, key: str, is_playing: bool, is_wanted: Callable[[], bool]) -> None:
        if not self.is_running:
            raise HostEnded("it died")
        if not is_wanted():
            self.tell(key, pickle.dumps(CancelTask(key)))
            raise HostEnded("the answer is no longer needed")
        if self._process:
            wake(self._process.pid)  # a bot may have stopped it
        if is_playing and self._silent_s > SILENT_S:
            self.kill()
            raise HostEnded(f"it gave no sign of life for {SILENT_S:.0f} s, and was ended")

    def _listen(self, host_end: socket.socket, started: threading.Event) -> None:
        """Runs in a thread: starts the host, and receives its messages. The host ends with this thread."""
        program = f"from referee.cluster.host import main; main({host_end.fileno()})"
        with host_end, contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}; {program}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[host_end.fileno()],
                start_new_session=True,  # signals from a terminal are meant for the Dask worker
            )
        started.set()
        with contextlib.suppress(MalformedMessage):
            while self._process and self._message_socket.is_open:
                for message in self._message_socket.receive():
                    self._silent_s = 0.0
                    if message is not WorkerSignal.ALIVE:
                        key, answer = message
                        if key == IN_PLAY:
                            self._tell_all(answer)
                        elif answers := self._answers.get(key):
                            answers.put(answer)
        if self._process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)  # it ends its bots, and removes what they left
            self.kill()
            self._process.wait()

    def kill(self) -> None:
        """Kills the host: its workers notice, and their wardens end the bots."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Ends the host after the games in progress."""
        self._message_socket.shut_down()


TOPIC = "referee"
"""The topic of Dask's events that tell of games in play: one for all runs, since the scheduler keeps the last
1,000 of each.
"""

_hosts: dict[str, _Host] = {}  # the hosts that this process has started, by run

_starting = threading.Lock()


def ask(run: str, key: str, order: bytes, is_playing: bool) -> bytes:
    """The answer of the host of a run to an order, as bytes; the host is started if there is none.

    Runs as a task with this key in a thread of a Dask worker. Raises `HostEnded`.
    """
    with _starting:
        for other, host in [*_hosts.items()]:
            if host.is_idle and other != run:
                end(other)
        host = _hosts.get(run) or _hosts.setdefault(run, _Host(_teller(run)))
    try:
        return host.ask(key, order, is_playing, lambda: _is_wanted(key))
    except HostEnded:
        with _starting:
            if _hosts.get(run) is host and not host.is_running:
                del _hosts[run]
        raise


def _teller(run: str) -> Callable[[bytes], None]:
    """Passes on what the host of a run says of the games in play, with the address of this Dask worker."""
    from distributed import get_worker

    worker = get_worker()
    return lambda told: worker.log_event(TOPIC, [run, worker.address, told])


def tell(run: str, order: bytes) -> None:
    """Tells the host of a run something that it does not answer. Runs in the event loop of a Dask worker."""
    if host := _hosts.get(run):
        host.tell("", order)


def end(run: str) -> None:
    """Ends the host of a run, with all that it plays, without waiting for that."""
    if host := _hosts.pop(run, None):
        host.end()


def _is_wanted(key: str) -> bool:
    """Whether somebody waits for the result of a task: not where the referee was killed or gave it up."""
    from distributed import get_worker

    state = get_worker().state.tasks.get(key)
    return state is not None and state.state == "executing"
