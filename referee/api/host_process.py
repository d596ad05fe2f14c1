"""The process of a host: performs an order, and ends when its caller is gone."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import traceback
from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any

from referee.api.hosting import END_S, Channel, Done, Failed, Order
from referee.core.errors import RefereeError
from referee.core.stop import Interrupted, Interruptible, ignore_signals, take_signals
from referee.processes.launcher import Launcher
from referee.processes.message_socket import MalformedMessage, MessageSocket

_LOOK_S = 0.1  # how often what could not be sent yet is tried again


class HostChannel(Channel):
    """The channel over the host's socket."""

    def __init__(self, message_socket: MessageSocket) -> None:
        """The socket does not block: a caller that reads nothing for a while does not hold up the games."""
        self._socket = message_socket
        self._sending = threading.Lock()
        self._received: SimpleQueue[Any] = SimpleQueue()

    def send(self, message: object) -> None:
        """Sends any value that can be pickled, as soon as there is room for it."""
        with self._sending:
            self._socket.send(message)

    def receive(self) -> Any:
        """The next message of the caller; waits for it."""
        return self._received.get()

    @property
    def has_message(self) -> bool:
        """Whether a message of the caller waits to be received."""
        return not self._received.empty()

    def flush(self) -> None:
        """Waits until all is sent, or the caller is gone."""
        while self._socket.has_unsent:
            select.select([], [self._socket], [], _LOOK_S)
            with self._sending:
                self._socket.flush()

    def watch(self, caller: int) -> None:
        """Runs in a thread: receives messages; when the caller is gone, interrupts the main thread. `caller`
        is a descriptor of its process, -1 where the system has none: what the caller has forked may hold its
        end of the socket open.
        """
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        if caller >= 0:
            poll.register(caller, select.POLLIN)
        with contextlib.suppress(MalformedMessage):
            while self._socket.is_open:
                ready = {descriptor for descriptor, _ in poll.poll(_LOOK_S * 1000)}
                if caller in ready:
                    break
                if ready:
                    for message in self._socket.receive():
                        self._received.put(message)
                elif self._socket.has_unsent:
                    with self._sending:
                        self._socket.flush()
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(END_S)
        os._exit(1)  # workers notice, and end their bots


def main(descriptor: int, held: Iterable[int]) -> None:
    """Runs a host that is connected to its caller by this socket; `held` are descriptors that it holds open,
    and none of its children.
    """
    for one in (descriptor, *held):
        os.set_inheritable(one, False)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the caller
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    take_signals()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for the command line
    caller = -1
    with contextlib.suppress(OSError, AttributeError):  # not every system has it
        caller = os.pidfd_open(os.getppid())
    message_socket = MessageSocket(socket.socket(fileno=descriptor), waits=False)
    channel = HostChannel(message_socket)
    try:
        with Interruptible():
            threading.Thread(target=channel.watch, args=(caller,), daemon=True).start()
            _perform(channel)
            channel.flush()
    except Interrupted:
        pass
    finally:
        ignore_signals()
    Launcher.close()
    message_socket.shut_down()
    os._exit(0)  # the thread that watches is of no more use


def _perform(channel: Channel) -> None:
    try:
        order: Order = channel.receive()
        order.perform(channel)
    except RefereeError as error:
        channel.send(Failed(error))
    except Exception:
        channel.send(Failed(RefereeError(f"the referee itself failed:\n{traceback.format_exc()}")))
    else:
        channel.send(Done())
