"""Shows games while they are played: `--watch`, `--dialogue`, `--input-of` and `--no-clock`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.cli.colour import can_draw
from referee.cli.output import say
from referee.cli.watching import Redrawing, Scrolling
from referee.core.errors import StorageError
from referee.core.text import shown
from referee.core.units import parse_period
from referee.core.whole_file import write_whole
from referee.tournament.workers.encounter import ShowEvent
from referee.tournament.workers.task import Observer
from referee.wire.bot_input import BotInput
from referee.wire.dialogue import Dialogue, Tap


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

    def observer(self, stack: contextlib.ExitStack) -> Observer:
        """Returns an observer that shows all this until the stack is closed. Raises `UsageError`."""
        delay_us = parse_period(self.watch or "0s")
        taps: list[Tap] = []
        if self.dialogue:
            dialogue = Dialogue(say)
            stack.callback(dialogue.close)
            taps.append(dialogue)
        if self.input_of:
            taps.append(stack.enter_context(_input_written(*self.input_of)))
        show = _board(delay_us, alone=not self.dialogue, stack=stack) if self.watch else None
        return Observer(show, taps, patient=self.no_clock)


def _board(delay_us: int, alone: bool, stack: contextlib.ExitStack) -> ShowEvent:
    """Returns the view of the board. It is redrawn in place if nothing else is shown."""
    if not (delay_us and alone and can_draw(sys.stderr)):
        return Scrolling(delay_us)
    redrawing = Redrawing(delay_us)
    stack.callback(redrawing.close)
    return redrawing


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
