"""Stones on a hexagonal board: how they are written, `COLOUR:CELL`, and how the board is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from referee.games.api import Illegal
from referee.games.grid import HexBoard
from referee.games.picture import (
    FRESH,
    HEXAGON,
    Mark,
    Paint,
    Piece,
    Plane,
    Point,
    Region,
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


ROW = 0.866  # how far rows of hexagonal cells are apart, if a cell is 1 wide


class StoneBoard(NamedTuple):
    """The marks of a board and its stones, all of which are made once."""

    board: HexBoard
    points: dict[int, Point]  # the middle of each cell
    ground: tuple[Mark, ...]  # the empty cells, and the names of rows and diagonals around them
    stones: tuple[dict[int, Mark], ...]  # by kind of stone, for each cell the mark of a stone there
    placed: dict[int, Mark]  # by cell, what surrounds a stone that the last turn placed
    captured: dict[int, tuple[Mark, ...]]
    """By cell, what stands where the last turn captured a stone, by the seat that lost it."""

    def plane(self, pieces: Iterable[Piece], placed: Iterable[int]) -> Plane:
        """A board with these pieces, and what surrounds the stones that the last turn placed."""
        marks = (*pieces, *map(self.placed.__getitem__, placed))
        return Plane(marks, self.ground, columns=4, rows=1 / ROW)

    def region(self, group: Sequence[int], paint: Paint, line: Paint, width: float, title: str) -> Region:
        """The area of a group of cells."""
        inside = set(group)
        lines = tuple(
            (self.points[cell], self.points[other])
            for cell in group
            for other in self.board.neighbours[cell]
            if cell < other and other in inside
        )
        return Region(lines or ((self.points[group[0]],),), paint, line, width, title)


def stone_board(
    board: HexBoard,
    empty: str,
    fresh: str,
    kinds: Sequence[StoneKind],
    gone: Sequence[tuple[Symbol, Paint]] = (),
) -> StoneBoard:
    """The marks of a board: `empty` and `fresh` are the texts of an empty cell and of what surrounds a
    stone that the last turn placed, `gone` what is drawn where it captured stones of each seat.
    """
    ground: list[Mark] = []
    points: dict[int, Point] = {}
    for number, row in enumerate(board.rows):
        letter, y = board.names[row[0]][0], number * ROW
        first = 0.875 + (2 * board.side - 1 - len(row)) / 2
        # In a terminal, the names of the rows stand in columns; in a drawing, beside the first cell.
        ground.append(Mark(0.1, y, letter, paint="faint"))
        ground.append(Mark(first - 0.85, y, caption=letter, paint="faint"))
        ground.append(Mark(first + len(row) + 0.125, y, f"{letter}{len(row)}".ljust(3), paint="faint"))
        points.update((cell, (first + place, y)) for place, cell in enumerate(row))
    ground += _diagonals(board, points)
    names = board.names
    for cell, point in points.items():
        name = names[cell]
        ground.append(Mark(*point, empty, HEXAGON, paint="faint", title=name, part=name))
    return StoneBoard(
        board,
        points,
        tuple(ground),
        tuple({cell: kind.mark(point, names[cell]) for cell, point in points.items()} for kind in kinds),
        {
            c: Mark(*point, fresh, FRESH, "", "fresh", f"placed last: {names[c]}")
            for c, point in points.items()
        },
        {
            c: tuple(Mark(*point, "(  )", kind, "", paint, f"captured: {names[c]}") for kind, paint in gone)
            for c, point in points.items()
        },
    )


def _diagonals(board: HexBoard, points: dict[int, Point]) -> Iterator[Mark]:
    """The numbers of the cells within their rows, at the ends of the diagonals that have them. In a terminal
    they stand above and below the board; beside it are the names of the last cells, which end with them.
    """
    *above, middle = board.rows[: board.side]
    for rows, down in ((above or [middle], -1), ([*reversed(board.rows[board.side :])] or [middle], 1)):
        for number, cell in enumerate(rows[0], 1):
            x, y = points[cell]
            yield Mark(x + 0.4, y + 0.7 * down, caption=str(number), paint="faint", size=0.9)
            yield Mark(x + 0.5, y + ROW * down, f"{number:2}", paint="faint")
        for row in rows:
            x, y = points[row[-1]]
            yield Mark(x + 0.78, y + 0.06 * down, caption=str(len(row) + 1), paint="faint", size=0.9)


class StoneKind(NamedTuple):
    """How a kind of stone looks."""

    text: str
    symbol: Symbol
    paint: Paint
    title: str  # in words, without its place

    def mark(self, point: Point, name: str) -> Mark:
        """A stone of this kind on a cell."""
        return Mark(*point, self.text, self.symbol, "", self.paint, f"{self.title} at {name}")

    def span(self) -> Span:
        """The stone in a row, where it is drawn only."""
        return Span("", self.paint, self.symbol, self.title)
