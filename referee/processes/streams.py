"""A bot's input and output: two pipes, or a terminal for programs that buffer their output, or do not start,
without one.
"""

from __future__ import annotations

import os
import pty
import tty
from typing import ClassVar

from referee.processes import stamped

READ_SIZE = 4096
"""Bytes that are read at a time: few enough that a flood from one bot does not delay another's answer."""


class Pipes:
    """The pipes to a bot's stdin and from its stdout. Raises `OSError` where none can be made."""

    is_terminal: ClassVar[bool] = False

    def __init__(self) -> None:
        bot_stdin, stdin = os.pipe()
        try:
            pipe = stamped.make()
        except BaseException:
            os.close(bot_stdin)
            os.close(stdin)
            raise
        self.stdin = stdin  # the referee's end; -1 when it is closed
        self.stdout = pipe.read_end
        self.stamped = pipe.stamped  # whether the kernel records when the bot wrote
        self.stdout_open = True  # whether more output may come
        self.bot_stdin, self.bot_stdout = bot_stdin, pipe.write_end
        """The bot's ends, open here until the bot has started."""
        os.set_blocking(stdin, False)
        os.set_blocking(pipe.read_end, False)

    def read(self) -> bytes | None:
        """The available bytes of the bot's output: None if there are none yet, empty at its end."""
        try:
            data = os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None
        if not data:
            self.stdout_open = False
        return data

    def write(self, data: bytes) -> int:
        """Writes what fits now, and returns how many bytes that were. Raises `BrokenPipeError`."""
        try:
            return os.write(self.stdin, data)
        except BlockingIOError:
            return 0

    def close_bot_ends(self) -> None:
        """Closes the referee's copies of the bot's ends, once the bot has started or failed to."""
        os.close(self.bot_stdin)
        os.close(self.bot_stdout)

    def close_input(self) -> None:
        """Ends the bot's input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Closes the referee's ends."""
        self.close_input()
        os.close(self.stdout)


class Terminal(Pipes):
    """A pseudo-terminal, the controlling terminal of the bot's session. Raises `OSError`.

    It is in raw mode: it echoes nothing, changes no byte, and breaks no line. Each side has two descriptors:
    one to poll for reading, the other for writing. The bot's input ends only when both are closed.
    """

    is_terminal: ClassVar[bool] = True

    def __init__(self) -> None:
        self.stdout, self.bot_stdin = pty.openpty()
        tty.setraw(self.bot_stdin)
        self.stdin = os.dup(self.stdout)
        self.bot_stdout = os.dup(self.bot_stdin)
        self.stamped = False
        self.stdout_open = True
        os.set_blocking(self.stdout, False)  # both descriptors, which are of one file

    def read(self) -> bytes | None:
        """The available bytes of the bot's output: None if there are none yet, empty at its end."""
        try:
            return super().read()
        except OSError:  # EIO: nobody has the terminal open any more
            self.stdout_open = False
            return b""

    def write(self, data: bytes) -> int:
        """Writes what fits now, and returns how many bytes that were. Raises `BrokenPipeError`."""
        try:
            return super().write(data)
        except OSError:
            raise BrokenPipeError from None
