"""Beautiful Vine Tree as numbers: a flower is an action, then each step of its two vines. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, acts, plane
from referee.games.api import Options, Seat
from referee.games.grid import Cells, SquareBoard, members
from referee.games.vinetree import VineTreeState
from referee.games.vinetree.growing import NO_WAY, Fit, dead_flowers
from referee.games.vinetree.position import Growth, VinePosition

_LETTERS = "DLRU"


class VineTreeEncoding(Encoding[VineTreeState]):
    """A move is a flower, then the steps of its vines, in the order in which they are written. The first
    actions are the cells, row by row, the last four are steps down, left, right and up.
    """

    def __init__(self, options: Options) -> None:
        self._board = SquareBoard.of_size(int(options["size"]))
        self._cells = list(self._board.names)
        self._places = {cell: place for place, cell in enumerate(self._cells)}
        self.actions = len(self._cells) + len(_LETTERS)
        size = self._board.size
        planes = (
            "flowers; other cells with vines; cells with a vine to the cell below, on the left, on the "
            "right, above; cells that the last move filled; of the unfinished move: the flower, the "
            "cells filled, the cell where its vine continues"
        )
        self.parts = (
            ObservationPart("board", (10, size, size), planes),
            ObservationPart(
                "lengths", (size, size), "by flower, the steps of vines out of it, as a fraction of the size"
            ),
            ObservationPart(
                "steps", (2,), "remaining steps of the first and the second vine, as fractions of the size"
            ),
            TO_ACT,
        )

    def legal(self, state: VineTreeState, seat: Seat, begun: Begun) -> list[Action]:
        """Living flowers, then the steps after which both vines can still be finished."""
        position = state.position
        if not begun:
            living = members(position.flowers & ~dead_flowers(position))
            return [self._places[cell] for cell in living]
        vines = _Vines(position, self._cells[begun[0]], self._letters(begun))
        fitting = vines.nexts(Fit(self._board))
        return [len(self._cells) + _LETTERS.index(letter) for letter in fitting]

    def move(self, state: VineTreeState, seat: Seat, begun: Begun) -> Growth | None:
        """The flower with both vines, once they have all their steps."""
        flower, letters = self._cells[begun[0]], self._letters(begun)
        length = state.position.length(flower)
        if len(letters) < 2 * length:
            return None
        return Growth(flower, letters[:length], letters[length:])

    def spelled(self, state: VineTreeState, seat: Seat, move: Growth) -> Begun:
        """The flower, then the vines."""
        steps = (len(self._cells) + _LETTERS.index(letter) for letter in move.one + move.other)
        return self._places[move.flower], *steps

    def _letters(self, begun: Begun) -> str:
        return "".join(_LETTERS[action - len(self._cells)] for action in begun[1:])

    def values(self, state: VineTreeState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """The board, which both seats see alike."""
        position, board = state.position, self._board
        size, width = board.size, board.steps["D"]
        last = _filled(position, *state.last) if state.last else 0
        joins = (position.down, position.right << 1, position.right, position.down << width)
        chosen = filled = head = 0
        steps = [0, 0]
        if begun:
            vines = _Vines(position, self._cells[begun[0]], self._letters(begun))
            chosen, filled, head, steps = 1 << vines.flower, vines.filled, vines.head, vines.steps_left()
        vine = board.all & ~position.room & ~position.flowers
        sets = (position.flowers, vine, *joins, last, chosen, filled, head)
        lengths = np.zeros((size, width), np.float32)
        for cell in members(position.flowers):
            lengths[divmod(cell, width)] = position.length(cell) / size
        return {
            "board": [plane(cells, size, width, size) for cells in sets],
            "lengths": lengths[:, :size],
            "steps": [count / size for count in steps],
            "to_act": acts(state, seat),
        }


def _filled(position: VinePosition, flower: int, one: str, other: str) -> Cells:
    return sum(1 << cell for vine in (one, other) for cell in position.cells_of(flower, vine))


class _Vines:
    """Two vines that grow out of a flower, as far as they have been begun."""

    def __init__(self, position: VinePosition, flower: int, letters: str) -> None:
        self._position = position
        self.flower = flower
        self._length = position.length(flower)
        self._one, self._other = letters[: self._length], letters[self._length :]
        self.filled = _filled(position, flower, self._one, self._other)
        vine = self._other if len(letters) >= self._length else self._one
        self.head = 1 << (position.cells_of(flower, vine)[-1] if vine else flower)
        """The cell from which the next step is taken, as a set."""

    def steps_left(self) -> list[int]:
        return [self._length - len(self._one), self._length - len(self._other)]

    def nexts(self, fit: Fit) -> str:
        """The next steps after which both vines can be finished. As they are written in alphabetical order,
        the second one leaves by a later side than the first one.
        """
        room = self._position.room & ~self.filled
        left, other_left = self.steps_left()
        found = ""
        for letter, cell in self._position.ways(room, self.head):
            after = room & ~cell
            if left:
                first = self._one[:1] or letter
                fits = any(
                    fit.two(after & ~start, cell, start, left - 1, other_left - 1) is not None
                    for side, start in self._position.ways(after, 1 << self.flower)
                    if side > first
                )
            else:
                later = bool(self._other) or letter > self._one[0]
                fits = later and fit.one(after, cell, other_left - 1) != NO_WAY
            found += letter * fits
        return found
