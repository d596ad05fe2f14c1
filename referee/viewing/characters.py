"""Pictures in characters, for terminals and plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from math import floor
from typing import NamedTuple

import click

from referee.games.picture import HEXAGON, SQUARE, Mark, Paint, Picture, Piece, Plane, Trace
from referee.viewing.palette import INKS

_LINES = {"DU": "│║", "LR": "─═", "LU": "┘╝", "RU": "└╚", "DL": "┐╗", "DR": "┌╔"}
"""Box-drawing characters by the sides at which a line leaves them: single, and double for fresh lines."""

_SIDES: dict[tuple[int, int], tuple[str, str]] = {
    (1, 0): ("D", "U"),
    (-1, 0): ("U", "D"),
    (0, 1): ("R", "L"),
    (0, -1): ("L", "R"),
    (0, 0): ("", ""),
}
"""By the direction of a line: the side at which it leaves a character, and that at which it enters the next.
"""

_CellGrid = dict[tuple[int, int], tuple[str, Paint]]  # characters with their paints, by line and column


class Ink(NamedTuple):
    """A piece of a line in one paint."""

    text: str
    paint: Paint

    @property
    def colour(self) -> str:
        """Its colour in a terminal: a name that both click and rich know, or empty."""
        return INKS.get(self.paint, "")


InkLine = list[Ink]


def lines(picture: Picture, is_large: bool = False) -> list[InkLine]:
    """The lines of a picture, without blanks at their ends. What has no text is in drawings alone. Boards of
    cells are larger if `is_large` is set.
    """
    found: list[InkLine] = []
    for panel in picture:
        if isinstance(panel, Plane):
            found += _plane(_enlarged(panel) if is_large and _can_grow(panel) else panel)
        elif any(span.text or not (span.symbol or span.caption) for span in panel.spans):
            found.append(_trimmed([Ink(s.text, s.paint) for s in panel.spans if s.text]))
    return found


def picture_text(picture: Picture, colour: bool = False, is_large: bool = False) -> str:
    """A picture as text, with colours if `colour` is set, and with larger boards if `is_large` is set."""
    return text_of(lines(picture, is_large), colour)


def text_of(drawn: Iterable[InkLine], colour: bool = False) -> str:
    """Lines as text, with colours if `colour` is set."""
    return "\n".join(
        "".join(click.style(ink.text, fg=ink.colour) if colour and ink.colour else ink.text for ink in line)
        for line in drawn
    )


def _trimmed(line: InkLine) -> InkLine:
    while line and not line[-1].text.rstrip():
        line = line[:-1]
    return [*line[:-1], line[-1]._replace(text=line[-1].text.rstrip())] if line else []


def _can_grow(plane: Plane) -> bool:
    """Whether a board is one of cells; what is put together of several lines would fall apart."""
    pieces = (*plane.ground, *plane.marks)
    is_of_cells = any(isinstance(piece, Mark) and piece.symbol in (HEXAGON, SQUARE) for piece in pieces)
    return is_of_cells and not any(isinstance(piece, Mark) and "\n" in piece.text for piece in pieces)


def _enlarged(plane: Plane) -> Plane:
    """A board whose cells are twice as wide, and about as high as wide on a screen, where a character is
    twice as high as wide. If there is room above and below, stones have outlines.
    """
    times = max(1, floor(plane.columns / plane.rows))
    marks = tuple(_outlined(mark) for mark in plane.marks) if times > 2 else plane.marks
    return plane._replace(marks=marks, columns=2 * plane.columns, rows=times * plane.rows)


def _outlined(piece: Piece) -> Piece:
    """A stone with an outline; what surrounds a stone is drawn over the outline's sides."""
    if not isinstance(piece, Mark) or not piece.text or " " in piece.text.strip():
        return piece
    rule = "─" * len(piece.text)
    return piece._replace(text=f"╭{rule}╮\n│{piece.text}│\n╰{rule}╯")


def _plane(plane: Plane) -> Iterator[InkLine]:
    cells: _CellGrid = {}
    for mark in (*plane.ground, *plane.marks):
        if isinstance(mark, Trace):
            _write_trace(cells, mark, plane)
        elif isinstance(mark, Mark):
            _write_mark(cells, mark, plane)
    if not cells:
        return
    left = min(column for _, column in cells) - plane.margin
    for number in range(min(number for number, _ in cells), max(number for number, _ in cells) + 1):
        last = max((column for row, column in cells if row == number), default=left - 1)
        line = [cells.get((number, column), (" ", "")) for column in range(left, last + 1)]
        yield [
            Ink("".join(character for character, _ in piece), paint)
            for paint, piece in ((paint, list(piece)) for paint, piece in groupby(line, lambda cell: cell[1]))
        ]


def _write_mark(cells: _CellGrid, mark: Mark, plane: Plane) -> None:
    texts = mark.text.split("\n") if mark.text else []
    top = _nearest(mark.y * plane.rows - (len(texts) - 1) / 2)
    for number, text in enumerate(texts, top):
        start = _nearest(mark.x * plane.columns - (len(text) - 1) / 2)
        for column, character in enumerate(text, start):
            if character != " ":
                cells[number, column] = character, mark.paint


def _write_trace(cells: _CellGrid, trace: Trace, plane: Plane) -> None:
    places = [(_nearest(y * plane.rows), _nearest(x * plane.columns)) for x, y in trace.points]
    sides: dict[tuple[int, int], str] = {}
    for (row, column), (row_to, column_to) in pairwise(places):
        down, right = _sign(row_to - row), _sign(column_to - column)
        leaving, entering = _SIDES.get((down, right), ("", ""))
        while leaving and (row, column) != (row_to, column_to):
            sides[row, column] = sides.get((row, column), "") + leaving
            row, column = row + down, column + right
            sides[row, column] = sides.get((row, column), "") + entering
    for place, found in sides.items():
        if character := _LINES.get("".join(sorted(found))):
            cells[place] = character[trace.fresh], "fresh" if trace.fresh else trace.paint


def _nearest(number: float) -> int:
    """The character cell of a number; half a cell is rounded down, whatever the last digits are."""
    return floor(number + 1e-6)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def width(drawn: Sequence[InkLine]) -> int:
    """The number of characters of the longest line."""
    return max((sum(len(ink.text) for ink in line) for line in drawn), default=0)


class Extent(NamedTuple):
    """The characters of a picture from a line and a column to before others."""

    top: int
    left: int
    bottom: int
    right: int


def last_move(drawn: Sequence[InkLine]) -> Extent | None:
    """Where the last move is in a picture; None where nothing is marked as part of it."""
    found = [
        (row, sum(len(ink.text) for ink in line[:number]), len(ink.text))
        for row, line in enumerate(drawn)
        for number, ink in enumerate(line)
        if ink.paint == "fresh"
    ]
    if not found:
        return None
    left = min(column for _, column, _ in found)
    right = max(column + length for _, column, length in found)
    return Extent(found[0][0], left, found[-1][0] + 1, right)


def part(drawn: Sequence[InkLine], columns: int, rows: int) -> list[InkLine]:
    """The part of a picture with so many columns and lines that has the last move in its middle, as far as
    the edges allow; its beginning where there is no last move. Letters that name a row stay.
    """
    top, left, bottom, right = last_move(drawn) or Extent(0, 0, 0, 0)
    first = max(0, min((top + bottom - rows) // 2, len(drawn) - rows))
    start = max(0, min((left + right - columns) // 2, width(drawn) - columns))
    return [_trimmed(_cut_row(line, start, start + columns)) for line in drawn[first : first + rows]]


def _cut_row(line: InkLine, start: int, end: int) -> InkLine:
    """A part of a line, with the letters that name the row where they are farther left."""
    name = next((ink for ink in line if ink.text.strip()), Ink("", ""))
    at = sum(len(ink.text) for ink in line[: line.index(name)]) if name.text else start
    if at >= start or name.paint != "faint" or not name.text.isalpha():
        return _cut(line, start, end)
    return [name._replace(text=f"{name.text} "), *_cut(line, start + len(name.text) + 1, end)]


def _cut(line: InkLine, start: int, end: int) -> InkLine:
    found, at = [], 0
    for ink in line:
        if text := ink.text[max(0, start - at) : max(0, end - at)]:
            found.append(ink._replace(text=text))
        at += len(ink.text)
    return found
