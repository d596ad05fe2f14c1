"""The board with its vines: how moves change it, how they are read, and why they are illegal. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from referee.core.text import shown
from referee.core.value import value
from referee.games.api import Illegal, NotAMove, parts_of
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
        # Written out by side: this is what most of the time of a search is spent on.
        right, down, row = self.right, self.down, self.rules.board.steps["D"]
        longest = 0
        if right >> flower & 1:
            cell = flower + 1
            while right >> cell & 1:
                cell += 1
            longest = self._counted(cell, cell - flower)
        # A join is stored with the upper or left one of its two cells.
        if flower and right >> (flower - 1) & 1:
            cell = flower - 1
            while cell and right >> (cell - 1) & 1:
                cell -= 1
            longest = max(longest, self._counted(cell, flower - cell))
        if down >> flower & 1:
            cell = flower + row
            while down >> cell & 1:
                cell += row
            longest = max(longest, self._counted(cell, (cell - flower) // row))
        if flower >= row and down >> (flower - row) & 1:
            cell = flower - row
            while cell >= row and down >> (cell - row) & 1:
                cell -= row
            longest = max(longest, self._counted(cell, (flower - cell) // row))
        return 1 + longest

    def enclosed(self) -> Cells:
        """The flowers beside which fewer than two cells are empty: they cannot grow."""
        room, row = self.room, self.rules.board.steps["D"]
        left, right, up, down = room << 1, room >> 1, room << row, room >> row
        return self.flowers & ~(left & right | up & down | (left | right) & (up | down))

    def _counted(self, cell: int, steps: int) -> int:
        """How much a straight segment to a cell counts: without a flower there the vine turns, so the cell
        may not count.
        """
        return steps - (not self.rules.bend_counts and not self.flowers >> cell & 1)

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


_PARTS = re.compile(r"([A-Za-z])(0|[1-9][0-9]*) ([DLRUdlru]+) ([DLRUdlru]+)")
_FORM = "a flower and two vines such as `E5 LLU UUR`"
_SIDES = {"D": "down", "L": "left", "R": "right", "U": "up"}


def read(position: VinePosition, text: str) -> Growth:
    """The move that a text means: a flower's cell and two vines, in either order and case. Raises `NotAMove`
    or `Illegal`, with the first reason that applies.
    """
    match = _PARTS.fullmatch(" ".join(parts_of(text)))
    if not match:
        raise NotAMove(_FORM)
    board = position.rules.board
    name = match[1].upper() + match[2]
    vines = (match[3].upper(), match[4].upper())
    if name not in board.cells:
        raise Illegal("no-such-cell", f"there is no cell {name[:20]} on a board of size {board.size}")
    flower = board.cells[name]
    if not position.flowers >> flower & 1:
        raise Illegal("no-flower", f"there is no flower on {name}")
    _check_length(position, flower, vines)
    _check_sides(position, flower, vines)
    paths = [position.cells_of(flower, vine) for vine in vines]
    for vine, path in zip(vines, paths, strict=True):
        _check_board(board, flower, vine, path)
    for vine, path in zip(vines, paths, strict=True):
        _check_room(position, vine, path)
    for cell in paths[0]:
        if cell in paths[1]:
            raise Illegal("vines-cross", f"the vines cross on {board.names[cell]}")
    return Growth(flower, *sorted(vines))


def _check_length(position: VinePosition, flower: int, vines: tuple[str, str]) -> None:
    """Raises `Illegal` where a vine has not as many steps as the flower requires."""
    length = position.length(flower)
    for vine in vines:
        if len(vine) != length:
            name = position.rules.board.names[flower]
            steps = "1 step" if length == 1 else f"{length} steps"
            sentence = f"a vine out of {name} takes {steps}, and {shown(vine, 20)} has {len(vine)}"
            raise Illegal("wrong-length", sentence)


def _check_sides(position: VinePosition, flower: int, vines: tuple[str, str]) -> None:
    """Raises `Illegal` where a vine leaves the flower on a side that another vine uses."""
    name = position.rules.board.names[flower]
    if vines[0][0] == vines[1][0]:
        raise Illegal("same-side", f"both vines leave {name} {_SIDES[vines[0][0]]}")
    for vine in vines:
        if position.joined(flower, vine[0]):
            raise Illegal("side-used", f"{name} has a vine {_SIDES[vine[0]]} already")


def _check_board(board: SquareBoard, flower: int, vine: str, path: list[int]) -> None:
    """Raises `Illegal` where a new vine leaves the board."""
    last = flower
    for i, cell in enumerate(path):
        if cell not in board.names:
            raise Illegal("leaves-board", f"{vine} leaves the board at {board.names[last]}, step {i + 1}")
        last = cell


def _check_room(position: VinePosition, vine: str, path: list[int]) -> None:
    """Raises `Illegal` where a new vine runs into something."""
    for i, cell in enumerate(path):
        if position.flowers >> cell & 1:
            what = "a flower"
        elif not position.room >> cell & 1:
            what = "a vine"
        elif cell in path[:i]:
            what = "itself"
        else:
            continue
        where = f"on {position.rules.board.names[cell]}, step {i + 1}"
        raise Illegal("runs-into", f"{vine} runs into {what} {where}")


def write(board: SquareBoard, move: Growth) -> str:
    """The flower, then the vines in alphabetical order."""
    return f"{board.names[move.flower]} {move.one} {move.other}"
