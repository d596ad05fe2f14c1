"""Blooms as numbers: a stone is an action, and so is ending the turn after a light stone. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, acts, plane
from referee.games.api import Options, Seat
from referee.games.blooms import BloomsState, Stones
from referee.games.grid import HexBoard


class BloomsEncoding(Encoding[BloomsState]):
    """A turn is a light stone and then a dark one or the end of the turn, or a dark stone alone. The action
    2 × n is a light stone on the n-th cell, counted row by row, 2 × n + 1 a dark one; the last one ends the
    turn.
    """

    def __init__(self, options: Options) -> None:
        self._board = HexBoard.of_side(int(options["size"]))
        self._cells = list(self._board.names)
        self._places = {1 << cell: place for place, cell in enumerate(self._cells)}
        self._end = 2 * len(self._cells)
        self.actions = self._end + 1
        across = 2 * self._board.side - 1
        planes = (
            "cells of the board; own light, own dark, opponent's light, opponent's dark stones; a light "
            "stone that was placed in this turn; cells that the last turn placed stones on; "
            "cells that it emptied"
        )
        self.parts = (
            ObservationPart("board", (8, across, across), planes),
            ObservationPart(
                "captures", (2,), "captured by the seat and its opponent, as fractions of the target"
            ),
            ObservationPart("first", (1,), "whether it is the first turn, of one stone"),
            TO_ACT,
        )

    def legal(self, state: BloomsState, seat: Seat, begun: Begun) -> list[Action]:
        """Stones on empty cells; after a light stone, dark ones and the end of the turn."""
        empty = state.empty
        places = [place for place, cell in enumerate(self._cells) if empty >> cell & 1]
        if not begun:
            return [2 * place + colour for place in places for colour in (0, 1)]
        return [*(2 * place + 1 for place in places if 2 * place != begun[0]), self._end]

    def move(self, state: BloomsState, seat: Seat, begun: Begun) -> Stones | None:
        """A whole turn: a dark stone, or a light one with what follows it."""
        first, *rest = begun
        if first & 1:
            return 0, self._bit(first)
        if not rest and state.turn:
            return None
        return self._bit(first), self._bit(rest[0]) if rest and rest[0] != self._end else 0

    def spelled(self, state: BloomsState, seat: Seat, move: Stones) -> Begun:
        """The light stone first."""
        light, dark = move
        if not light:
            return (2 * self._places[dark] + 1,)
        first = 2 * self._places[light]
        if not state.turn:
            return (first,)
        return first, 2 * self._places[dark] + 1 if dark else self._end

    def _bit(self, action: Action) -> int:
        return 1 << self._cells[action // 2]

    def values(self, state: BloomsState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """The board from the seat's side."""
        board = self._board
        across = 2 * board.side - 1
        mine, other = (state.own, state.opponent) if seat == state.mover else (state.opponent, state.own)
        last = state.last[0] | state.last[1] if state.last else 0
        placed = self._bit(begun[0]) if begun else 0
        sets = (board.all, *mine, *other, placed, last, state.captured)
        captures, target = state.captures, state.rules.target
        return {
            "board": [plane(cells, across, board.width, across) for cells in sets],
            "captures": [min(1, captures[player] / target) for player in (seat, 1 - seat)],
            "first": not state.turn,
            "to_act": acts(state, seat),
        }
