"""Blooms and Even Groups as numbers: a stone is an action. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, acts, plane
from referee.games.api import Options, Seat, State
from referee.games.blooms import BloomsState, Stones
from referee.games.evengroups import EvenGroupsState, Placement, Stone
from referee.games.grid import Cells, HexBoard

S = TypeVar("S", bound=State[Any])


class _StonesEncoding(Encoding[S]):
    """The cells of the board, counted row by row, and sets of them as planes."""

    def __init__(self, options: Options) -> None:
        self._board = HexBoard.of_side(int(options["size"]))
        self._cells = list(self._board.names)
        self._places = {cell: place for place, cell in enumerate(self._cells)}
        self._across = 2 * self._board.side - 1

    def _board_part(self, planes: int, meaning: str) -> ObservationPart:
        return ObservationPart("board", (planes, self._across, self._across), meaning)

    def _planes(self, sets: Iterable[Cells]) -> ArrayLike:
        return [plane(cells, self._across, self._board.width, self._across) for cells in sets]


class BloomsEncoding(_StonesEncoding[BloomsState]):
    """A turn is a light stone and then a dark one or the end of the turn, or a dark stone alone. The action
    2 × n is a light stone on the n-th cell, counted row by row, 2 × n + 1 a dark one; the last one ends the
    turn.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._end = 2 * len(self._cells)
        self.actions = self._end + 1
        planes = (
            "cells of the board; own light, own dark, opponent's light, opponent's dark stones; a light "
            "stone that was placed in this turn; cells that the last turn placed stones on; "
            "cells that it emptied"
        )
        self.parts = (
            self._board_part(8, planes),
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
            return (2 * self._place_of(dark) + 1,)
        first = 2 * self._place_of(light)
        if not state.turn:
            return (first,)
        return first, 2 * self._place_of(dark) + 1 if dark else self._end

    def _bit(self, action: Action) -> int:
        return 1 << self._cells[action // 2]

    def _place_of(self, bit: int) -> int:
        return self._places[bit.bit_length() - 1]

    def values(self, state: BloomsState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """The board from the seat's side."""
        mine, other = (state.own, state.opponent) if seat == state.mover else (state.opponent, state.own)
        last = state.last[0] | state.last[1] if state.last else 0
        placed = self._bit(begun[0]) if begun else 0
        sets = (self._board.all, *mine, *other, placed, last, state.captured)
        captures, target = state.captures, state.rules.target
        return {
            "board": self._planes(sets),
            "captures": [min(1, captures[player] / target) for player in (seat, 1 - seat)],
            "first": not state.turn,
            "to_act": acts(state, seat),
        }


class EvenGroupsEncoding(_StonesEncoding[EvenGroupsState]):
    """The action 2 × n is a white stone on the n-th cell, counted row by row, 2 × n + 1 an orange one. The
    two stones of a turn come in either order.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.actions = 2 * len(self._cells)
        planes = (
            "cells of the board; stones of the seat's own and of the opponent's colour; cells that the last "
            "turn placed stones on; a stone that was placed in this turn, of the seat's own or of the "
            "opponent's colour"
        )
        self.parts = (
            self._board_part(6, planes),
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
        placed = [0, 0]
        for stone in map(self._stone, begun):
            placed[stone & 1] |= 1 << (stone >> 1)
        last = sum(1 << (stone >> 1) for stone in state.last or ())
        stones = [sum(1 << cell for cell, group in enumerate(groups) if group) for groups in state.groups]
        sets = (self._board.all, stones[seat], stones[1 - seat], last, placed[seat], placed[1 - seat])
        return {
            "board": self._planes(sets),
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
