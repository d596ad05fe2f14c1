"""Shows games in play: boards below each other, dialogues, input."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.cli.output import say
from referee.core.errors import StorageError, UsageError
from referee.core.files import write_whole
from referee.core.text import listed, shown
from referee.core.units import parse_period
from referee.gameplay.events import Event, Preset
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.tournament.workers.task import Observer
from referee.viewing.words import frame, heading
from referee.wire.dialogue import BotInput, Dialogue, Tap


class Scrolling:
    """Shows the board after every event of a game, below what was shown before."""

    def __init__(self, delay_us: int = 0) -> None:
        """`delay_us`: how long to wait after each event but those before the first move of a bot."""
        self._delay_us = delay_us
        self._id = ""
        self._number = 0

    def __call__(self, terms: Terms, event: Event, state: State[Any]) -> None:
        """Shows what happened; nobody's time runs meanwhile."""
        if terms.id != self._id:
            self._id, self._number = terms.id, 0
            say(heading(terms))
        self._number += 1
        say(frame(self._number, event, state, terms))
        if self._delay_us and not isinstance(event, Preset):
            time.sleep(self._delay_us / 1_000_000)


@dataclass(frozen=True, slots=True)
class Views:
    """The options that show something of games while they are played, in the referee's own process."""

    watch: str | None = None  # how long to wait after each move; None where boards are not shown
    dialogue: bool = False
    input_of: tuple[int, Path] | None = None
    no_clock: bool = False

    @property
    def given(self) -> list[str]:
        """The options that are given."""
        options = {
            "--watch": self.watch is not None,
            "--dialogue": self.dialogue,
            "--input-of": self.input_of is not None,
            "--no-clock": self.no_clock,
        }
        return [name for name, is_given in options.items() if is_given]

    def check(self, workers: int | None, seats: int) -> None:
        """Raises `UsageError` where what is to be shown is not played in this process, or not there."""
        if self.given and workers:
            given_with = listed(f"`{name}`" for name in self.given)
            raise UsageError(f"`--workers` is {workers}, expected 0 with {given_with}")
        if self.input_of and self.input_of[0] > seats:
            raise UsageError(f"`--input-of` names seat {self.input_of[0]}, expected 1 to {seats}")

    def observer(self, stack: contextlib.ExitStack) -> Observer:
        """Returns an observer that shows all this until the stack is closed. Raises `UsageError`."""
        taps: list[Tap] = []
        if self.dialogue:
            dialogue = Dialogue(say)
            stack.callback(dialogue.close)
            taps.append(dialogue)
        if self.input_of:
            taps.append(stack.enter_context(_input_written(*self.input_of)))
        show = None if self.watch is None else Scrolling(parse_period(self.watch))
        return Observer(show, taps, patient=self.no_clock)


@contextlib.contextmanager
def _input_written(seat: int, path: Path) -> Iterator[Tap]:
    """A tap that writes what the bot in a seat is sent to a file. Raises `UsageError` where that cannot be
    written or is something else, and `StorageError` where it cannot be written any more.
    """
    write_whole(path, b"", b"hello ", "the input of a bot")
    with path.open("ab", buffering=0) as file:

        def write(data: bytes) -> None:
            try:
                file.write(data)
            except OSError as error:
                raise StorageError(f"cannot write `{shown(str(path))}`: {error.strerror}") from None

        bot_input = BotInput(seat, write)
        yield bot_input
    if not bot_input.bot:
        say(f"no bot played a game in seat {seat}, so `{shown(str(path))}` is empty")
