"""The games of a run on the whole screen of a terminal, to choose one from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input, Static

from referee.cli.replay_screen import run_screen
from referee.core.text import shown

HINTS = "↑↓ Enter  / filter  q quit"
"""The hints about keys in the last line."""


def choose(heading: Sequence[str], games: Sequence[str], chosen: int = 0) -> int | None:
    """Lets the user choose from games, a line each, below the lines of a heading; `chosen` is where to begin.
    Returns the index of the game, or None if the user quit. Raises `Interrupted` when a signal ended it.
    """
    return run_screen(lambda: GameList(heading, games, chosen))


class GameList(App[int]):
    """Shows games, a line each, and lets one be chosen."""

    AUTO_FOCUS = None  # keys go to the list, unless a filter is typed
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    Static { text-wrap: nowrap; text-overflow: ellipsis; }
    #heading { height: auto; text-style: bold; }
    #games { height: 1fr; }
    #bottom, #ask { height: 1; }
    #ask Static { width: auto; }
    Input { width: 1fr; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", priority=True),
        Binding("up", "move(-1)", priority=True),
        Binding("pagedown", "page(1)", priority=True),
        Binding("pageup", "page(-1)", priority=True),
        Binding("home", "go(0)", priority=True),
        Binding("end", "go(-1)", priority=True),
        Binding("/", "filter", priority=True),
        Binding("enter", "choose", priority=True),
        Binding("q", "quit", priority=True),
        Binding("escape", "leave", priority=True),
        Binding("ctrl+c", "stop", priority=True),
    ]

    def __init__(self, heading: Sequence[str], games: Sequence[str], chosen: int) -> None:
        super().__init__(ansi_color=True)
        self._games = games
        self._found = list(range(len(games)))
        """The indices of the games that the filter lets through."""
        self._at = chosen
        """The place of the marked game among them."""
        self._first = 0
        """The place of the game in the first line."""
        self._heading = Static("\n".join(f"  {line}" for line in heading), id="heading", markup=False)
        self._lines = Static(id="games", markup=False)
        self._keys = Static(id="keys", markup=False)
        self._ask_line = Horizontal(id="ask")
        """In place of the keys, while a filter is typed."""
        self._filter = Input(compact=True)

    def compose(self) -> ComposeResult:
        """The heading, the games, and a line for hints or the filter."""
        yield self._heading
        yield self._lines
        with Container(id="bottom"):
            yield self._keys
            with self._ask_line:
                yield Static("/", markup=False)
                yield self._filter

    def on_mount(self) -> None:
        """Marks the first game."""
        self._set_typing(False)

    def on_resize(self) -> None:
        """Shows as many games as there is room for."""
        self.call_after_refresh(self._show)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Shows the games that have every word of the filter."""
        words = event.value.casefold().split()
        marked = self._found[self._at] if self._found else 0
        self._found = [n for n, game in enumerate(self._games) if all(w in game.casefold() for w in words)]
        self._at = next((place for place, number in enumerate(self._found) if number >= marked), 0)
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does something now: letters are parts of a filter that is typed."""
        return not self._ask_line.display or action not in ("filter", "quit", "go")

    def action_move(self, by: int) -> None:
        """Marks another game."""
        self._go(self._at + by)

    def action_page(self, by: int) -> None:
        """Marks a game a page away."""
        self._go(self._at + by * max(1, self._lines.size.height - 1))

    def action_go(self, place: int) -> None:
        """Marks the first game, or the last."""
        self._go(place if place >= 0 else len(self._found) - 1)

    def action_filter(self) -> None:
        """Begins to type a filter."""
        self._set_typing(True)

    def action_choose(self) -> None:
        """Ends the filter, or chooses the marked game."""
        if self._ask_line.display:
            self._set_typing(False)
        elif self._found:
            self.exit(self._found[self._at])

    def action_leave(self) -> None:
        """Takes the filter away, or quits."""
        if self._ask_line.display or self._filter.value:
            self._filter.value = ""
            self._set_typing(False)
        else:
            self.exit()

    def action_stop(self) -> None:
        """Quits at once."""
        self.exit()

    def _go(self, place: int) -> None:
        self._at = max(0, min(place, len(self._found) - 1))
        self._show()

    def _set_typing(self, is_typing: bool) -> None:
        self._ask_line.display = is_typing
        self._keys.display = not is_typing
        self.screen.set_focus(self._filter if is_typing else None)
        self._show()

    def _show(self) -> None:
        """Shows the games around the marked one, which has a sign and not a colour alone."""
        rows, count = max(1, self._lines.size.height), len(self._found)
        self._first = max(0, min(self._first, self._at, count - rows), self._at - rows + 1)
        text = Text(no_wrap=True)
        for place in range(self._first, min(self._first + rows, count)):
            is_marked = place == self._at
            game = self._games[self._found[place]]
            text.append(f"{'>' if is_marked else ' '} {game}\n", "reverse" if is_marked else "")
        self._lines.update(text if count else "no game has all these words")
        sought = self._filter.value
        is_all = count == len(self._games)
        some = (
            f"{count:,} games" if is_all else f"{count:,} of {len(self._games):,} games: {shown(sought, 30)}"
        )
        self._keys.update(f"{some}  {HINTS}")
