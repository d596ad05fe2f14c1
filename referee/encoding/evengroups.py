"""Even Groups as numbers: a stone is an action, and a turn is two of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, acts, plane
from referee.games.api import Options, Seat
from referee.games.evengroups import EvenGroupsState, Placement, Stone
from referee.games.grid import HexBoard


class EvenGroupsEncoding(Encoding[EvenGroupsState]):
    """The action 2 × n is a white stone on the n-th cell, counted row by row, 2 × n + 1 an orange one. The
    two stones of a turn come in either order.
    """

    def __init__(self, options: Options) -> None:
        self._board = HexBoard.of_side(int(options["size"]))
        self._cells = list(self._board.names)
        self._places = {cell: place for place, cell in enumerate(self._cells)}
        self.actions = 2 * len(self._cells)
        across = 2 * self._board.side - 1
        planes = (
            "cells of the board; stones of the seat's own and of the opponent's colour; cells that the last "
            "turn placed stones on; a stone that was placed in this turn, of the seat's own or of the "
            "opponent's colour"
        )
        self.parts = (
            ObservationPart("board", (6, across, across), planes),
            ObservationPart(
                "odd",
                (2,),
                "whether the number of groups is odd, for the seat's own and for the opponent's colour",
            ),
            TO_ACT,
        )

    def legal(self, state: EvenGroupsState, seat: Seat, begun: Begun) -> list[Action]:
        """Stones that another one makes a legal turn with; on the first turn, orange ones."""
        stones = [2 * cell + colour for cell in state.empty for colour in (0, 1)]
        if not state.turn:
            found = [stone for stone in stones if stone & 1]
        elif begun:
            found = list(_partners(state, self._stone(begun[0]), stones))
        else:
            found = [stone for stone in stones if any(_partners(state, stone, stones))]
        return [self._action(stone) for stone in found]

    def move(self, state: EvenGroupsState, seat: Seat, begun: Begun) -> Placement | None:
        """The stones in the order of their cells, once there are two of them."""
        if state.turn and len(begun) < 2:
            return None
        return tuple(sorted(map(self._stone, begun)))

    def spelled(self, state: EvenGroupsState, seat: Seat, move: Placement) -> Begun:
        """The stones in the order of their cells."""
        return tuple(map(self._action, move))

    def _stone(self, action: Action) -> Stone:
        return 2 * self._cells[action // 2] + action % 2

    def _action(self, stone: Stone) -> Action:
        return 2 * self._places[stone >> 1] + stone % 2

    def values(self, state: EvenGroupsState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """The board, with the seat's own colour first."""
        board = self._board
        across = 2 * board.side - 1
        placed = [0, 0]
        for stone in map(self._stone, begun):
            placed[stone & 1] |= 1 << (stone >> 1)
        last = sum(1 << (stone >> 1) for stone in state.last or ())
        stones = [sum(1 << cell for cell, group in enumerate(groups) if group) for groups in state.groups]
        sets = (board.all, stones[seat], stones[1 - seat], last, placed[seat], placed[1 - seat])
        return {
            "board": [plane(cells, across, board.width, across) for cells in sets],
            "odd": [state.counts[colour] % 2 for colour in (seat, 1 - seat)],
            "to_act": acts(state, seat),
        }


def _partners(state: EvenGroupsState, stone: Stone, stones: Iterable[Stone]) -> Iterable[Stone]:
    """The stones that make a legal turn with a stone."""
    return (
        other
        for other in stones
        if other >> 1 != stone >> 1 and state.total_after(*sorted((stone, other))) % 2
    )
