"""Processes that play for the caller of the API, each tied to it by a socket.

What plays bots adopts orphans, kills what they leave behind, and keeps others from looking into it. In the
caller's own process that would hit the caller's other children, threads and debuggers. So an order is
performed by a *host*: a process in a session of its own. When its caller closes the socket, exits or is
killed, the host ends everything that it started, and itself.
"""

from __future__ import annotations

import os
import pickle
import select
import socket
import subprocess
import sys
import weakref
from abc import abstractmethod
from collections import deque
from typing import Any, NamedTuple, Protocol

from referee.api.scratch_folder import ScratchFolder
from referee.core.errors import EnvironmentLacksError, RefereeError, UsageError
from referee.processes.message_socket import MessageSocket

END_S = 10.0
"""Seconds that a host has for ending what it started, before it is killed; the bots end nevertheless."""


class Channel(Protocol):
    """The host's end: messages from and to the caller, which are values that can be pickled."""

    @abstractmethod
    def send(self, message: object) -> None:
        """Sends a message, as soon as there is room for it."""

    @abstractmethod
    def receive(self) -> Any:
        """The next message of the caller; waits for it."""

    @property
    @abstractmethod
    def has_message(self) -> bool:
        """Whether a message of the caller waits to be received."""


class Order(Protocol):
    """What a host does for its caller. It is sent as a pickle."""

    @abstractmethod
    def perform(self, channel: Channel) -> None:
        """Runs in the host, in its main thread. A `RefereeError` that it raises is raised in the caller."""


class Failed(NamedTuple):
    """The last message of a host whose order could not be performed."""

    error: RefereeError


class Done(NamedTuple):
    """The last message of a host."""


class OrderDone(Exception):
    """The host has performed its order: there are no more messages."""


class HostedOrder:
    """The caller's end: an order that a host performs, which ends with this object."""

    def __init__(self, order: Order, held: ScratchFolder | None = None) -> None:
        """Starts it. A folder that is `held` is there until the host has ended. Raises
        `EnvironmentLacksError` where no process can be started.
        """
        descriptors = [held.holder] if held else []
        end, host_end = socket.socketpair()
        program = f"import sys; sys.path[:] = {sys.path}; from referee.api.host_process import main"
        try:
            with host_end:
                process = subprocess.Popen(
                    [sys.executable, "-c", f"{program}; main({host_end.fileno()}, {descriptors})"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[host_end.fileno(), *descriptors],
                    start_new_session=True,
                )
        except OSError as error:
            end.close()
            raise EnvironmentLacksError(f"cannot start a process that plays: {error.strerror}") from None
        self._socket = MessageSocket(end, waits=False)
        self._waiting: deque[Any] = deque()
        self._end = weakref.finalize(self, _end, os.getpid(), process, self._socket, held)
        try:
            self.send(order)
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """A descriptor that can be read when a message has come."""
        return self._socket.fileno()

    def send(self, message: object) -> None:
        """Sends any value that can be pickled. Raises `UsageError` where it cannot be."""
        try:
            self._socket.send(message)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(f"cannot be sent to another process: {error}") from None
        while self._socket.has_unsent:
            select.select([], [self._socket], [])
            self._socket.flush()

    def receive(self, seconds: float | None = None) -> Any:
        """The next message; waits for it, at most as long as is said.

        Raises `OrderDone` after the last one, `TimeoutError`, what the order raised, and
        `EnvironmentLacksError` where the host was killed.
        """
        if self._socket.fileno() < 0:
            raise OrderDone
        while not self._waiting:
            if not select.select([self._socket], [], [], seconds)[0]:
                raise TimeoutError
            self._waiting += self._socket.receive()
            if not self._waiting and not self._socket.is_open:
                self.close()
                raise EnvironmentLacksError("the process that plays was killed")
        match message := self._waiting.popleft():
            case Failed(error):
                self.close()
                raise error
            case Done():
                self.close()
                raise OrderDone
        return message

    def close(self) -> None:
        """Ends the host with everything that it started, and waits for that."""
        self._end()


def _end(
    owner: int, process: subprocess.Popen[bytes], message_socket: MessageSocket, held: ScratchFolder | None
) -> None:
    """Ends a host, where this process is its owner: a fork of it is not. The folder is `held` until then."""
    if os.getpid() == owner:
        message_socket.shut_down()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    message_socket.close()
