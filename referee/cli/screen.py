"""A screen that takes the whole terminal: keys are read and lines are drawn until it is over."""

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

from referee.cli.colour import console_at_stderr
from referee.core.stop import Closing

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
