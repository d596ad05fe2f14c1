"""The board: its empty cells, flowers, and vines. Pure."""

from __future__ import annotations

from typing import NamedTuple

from referee.core.value import value
from referee.games.grid import Cells, SquareBoard


class Growth(NamedTuple):
    """A move: a flower, and the steps of the two vines that grow out of it, in alphabetical order."""

    flower: int
    one: str
    other: str


class VineRules(NamedTuple):
    """What the positions of one game share."""

    board: SquareBoard
    bend_counts: bool


@value
class VinePosition:
    """The empty cells, the flowers, and the pairs of cells joined by vine."""

    rules: VineRules
    room: Cells  # the empty cells
    flowers: Cells
    right: Cells  # the cells that are joined to the next one on the right
    down: Cells  # the cells that are joined to the next one below

    def length(self, flower: int) -> int:
        """The number of steps of vines that grow out of a flower."""
        right, down, steps = self.right, self.down, self.rules.board.steps
        longest = 0
        for step, joins, back in (
            (steps["R"], right, 0),
            (steps["L"], right, 1),
            (steps["D"], down, 0),
            (steps["U"], down, steps["D"]),
        ):
            # A join is stored with the upper or left one of its two cells, so going up or left it is
            # stored with the cell `back` from here.
            cell = flower
            while cell >= back and joins >> (cell - back) & 1:
                cell += step
            if cell != flower:
                count = abs((cell - flower) // step)
                if not self.rules.bend_counts and not self.flowers >> cell & 1:
                    count -= 1  # the vine turns in its last straight cell
                longest = max(longest, count)
        return 1 + longest

    def joined(self, cell: int, letter: str) -> bool:
        """Whether a vine leaves a cell on a side."""
        return self.joined_by(cell, self.rules.board.steps[letter])

    def joined_by(self, cell: int, step: int) -> bool:
        """Whether a vine leaves a cell by a step to an adjacent one."""
        joins = self.right if step in (1, -1) else self.down
        first = cell if step > 0 else cell + step
        return first >= 0 and bool(joins >> first & 1)

    def ways(self, room: Cells, head: Cells) -> list[tuple[str, Cells]]:
        """The letters of the steps from a cell into `room`, each with the cell that it reaches."""
        ways = []
        for letter, step in self.rules.board.steps.items():
            cell = room & (head << step if step > 0 else head >> -step)
            if cell:
                ways.append((letter, cell))
        return ways

    def cells_of(self, flower: int, vine: str) -> list[int]:
        """The cells of a vine, from the flower outward; off the board, numbers that are not cells."""
        steps = self.rules.board.steps
        cells = []
        cell = flower
        for letter in vine:
            cell += steps[letter]
            cells.append(cell)
        return cells

    def grown(self, move: Growth) -> VinePosition:
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
        return VinePosition(self.rules, room, flowers, right, down)
