"""Stones on a hexagonal board: how they are written, `COLOUR:CELL`, and how the board is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from referee.games.api import Illegal
from referee.games.grid import HexBoard
from referee.games.picture import (
    FRESH,
    GONE,
    HEXAGON,
    Circle,
    Mark,
    Paint,
    Plane,
    Point,
    Span,
    Symbol,
)

_PART = re.compile(r"([A-Za-z]):([A-Za-z])(0|[1-9][0-9]*)")


def spellings(board: HexBoard, colours: str) -> Iterator[tuple[str, int, int]]:
    """Every spelling of every stone, in either case, with its colour (an index of `colours`) and cell."""
    for cell, name in board.names.items():
        for colour, letter in enumerate(colours):
            for spelled in (letter, letter.lower()):
                yield f"{spelled}:{name}", colour, cell
                yield f"{spelled}:{name.lower()}", colour, cell


def well_formed(parts: Sequence[str], colours: str) -> bool:
    """Whether these are one or two stones of these colours; their cells need not exist."""
    matches = [_PART.fullmatch(part) for part in parts[:3]]
    return len(matches) in (1, 2) and all(match and match[1].upper() in colours for match in matches)


def no_such_cell(parts: Sequence[str], board: HexBoard) -> Illegal:
    """The error for well-formed stones of which one or both are not on a cell of the board."""
    missing = next(name for part in parts if (name := part[2:].upper()) not in board.cells)
    return Illegal("no-such-cell", f"there is no cell {missing[:20]} on a board of side {board.side}")


ROW = 0.866
"""How far rows of hexagonal cells are apart, if a cell is 1 wide."""

RIMMED = Symbol("stone with a rim", (Circle(0, 0, 0.4, "own", "edge"), Circle(0, 0, 0.33, None, "edge")))
"""A stone unlike `DISC` in shape too."""


class StoneBoard(NamedTuple):
    """The marks of a board and its stones, all of which are made once."""

    ground: tuple[Mark, ...]
    """The empty cells, and the names of the rows."""
    stones: tuple[dict[int, Mark], ...]
    """By kind of stone, for each cell the mark of a stone there."""
    placed: dict[int, Mark]
    """By cell, what surrounds a stone that the last turn placed."""
    captured: dict[int, Mark]
    """By cell, what stands where the last turn captured a stone."""

    def plane(self, stones: Iterable[Mark], placed: Iterable[int], captured: Iterable[int] = ()) -> Plane:
        """A board with these stones, and what the last turn did in these cells."""
        marks = (*stones, *map(self.placed.__getitem__, placed), *map(self.captured.__getitem__, captured))
        return Plane(marks, self.ground, columns=4, rows=1 / ROW)


def stone_board(board: HexBoard, empty: str, fresh: str, kinds: Sequence[StoneKind]) -> StoneBoard:
    """The marks of a board: `empty` and `fresh` are the texts of an empty cell and of what surrounds a
    stone that the last turn placed.
    """
    ground: list[Mark] = []
    points: dict[int, Point] = {}
    for number, row in enumerate(board.rows):
        letter, y = board.names[row[0]][0], number * ROW
        first = 0.875 + (2 * board.side - 1 - len(row)) / 2
        # In a terminal, the names of the rows stand in columns; in a drawing, beside the first cell.
        ground.append(Mark(0.1, y, letter, paint="faint"))
        ground.append(Mark(first - 0.8, y, caption=letter, paint="faint"))
        ground.append(Mark(first + len(row) + 0.125, y, f"{letter}{len(row)}".ljust(3), paint="faint"))
        points.update((cell, (first + place, y)) for place, cell in enumerate(row))
    names = board.names
    for cell, point in points.items():
        ground.append(Mark(*point, empty, HEXAGON, names[cell], "faint", names[cell]))
    return StoneBoard(
        tuple(ground),
        tuple({cell: kind.mark(point, names[cell]) for cell, point in points.items()} for kind in kinds),
        {
            c: Mark(*point, fresh, FRESH, "", "fresh", f"placed last: {names[c]}")
            for c, point in points.items()
        },
        {c: Mark(*point, "(  )", GONE, "", "gone", f"captured: {names[c]}") for c, point in points.items()},
    )


class StoneKind(NamedTuple):
    """How a kind of stone looks."""

    text: str
    symbol: Symbol
    paint: Paint
    title: str
    """In words, without its place."""

    def mark(self, point: Point, name: str) -> Mark:
        """A stone of this kind on a cell."""
        return Mark(*point, self.text, self.symbol, self.text.strip(), self.paint, f"{self.title} at {name}")

    def span(self) -> Span:
        """The stone in a row, where it is drawn only."""
        return Span("", self.paint, self.symbol, self.title)
