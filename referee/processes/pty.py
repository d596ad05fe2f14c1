"""A bot's input and output as a terminal: for programs that buffer their output, or do not start, without
one.

pexpect reads and writes the terminal. Its own delays are off, and the terminal is in raw mode: it echoes
nothing, changes no byte, and breaks no line.
"""

from __future__ import annotations

import contextlib
import os
import pty
import tty
from typing import ClassVar, cast

import pexpect
from pexpect.fdpexpect import fdspawn

from referee.processes.streams import READ_SIZE


class Terminal:
    """A pseudo-terminal, the controlling terminal of the bot's session. Raises `OSError`.

    Each side has two descriptors: one to poll for reading, the other for writing.
    """

    is_terminal: ClassVar[bool] = True
    stamped: ClassVar[bool] = False

    def __init__(self) -> None:
        self.stdout, self.bot_stdin = pty.openpty()
        tty.setraw(self.bot_stdin)
        self._terminal = fdspawn(self.stdout, use_poll=True)
        self.stdin = os.dup(self.stdout)
        self.bot_stdout = os.dup(self.bot_stdin)
        self.stdout_open = True  # whether more output may come
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)

    def read(self) -> bytes | None:
        """The available bytes of the bot's output: None if there are none yet, empty at its end."""
        try:
            data = self._terminal.read_nonblocking(READ_SIZE, timeout=0)
        except pexpect.TIMEOUT:
            return None
        except pexpect.EOF:
            self.stdout_open = False
            return b""
        return cast(bytes, data)  # since pexpect was given no encoding

    def write(self, data: bytes) -> int:
        """Writes what fits now, and returns how many bytes that were. Raises `BrokenPipeError`."""
        try:
            return int(self._terminal.send(data))
        except BlockingIOError:
            return 0
        except OSError:  # EIO: nobody has the terminal open any more
            raise BrokenPipeError from None

    def close_bot_ends(self) -> None:
        """Closes the referee's copies of the bot's ends, once the bot has started or failed to."""
        os.close(self.bot_stdin)
        os.close(self.bot_stdout)

    def close_input(self) -> None:
        """Closes the descriptor for writing; the bot's input ends only when the terminal is closed."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Closes the referee's ends."""
        self.close_input()
        with contextlib.suppress(OSError):
            self._terminal.close()
