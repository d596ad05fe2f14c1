"""Proofs by search: how a position ends with best play of both seats.

Games of two seats that move one at a time, with open information and without chance. The search looks deeper
turn by turn until the result is certain or it has looked at so many positions; their number, and not a time,
is bounded, so that every machine proves the same. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

from referee.games.api import Game, Options, Seat, State

M = TypeVar("M")

NODES = 2500  # how many positions are looked at by default for each position that is to be proved


def is_solvable(game: Game[Any], options: Options) -> bool:
    """Whether positions of this game can be proved."""
    return game.is_open and game.seats(options) == 2


class _OutOfNodes(Exception):
    pass


class Solver:
    """A search that remembers what it has proved, for positions of one game; results are those of seat 1."""

    def __init__(self, nodes: int = NODES) -> None:
        """`nodes`: how many positions it looks at for each one that is asked for."""
        self._nodes = nodes
        self._left = 0
        self._is_cut = False  # whether something was not looked at since it is too deep
        self._known: dict[Hashable, int] = {}

    def value(self, state: State[Any]) -> int | None:
        """How a position ends for seat 1 with best play: 1, 0 or −1; None where that is not proved."""
        self._left, depth = self._nodes, 0
        self._is_cut = True
        try:
            while self._is_cut:
                self._is_cut = False
                if (value := self._search(state, depth)) is not None:
                    return value
                depth += 1
        except _OutOfNodes:
            pass
        return None

    def best(self, state: State[M]) -> M | None:
        """The first move that keeps what is proved of a position; None where no such move is proved to."""
        value = self.value(state)
        acting = state.to_act()
        if value is None or len(acting) != 1:
            return None
        after = self._known_value if state.key() is not None else self.value
        moves = state.legal(acting[0])
        return next((move for move in moves if after(state.play({acting[0]: move})) == value), None)

    def _known_value(self, state: State[Any]) -> int | None:
        return self._search(state, 0)

    def _search(self, state: State[Any], depth: int) -> int | None:
        """The result, as far as it is certain this many turns deep. Raises `_OutOfNodes`."""
        acting = state.to_act()
        if not acting:
            outcome = state.outcome()
            assert outcome is not None, "nobody is to act"
            one, other = outcome.ranks
            return (one < other) - (one > other)
        key = state.key()
        if key is not None and (known := self._known.get(key)) is not None:
            return known
        if not depth:
            self._is_cut = True
            return None
        value = self._best_value(state, acting[0], depth)
        if value is not None and key is not None:
            self._known[key] = value
        return value

    def _best_value(self, state: State[Any], seat: Seat, depth: int) -> int | None:
        win = -1 if seat else 1
        best: int = -win
        is_certain = True
        for move in state.legal(seat):
            self._left -= 1
            if self._left < 0:
                raise _OutOfNodes
            value = self._search(state.play({seat: move}), depth - 1)
            if value == win:
                return win
            if value is None:
                is_certain = False
            elif value == 0:
                best = 0
        return best if is_certain else None
