"""The games of a run on the whole screen of a terminal, to choose one from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from referee.cli.screen import show_screen
from referee.core.text import shown

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
