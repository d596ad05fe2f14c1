"""One bot's process: its pipes, its stderr, its death. Knows nothing of the protocol."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from typing import ClassVar

from referee.bots import Bot

READ_SIZE = 4096
"""So little at a time that what one bot pours out does not hold up the reading of another's answer."""

STDERR_READ_SIZE = 65_536
"""A pipe's usual capacity; nothing of it is looked at."""

GRACE_S = 0.5
"""After `quit` and the end of its input a bot has so long to exit by itself …"""

TERM_S = 0.2
"""… and so long after SIGTERM; then comes SIGKILL."""

UNKILLABLE_S = 5.0
"""A process that SIGKILL does not end within this time hangs in the kernel; nobody waits for it."""

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


class BotProcess:
    """A bot that was started, in a session and process group of its own.

    Raises `OSError` where it cannot be started.
    """

    _living: ClassVar[set[BotProcess]] = set()
    """Those that were not reaped yet."""

    def __init__(self, bot: Bot) -> None:
        self._popen = subprocess.Popen(
            bot.argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=bot.cwd,
            env=bot.environment(),
            start_new_session=True,
        )
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self.stdin = self._popen.stdin.fileno()
        self.stdout = self._popen.stdout.fileno()
        self.stderr = self._popen.stderr.fileno()
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        self.stderr_open = True
        self._living.add(self)
        self.complaints = Keep()
        """What came on stderr since the last `cut`."""

    def read(self) -> bytes | None:
        """What there is on stdout: None if nothing yet, empty at its end."""
        try:
            return os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how much. Raises `BrokenPipeError`."""
        try:
            return os.write(self.stdin, data)
        except BlockingIOError:
            return 0

    def drain_stderr(self) -> None:
        """Takes one chunk of stderr, if there is one."""
        if not self.stderr_open:
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
        """How it ended, for people; None while it lives. It stays a zombie until `end`, so that its
        process group cannot become another's.
        """
        if self._popen.returncode is not None:
            return _status(self._popen.returncode)
        if not hasattr(os, "waitid"):  # macOS before Python 3.13: it is reaped here
            code = self._popen.poll()
            return None if code is None else _status(code)
        try:
            result = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"
        if result is None:
            return None
        return _status(result.si_status if result.si_code == os.CLD_EXITED else -result.si_status)

    def how_it_ended(self) -> str | None:
        """`exit_status`, given a moment: a pipe's end is often seen before the exit."""
        patience = time.monotonic() + 0.05
        while (status := self.exit_status()) is None and time.monotonic() < patience:
            time.sleep(0.001)
        return status

    def signal_group(self, number: signal.Signals) -> None:
        """Sends a signal to the bot and all that it started, unless they left its group."""
        if self._popen.returncode is not None and hasattr(os, "waitid"):
            return
        assert self._popen.pid > 1  # killpg(1) and killpg(0) would reach others
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)

    def close_input(self) -> None:
        """Ends the bot's stdin."""
        if self._popen.stdin:
            self._popen.stdin.close()

    @classmethod
    def kill_all(cls) -> None:
        """Kills every group that was started and not reaped, without waiting: somebody is in a hurry."""
        for process in list(cls._living):
            process.signal_group(signal.SIGKILL)

    def reap(self) -> None:
        """Kills what is left of the group and lets go of everything."""
        self._living.discard(self)
        self.signal_group(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(UNKILLABLE_S)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe:
                pipe.close()


def end_processes(processes: Iterable[BotProcess], grace_s: float = GRACE_S) -> None:
    """Ends bots together: no more input, a moment to exit, SIGTERM, a moment more, SIGKILL to the group."""
    ending = list(processes)
    try:
        for process in ending:
            process.close_input()
        if not _gone_within(ending, grace_s):
            for process in ending:
                process.signal_group(signal.SIGTERM)
            _gone_within(ending, TERM_S)
    finally:
        for process in ending:
            process.reap()


def _gone_within(processes: list[BotProcess], seconds: float) -> bool:
    """Waits until all have exited, reading what they still write so that no full pipe holds them up."""
    patience = time.monotonic() + seconds
    while True:
        living = [process for process in processes if process.exit_status() is None]
        if not living:
            return True
        if time.monotonic() > patience:
            return False
        for process in living:
            process.read()
            process.drain_stderr()
        time.sleep(0.001)


def _status(code: int) -> str:
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
