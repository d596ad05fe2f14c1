"""The picture of a position: the board with its vines, and its flowers, living and dead. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from referee.games.grid import SquareBoard, members
from referee.games.picture import (
    FRESH,
    SQUARE,
    Circle,
    Mark,
    Paint,
    Picture,
    Plane,
    Point,
    Span,
    Stroke,
    Symbol,
    Trace,
    regular,
    row_of,
)
from referee.games.vinetree.life import dead_flowers
from referee.games.vinetree.position import Growth, VinePosition

_FLOWER = Symbol(
    "flower",
    (*(Circle(x, y, 0.15, "flower", "edge", 0.02) for x, y in regular(6, 0.2)), Circle(0, 0, 0.11, "white")),
)
_DEAD = Symbol(
    "dead flower",
    (
        *(Stroke(((0, 0), point), "dead", 0.07) for point in regular(4, 0.3, 1 / 8)),
        Circle(0, 0, 0.11, "board", "dead", 0.05),
    ),
)
_GROWN = Symbol(
    "grown by the last move", (Stroke((*regular(4, 0.6, 1 / 8), *regular(4, 0.6, 1 / 8)[:1]), "fresh"),)
)

_LEGEND = row_of(
    Span("*", "faint", _FLOWER),
    Span(" flower, ", "faint"),
    Span("x", "faint", _DEAD),
    Span(" dead flower", "faint"),
)
_LEGEND_OF_THE_LAST_MOVE = row_of(
    Span("( )", "faint", _GROWN),
    Span(" grown by the last move, ", "faint"),
    Span("[ ]", "faint", FRESH),
    Span(" its new flowers", "faint"),
)


class _Drawn(NamedTuple):
    """The marks of a board, by cell; all of them are made once."""

    ground: tuple[Mark, ...]
    """The empty cells, the names of the rows and the numbers of the columns."""
    points: dict[int, Point]
    living: dict[int, Mark]
    """The flowers that live; below, those that are dead."""
    dead: dict[int, Mark]
    grown: dict[int, Mark]
    """What surrounds the flower that the last move grew; below, its new flowers."""
    new: dict[int, Mark]


def picture(position: VinePosition, last: Growth | None) -> Picture:
    """The board with its vines; `*` is a flower that lives, `x` a dead one. What the last move grew is
    drawn in double lines, with `[ ]` round its new flowers and `( )` round the one it grew.
    """
    board, dead = position.rules.board, dead_flowers(position)
    drawn = _drawn(board.size)
    new = {position.cells_of(last.flower, vine)[-1] for vine in last[1:]} if last else set()
    marks: list[Mark | Trace] = []
    for corners in _vines(position):
        one, *_, other = corners
        points = tuple([drawn.points[cell] for cell in corners])
        title = f"vine from {board.names[one]} to {board.names[other]}"
        marks.append(Trace(points, "vine", title=title, fresh=one in new or other in new))
    for flower in members(position.flowers):
        marks.append((drawn.dead if dead >> flower & 1 else drawn.living)[flower])
    if not last:
        return Plane(tuple(marks), drawn.ground, 4, 2), _LEGEND
    marks.append(drawn.grown[last.flower])
    marks += [drawn.new[flower] for flower in sorted(new)]
    return Plane(tuple(marks), drawn.ground, 4, 2), _LEGEND, _LEGEND_OF_THE_LAST_MOVE


def _vines(position: VinePosition) -> Iterator[list[int]]:
    """Every vine once, as cells: the flower at one end, where it turns, and the flower at its other end."""
    steps = tuple(position.rules.board.steps.values())
    for flower in members(position.flowers):
        for step in steps:
            corners, cell, on = [flower], flower, step
            while position.joined_by(cell, on):
                cell += on
                if position.flowers >> cell & 1:
                    if cell > flower:
                        yield [*corners, cell]
                    break
                if not position.joined_by(cell, on):
                    corners.append(cell)
                    on = next(
                        turn for turn in steps if turn not in (on, -on) and position.joined_by(cell, turn)
                    )


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
        ground.append(Mark(*point, "·", SQUARE, paint="faint", title=names[cell]))

    def marks(text: str, symbol: Symbol, paint: Paint, what: str) -> dict[int, Mark]:
        return {
            cell: Mark(*point, text, symbol, paint=paint, title=f"{what} {names[cell]}")
            for cell, point in points.items()
        }

    return _Drawn(
        tuple(ground),
        points,
        marks("*", _FLOWER, "flower", "flower at"),
        marks("x", _DEAD, "dead", "dead flower at"),
        marks("( )", _GROWN, "vine", "grown by the last move:"),
        marks("[ ]", FRESH, "vine", "new flower:"),
    )
