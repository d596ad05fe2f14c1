"""One bot's process: its pipes, its stderr, its death. Knows nothing of the protocol.

Bots are started by a program of their own, `warden.py`, which see: whatever a bot starts ends with it, and
all of it ends with the referee, even where that is killed with -9.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from referee.core.errors import EnvironmentLacksError
from referee.processes import cpu, stamped
from referee.processes.bot import Bot
from referee.processes.limits import Limits
from referee.processes.warden import HEAD, TERMINATE, UNKILLABLE_S

READ_SIZE = 4096
"""So little at a time that what one bot pours out does not hold up the reading of another's answer."""

STDERR_READ_SIZE = 65_536
"""A pipe's usual capacity; nothing of it is looked at."""

GRACE_S = 0.5
"""After `quit` and the end of its input a bot has so long to exit by itself …"""

TERM_S = 0.2
"""… and so long after SIGTERM; then comes SIGKILL."""

STATUS_S = 0.1
"""A pipe's end is often seen before the exit; so long an exit is waited for."""

SPAWN_S = 60.0
"""So long a process may take to be started; then the machine is not fit."""

_KEPT = 4096


class Keep:
    """Bytes of a stream: the first and the last of them, and how many there were."""

    def __init__(self) -> None:
        self.total = 0
        self._head = b""
        self._tail = b""

    def add(self, data: bytes) -> None:
        """Takes more of the stream."""
        self.total += len(data)
        room = _KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-_KEPT:]

    def text(self) -> str:
        """What was kept, with a line that says what is missing."""
        missing = self.total - len(self._head) - len(self._tail)
        middle = f"\n[… {missing} bytes …]\n".encode() if missing else b""
        return (self._head + middle + self._tail).decode("utf-8", "backslashreplace")


class Epitaph(NamedTuple):
    """What is known of a bot when nothing of it is left."""

    status: str
    """How its own process ended."""
    left: tuple[str, ...] = ()
    """What it had started and was still there when it had exited itself; ten at most are named."""
    escaped: tuple[str, ...] = ()
    """What had left its process group."""
    unkillable: tuple[str, ...] = ()
    """What hangs in the kernel and could not be ended."""
    cpu_us: int = 0
    """What all of its processes computed."""
    memory_bytes: int = 0
    """The peak of its largest process; some 10 MB are the floor, which the program that starts it takes."""


class _Nursery:
    """The program that starts bots; one for this process, started when it is first needed."""

    _only: ClassVar[_Nursery | None] = None

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        program = str(Path(__file__).with_name("warden.py"))
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", program, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()

    @classmethod
    def ask(cls, request: dict[str, Any], descriptors: list[int]) -> None:
        """Asks for a bot; a second time if the nursery was killed. Raises `EnvironmentLacksError`."""
        body = json.dumps(request).encode()
        data = HEAD.pack(len(body)) + body
        for _ in range(2):  # guard: killed-launcher
            if cls._only is None:
                cls._only = cls()
                atexit.register(cls.close)
            try:
                _wake(cls._only.process.pid)
                sent = socket.send_fds(cls._only.socket, [data], descriptors)
                cls._only.socket.sendall(data[sent:])
                return
            except (BrokenPipeError, ConnectionResetError):
                cls.close()
        raise EnvironmentLacksError("the program that starts bots does not live")

    @classmethod
    def close(cls) -> None:
        """Ends it; it outlives the last of its bots."""
        nursery, cls._only = cls._only, None
        if nursery:
            atexit.unregister(cls.close)
            nursery.socket.close()
            _wake(nursery.process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                nursery.process.wait(UNKILLABLE_S)


close_nursery = _Nursery.close


class BotProcess:
    """A bot that was started, in a session and process group of its own.

    Raises `OSError` where it cannot be started, `EnvironmentLacksError` where nothing can be.
    """

    is_terminal: ClassVar[bool] = False
    """Whether the bot's input and output are a terminal."""

    def __init__(self, bot: Bot) -> None:
        self.stamped = False
        """Whether the kernel notes when it wrote."""
        self.stdout_open = self.stderr_open = True
        self.complaints = Keep()
        """What came on stderr since the last `cut`."""
        self.excess = ""
        """Which of its limits it exceeded; it was ended for that."""
        self.farewell = b""
        """What it wrote when its input was closed, or the beginning of that."""
        self.terminated = False
        """Whether it had to be told to end."""
        self.epitaph: Epitaph | None = None
        """There when all of it was ended."""
        self.control_open = True
        self._limits = bot.limits
        self.exit_code: int | None = None
        """As `subprocess` counts it; None while it lives, and where nobody knows."""
        self._status: str | None = None
        self._notices = b""
        self._control, theirs = socket.socketpair()
        handed_over = [theirs.detach()]
        ours: list[int] = []
        try:
            self.stderr, its_stderr = os.pipe()
            handed_over.insert(0, its_stderr)
            ours.append(self.stderr)
            self.stdin, self.stdout, its = self._connect()
            handed_over[:0] = its
            ours += [self.stdin, self.stdout]
            for descriptor in ours:
                os.set_blocking(descriptor, False)
            _Nursery.ask(_request(bot, self.is_terminal), handed_over)
            while handed_over:  # with none left here, the end of who has them is heard
                os.close(handed_over.pop())
            started = self._hear_of_start()
        except BaseException:
            self._control.close()
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in handed_over:
                os.close(descriptor)
        self.pid: int = started["pid"]
        self._warden: int = started["warden"]
        self.clock = cpu.TreeClock(self._warden, self.pid) if cpu.AVAILABLE else None
        self._control.setblocking(False)

    def _connect(self) -> tuple[int, int, list[int]]:
        """Our ends of its input and output, and its own ends of both."""
        its_stdin, stdin = os.pipe()
        try:
            pipe = stamped.make()
        except OSError:
            os.close(its_stdin)
            os.close(stdin)
            raise
        self.stamped = pipe.stamped
        return stdin, pipe.read_end, [its_stdin, pipe.write_end]

    def _hear_of_start(self) -> dict[str, Any]:
        if not self._hears_within(SPAWN_S):
            raise EnvironmentLacksError(f"no process was started within {SPAWN_S:.0f} s")
        notice = self._control.recv(4096)
        if not notice:
            raise EnvironmentLacksError("the program that starts bots does not live")
        started: dict[str, Any] = json.loads(notice.partition(b"\n")[0])
        self._notices = notice.partition(b"\n")[2]
        if "errno" in started:
            raise OSError(started["errno"], os.strerror(started["errno"]), started["file"])
        return started

    def _hears_within(self, seconds: float) -> bool:
        """Whether its warden says something in time. Not by select(2), which counts descriptors to 1023."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    @property
    def control(self) -> int:
        """The descriptor on which its death is heard of."""
        return self._control.fileno()

    def read(self) -> bytes | None:
        """What there is on stdout: None if nothing yet, empty at its end."""
        try:
            data = os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None
        self.stdout_open = bool(data)
        return data

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how much. Raises `BrokenPipeError`."""
        try:
            return os.write(self.stdin, data)
        except BlockingIOError:
            return 0

    def drain_stderr(self) -> None:
        """Takes one chunk of stderr, if there is one."""
        if not self.stderr_open:  # guard: drain-of-stderr
            return
        try:
            data = os.read(self.stderr, STDERR_READ_SIZE)
        except BlockingIOError:
            return
        self.complaints.add(data)
        self.stderr_open = bool(data)

    def cut(self) -> Keep:
        """What came on stderr since the last cut."""
        self.drain_stderr()
        kept, self.complaints = self.complaints, Keep()
        return kept

    def exit_status(self) -> str | None:
        """How it ended, for people; None while it lives."""
        if self._status is None:
            self.listen()
        return self._status

    def how_it_ended(self) -> str | None:
        """`exit_status`, given a moment: a pipe's end is often seen before the exit."""
        deadline = time.monotonic() + STATUS_S
        while (status := self.exit_status()) is None and (left := deadline - time.monotonic()) > 0:
            self._hears_within(left)
        return status

    def listen(self) -> None:
        """Hears what its warden has to say, if it has."""
        try:
            while data := self._control.recv(4096):
                self._notices += data
            self.control_open = False
        except BlockingIOError:
            pass
        except OSError:
            self.control_open = False
        *lines, self._notices = self._notices.split(b"\n")
        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                self.control_open = False  # somebody else wrote to the warden's socket
                break
        if not self.control_open and self.epitaph is None:
            self._status = self._status or "ended the process that watches over it"
            self.epitaph = Epitaph(self._status)

    def _take(self, notice: dict[str, Any]) -> None:
        """One thing that its warden says."""
        if "status" in notice:
            self.exit_code = notice["status"]
            self._status = _status(notice["status"])
            self.excess = self.excess or _excess(-notice["status"], self._limits)
        elif "limit" in notice:
            self.excess = self.excess or notice["limit"]
        else:
            self._status = self._status or _status(-signal.SIGKILL)
            self.epitaph = Epitaph(
                self._status,
                tuple(notice["left"]),
                tuple(notice["escaped"]),
                tuple(notice["unkillable"]),
                notice["cpu_us"],
                notice["memory_bytes"],
            )

    def hear_farewell(self) -> None:
        """Takes what it still writes, so that no full pipe holds it up; the beginning of it is kept."""
        if self.stdout_open:
            self.farewell = (self.farewell + (self.read() or b""))[:READ_SIZE]
        self.drain_stderr()

    def terminate(self) -> None:
        """Sends SIGTERM to the bot and all that it started, unless it left the bot's group."""
        self.terminated = True
        with contextlib.suppress(OSError):
            self._control.send(TERMINATE)

    def close_input(self) -> None:
        """Ends the bot's stdin."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def kill(self) -> None:
        """Has all of it killed, without waiting for that."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        if self.epitaph is None:
            _wake(self._warden)

    def reap(self) -> Epitaph:
        """Waits until it was killed, and lets go of everything."""
        self.kill()
        deadline = time.monotonic() + UNKILLABLE_S + 1
        while self.epitaph is None and time.monotonic() < deadline:
            self._hears_within(0.05)
            self.listen()
            if self.epitaph is None:
                _wake(self._warden)  # its bot may go on stopping it
        if self.epitaph is None:
            # It has not let go of its socket, so it is still the one; its bot goes with it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._warden, signal.SIGKILL)
            self.epitaph = Epitaph("cannot be ended", unkillable=(f"pid {self.pid}",))
        self._control.close()
        self._close_streams()
        return self.epitaph

    def _close_streams(self) -> None:
        """Everything but its stdin, which `close_input` ended."""
        os.close(self.stdout)
        os.close(self.stderr)


def end_processes(processes: Iterable[BotProcess], grace_s: float = GRACE_S) -> None:
    """Ends bots together: no more input, a moment to exit, SIGTERM, a moment more, SIGKILL to all of it."""
    ending = list(processes)
    try:
        for process in ending:
            process.close_input()
        if not _gone_within(ending, grace_s):
            for process in ending:
                process.terminate()
            _gone_within(ending, TERM_S)
    finally:
        for process in ending:
            process.kill()
        for process in ending:
            process.reap()


def _gone_within(processes: list[BotProcess], seconds: float) -> bool:
    """Waits until all have exited, hearing what they still write."""
    deadline = time.monotonic() + seconds
    while True:
        living = [process for process in processes if process.exit_status() is None]
        for process in processes:  # who has just exited may have said something before
            process.hear_farewell()
        if not living:
            return True
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        poll = select.poll()
        for process in living:
            poll.register(process.control, select.POLLIN)
            if process.stdout_open:
                poll.register(process.stdout, select.POLLIN)
            if process.stderr_open:
                poll.register(process.stderr, select.POLLIN)
        poll.poll(left * 1000)


def _excess(number: int, limits: Limits) -> str:
    """Which limit a signal is sent for, where there is one."""
    if number == signal.SIGXCPU and limits.cpu is not None:
        return "more computing time than it may use"
    if number == signal.SIGXFSZ and limits.file_size is not None:
        return "a file of more bytes than it may have"
    return ""


def _request(bot: Bot, terminal: bool) -> dict[str, Any]:
    """A bot as its warden is told of it."""
    limits = bot.limits
    hard: dict[str, tuple[int, int]] = {"RLIMIT_CORE": (0, 0)}
    for name, value in (
        ("RLIMIT_DATA", limits.memory),
        ("RLIMIT_FSIZE", limits.file_size),
        ("RLIMIT_NOFILE", limits.open_files),
    ):
        if value is not None:
            hard[name] = (value, value)
    if limits.cpu is not None:
        hard["RLIMIT_CPU"] = (limits.cpu, limits.cpu + 1)  # SIGXCPU first, which says what it was
    return {
        "argv": bot.argv,
        "cwd": str(bot.cwd),
        "env": bot.environment(),
        "terminal": terminal,
        "limits": hard,
        "memory_bytes": limits.memory,
        "processes": limits.processes,
    }


def _wake(pid: int) -> None:
    """Lets a process go on that a bot may have stopped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)


def _status(code: int) -> str:
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
