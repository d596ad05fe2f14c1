"""The referee's end of the program that starts bots: has them started, and keeps wardens that are free.

The program is `warden.py`, which see: whatever a bot starts ends with it, and all of it ends with the
referee, even where that is killed with -9. It is started when it is first needed, by each process that does.
A warden whose bot has ended is kept for the next one, so that most bots are started by a single fork.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from referee.core.errors import EnvironmentLacksError
from referee.processes import warden
from referee.processes.warden import Request

START_S = 60.0
"""A process that takes longer to be started means that the machine is not fit."""


FREE_MOST = 4
"""Wardens that are kept without a bot: as many as there are bots in most encounters."""


class Launcher:
    """The program, and the sockets of its wardens that have no bot."""

    _only: ClassVar[Launcher | None] = None

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._free: list[socket.socket] = []
        program = str(Path(__file__).with_name("warden.py"))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", program, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    @classmethod
    def get(cls) -> Launcher:
        """The launcher of this process. One that was killed is replaced, since its wardens need it."""
        if cls._only and cls._only._process.poll() is not None:
            cls.close()
        if cls._only is None:
            cls._only = cls()
            atexit.register(cls.close)
        return cls._only

    @classmethod
    def close(cls) -> None:
        """Ends the program; it outlives the last of its bots."""
        launcher, cls._only = cls._only, None
        if launcher:
            atexit.unregister(cls.close)
            while launcher._free:
                launcher._free.pop().close()
            launcher._socket.close()
            wake(launcher._process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                launcher._process.wait(warden.UNKILLABLE_S)

    def send(self, request: bytes, streams: list[int]) -> socket.socket:
        """Sends a request to a warden, and gives back its socket.

        Raises `BrokenPipeError` or `ConnectionResetError` where there is neither a warden nor a launcher.
        """
        while self._free:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                return _sent(self._free.pop(), request, streams)
        control, theirs = socket.socketpair()
        with theirs:  # with none left here, the end of the warden is heard
            try:
                wake(self._process.pid)
                socket.send_fds(self._socket, [warden.NEW_WARDEN], [theirs.fileno()])
            except BaseException:
                control.close()
                raise
        return _sent(control, request, streams)

    def take_back(self, control: socket.socket) -> None:
        """Keeps a warden whose bot has ended for the next one."""
        if self is Launcher._only and len(self._free) < FREE_MOST:
            self._free.append(control)
        else:
            control.close()


close_launcher = Launcher.close


class Started(NamedTuple):
    """A bot that was started."""

    launcher: Launcher
    control: socket.socket
    """The socket of its warden."""
    warden: int
    pid: int


class Asked:
    """A bot whose start was asked for; whether it succeeded is known after `wait`."""

    def __init__(self, request: Request, streams: Mapping[str, int]) -> None:
        """`streams` are the bot's ends of those in `warden.STREAMS`; they stay open until `wait` returned.

        Raises `EnvironmentLacksError` where no bot can be started.
        """
        self._request = request.encode()
        self._descriptors = [streams[name] for name in warden.STREAMS]
        self._sent = self._send()

    def _send(self) -> tuple[Launcher, socket.socket]:
        # The program that starts bots may have been killed.
        for _ in range(2):  # guard: killed-launcher
            launcher = Launcher.get()
            try:
                return launcher, launcher.send(self._request, self._descriptors)
            except (BrokenPipeError, ConnectionResetError):
                Launcher.close()
        raise EnvironmentLacksError("the program that starts bots does not live")

    def wait(self) -> Started:
        """The bot that was started.

        Raises `OSError` where this bot cannot be started, `EnvironmentLacksError` where none can be.
        """
        try:
            return _answer(*self._sent)
        except ConnectionResetError:
            Launcher.close()
            self._sent = self._send()
        try:
            return _answer(*self._sent)
        except ConnectionResetError:
            Launcher.close()
            raise EnvironmentLacksError("the program that starts bots does not live") from None

    def cancel(self) -> None:
        """Whatever was started is ended by its warden, since nobody is at the other end."""
        self._sent[1].close()


def _sent(control: socket.socket, request: bytes, streams: list[int]) -> socket.socket:
    try:
        sent = socket.send_fds(control, [request], streams)
        control.sendall(request[sent:])
    except BaseException:
        control.close()
        raise
    return control


def _answer(launcher: Launcher, control: socket.socket) -> Started:
    """Waits for the first notice of a warden, which comes when the program was executed.

    Raises `ConnectionResetError` where the warden ends instead.
    """
    notice = b""
    try:
        while not notice.endswith(b"\n"):
            if not heard_within(control, START_S):
                raise EnvironmentLacksError(f"no process was started within {START_S:.0f} s")
            found = control.recv(4096, socket.MSG_PEEK)
            if not found:
                raise ConnectionResetError
            # What comes after it is left for those who wait for it.
            notice += control.recv(found.find(b"\n") + 1 or len(found))
        word, *rest = notice.decode("unicode_escape").removesuffix("\n").split(" ", 2)
        if word == warden.REFUSED:
            raise OSError(int(rest[0]), os.strerror(int(rest[0])), rest[1])
        return Started(launcher, control, warden=int(rest[1]), pid=int(rest[0]))
    except BaseException:
        control.close()
        raise


def heard_within(control: socket.socket, seconds: float) -> bool:
    """Whether a warden says something in time. Not by select(2), which counts descriptors to 1023."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def wake(pid: int) -> None:
    """Lets a process go on that a bot may have stopped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)
