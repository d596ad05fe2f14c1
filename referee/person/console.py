"""Where persons type and read; here a terminal or pipes, that is lines of stdin, and stdout."""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from referee.core.text import shown
from referee.games.api import Seat
from referee.person.words import MAX_LINE

_CLEARED = "\x1b[2J\x1b[H"
_BLANK_LINE = "\r\x1b[2K"

_OTHER_SCREEN, _OWN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
"""The alternate screen of a terminal keeps nothing that was scrolled off it."""

SLICE_S = 0.02  # how long is waited for the person before bots are looked after again


class InputEnd(NamedTuple):
    """The reason why reading ended without a line."""

    reason: str


CLOSED = InputEnd("the input is closed")
TIME_UP = InputEnd("the time is up")
OTHERS_FIRST = InputEnd("the reply of a bot or the line of another person has to be taken first")


class LineRequest(NamedTuple):
    """A request to a person for a line."""

    seat: Seat
    prompt: str
    deadline_ns: int | None = None  # by the monotonic clock; None where there is no hurry

    @property
    def is_late(self) -> bool:
        """Whether its time is up."""
        return self.deadline_ns is not None and time.monotonic_ns() > self.deadline_ns


class Console(Protocol):
    """Where the persons of a game type and read. Whatever is shown says to whom."""

    is_looked_at: bool
    """Whether persons look at one screen, so that one person's secrets are taken away before the next."""
    came_ns: int
    """When the line that was read last was complete, or the time was up, by the monotonic clock."""

    @property
    def room(self) -> tuple[int, int]:
        """How many columns and lines are seen at once; (0, 0) where that is not known."""

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """A line. `poll_bots` is called all the time and reads what bots sent; when it is true, reading ends
        with `OTHERS_FIRST`, and the next call goes on with what was typed so far.
        """

    def respond(self, seat: Seat, why: str) -> None:
        """Tells a person why the line that was read is not taken; with an empty text, that it is."""

    def show(self, text: str, seat: Seat | None) -> None:
        """Shows lines of text to a person; None is everybody."""

    def note(self, text: str) -> None:
        """Shows everybody a line until something else is shown."""

    def clear(self) -> None:
        """Takes away everything that was shown since the first call, before another person looks."""


class TerminalConsole:
    """Lines from stdin, and text that stays. Lines that nobody typed at a terminal are shown too."""

    def __init__(self, show: Callable[[str], object], draws: bool, blank_lines: int = 0) -> None:
        """`show` prints lines. `draws`: stdout is a terminal that can clear its screen; elsewhere
        `blank_lines` are printed between two persons.
        """
        self._print = show
        self._draws = draws
        self._blank_lines = blank_lines
        self.is_looked_at = draws or blank_lines > 0
        self.came_ns = 0
        self._input = sys.stdin.fileno()
        self._echoes = not os.isatty(self._input)
        self._data = b""
        self._is_closed = self._is_prompting = self._is_cleared = self._has_note = False

    @property
    def room(self) -> tuple[int, int]:
        """How many columns and lines are seen at once; (0, 0) where that is not known."""
        return (*shutil.get_terminal_size((0, 0)),) if self._draws else (0, 0)

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """A line, see `Console`."""
        if not self._is_prompting and not self._echoes:
            self._end_note()
            self._write(request.prompt)
            self._is_prompting = True
        while (line := self._line()) is None:
            if self._is_closed:
                return CLOSED
            if request.is_late:
                self._is_prompting = False
                self.came_ns = time.monotonic_ns()
                return TIME_UP
            if poll_bots():
                return OTHERS_FIRST
            self._wait()
        self.came_ns = time.monotonic_ns()
        self._is_prompting = False
        text = line.decode("utf-8", "backslashreplace")
        if self._echoes:
            self.show(f"{request.prompt}{shown(text, MAX_LINE)}", request.seat)
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

    def respond(self, seat: Seat, why: str) -> None:
        """Shows why a line is not taken."""
        if why:
            self.show(why, seat)

    def show(self, text: str, seat: Seat | None) -> None:
        """Shows lines of text. Raises `StorageError` where they cannot be written."""
        self._end_note()
        self._print(text)

    def note(self, text: str) -> None:
        """Shows a line until something else is shown. Not where lines stay."""
        if self._draws:
            self._write(f"{_BLANK_LINE}{text}")
            self._has_note = True

    def _end_note(self) -> None:
        if self._has_note:
            self._has_note = False
            self._write(_BLANK_LINE)

    def clear(self) -> None:
        """Takes away everything that was shown since the first call, before another person looks: on the
        alternate screen of a terminal, else by moving it up.
        """
        if self._draws:
            self._write(_CLEARED if self._is_cleared else _OTHER_SCREEN + _CLEARED)
            self._is_cleared = True
        else:
            self.show("\n" * self._blank_lines, None)

    def close(self) -> None:
        """Shows again what was there before the first call of `clear`."""
        self._end_note()
        if self._is_cleared:
            self._is_cleared = False
            self._write(_CLEARED + _OWN_SCREEN)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
