"""Where a person types and reads: as lines of a stream, or in a terminal with an editor for the line."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from referee.core.text import shown
from referee.person.commands import MAX_LINE

SLICE_S = 0.02
"""How long is waited for the person before bots are looked after again."""


class InputEnd(NamedTuple):
    """The reason why reading ended without a line."""

    reason: str


CLOSED = InputEnd("the input is closed")
TIME_UP = InputEnd("the time is up")
BOT_REPLIED = InputEnd("the reply of a bot has to be taken first")


class LineRequest(NamedTuple):
    """A request to a person for a line."""

    seat: int
    """The line is kept for this seat alone, to be called back later."""
    prompt: str
    status: Callable[[str], str]
    """Returns the status line for the text typed so far."""
    complete: Callable[[str], list[str]]
    """The ways in which the last part of the text can go on."""
    deadline_ns: int | None = None
    """By the monotonic clock; None where there is no hurry."""

    @property
    def is_late(self) -> bool:
        """Whether its time is up."""
        return self.deadline_ns is not None and time.monotonic_ns() > self.deadline_ns


class Console(Protocol):
    """One way to talk to persons."""

    is_looked_at: bool
    """Whether persons look at what is shown, so that one person's secrets are taken away before the next."""

    @property
    def room(self) -> tuple[int, int]:
        """How many columns and lines are seen at once; (0, 0) where that is not known."""

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """A line. `poll_bots` is called all the time and reads what bots sent; when it is true, reading ends
        with `BOT_REPLIED`, and the next call goes on with what was typed so far.
        """

    def show(self, text: str, /) -> object:
        """Shows lines of text. Raises `StorageError` where they cannot be written."""

    def note(self, text: str) -> None:
        """Shows a line for a moment: until something else is shown. Not where lines stay."""

    def clear(self) -> None:
        """Takes away everything that was shown since the first call, before another person looks."""

    def restore(self) -> None:
        """Shows again what was there before the first call of `clear`."""

    def close(self) -> None:
        """Leaves the terminal as it was."""


class PlainConsole:
    """Lines from stdin, and text that stays. Lines that nobody typed at a terminal are shown too."""

    def __init__(self, show: Callable[[str], object], blank_lines: int = 0) -> None:
        """`show` prints lines; `blank_lines` are printed between two persons, if they look at the lines."""
        self._print = show
        self.is_looked_at = blank_lines > 0
        self._blank_lines = blank_lines
        self._input = sys.stdin.fileno()
        self._echoes = not os.isatty(self._input)
        self._data = b""
        self._is_closed = False
        self._is_prompting = False

    @property
    def room(self) -> tuple[int, int]:
        """Not known: what is shown is lines that stay."""
        return 0, 0

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """A line of stdin."""
        if not self._is_prompting and not self._echoes:
            sys.stdout.write(request.prompt)
            sys.stdout.flush()
            self._is_prompting = True
        while (line := self._line()) is None:
            if self._is_closed:
                return CLOSED
            if request.is_late:
                self._is_prompting = False
                return TIME_UP
            if poll_bots():
                return BOT_REPLIED
            self._wait()
        self._is_prompting = False
        text = line.decode("utf-8", "backslashreplace")
        if self._echoes:
            self.show(f"{request.prompt}{shown(text, MAX_LINE)}")
        return text

    def _line(self) -> bytes | None:
        """The next line that has come; one that is too long is cut, and is then no move and no command."""
        line, newline, rest = self._data.partition(b"\n")
        if newline or (self._is_closed and line):
            self._data = rest
            return line.removesuffix(b"\r")[: 4 * MAX_LINE + 4]
        self._data = line[: 4 * MAX_LINE + 4]
        return None

    def _wait(self) -> None:
        if select.select([self._input], [], [], SLICE_S)[0]:
            try:
                data = os.read(self._input, 4096)
            except OSError:  # the terminal is gone
                data = b""
            self._data += data
            self._is_closed = not data

    def show(self, text: str) -> None:
        """Prints lines."""
        self._print(text)

    def note(self, text: str) -> None:
        """Does nothing."""

    def clear(self) -> None:
        """Moves everything up that was shown."""
        self.show("\n" * self._blank_lines)

    def restore(self) -> None:
        """Does nothing: all that was shown is still there."""

    def close(self) -> None:
        """Does nothing."""
