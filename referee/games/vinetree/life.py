"""The test for the end of the game: whether a flower can still grow, given what earlier moves show. Pure."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

from referee.games.grid import Cells, members
from referee.games.vinetree.paths import Fit
from referee.games.vinetree.position import VinePosition


class Life(NamedTuple):
    """Proof that a flower can grow: cells in which two vines of its length fit."""

    flower: int
    length: int
    cells: Cells


class Known(NamedTuple):
    """What is known of the flowers of a position."""

    life: Life | None  # A flower that can grow; None where all are dead
    dead: Cells
    """Some of the flowers that cannot grow any more. They stay dead: cells never become empty again, and
    lengths never become smaller.
    """


NOTHING_KNOWN = Known(None, 0)


def known_after(before: Known, position: VinePosition) -> Known:
    """What is known of a position after a move, given what was known before it."""
    life = before.life
    if life is not None and not life.cells & ~position.room and life.length == position.length(life.flower):
        return before  # The flower still has its cells and its length, as nearly always.
    return search(position, before.dead, Fit(position.rules.board))


def search(position: VinePosition, dead: Cells, fit: Fit) -> Known:
    """Searches for a flower that can grow, where some are known to be dead.

    Short vines come first: they fit more often, and whether they do takes less time.
    """
    flowers = members(position.flowers & ~dead)
    for length, flower in sorted((position.length(flower), flower) for flower in flowers):
        cells = room_of(position, fit, flower, length)
        if cells:
            return Known(Life(flower, length, cells), dead)
        dead |= 1 << flower
    return Known(None, dead)


def room_of(position: VinePosition, fit: Fit, flower: int, length: int) -> Cells:
    """Cells for two vines of a length out of a flower; empty where it is dead."""
    room = position.room
    for (_, one), (_, other) in combinations(position.ways(room, 1 << flower), 2):
        paths = fit.two(room & ~one & ~other, one, other, length - 1, length - 1)
        if paths:
            return one | other | paths[0] | paths[1]
    return 0


def dead_flowers(position: VinePosition) -> Cells:
    """The flowers that cannot grow any more.

    What was found in one position is remembered for others, since the next one of a game differs little:
    cells in which two vines fit, and empty cells among which none do, prove the same wherever they hold.
    """
    board, room = position.rules.board, position.room
    found = _found(board.size)
    fit, dead = Fit(board), 0
    for flower in members(position.flowers):
        length = position.length(flower)
        alive_in, dead_in = found.get((flower, length), (NOWHERE, 0))
        if not alive_in & ~room:
            continue
        if room & ~dead_in:
            if cells := room_of(position, fit, flower, length):
                found[flower, length] = cells, dead_in
                continue
            found[flower, length] = alive_in, room
        dead |= 1 << flower
    return dead


NOWHERE: Cells = -1  # cells that are never all empty


@cache
def _found(size: int) -> dict[tuple[int, int], tuple[Cells, Cells]]:
    """By flower and length on a board: cells in which it can grow, and empty cells in which it cannot."""
    return {}
