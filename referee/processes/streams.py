"""A bot's input and output as two pipes."""

from __future__ import annotations

import os
from typing import ClassVar

from referee.processes import stamped

READ_SIZE = 4096
"""Bytes that are read at a time: so few that what one bot pours out does not hold up another's answer."""


class Pipes:
    """Both pipes. Raises `OSError` where the machine has none left."""

    is_terminal: ClassVar[bool] = False

    def __init__(self) -> None:
        its_stdin, stdin = os.pipe()
        try:
            pipe = stamped.make()
        except BaseException:
            os.close(its_stdin)
            os.close(stdin)
            raise
        self.stdin = stdin
        """The referee's end; -1 when it is closed."""
        self.stdout = pipe.read_end
        self.stamped = pipe.stamped
        """Whether the kernel notes when the bot wrote."""
        self.its_stdin, self.its_stdout = its_stdin, pipe.write_end
        """The bot's ends, until it has them."""
        os.set_blocking(stdin, False)
        os.set_blocking(pipe.read_end, False)

    def read(self) -> bytes | None:
        """What there is of the bot's output: None if nothing yet, empty at its end."""
        try:
            return os.read(self.stdout, READ_SIZE)
        except BlockingIOError:
            return None

    def write(self, data: bytes) -> int:
        """Writes what fits now, and says how many bytes that were. Raises `BrokenPipeError`."""
        try:
            return os.write(self.stdin, data)
        except BlockingIOError:
            return 0

    def close_its_ends(self) -> None:
        """Closes the bot's ends here: it has them, or there is no bot."""
        os.close(self.its_stdin)
        os.close(self.its_stdout)

    def close_input(self) -> None:
        """Ends the bot's input."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Closes the referee's ends."""
        self.close_input()
        os.close(self.stdout)
