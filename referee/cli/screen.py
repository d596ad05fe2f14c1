"""A whole terminal, where keys are read and lines are drawn until it is over; and the list of the games of a
run on it.
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from rich.console import Group
from rich.text import Text

from referee.cli.output import console_at_stderr
from referee.core.stop import Closing
from referee.core.text import shown

LOOK_S = 0.25  # how often it is looked whether the terminal has another size, or a signal came

_NAMES = {
    **dict.fromkeys(("\r", "\n"), "enter"),
    **dict.fromkeys(("\x7f", "\b"), "backspace"),
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"), "home"),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"), "end"),
    **{
        f"\x1b{middle}{last}": name
        for middle in "[O"
        for last, name in zip("ABCD", ("up", "down", "right", "left"), strict=True)
    },
    "\t": "tab",
    "\x1b": "escape",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
    "\x03": "ctrl+c",
}
"""What a terminal sends for keys that are not characters."""

_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)


class Screen(Protocol):
    """What is shown, and what keys do."""

    is_over: bool

    def press(self, key: str) -> None:
        """Takes a key: a character, or a name such as `pagedown`."""

    def wait_s(self) -> float | None:
        """In how many seconds `tick` is due; None where nothing happens without a key."""

    def tick(self) -> None:
        """Does what is due."""

    def draw(self, columns: int, rows: int) -> Sequence[Text]:
        """The lines of a screen of this size, from the top."""


def keys_in(typed: str) -> Iterator[str]:
    """The keys in what a terminal sent; sequences that are not known are left out."""
    for sequence in _KEY.findall(typed):
        if sequence in _NAMES:
            yield _NAMES[sequence]
        elif sequence.isprintable():
            yield sequence


def show_screen(screen: Screen) -> None:
    """Shows a screen until it is over or the terminal is gone. Raises `Interrupted` when a signal ended it;
    the terminal is then as it was before.
    """

    def close() -> None:
        screen.is_over = True

    console = console_at_stderr()
    with (
        Closing(close),
        suppress(OSError),  # the terminal is gone
        _keys_at_once(sys.stdin.fileno()) as keyboard,
        console.screen() as drawn,
    ):
        size, is_new = None, True
        while not screen.is_over:
            if is_new or size != console.size:
                size = console.size
                lines = screen.draw(*size)
                drawn.update(Group(*lines))
            due_s = screen.wait_s()
            wait_s = LOOK_S if due_s is None else max(0.0, min(due_s, LOOK_S))
            if is_new := bool(select.select([keyboard], [], [], wait_s)[0]):
                if not (typed := os.read(keyboard, 4096)):
                    return
                for key in keys_in(typed.decode(errors="replace")):
                    if not screen.is_over:
                        screen.press(key)
            elif due_s is not None and due_s <= wait_s:
                screen.tick()
                is_new = True


@contextmanager
def _keys_at_once(descriptor: int) -> Iterator[int]:
    """Has a terminal send each key at once, without showing it; Ctrl-C is a key, too."""
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        now = termios.tcgetattr(descriptor)
        now[3] &= ~termios.ISIG
        termios.tcsetattr(descriptor, termios.TCSADRAIN, now)
        yield descriptor
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


HINTS = "↑↓ Enter  / filter  q quit"  # the hints about keys in the last line


def choose(heading: Sequence[str], games: Sequence[str], chosen: int = 0) -> int | None:
    """Lets the user choose from games, a line each, below the lines of a heading; `chosen` is where to begin.
    Returns the index of the game, or None if the user quit. Raises `Interrupted` when a signal ended it.
    """
    screen = GameList(heading, games, chosen)
    show_screen(screen)
    return screen.chosen


class GameList:
    """Shows games, a line each, and lets one be chosen."""

    def __init__(self, heading: Sequence[str], games: Sequence[str], chosen: int = 0) -> None:
        self.is_over = False
        self.chosen: int | None = None  # the index of the game that was chosen
        self._heading = heading
        self._games = games
        self._found = list(range(len(games)))  # the indices of the games that the filter lets through
        self._at = chosen  # the place of the marked game among them
        self._first = 0  # the place of the game in the first line
        self._rows = 1  # how many games there is room for
        self._filter = ""
        self._is_typing = False

    def wait_s(self) -> None:
        """Nothing happens without a key."""

    def tick(self) -> None:
        """Nothing is ever due."""

    def press(self, key: str) -> None:
        """Marks another game, changes the filter, chooses or quits."""
        page = max(1, self._rows - 1)
        moves = {"down": 1, "up": -1, "pagedown": page, "pageup": -page}
        if key in moves:
            self._go(self._at + moves[key])
        elif key == "ctrl+c":
            self.is_over = True
        elif self._is_typing:
            self._type(key)
        elif key in ("home", "end"):
            self._go(0 if key == "home" else len(self._found) - 1)
        elif key == "/":
            self._is_typing = True
        elif key == "enter" and self._found:
            self.chosen, self.is_over = self._found[self._at], True
        elif key == "escape" and self._filter:
            self._set_filter("")
        elif key in ("q", "escape"):
            self.is_over = True

    def _type(self, key: str) -> None:
        if key == "enter":
            self._is_typing = False
        elif key == "escape":
            self._is_typing = False
            self._set_filter("")
        elif key == "backspace":
            self._set_filter(self._filter[:-1])
        elif len(key) == 1:
            self._set_filter(self._filter + key)

    def _set_filter(self, text: str) -> None:
        """Shows the games that have every word of the filter."""
        self._filter = text
        words = text.casefold().split()
        marked = self._found[self._at] if self._found else 0
        self._found = [n for n, game in enumerate(self._games) if all(w in game.casefold() for w in words)]
        self._at = next((place for place, number in enumerate(self._found) if number >= marked), 0)

    def _go(self, place: int) -> None:
        self._at = max(0, min(place, len(self._found) - 1))

    def draw(self, columns: int, rows: int) -> list[Text]:
        """The games around the marked one, which has a sign and not a colour alone."""
        self._rows = rows = max(1, rows - len(self._heading) - 1)
        count = len(self._found)
        self._first = max(0, min(self._first, self._at, count - rows), self._at - rows + 1)
        lines = [Text(f"  {line}", "bold") for line in self._heading]
        for place in range(self._first, min(self._first + rows, count)):
            is_marked = place == self._at
            game = self._games[self._found[place]]
            lines.append(Text(f"{'>' if is_marked else ' '} {game}", "reverse" if is_marked else ""))
        if not count:
            lines.append(Text("no game has all these words"))
        lines += [Text("")] * (rows + len(self._heading) - len(lines))
        lines.append(Text(f"/{self._filter}" if self._is_typing else f"{self._count()}  {HINTS}"))
        for line in lines:
            line.truncate(columns, overflow="ellipsis")
        return lines

    def _count(self) -> str:
        count, all_games = len(self._found), len(self._games)
        if count == all_games:
            return f"{count:,} games"
        return f"{count:,} of {all_games:,} games: {shown(self._filter, 30)}"
