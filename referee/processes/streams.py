"""A bot's input and output as two pipes: what it writes is read here, and its input written."""

from __future__ import annotations

import os
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
