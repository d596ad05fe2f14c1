"""Shows games in play: boards below each other or redrawn in their place, dialogues, input."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.cli.output import can_draw, console_at_stderr, say
from referee.core.errors import StorageError, UsageError
from referee.core.files import write_whole
from referee.core.text import by_name, listed, shown
from referee.core.units import about, parse_period
from referee.gameplay.events import Event, Moved, Preset
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.tournament.workers.encounter import ShowEvent
from referee.tournament.workers.task import Observer
from referee.viewing.characters import picture_text
from referee.viewing.words import event_text, frame, heading
from referee.wire.dialogue import BotInput, Dialogue, Tap

if TYPE_CHECKING:
    from rich.console import Console


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
        _wait(self._delay_us, event)


class Redrawing:
    """Shows the board in its place on a terminal, with the last event, the clocks and whose turn it is."""

    def __init__(self, delay_us: int, console: Console | None = None) -> None:
        """`delay_us` as in `Scrolling`; `console` is the terminal at stderr if it is not given."""
        from rich.live import Live  # few commands need it
        from rich.text import Text

        self._delay_us = delay_us
        self._text = Text.from_ansi
        self._live = Live(
            console=console or console_at_stderr(),
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._id = ""
        self._number = 0
        self._reserves_us: list[int] = []

    def __call__(self, terms: Terms, event: Event, state: State[Any]) -> None:
        """Shows what happened; nobody's time runs meanwhile."""
        if terms.id != self._id:
            self.close()  # a game that became void left its board
            self._id, self._number = terms.id, 0
            self._reserves_us = [control.reserve_us for control in terms.controls]
        self._number += 1
        if isinstance(event, Moved):
            self._reserves_us[event.seat] = event.charge.reserve_us
        with contextlib.suppress(OSError):  # the terminal is gone
            self._live.start()
            self._live.update(self._text(self._page(terms, event, state)), refresh=True)
        _wait(self._delay_us, event)
        if state.outcome() is not None:
            self.close()

    def close(self) -> None:
        """Leaves the board as it is; what is printed next stands below it."""
        with contextlib.suppress(OSError):
            self._live.stop()

    def _page(self, terms: Terms, event: Event, state: State[Any]) -> str:
        happened = event_text(event, terms.bots, terms.controls)
        return "\n".join(
            [
                heading(terms),
                f"{self._number}. {happened}",
                *([""] if "\n" not in happened else []),  # so that the board stays where it is
                *self._clocks(terms),
                self._turn(terms, state),
                picture_text(state.picture(None), colour=True),
            ]
        )

    def _clocks(self, terms: Terms) -> list[str]:
        if not any(control.reserve_us or control.increment_us for control in terms.controls):
            return []
        clocks = zip(terms.bots, self._reserves_us, strict=True)
        return ["reserves: " + ", ".join(f"{name} {about(us)}" for name, us in clocks)]

    def _turn(self, terms: Terms, state: State[Any]) -> str:
        if outcome := state.outcome():
            return shown(by_name(outcome.sentence, terms.bots))
        acting = [f"seat {seat + 1} {terms.bots[seat]}" for seat in state.to_act() if seat >= 0]
        return f"to move: {', '.join(acting)}" if acting else "chance is next"


def _wait(delay_us: int, event: Event) -> None:
    if delay_us and not isinstance(event, Preset):
        time.sleep(delay_us / 1_000_000)


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
