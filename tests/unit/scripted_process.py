"""A bot without a process: its pipes are real, and a test is at their other ends."""

from __future__ import annotations

import os
import socket
from typing import cast

from referee.processes import messages
from referee.processes.launcher import Launcher, StartedBot
from referee.processes.streams import Pipes

NOBODY = 1 << 30
"""A process id that no process has."""


class ScriptedPipes(Pipes):
    """The pipes of a bot that says hello and ready before the write returns that asks for it, and exits when
    its input is closed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.control, self.warden = socket.socketpair()
        """The socket to its warden, and the warden's end."""
        self.reads = True
        """Whether it reads its input; else the test does."""

    def write(self, data: bytes) -> int:
        count = super().write(data)
        for line in os.read(self.bot_stdin, len(data)).splitlines() if self.reads else ():
            word, *rest = line.split()
            if word == b"hello":
                self.say(b"hello 1\n")
            elif word == b"prepare":
                self.say(b"ready\n")
            elif word == b"ask":
                self.answer(rest[0])
        return count

    def answer(self, question: bytes) -> None:
        """Answers the question of this number; here the test does it."""

    def say(self, data: bytes) -> None:
        """Writes to its stdout."""
        os.write(self.bot_stdout, data)

    def close_input(self) -> None:
        if self.stdin >= 0:
            self.warden.send(f"{messages.EXITED} 0\n{messages.ENDED} 0 0\n".encode())
        super().close_input()


class ScriptedStart:
    """The start of a bot with these pipes, which succeeds at once."""

    def __init__(self, streams: ScriptedPipes) -> None:
        self.streams = streams
        self.stderr, self._bot_stderr = os.pipe()
        self._started = StartedBot(cast("Launcher", self), streams.control, NOBODY, os.getpid())

    def wait(self) -> StartedBot:
        return self._started

    def close_stderr(self) -> None:
        """As the bot does it."""
        os.close(self._bot_stderr)
        self._bot_stderr = -1

    def release(self, started: StartedBot, reusable: bool) -> None:
        """As its launcher: takes back what the bot had."""
        self.streams.close_bot_ends()
        if self._bot_stderr >= 0:
            self.close_stderr()
        self.streams.control.close()
        self.streams.warden.close()
