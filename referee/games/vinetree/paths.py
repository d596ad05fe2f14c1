"""Whether vines fit into empty cells: the search for a path, and for two that share no cell. Pure."""

from __future__ import annotations

from referee.games.grid import Cells, SquareBoard

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
