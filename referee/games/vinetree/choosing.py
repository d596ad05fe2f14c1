"""A growth chosen cell by cell: a flower, then one vine, then the other. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.api import Chosen
from referee.games.grid import Cells, members
from referee.games.vinetree.growing import NO_WAY, Fit, dead_flowers
from referee.games.vinetree.position import Growth, VinePosition

_NOTHING: Chosen[Growth] = Chosen((), (), 0)


def parts(position: VinePosition, move: Growth) -> tuple[str, ...]:
    """The names of these cells, in the order in which they are chosen."""
    one, other = (position.cells_of(move.flower, vine) for vine in (move.one, move.other))
    return tuple(position.rules.board.names[cell] for cell in (move.flower, *one, *other))


def chosen(position: VinePosition, names: Sequence[str]) -> Chosen[Growth]:
    """What can follow these cells: any cell from which both vines can be finished."""
    board = position.rules.board
    if not names:
        living = members(position.flowers & ~dead_flowers(position))
        return Chosen(sorted(map(board.names.__getitem__, living)), (), None)
    if not board.cells.keys() >= {*names}:
        return _NOTHING
    flower, *cells = (board.cells[name] for name in names)
    length = position.length(flower)
    if not position.flowers >> flower & 1 or len(cells) > 2 * length:
        return _NOTHING
    room, head, letters = position.room, 1 << flower, ""
    for cell in cells:
        step = [letter for letter, reached in position.ways(room, head) if reached == 1 << cell]
        if not step:
            return _NOTHING
        head, letters = 1 << cell, letters + step[0]
        room ^= head
        if len(letters) == length:
            head = 1 << flower  # where the other vine begins
    if len(letters) == 2 * length:
        return Chosen((), [Growth(flower, *sorted((letters[:length], letters[length:])))], 1)
    fit = Fit(board)

    def can_finish(cell: Cells) -> bool:
        steps, rest = length - len(letters) - 1, room ^ cell
        if steps < 0:
            return fit.one(rest, cell, steps + length) != NO_WAY
        others = position.ways(rest, 1 << flower)
        return any(fit.two(rest ^ other, cell, other, steps, length - 1) for _, other in others)

    after = [cell for _, cell in position.ways(room, head) if can_finish(cell)]
    return Chosen(sorted(board.names[cell.bit_length() - 1] for cell in after), (), None if after else 0)
