"""Boards: cells as small integers, their names and their neighbours, computed once a size."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class HexBoard(NamedTuple):
    """A hexagonal board of some side: 2 × side − 1 rows of side, …, 2 × side − 1, …, side cells.

    Cells are numbered row by row. `D4` is the fourth cell from the left of the fourth row from the top.
    """

    side: int
    rows: tuple[range, ...]
    """The cells of each row."""
    names: tuple[str, ...]
    """By cell."""
    cells: dict[str, int]
    """By name, in capitals."""
    neighbours: tuple[tuple[int, ...], ...]
    """By cell, in ascending order."""

    @classmethod
    @cache
    def of_side(cls, side: int) -> HexBoard:
        """The board of a side of 2 to 13 (26 rows have letters)."""
        lengths = [2 * side - 1 - abs(side - 1 - row) for row in range(2 * side - 1)]
        rows, start = [], 0
        for length in lengths:
            rows.append(range(start, start + length))
            start += length
        names = [f"{chr(65 + r)}{i + 1}" for r, row in enumerate(rows) for i in range(len(row))]
        touching: list[list[int]] = [[] for _ in names]
        for r, row in enumerate(rows):
            for i, cell in enumerate(row):
                if i + 1 < len(row):
                    _join(touching, cell, row[i + 1])
                if r + 1 < len(rows):
                    below = rows[r + 1]
                    # A longer row sticks out by half a cell on both sides, a shorter one stays inside.
                    first = i if len(below) > len(row) else i - 1
                    for j in (first, first + 1):
                        if 0 <= j < len(below):
                            _join(touching, cell, below[j])
        return cls(
            side,
            tuple(rows),
            tuple(names),
            {name: cell for cell, name in enumerate(names)},
            tuple(tuple(sorted(cells)) for cells in touching),
        )


def _join(touching: list[list[int]], one: int, other: int) -> None:
    touching[one].append(other)
    touching[other].append(one)


class SquareBoard(NamedTuple):
    """A square board of some size, made for sets of cells that are the bits of one number.

    Cells are numbered row by row, and behind each row one number is left out: so a whole set moves a step
    when it is shifted by one of `steps`, and what leaves the board falls outside of `all`.
    """

    size: int
    rows: tuple[range, ...]
    """The cells of each row."""
    names: dict[int, str]
    """By cell."""
    cells: dict[str, int]
    """By name, in capitals."""
    steps: dict[str, int]
    """From a cell to the one beside it: down, left, right, up, by initial and in alphabetical order."""
    all: int
    """The set of all cells."""

    @classmethod
    @cache
    def of_size(cls, size: int) -> SquareBoard:
        """The board of a size up to 26 (26 rows have letters)."""
        width = size + 1
        rows = tuple(range(row * width, row * width + size) for row in range(size))
        names = {cell: f"{chr(65 + r)}{i + 1}" for r, row in enumerate(rows) for i, cell in enumerate(row)}
        return cls(
            size,
            rows,
            names,
            {name: cell for cell, name in names.items()},
            {"D": width, "L": -1, "R": 1, "U": -width},
            sum(1 << cell for cell in names),
        )
