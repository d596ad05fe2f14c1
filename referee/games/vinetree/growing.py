"""The growths that are legal: all of them, a random one, and whether there is one left. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple, Protocol, TypeVar

from referee.core.seeds import Random
from referee.games.grid import Cells, SquareBoard, members
from referee.games.vinetree.position import Growth, VinePosition

NO_WAY = -1


class Fit:
    """Whether vines fit into empty cells. Make one for each search: it remembers what does not fit.

    A cell is passed as a set of one cell. The cells that vines may take (`room`) never contain their heads.

    Every answer is exact. In general such problems take exponential time; here a vine is never longer than a
    row of the board; with much room some path is found soon, and with little there are few branches.
    `tests/bench/vinetree_positions.txt` has the worst cases known.
    """

    def __init__(self, board: SquareBoard) -> None:
        self._row = board.steps["D"]
        self._failed: set[tuple[Cells, int, Cells]] = set()
        """Searches that failed: head, steps, and all cells within that many steps."""

    def _beside(self, cells: Cells) -> Cells:
        """The cells adjacent to a set. It may have bits that are not cells: intersect it with a room."""
        return cells << 1 | cells >> 1 | cells << self._row | cells >> self._row

    def one(self, room: Cells, head: Cells, steps: int) -> Cells:
        """The cells of a path of this many steps from a head through a room, or NO_WAY.

        The search is depth first, narrow places first. A branch is cut when the reachable cells have too few
        of either colour of a checkerboard, or when it failed before.
        """
        near = self._beside(head) & room
        if steps < 2:
            return (near & -near or NO_WAY) if steps else 0
        odd = edge = near
        even = 0
        beyond = room & ~near
        for distance in range(2, steps + 1):
            edge = self._beside(edge) & beyond
            if not edge:
                break
            beyond ^= edge
            if distance & 1:
                odd |= edge
            else:
                even |= edge
        if even.bit_count() < steps // 2 or odd.bit_count() < steps - steps // 2:
            return NO_WAY
        reached = odd | even
        key = (head, steps, reached)
        if key in self._failed:
            return NO_WAY
        nexts = []
        while near:
            cell = near & -near
            near ^= cell
            ways = (self._beside(cell) & reached).bit_count()
            if ways:
                nexts.append((ways, cell))
        for _, cell in sorted(nexts):
            rest = self.one(reached ^ cell, cell, steps - 1)
            if rest != NO_WAY:
                return rest | cell
        self._failed.add(key)
        return NO_WAY

    def two(
        self, room: Cells, one: Cells, other: Cells, steps: int, other_steps: int
    ) -> tuple[Cells, Cells] | None:
        """The cells of two disjoint paths of these steps from two heads; None if there are none."""
        return self._apart(room, room, one, other, steps, other_steps)

    def _apart(  # noqa: PLR0913 - the state of a search in which an object would cost time
        self,
        room: Cells,
        other_room: Cells,
        one: Cells,
        other: Cells,
        steps: int,
        other_steps: int,
        path: Cells = NO_WAY,
        other_path: Cells = NO_WAY,
    ) -> tuple[Cells, Cells] | None:
        """Two disjoint paths, each in its own room; `path` and `other_path` are known to fit.

        If the first path found leaves room for the second, or the other way round, they are the result. Else
        both use some cell, and in any solution one of them avoids it: so it is removed from either room in
        turn. Where both vines need the same gap, the gap soon is that cell, and neither fits without it.
        """
        if path == NO_WAY:
            path = self.one(room, one, steps)
            if path == NO_WAY:
                return None
        beside = self.one(other_room & ~path, other, other_steps)
        if beside != NO_WAY:
            return path, beside
        if other_path == NO_WAY:
            other_path = self.one(other_room, other, other_steps)
            if other_path == NO_WAY:
                return None
        beside = self.one(room & ~other_path, one, steps)
        if beside != NO_WAY:
            return beside, other_path
        wanted = path & other_path
        reached = one | other
        while not reached & wanted:
            reached |= self._beside(reached) & (room | other_room)
        cell = reached & wanted
        cell &= -cell
        return self._apart(
            room & ~cell, other_room, one, other, steps, other_steps, NO_WAY, other_path
        ) or self._apart(room, other_room & ~cell, one, other, steps, other_steps, path, NO_WAY)


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
    dead |= position.enclosed()
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


T = TypeVar("T")

BLIND_TRIES = 12
"""Random pairs of vines that a sample tries before it searches. On most boards one of the first few fits,
and they cost little.
"""


class Arrange(Protocol):
    """A function that orders the choices of the search."""

    def __call__(self, items: list[T]) -> list[T]:
        """The items in the order in which they are tried."""


def growths(position: VinePosition, dead: Cells) -> Iterator[Growth]:
    """The legal moves, where some flowers are known to be dead: by flower, row by row, then by the sides that
    the vines leave by, then by alphabet.
    """
    return _growths(position, dead, lambda items: items)


def sample(position: VinePosition, dead: Cells, rng: Random) -> Growth:
    """A random legal move, not uniform: flowers, sides and steps are drawn one by one. Only where there is
    one.
    """
    room = position.room
    flowers = [cell for cell in members(position.flowers) if len(position.ways(room, 1 << cell)) > 1]
    for _ in range(BLIND_TRIES):
        move = _blind_growth(position, rng.choice(flowers), rng)
        if move:
            return move

    def shuffled(items: list[T]) -> list[T]:
        rng.shuffle(items)
        return items

    return next(_growths(position, dead, shuffled))


def _blind_growth(position: VinePosition, flower: int, rng: Random) -> Growth | None:
    """Two random walks out of a flower, or None where one gets stuck."""
    room = position.room
    vines = ["", ""]
    length = position.length(flower)
    for i in range(2):
        head = 1 << flower
        for _ in range(length):
            ways = position.ways(room, head)
            if not ways:
                return None
            letter, head = rng.choice(ways)
            room ^= head
            vines[i] += letter
    return Growth(flower, *sorted(vines))


def _growths(position: VinePosition, dead: Cells, arranged: Arrange) -> Iterator[Growth]:
    """The legal moves; `arranged` orders the choices."""
    fit = Fit(position.rules.board)
    dead |= position.enclosed()
    for flower in arranged(members(position.flowers)):
        # Later calls of `arranged` must not depend on whether the flower was known to be dead.
        if dead >> flower & 1:
            continue
        length = position.length(flower)
        if not room_of(position, fit, flower, length):
            continue
        sides = combinations(position.ways(position.room, 1 << flower), 2)
        for (one, head), (other, end) in arranged(list(sides)):
            room = position.room & ~head & ~end
            rests = _finish(position, fit, arranged, room, head, end, length - 1, length - 1)
            for rest, other_rest in rests:
                yield Growth(flower, one + rest, other + other_rest)


def _finish(  # noqa: PLR0913 - the state of a search in which an object would cost time
    position: VinePosition,
    fit: Fit,
    arranged: Arrange,
    room: Cells,
    one: Cells,
    other: Cells,
    steps: int,
    other_steps: int,
) -> Iterator[tuple[str, str]]:
    """The ways to finish two vines, the first one first.

    It never takes a step from which they cannot be finished, so the next result is always close.
    """
    if fit.two(room, one, other, steps, other_steps) is None:
        return
    if steps:
        for letter, head in arranged(position.ways(room, one)):
            rests = _finish(position, fit, arranged, room ^ head, head, other, steps - 1, other_steps)
            for rest, other_rest in rests:
                yield letter + rest, other_rest
    elif other_steps:
        for letter, head in arranged(position.ways(room, other)):
            for _, other_rest in _finish(position, fit, arranged, room ^ head, one, head, 0, other_steps - 1):
                yield "", letter + other_rest
    else:
        yield "", ""
