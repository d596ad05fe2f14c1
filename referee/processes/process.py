"""One bot's process: its streams, its exit, its limits. Knows nothing of the protocol."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from referee.processes import cpu, launcher, warden
from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport, exceeded, status_text
from referee.processes.streams import READ_SIZE, Pipes
from referee.processes.warden import Request

if TYPE_CHECKING:
    from referee.processes.pty import Terminal

STDERR_READ_SIZE = 65_536
"""A pipe's usual capacity; nothing of it is looked at."""

STATUS_S = 0.1
"""A pipe's end is often seen before the exit, which is waited for so many seconds."""

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


class Start:
    """A bot whose start was asked for: several bots are started at the same time by asking for all of them
    before the first is waited for.

    Raises `OSError` where its streams cannot be made, `EnvironmentLacksError` where no bot can be started.
    """

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.streams = _streams(bot)
        try:
            self.stderr, self._its_stderr = os.pipe()
        except BaseException:
            self.streams.close_its_ends()
            self.streams.close()
            raise
        its = {
            "stdin": self.streams.its_stdin,
            "stdout": self.streams.its_stdout,
            "stderr": self._its_stderr,
        }
        try:
            self._asked = launcher.Asked(_request(bot, self.streams.is_terminal), its)
        except BaseException:
            self._close()
            raise

    def wait(self) -> launcher.Started:
        """The bot that was started. Raises `OSError`, `EnvironmentLacksError`."""
        try:
            started = self._asked.wait()
        except BaseException:
            self._close()
            raise
        self._close_its_ends()
        return started

    def cancel(self) -> None:
        """The bot is not wanted any more."""
        self._asked.cancel()
        self._close()

    def _close_its_ends(self) -> None:
        self.streams.close_its_ends()
        os.close(self._its_stderr)

    def _close(self) -> None:
        self._close_its_ends()
        os.close(self.stderr)
        self.streams.close()


class BotProcess:
    """A bot that was started, in a session and process group of its own.

    Raises `OSError` where it cannot be started, `EnvironmentLacksError` where nothing can be.
    """

    def __init__(self, bot: Bot, start: Start | None = None) -> None:
        """`start`: the bot's start, where that was asked for before."""
        start = start or Start(bot)
        self._limits = bot.limits
        self._started = start.wait()
        self._streams = start.streams
        self.stderr = start.stderr
        os.set_blocking(self.stderr, False)
        self._control = self._started.control
        self._control.setblocking(False)
        self.control_open = True
        """Whether more may be heard from its warden."""
        self.pid = self._started.pid
        self.clock = cpu.TreeClock(self._started.warden, self.pid) if cpu.AVAILABLE else None
        self.stamped = self._streams.stamped
        """Whether the kernel notes when it wrote."""
        self.stdout = self._streams.stdout
        self.stdout_open = self.stderr_open = True
        self.complaints = Keep()
        """What came on stderr since the last `cut`."""
        self.excess = ""
        """Which of its limits it exceeded; it was ended for that."""
        self.final_output = b""
        """What it wrote when its input was closed, or the beginning of that."""
        self.terminated = False
        """Whether it was sent SIGTERM."""
        self.exit_report: ExitReport | None = None
        """What is known of all its processes; None until all have ended."""
        self.exit_code: int | None = None
        """As `subprocess` counts it; None while it lives, and where nobody knows."""
        self._status: str | None = None
        self._notices = b""
        """What its warden said, as far as it is no whole line yet."""
        self._found: dict[str, list[str]] = {warden.ORPHAN: [], warden.ESCAPED: [], warden.UNKILLABLE: []}
        """What its warden has said so far of processes that were left."""
        self._told_to_kill = False

    @property
    def stdin(self) -> int:
        """The descriptor on which it is written to; -1 when that was closed."""
        return self._streams.stdin

    @property
    def control(self) -> int:
        """The descriptor on which its exit is heard of."""
        return self._control.fileno()

    def read(self) -> bytes | None:
        """What there is on stdout: None if nothing yet, empty at its end."""
        data = self._streams.read()
        if data == b"":
            self.stdout_open = False
        return data

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how much. Raises `BrokenPipeError`."""
        return self._streams.write(data)

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
        while (status := self.exit_status()) is None and (rest := deadline - time.monotonic()) > 0:
            launcher.heard_within(self._control, rest)
        return status

    def listen(self) -> None:
        """Takes the notices that have come from its warden."""
        if not self.control_open:
            return
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
                self._take(line.decode("unicode_escape"))
            except (ValueError, KeyError):
                self.control_open = False  # somebody else wrote to the warden's socket
                break
        if not self.control_open and self.exit_report is None:
            self._status = self._status or "ended the process that watches over it"
            self.exit_report = ExitReport(self._status)

    def _take(self, notice: str) -> None:
        """Takes one notice. Raises `ValueError` or `KeyError` where it is none."""
        word, _, rest = notice.partition(" ")
        if word == warden.EXITED:
            self.exit_code = int(rest)
            self._status = status_text(self.exit_code)
            self.excess = self.excess or exceeded(self.exit_code, self._limits)
        elif word == warden.EXCEEDED:
            self.excess = self.excess or rest
        elif word == warden.ENDED:
            cpu_us, memory_bytes = map(int, rest.split())
            self._status = self._status or status_text(-signal.SIGKILL)
            orphans, escaped, unkillable = map(tuple, self._found.values())
            self.exit_report = ExitReport(self._status, orphans, escaped, unkillable, cpu_us, memory_bytes)
        else:
            self._found[word].append(rest)

    def hear_final_output(self) -> None:
        """Takes what it still writes, so that no full pipe holds it up; the beginning of it is kept."""
        if self.stdout_open:
            self.final_output = (self.final_output + (self.read() or b""))[:READ_SIZE]
        self.drain_stderr()

    def terminate(self) -> None:
        """Sends SIGTERM to the bot and all that it started, unless it left the bot's group."""
        self.terminated = True
        with contextlib.suppress(OSError):
            self._control.send(warden.TERMINATE)

    def close_input(self) -> None:
        """Ends the bot's stdin."""
        self._streams.close_input()

    def kill(self) -> None:
        """Has all of it killed, without waiting for that."""
        if not self._told_to_kill:
            self._told_to_kill = True
            with contextlib.suppress(OSError):
                self._control.send(warden.KILL)
        if self.exit_report is None:
            launcher.wake(self._started.warden)

    def reap(self) -> ExitReport:
        """Waits until it was killed, and lets go of everything."""
        self.kill()
        deadline = time.monotonic() + warden.UNKILLABLE_S + 1
        while self.exit_report is None and time.monotonic() < deadline:
            launcher.heard_within(self._control, 0.05)
            self.listen()
            if self.exit_report is None:
                launcher.wake(self._started.warden)  # its bot may go on stopping it
        if self.exit_report is None:
            # It has not let go of its socket, so it is still the one; its bot goes with it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._started.warden, signal.SIGKILL)
            self.exit_report = ExitReport("cannot be ended", unkillable=(f"pid {self.pid}",))
        self._let_go(self.exit_report)
        return self.exit_report

    def _let_go(self, report: ExitReport) -> None:
        """Closes its streams; its warden may serve the next bot if nothing of this one is left."""
        if self.control_open and not report.unkillable:
            self._control.setblocking(True)
            self._started.launcher.take_back(self._control)
        else:
            self._control.close()
        self.control_open = False
        self._streams.close()
        os.close(self.stderr)


def _streams(bot: Bot) -> Pipes | Terminal:
    if not bot.pty:
        return Pipes()
    from referee.processes.pty import Terminal  # few bots need pexpect

    return Terminal()


def _request(bot: Bot, is_terminal: bool) -> Request:
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
    return Request(
        argv=bot.argv,
        cwd=str(bot.cwd),
        env=bot.environment(),
        is_terminal=is_terminal,
        limits=hard,
        memory_bytes=limits.memory,
        processes=limits.processes,
    )
