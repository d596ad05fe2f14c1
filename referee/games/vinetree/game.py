"""The game: its name, options, clock, and the position before the first move. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from referee.core.errors import GameOptionError
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.games.api import ChoiceOption, NumberOption, Options
from referee.games.grid import SquareBoard
from referee.games.trail import Trail
from referee.games.twoseat import TwoSeatGame
from referee.games.vinetree.life import NOTHING_KNOWN, known_after
from referee.games.vinetree.position import Growth, VinePosition, VineRules
from referee.games.vinetree.state import VineTreeState


@dataclass(frozen=True, slots=True)
class OddNumberOption(NumberOption):
    """An option that is an odd number."""

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""
        return f"odd, {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The value of a text. Raises `GameOptionError`."""
        for value in range(self.low, self.high + 1, 2):
            if text == str(value):
                return value
        wanted = f"an odd number from {self.low} to {self.high}"
        raise GameOptionError(f"option `{self.name}` is `{shown(text, 80)}`, expected {wanted}")


class VineTree(TwoSeatGame[Growth]):
    """The rules of Beautiful Vine Tree."""

    slug = "vinetree"
    name = "Beautiful Vine Tree"
    rules = 1
    options = (
        OddNumberOption("size", 3, 13, 9, "rows and columns of the square board"),
        ChoiceOption(
            "bend", ("excluded", "included"), "whether the cell where a vine turns counts towards the length"
        ),
    )
    clock = TimeControl.parse("180s+300s")
    summary = (
        "The centre starts with a flower. A move grows two vines out of any flower, on two sides that no\n"
        "vine uses yet, through empty cells. Each vine has as many steps as there are cells in the\n"
        "longest straight segment of vine at the flower, its own cell included, and ends in a new\n"
        "flower. The seat that makes the last possible move loses."
    )
    notation = (
        "`E5 LLU UUR`: out of the flower on E5 one vine goes left, left and up, the other up, up and\n"
        "right. Rows are letters from the top; columns are numbers from the left."
    )

    def aim(self, options: Options) -> str:
        """Who loses."""
        return "whoever makes the last move loses"

    def longest(self, options: Options) -> int:
        """The moves until the board is full: each fills at least two cells, and the centre is full from the
        start.
        """
        return (int(options["size"]) ** 2 - 1) // 2

    def start(self, options: Options) -> VineTreeState:
        """A flower in the centre."""
        board = SquareBoard.of_size(int(options["size"]))
        middle = board.size // 2
        centre = 1 << board.rows[middle][middle]
        rules = VineRules(board, options["bend"] == "included")
        position = VinePosition(rules, board.all & ~centre, centre, 0, 0)
        known = known_after(NOTHING_KNOWN, position)
        return VineTreeState(
            turn=0, last=None, over=False, trail=Trail(), left=frozenset(), position=position, known=known
        )
