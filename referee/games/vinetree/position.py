"""What lies on the board: the empty cells, the flowers, and the vines between them."""

from __future__ import annotations

from typing import NamedTuple

from referee.core.value import value
from referee.games.grid import Cells, SquareBoard


class Growth(NamedTuple):
    """A move: a flower, and the steps of the two vines that grow out of it, in alphabetical order."""

    flower: int
    one: str
    other: str


class Rules(NamedTuple):
    """What the positions of one game share."""

    board: SquareBoard
    bend_counts: bool


@value
class Position:
    """What is empty, where the flowers are, and which cells are joined by vine."""

    rules: Rules
    room: Cells
    """The empty cells."""
    flowers: Cells
    right: Cells
    """Cells that are joined with the next one to the right."""
    down: Cells
    """Cells that are joined with the next one below."""

    def length(self, flower: int) -> int:
        """How many steps the vines have that grow out of a flower."""
        right, down, steps = self.right, self.down, self.rules.board.steps
        longest = 0
        for step, joins, back in (
            (steps["R"], right, 0),
            (steps["L"], right, 1),
            (steps["D"], down, 0),
            (steps["U"], down, steps["D"]),
        ):
            # A join is kept with the upper or left one of its two cells, so looking up or left it is
            # that of the cell `back` from here.
            cell = flower
            while cell >= back and joins >> (cell - back) & 1:
                cell += step
            if cell != flower:
                count = abs((cell - flower) // step)
                if not self.rules.bend_counts and not self.flowers >> cell & 1:
                    count -= 1  # vine that does not go on straight and bears no flower turns
                longest = max(longest, count)
        return 1 + longest

    def joined(self, cell: int, letter: str) -> bool:
        """Whether vine leaves a cell by a side."""
        joins = self.right if letter in "LR" else self.down
        first = cell if letter in "RD" else cell + self.rules.board.steps[letter]
        return first >= 0 and bool(joins >> first & 1)

    def ways(self, room: Cells, head: Cells) -> list[tuple[str, Cells]]:
        """The steps that lead from a cell into `room`, and where to."""
        ways = []
        for letter, step in self.rules.board.steps.items():
            cell = room & (head << step if step > 0 else head >> -step)
            if cell:
                ways.append((letter, cell))
        return ways

    def cells_of(self, flower: int, vine: str) -> list[int]:
        """The cells of a vine, from the flower outward; a number that is no cell off the board."""
        steps = self.rules.board.steps
        cells = []
        cell = flower
        for letter in vine:
            cell += steps[letter]
            cells.append(cell)
        return cells

    def grown(self, move: Growth) -> Position:
        """The position after a move."""
        steps = self.rules.board.steps
        room, flowers, right, down = self.room, self.flowers, self.right, self.down
        for vine in (move.one, move.other):
            cell = move.flower
            for letter in vine:
                before, cell = cell, cell + steps[letter]
                room ^= 1 << cell
                if letter in "LR":
                    right |= 1 << min(before, cell)
                else:
                    down |= 1 << min(before, cell)
            flowers |= 1 << cell
        return Position(self.rules, room, flowers, right, down)
