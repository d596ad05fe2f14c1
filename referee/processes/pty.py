"""A bot on a terminal of its own instead of pipes: for programs that hold their output back, or do not start,
where they see none.

pexpect reads and writes the terminal. Its own delays are off, and the terminal itself is raw: it echoes
nothing, changes no byte, and cuts no line. stderr stays a pipe.
"""

from __future__ import annotations

import contextlib
import os
import pty
import tty
from typing import ClassVar, cast

import pexpect
from pexpect.fdpexpect import fdspawn

from referee.processes.process import READ_SIZE, BotProcess


class PtyProcess(BotProcess):
    """A bot whose input and output are a terminal, which is also the controlling one of its session."""

    is_terminal: ClassVar[bool] = True

    def _connect(self) -> tuple[int, int, list[int]]:
        ours, its = pty.openpty()
        tty.setraw(its)
        self._terminal = fdspawn(ours, use_poll=True)
        # Two descriptors, since one of them is waited for to be read and the other to be written.
        return os.dup(ours), ours, [its, os.dup(its)]

    def read(self) -> bytes | None:
        """What there is on the terminal: None if nothing yet, empty at its end."""
        try:
            data = self._terminal.read_nonblocking(READ_SIZE, timeout=0)
        except pexpect.TIMEOUT:
            return None
        except pexpect.EOF:
            self.stdout_open = False
            return b""
        return cast(bytes, data)  # since pexpect was given no encoding

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how much. Raises `BrokenPipeError`."""
        try:
            return int(self._terminal.send(data))
        except BlockingIOError:
            return 0
        except OSError:  # EIO: nobody has the terminal open any more
            raise BrokenPipeError from None

    def _close_streams(self) -> None:
        with contextlib.suppress(OSError):
            self._terminal.close()
        os.close(self.stderr)
