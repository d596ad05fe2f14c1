"""The picture of a position: the board with its vines, and its flowers, living and dead. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from referee.games.api import Seat
from referee.games.grid import SquareBoard, members
from referee.games.picture import (
    FRESH,
    SEATS,
    SQUARE,
    Circle,
    Mark,
    Paint,
    Picture,
    Piece,
    Plane,
    Point,
    Polygon,
    Row,
    Span,
    Symbol,
    Trace,
    badge,
    regular,
    row_of,
)
from referee.games.vinetree.growing import dead_flowers
from referee.games.vinetree.position import Growth, VinePosition

_MIDDLE = Circle(0, 0, 0.21, "white", "own-edge", 0.03)
_ROUND = Symbol(
    "flower with round petals",
    (*(Circle(x, y, 0.165, "own-second", "own-edge", 0.03) for x, y in regular(6, 0.255)), _MIDDLE),
)
_TIPS, _NOTCHES = regular(6, 0.42), regular(6, 0.26, 1 / 12)
_POINTED = Symbol(
    "flower with pointed petals",
    (
        Polygon(
            tuple(point for pair in zip(_TIPS, _NOTCHES, strict=True) for point in pair),
            "own-second",
            "own-edge",
            0.03,
        ),
        _MIDDLE,
    ),
)
_FIRST = Symbol(
    "first flower", (*(Circle(x, y, 0.165, "board", "edge", 0.03) for x, y in regular(5, 0.255)), _MIDDLE)
)
_DEAD = Symbol(
    "dead flower",
    (
        *(Circle(x, y, 0.075, "board", "dead", 0.035) for x, y in regular(5, 0.13)),
        Circle(0, 0, 0.065, "dead"),
    ),
)
_GROWN = Symbol(
    "grown by the last move",
    (Circle(0, 0, 0.435, None, "page", 0.05), Circle(0, 0, 0.485, None, "fresh", 0.05, 0.09)),
)
_FLOWERS = {0: _ROUND, 1: _POINTED, None: _FIRST}  # the living flowers, by who grew them
_DASHES: tuple[Paint | None, Paint | None] = (None, "seat2-second")
"""The paint of the dashes along the vines of each seat."""

_LEGEND = row_of(
    Span("*", "faint", _FIRST),
    Span(" flower, ", "faint", caption=" living, with its length  "),
    Span("x", "faint", _DEAD),
    Span(" dead flower", "faint", caption=" dead"),
)
_LEGEND_OF_THE_LAST_MOVE = row_of(
    Span("( )", "faint", _GROWN),
    Span(" grown by the last move, ", "faint", caption=" grown by the last move  "),
    Span("[ ]", "faint", FRESH),
    Span(" its new flowers", "faint"),
)


class Vine(NamedTuple):
    """A vine, by its cells from flower to flower, and the seat that grew it."""

    seat: Seat
    cells: tuple[int, ...]


class _Drawn(NamedTuple):
    """The marks of a board, by cell; all of them are made once."""

    ground: tuple[Mark, ...]  # the empty cells, the names of the rows and the numbers of the columns
    points: dict[int, Point]
    dead: dict[int, Mark]  # the flowers that are dead
    grown: dict[int, Mark]  # what surrounds the flower that the last move grew; below, its new flowers
    new: dict[int, Mark]


def picture(position: VinePosition, vines: Sequence[Vine], last: Growth | None) -> Picture:
    """The board with its vines; `*` is a flower that lives, `x` a dead one. What the last move grew is
    drawn in double lines, with `[ ]` round its new flowers and `( )` round the one it grew. In drawings,
    vines and flowers have the colour of who grew them, and living flowers their length.
    """
    size, dead = position.rules.board.size, dead_flowers(position)
    drawn = _drawn(size)
    count = len(vines) - 2 if last else len(vines)
    grower = {vine.cells[-1]: vine.seat for vine in vines}
    marks: list[Piece] = [_trace(size, vine, number >= count) for number, vine in enumerate(vines)]
    for flower in members(position.flowers):
        marks.append(
            drawn.dead[flower]
            if dead >> flower & 1
            else _living(size, flower, grower.get(flower), position.length(flower))
        )
    rows = []
    for seat in (0, 1):
        own = [flower for flower, owner in grower.items() if owner == seat]
        dead_ones = sum(dead >> flower & 1 for flower in own)
        rows.append(_count(seat, len(own) - dead_ones, dead_ones))
    if not last:
        return Plane(tuple(marks), drawn.ground, 4, 2), *rows, _LEGEND
    marks.append(drawn.grown[last.flower])
    marks += [drawn.new[flower] for flower in sorted(vine.cells[-1] for vine in vines[count:])]
    return Plane(tuple(marks), drawn.ground, 4, 2), *rows, _LEGEND, _LEGEND_OF_THE_LAST_MOVE


@cache
def _count(seat: Seat, living: int, dead: int) -> Row:
    """How many flowers of a seat live; only in drawings."""
    return row_of(
        badge(seat, ""),
        Span("", SEATS[seat], _FLOWERS[seat]),
        Span("", caption=f" {living} living, "),
        Span("", "", _DEAD),
        Span("", "faint", caption=f" {dead} dead"),
        seat=seat,
    )


@lru_cache(maxsize=1 << 12)
def _trace(size: int, vine: Vine, fresh: bool) -> Trace:
    drawn, names = _drawn(size), SquareBoard.of_size(size).names
    first, *_, last = cells = vine.cells
    bends = (
        here
        for before, here, after in zip(cells, cells[1:], cells[2:], strict=False)
        if here - before != after - here
    )
    points = tuple(drawn.points[cell] for cell in (first, *bends, last))
    one, other = sorted((first, last))
    title = f"vine of seat {vine.seat + 1} from {names[one]} to {names[other]}"
    return Trace(points, SEATS[vine.seat], title=title, fresh=fresh, dashes=_DASHES[vine.seat])


@lru_cache(maxsize=1 << 12)
def _living(size: int, flower: int, seat: Seat | None, length: int) -> Mark:
    name = SquareBoard.of_size(size).names[flower]
    paint: Paint = "flower" if seat is None else SEATS[seat]
    point = _drawn(size).points[flower]
    return Mark(*point, "*", _FLOWERS[seat], str(length), paint, f"flower at {name}, length {length}", 1)


@cache
def _drawn(size: int) -> _Drawn:
    board = SquareBoard.of_size(size)
    # The column is the third of four characters; each row has a line below for the vines.
    points = {cell: (0.75 + x, float(y)) for y, row in enumerate(board.rows) for x, cell in enumerate(row)}
    ground = []
    for number, row in enumerate(board.rows):
        letter = board.names[row[0]][0]
        ground += [Mark(0, number, letter, caption=letter, paint="faint")]
        name, x = str(number + 1), points[row[number]][0]
        # In a terminal close to the board, and in a drawing beside it.
        ground += [Mark(x, -0.5, name if number < 9 else f" {name}", paint="faint")]
        ground += [Mark(x, -0.75, caption=name, paint="faint")]
    names = board.names
    for cell, point in points.items():
        name = names[cell]
        ground.append(Mark(*point, "·", SQUARE, paint="faint", title=name, part=name))

    def marks(text: str, symbol: Symbol, paint: Paint, what: str) -> dict[int, Mark]:
        return {
            cell: Mark(*point, text, symbol, paint=paint, title=f"{what} {names[cell]}")
            for cell, point in points.items()
        }

    return _Drawn(
        tuple(ground),
        points,
        marks("x", _DEAD, "dead", "dead flower at"),
        marks("( )", _GROWN, "vine", "grown by the last move:"),
        marks("[ ]", FRESH, "vine", "new flower:"),
    )
