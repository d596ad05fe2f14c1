"""Stones on a hexagonal board: how they are written, `COLOUR:CELL`, and how the board is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from referee.games.api import Illegal
from referee.games.grid import HexBoard
from referee.games.picture import Span

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


def drawn(board: HexBoard, draw: Callable[[int], list[Span]]) -> list[list[Span]]:
    """The picture of a board, row by row with names; `draw` gives a cell, four characters wide."""
    lines: list[list[Span]] = []
    for row in board.rows:
        name = board.names[row[0]][0]
        line = [Span(f"{name} ", "faint"), Span("  " * (2 * board.side - 1 - len(row)))]
        for cell in row:
            line += draw(cell)
        lines.append([*line, Span(f" {name}{len(row)}", "faint")])
    return lines
