"""A bot's input and output as a terminal: for programs that hold their output back, or do not start, where
they see none.

pexpect reads and writes the terminal. Its own delays are off, and the terminal itself is raw: it echoes
nothing, changes no byte, and cuts no line.
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
    """The terminal, which is also the controlling one of the bot's session. Raises `OSError`.

    Two descriptors on either side, since one is waited for to be read and the other to be written.
    """

    is_terminal: ClassVar[bool] = True
    stamped: ClassVar[bool] = False

    def __init__(self) -> None:
        self.stdout, self.its_stdin = pty.openpty()
        tty.setraw(self.its_stdin)
        self._terminal = fdspawn(self.stdout, use_poll=True)
        self.stdin = os.dup(self.stdout)
        self.its_stdout = os.dup(self.its_stdin)
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)

    def read(self) -> bytes | None:
        """What there is of the bot's output: None if nothing yet, empty at its end."""
        try:
            data = self._terminal.read_nonblocking(READ_SIZE, timeout=0)
        except pexpect.TIMEOUT:
            return None
        except pexpect.EOF:
            return b""
        return cast(bytes, data)  # since pexpect was given no encoding

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how many bytes that were. Raises `BrokenPipeError`."""
        try:
            return int(self._terminal.send(data))
        except BlockingIOError:
            return 0
        except OSError:  # EIO: nobody has the terminal open any more
            raise BrokenPipeError from None

    def close_its_ends(self) -> None:
        """Closes the bot's ends here: it has them, or there is no bot."""
        os.close(self.its_stdin)
        os.close(self.its_stdout)

    def close_input(self) -> None:
        """Gives up the right to write; a terminal has no end of its input before it is closed."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Closes the referee's ends."""
        self.close_input()
        with contextlib.suppress(OSError):
            self._terminal.close()
