"""The picture of a position, in characters."""

from __future__ import annotations

from referee.games.picture import Picture, Span, row_of
from referee.games.vinetree.life import dead_flowers
from referee.games.vinetree.position import Growth, Position

_VINES = {"DU": "│║", "LR": "─═", "LU": "┘╝", "RU": "└╚", "DL": "┐╗", "DR": "┌╔", "": "··"}
"""By the sides at which vine leaves a cell, its character: for an older vine, and for one of the last move.
"""


def picture(position: Position, last: Growth | None) -> Picture:
    """The board with its vines; `*` is a flower that lives, `x` a dead one. What the last move grew is
    drawn in double lines, with `[ ]` round its new flowers and `( )` round the one it grew.
    """
    board, dead = position.rules.board, dead_flowers(position)
    vines = [position.cells_of(last.flower, vine) for vine in last[1:]] if last else []
    grown = {cell for vine in vines for cell in vine}
    marks = {vine[-1]: ("[", "]") for vine in vines}
    if last:
        marks[last.flower] = ("(", ")")
    numbers = "".join(f"{i + 1:^4}" for i in range(board.size))
    lines: list[list[Span]] = [[Span(f"  {numbers}".rstrip(), "faint")]]
    for row in board.rows:
        line = [Span(f"{board.names[row[0]][0]} ", "faint")]
        below = [Span("  ")]
        for cell in row:
            sides = "".join(side for side in "DLRU" if position.joined(cell, side))
            # A vine at a cell that the last move filled was grown by that move.
            before, behind, under = (
                not grown.isdisjoint((cell, cell + step))
                for step in (board.steps["L"], board.steps["R"], board.steps["D"])
            )
            vine_left = "─═"[before] if "L" in sides else " "
            vine_right = "─═"[behind] if "R" in sides else " "
            opening, closing = marks.get(cell, (vine_left, vine_right))
            if not position.flowers >> cell & 1:
                middle = Span(_VINES[sides][cell in grown], "vine")
            elif dead >> cell & 1:
                middle = Span("x", "faint")
            else:
                middle = Span("*", "flower")
            line += [Span(opening, "vine"), middle, Span(closing + vine_right, "vine")]
            below.append(Span(f" {'│║'[under]}  " if "D" in sides else "    ", "vine"))
        lines += [line, below]
    lines[-1] = [Span("* flower, x dead flower", "faint")]
    if last:
        lines.append([Span("( ) grown by the last move, [ ] its new flowers", "faint")])
    return tuple(row_of(*line) for line in lines)
