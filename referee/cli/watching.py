"""The board of a game while it is played: move after move below each other, or redrawn in its place."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from referee.cli.colour import console_at_stderr
from referee.cli.output import say
from referee.core.text import by_name, shown
from referee.core.units import about
from referee.gameplay.events import Event, Moved, Preset
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.viewing.characters import picture_text
from referee.viewing.words import event_text, frame, heading

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
        """The reserves of the seats, where there are any."""
        if not any(control.reserve_us or control.increment_us for control in terms.controls):
            return []
        clocks = zip(terms.bots, self._reserves_us, strict=True)
        return ["reserves: " + ", ".join(f"{name} {about(us)}" for name, us in clocks)]

    def _turn(self, terms: Terms, state: State[Any]) -> str:
        """Whose turn it is, or how the game ended."""
        if outcome := state.outcome():
            return shown(by_name(outcome.sentence, terms.bots))
        acting = [f"seat {seat + 1} {terms.bots[seat]}" for seat in state.to_act() if seat >= 0]
        return f"to move: {', '.join(acting)}" if acting else "chance is next"


def _wait(delay_us: int, event: Event) -> None:
    if delay_us and not isinstance(event, Preset):
        time.sleep(delay_us / 1_000_000)
