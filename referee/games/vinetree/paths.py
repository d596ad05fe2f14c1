"""Whether vines fit into empty cells: the search for a path, and for two that share no cell."""

from __future__ import annotations

from referee.games.grid import Cells, SquareBoard

NO_WAY = -1


class Fit:
    """Whether vines fit into empty cells. One for each search: it remembers what does not fit.

    A cell is given as the set of itself. The cells that vines may take (`room`) never hold their heads.

    Every answer is exact. In general such questions take exponential time; here a vine is never longer
    than a row of the board, and where there is much room some vine is found soon, while where there is
    little there are few ways to go. `tests/bench/vinetree_positions.txt` has the worst cases known.
    """

    def __init__(self, board: SquareBoard) -> None:
        self._row = board.steps["D"]
        self._too_small: set[tuple[Cells, int, Cells]] = set()
        """Heads, steps and all the cells within so many steps, where no path was found."""

    def _beside(self, cells: Cells) -> Cells:
        """The cells beside some; also some that are no cells, which the room they are cut with leaves out."""
        return cells << 1 | cells >> 1 | cells << self._row | cells >> self._row

    def one(self, room: Cells, head: Cells, steps: int) -> Cells:
        """The cells of some path of so many steps from a head through a room, or NO_WAY.

        Depth first, narrow places first. A branch is given up when what can be reached has too few cells
        of either colour of a chequered board, or when it failed before.
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
        if key in self._too_small:
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
        self._too_small.add(key)
        return NO_WAY

    def two(
        self, room: Cells, one: Cells, other: Cells, steps: int, other_steps: int
    ) -> tuple[Cells, Cells] | None:
        """The cells of two paths that share none, of so many steps from two heads; None if there are none."""
        return self._apart(room, room, one, other, steps, other_steps)

    def _apart(
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
        """Two paths that share no cell, each in its own room; `path` and `other_path` are known to fit.

        If some path of the one fits beside some path of the other, done. Else both want some cell, and in
        any solution one of them does without it: so it is taken out of either room in turn. Where vines
        have to pass through the same gap, that gap soon is the cell, and neither fits without it.
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
