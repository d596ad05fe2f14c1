"""What referee and bots wrote to each other: shown as lines with their times, or kept as a bot's input."""

from __future__ import annotations

import time
from collections.abc import Callable

from referee.core.text import shown
from referee.protocol.messages import LINE_CAP

Tap = Callable[[str, str, bytes], None]
"""Called with everything that passes: the bot's name, `TO_BOT`, `FROM_BOT` or `STDERR`, and the bytes."""

TO_BOT, FROM_BOT, STDERR = "<", ">", "!"
"""What passes: bytes to a bot, from its stdout, and from its stderr."""

SPEAKERS = {TO_BOT: "REF", FROM_BOT: "BOT", STDERR: "ERR"}
"""Who speaks, as it stands in dialogues and in the documents."""

STDERR_CAP = 16_384
"""Bytes of a bot's stderr that are shown from one message to it to the next."""


class Dialogue:
    """Formats every line between the referee and its bots, with the seconds since this object was made."""

    def __init__(self, say: Callable[[str], None], began_ns: int | None = None) -> None:
        self._say = say
        self._began_ns = time.monotonic_ns() if began_ns is None else began_ns
        self._partial: dict[tuple[str, str], bytes] = {}
        self._stderr_bytes: dict[str, int] = {}
        """Bytes of each bot's stderr since the last message to it."""

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what passes now, as a `Tap`."""
        self.take(time.monotonic_ns(), name, direction, data)

    def take(self, now_ns: int, name: str, direction: str, data: bytes) -> None:
        """Takes what passed at a given time."""
        if direction == TO_BOT:
            self._end_stderr(now_ns, name)
        elif direction == STDERR:
            before = self._stderr_bytes.get(name, 0)
            self._stderr_bytes[name] = before + len(data)
            data = data[: max(0, STDERR_CAP - before)]  # guard: stderr-of-dialogues
        *lines, rest = (self._partial.pop((name, direction), b"") + data).split(b"\n")
        self._partial[name, direction] = rest[:LINE_CAP]
        for line in lines:
            self._show(now_ns, name, direction, line)

    def close(self, now_ns: int | None = None) -> None:
        """Shows the lines whose end did not come."""
        now_ns = time.monotonic_ns() if now_ns is None else now_ns
        for name in list(self._stderr_bytes):
            self._end_stderr(now_ns, name)
        for (name, direction), rest in self._partial.items():
            if rest:
                self._show(now_ns, name, direction, rest, " [without a newline]")
        self._partial.clear()

    def _end_stderr(self, now_ns: int, name: str) -> None:
        """Shows what a bot wrote to stderr last without a newline, and how much was not shown."""
        if rest := self._partial.pop((name, STDERR), b""):
            self._show(now_ns, name, STDERR, rest)
        beyond = self._stderr_bytes.pop(name, 0) - STDERR_CAP
        if beyond > 0:
            self._show(now_ns, name, STDERR, f"[… {beyond} bytes …]".encode())

    def _show(self, now_ns: int, name: str, direction: str, line: bytes, remark: str = "") -> None:
        elapsed = (now_ns - self._began_ns) / 1e9
        self._say(f"{elapsed:11.6f} {name} {SPEAKERS[direction]}: {shown(line, LINE_CAP)}{remark}")


class BotInput:
    """A tap that passes on what one process is sent, from `hello` to `quit`: the first process that plays a
    game in a certain seat. What a later process of the same bot is sent is left out.
    """

    def __init__(self, number: int, write: Callable[[bytes], object]) -> None:
        """`number` is that of the seat, counted from 1."""
        self._number = b"%d" % number
        self._write = write
        self._greetings: dict[str, bytes] = {}
        """What each process was sent that plays no game yet."""
        self.bot = ""
        """The name of the bot; empty as long as no game was described to the seat."""
        self._is_over = False

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what passes, as a `Tap`; what bots are sent comes in whole messages."""
        if direction != TO_BOT or self._is_over:
            return
        is_new = data.startswith(b"hello ")
        if not self.bot:
            if is_new:
                self._greetings[name] = data
            elif data.startswith(b"game ") and data.split()[3] == self._number:
                self.bot = name
                self._write(self._greetings[name] + data)
        elif name == self.bot:
            self._is_over = is_new  # guard: input-of-one-process
            if not is_new:
                self._write(data)
