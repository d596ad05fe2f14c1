"""Pictures of positions: shapes to be drawn, and the text that stands for them in a terminal. Pure.

A picture is a column of panels. A *plane* is a board: marks at points of a plane, each with a symbol to be
drawn and the text for a terminal. A *row* is a line of text and small symbols: a score, a hand of tiles, a
legend. Colours are not part of a picture; a *paint* names what a mark is, and whoever draws it chooses the
colour, so a picture must be readable without any.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, pi, sin
from typing import Literal, NamedTuple

Paint = Literal[
    "",  # ordinary ink
    "own",  # within a symbol: the paint of the mark
    "own-first",  # the strong colour of the mark's seat, and below its light colour, its outlines, its shade
    "own-second",
    "own-edge",
    "own-tint",
    "page",  # what is behind the picture: for gaps between shapes
    "faint",  # what is less important: coordinates, legends
    "board",  # an empty cell
    "edge",  # the outline of a cell, a tile, a pot
    "seat1",
    "seat2",
    "seat3",
    "seat4",
    "seat1-second",  # the second colour of a seat, lighter than the first
    "seat2-second",
    "seat1-edge",  # the outline of what has one of these two colours
    "seat2-edge",
    "seat3-edge",
    "seat4-edge",
    "seat1-tint",  # the shade of what belongs to a seat
    "seat2-tint",
    "seat3-tint",
    "seat4-tint",
    "white",
    "white-edge",
    "white-tint",
    "orange",
    "orange-edge",
    "orange-tint",
    "vine",
    "flower",
    "violet",
    "sun",
    "water",
    "dead",
    "tile",
    "wood",  # what is drawn on a tile
    "added",  # what was added to it
    "back",  # the back of a tile
    "fresh",  # part of the last move
    "gone",  # removed by the last move
]
"""What a shape or a text is, which decides its colour."""

Point = tuple[float, float]
"""x to the right and y downwards."""


class Polygon(NamedTuple):
    """A polygon, or its outline alone where `fill` is None."""

    points: tuple[Point, ...]
    fill: Paint | None = "own"
    line: Paint | None = None
    """The paint of its outline, which rounds its corners; None is no outline."""
    width: float = 0.04
    """The width of its outline."""


class Circle(NamedTuple):
    """A disc, or a ring where `fill` is None."""

    x: float
    y: float
    radius: float
    fill: Paint | None = "own"
    line: Paint | None = None
    width: float = 0.04
    """The width of its outline."""
    dash: float = 0
    """The length of the dashes of its outline, with gaps as long; 0 where it has none."""


class Stroke(NamedTuple):
    """A line through points."""

    points: tuple[Point, ...]
    line: Paint = "own"
    width: float = 0.06
    dash: float = 0
    """The length of its dashes, with gaps as long; 0 where it has none."""


class Letters(NamedTuple):
    """Text, centred at a point."""

    x: float
    y: float
    text: str
    paint: Paint = ""
    size: float = 0.4
    """The height of the letters."""


Shape = Polygon | Circle | Stroke | Letters


class Symbol(NamedTuple):
    """What is drawn for a mark, around the point (0, 0); the first shape is painted first."""

    name: str
    """Words for people, unlike those of every other symbol of the game."""
    shapes: tuple[Shape, ...]

    def __hash__(self) -> int:
        """That of the name: symbols are looked up for each mark of each picture."""
        return hash(self.name)


class Mark(NamedTuple):
    """Something at a point of a plane. Where there are only characters, `text` is written, centred; in a
    drawing the symbol is drawn and the caption over it. Either may be absent.
    """

    x: float
    y: float
    text: str = ""
    """One line or several. Its blanks cover nothing, so that marks may surround others."""
    symbol: Symbol | None = None
    caption: str = ""
    paint: Paint = ""
    title: str = ""
    """What it is, in words, for a person who points at it or does not see the picture, and for programs."""
    size: float = 1
    """The size at which the symbol is drawn, and of the caption in relation to the usual size."""
    part: str = ""
    """The part of a move that a person chooses by clicking on it, such as `C3`, see `State.parts`."""


class Trace(NamedTuple):
    """A line through points of a plane, horizontal and vertical, such as a vine. Where there are only
    characters, box-drawing characters stand for it, double ones if `fresh`.
    """

    points: tuple[Point, ...]
    paint: Paint = ""
    width: float = 0.12
    title: str = ""
    fresh: bool = False
    """Whether it is part of the last move."""
    dashes: Paint | None = None
    """The paint of the dashes along its middle; None is no dashes."""


class Region(NamedTuple):
    """What lies around points and lines between them, such as a group of stones: one area with an outline.
    Where there are only characters, nothing stands for it.
    """

    lines: tuple[tuple[Point, ...], ...]
    """Each is a line through points, or a single point."""
    paint: Paint = ""
    line: Paint = "edge"
    """The paint of its outline."""
    width: float = 0.9
    """How wide it is around a point or a line, without its outline."""
    title: str = ""


Piece = Mark | Trace | Region
"""What a plane consists of."""


class Plane(NamedTuple):
    """A board, or another arrangement of marks; those that come later are painted over the earlier ones."""

    marks: tuple[Piece, ...]
    ground: tuple[Piece, ...] = ()
    """What is below the marks and never changes during a game, in all positions the same object."""
    columns: float = 4
    """Where there are only characters: how many of them are as wide as 1 on the plane."""
    rows: float = 1
    """Where there are only characters: how many lines are as high as 1 on the plane."""
    margin: int = 0
    """Where there are only characters: how many blanks each line begins with."""
    frame: tuple[float, float] | None = None
    """The width and height in which each position is drawn as large as fits, for what grows; None where all
    positions have one size. All planes with one number in their pictures have the same.
    """
    seat: int | None = None
    """The seat whose board it is, where each has its own: pages show it below the seat's name."""


class Span(NamedTuple):
    """A piece of a row: text, or the symbol that is drawn in its place."""

    text: str
    paint: Paint = ""
    symbol: Symbol | None = None
    title: str = ""
    caption: str | None = None
    """What a drawing says instead of the text; None where it says the same."""
    part: str = ""
    """The part of a move that a person chooses by clicking on it, such as a tile of a hand."""


class Row(NamedTuple):
    """A line of text and small symbols."""

    spans: tuple[Span, ...]
    seat: int | None = None
    """The seat that it is about, such as its hand or its score: pages show it below the seat's name."""


Panel = Plane | Row

Picture = tuple[Panel, ...]
"""The panels from top to bottom."""


def row_of(*spans: Span | str, seat: int | None = None) -> Row:
    """A row of these pieces; `seat` is whom it is about."""
    return Row(tuple(Span(span) if isinstance(span, str) else span for span in spans), seat)


def parts_of_picture(picture: Picture) -> set[str]:
    """The parts of moves that its marks stand for."""
    found: set[str] = set()
    for panel in picture:
        if isinstance(panel, Row):
            found.update(span.part for span in panel.spans)
        else:
            found.update(mark.part for mark in (*panel.ground, *panel.marks) if isinstance(mark, Mark))
    return found - {""}


def panels_of_seat(picture: Picture, seat: int | None) -> Picture:
    """The panels of a picture that are about a seat, or those that are about none."""
    return tuple(panel for panel in picture if panel.seat == seat)


def boards_and_notes(pictures: Sequence[Picture]) -> tuple[list[Picture], list[Picture]]:
    """Of pictures of one game the panels that are about no seat: the boards, and the rows beside them. Where
    there are rows alone, these may be a board of characters.
    """
    common = [panels_of_seat(picture, None) for picture in pictures]
    if not any(isinstance(panel, Plane) for panels in common for panel in panels):
        return common, [() for _ in common]
    boards: list[Picture] = [tuple(one for one in panels if isinstance(one, Plane)) for panels in common]
    return boards, [tuple(one for one in panels if isinstance(one, Row)) for panels in common]


def label(x: float, y: float, text: str, paint: Paint = "faint") -> Mark:
    """A text that is written in a terminal and drawn as it is."""
    return Mark(x, y, text, None, text, paint)


@cache
def regular(
    corners: int, radius: float, turn: float = 0.0, x: float = 0.0, y: float = 0.0
) -> tuple[Point, ...]:
    """The corners of a regular polygon around (x, y); the first is at the top, turned by `turn` of a circle
    clockwise.
    """
    angles = [2 * pi * (number / corners + turn) for number in range(corners)]
    return tuple((round(x + radius * sin(angle), 4), round(y - radius * cos(angle), 4)) for angle in angles)


_ROUND = 0.12
"""The width of an outline that rounds the corners of a shape in its own paint."""

HEXAGON = Symbol("cell", (Polygon(regular(6, 0.462), "board", "board", _ROUND),))
"""A cell of a hexagonal board, 1 wide with the gap around it; rows of cells are 0.866 apart."""
SQUARE = Symbol("square", (Polygon(regular(4, 0.5657, 1 / 8), "board", "board", _ROUND),))
"""A cell of a square board, 1 wide with the gap around it."""
DISC = Symbol("stone", (Circle(0, 0, 0.38, "own", "own-edge"),))
"""A stone in the paint of its mark."""
FRESH = Symbol(
    "of the last move",
    (Circle(0, 0, 0.435, None, "page", 0.05), Circle(0, 0, 0.485, None, "fresh", 0.06)),
)
"""A ring round what the last move placed, with a gap."""
GONE = Symbol("removed by the last move", (Circle(0, 0, 0.36, "own-tint", "own-edge", 0.04, 0.1),))
"""What is left of a stone in the paint of the mark that the last move removed."""

SEATS: tuple[Paint, ...] = ("seat1", "seat2", "seat3", "seat4")

_BADGES: tuple[Shape, ...] = (
    Circle(0, 0, 0.4, "own-first"),
    Polygon(regular(4, 0.46, 1 / 8), "own-first", "own-first", _ROUND),
    Polygon(regular(6, 0.4), "own-first", "own-first", _ROUND),
    Polygon(regular(4, 0.44), "own-first", "own-first", _ROUND),
)
"""The shapes for each seat."""


@cache
def badge(seat: int, text: str) -> Span:
    """The name of a seat in a row, such as `seat 1:`; a drawing has its number instead, on a shape of its
    own.
    """
    number = str(seat + 1)
    symbol = Symbol(f"badge of seat {number}", (_BADGES[seat], Letters(0, 0, number, "", 0.5)))
    return Span(text, SEATS[seat], symbol, f"seat {number}", "")
