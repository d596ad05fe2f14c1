"""Boards: cells as integers, sets of cells as bits, their names and their neighbours.

Cells are numbered row by row, with at least one unused number after each row. So shifting a set moves all its
cells by a step, and cells that leave the board are not in `all`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

Cells = int  # A set of cells: bit *i* stands for the cell of number *i*


def members(cells: Cells) -> list[int]:
    """The numbers of the cells in a set, ascending."""
    found = []
    while cells:
        cell = cells & -cells
        cells ^= cell
        found.append(cell.bit_length() - 1)
    return found


class HexBoard(NamedTuple):
    """A hexagonal board: 2 × side − 1 rows of side, …, 2 × side − 1, …, side cells.

    `D4` is the fourth cell from the left of the fourth row from the top.
    """

    side: int
    width: int  # the step from a cell to the one below it on the left: the longest row and one unused number
    rows: tuple[range, ...]  # the cells of each row
    names: dict[int, str]  # names by cell, in ascending order of the cells
    cells: dict[str, int]  # cells by name, in capitals
    neighbours: dict[int, tuple[int, ...]]  # adjacent cells by cell, in ascending order
    all: Cells  # the set of all cells

    @classmethod
    @cache
    def of_side(cls, side: int) -> HexBoard:
        """The board of a side from 2 to 13 (26 rows have letters)."""
        width = 2 * side
        rows = []
        for row in range(2 * side - 1):
            # The cell below on the left has the same column, the one below on the right the next column.
            column = max(0, row - side + 1)
            start = row * width + column
            rows.append(range(start, start + width - 1 - abs(side - 1 - row)))
        names = _names(rows)
        board = sum(1 << cell for cell in names)
        neighbours = {cell: tuple(members(spread(1 << cell, width) & board & ~(1 << cell))) for cell in names}
        return cls(side, width, tuple(rows), names, _by_name(names), neighbours, board)

    def zone(self, name: str) -> str:
        """Where the cell of this name lies, as `Game.zone` has it."""
        near = len(self.neighbours[self.cells[name]]) if name in self.cells else 0
        return {3: "corner", 4: "edge"}.get(near, "")


def spread(cells: Cells, width: int) -> Cells:
    """A set of cells of a hexagonal board with all adjacent cells. The result may have bits that are not
    cells: intersect it with a set of cells.
    """
    right = cells | cells << 1
    left = cells | cells >> 1
    return right | left | right << width | left >> width


class SquareBoard(NamedTuple):
    """A square board."""

    size: int
    rows: tuple[range, ...]  # the cells of each row
    names: dict[int, str]  # names by cell, in ascending order of the cells
    cells: dict[str, int]  # cells by name, in capitals
    steps: dict[str, int]
    """The steps to adjacent cells: down, left, right, up, by initial in alphabetical order."""
    all: Cells  # the set of all cells

    @classmethod
    @cache
    def of_size(cls, size: int) -> SquareBoard:
        """The board of a size up to 26 (26 rows have letters)."""
        width = size + 1
        rows = [range(row * width, row * width + size) for row in range(size)]
        names = _names(rows)
        steps = {"D": width, "L": -1, "R": 1, "U": -width}
        return cls(size, tuple(rows), names, _by_name(names), steps, sum(1 << cell for cell in names))

    def zone(self, name: str) -> str:
        """Where the cell of this name lies, as `Game.zone` has it."""
        if name not in self.cells:
            return ""
        ends = (0, self.size - 1)
        return ("", "edge", "corner")[sum(place in ends for place in divmod(self.cells[name], self.size + 1))]


def _names(rows: list[range]) -> dict[int, str]:
    return {cell: f"{chr(65 + r)}{i + 1}" for r, row in enumerate(rows) for i, cell in enumerate(row)}


def _by_name(names: dict[int, str]) -> dict[str, int]:
    return {name: cell for cell, name in names.items()}
