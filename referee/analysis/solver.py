"""Proofs by search: how a position ends with best play of both seats.

Games of two seats that move one at a time, with open information and without chance. The search looks deeper
turn by turn until the result is certain or it has looked at so many positions; their number, and not a time,
is bounded, so that every machine proves the same. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, TypeVar

from referee.games.api import Game, Options, Refusal, Seat, State

M = TypeVar("M")

NODES = 2500  # how many positions are looked at by default for each position that is to be proved


def is_solvable(game: Game[Any], options: Options) -> bool:
    """Whether positions of this game can be proved."""
    return game.is_open and game.seats(options) == 2


def solve(state: State[Any], nodes: int = NODES) -> int | None:
    """How a position ends for the seat to move with best play of both: 1, 0 or −1. None where that is not
    proved by looking at `nodes` positions, and where nobody is to move.
    """
    acting = state.to_act()
    value = Solver(nodes).value(state)
    return None if value is None or not acting else -value if acting[0] else value


def winning_moves(state: State[M], nodes: int = NODES) -> list[M] | None:
    """The moves with which the seat to move wins, with best play of both from there on, in the order of
    `State.legal`. None where that is not decided for each move by looking at `nodes` positions for it.
    """
    (seat,) = state.to_act()
    solver, found = Solver(nodes), []
    for move in state.legal(seat):
        value = solver.value(state.play({seat: move}))
        if value is None:
            return None
        if value == _win_of(seat):
            found.append(move)
    return found


def _win_of(seat: Seat) -> int:
    return -1 if seat else 1


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
        self._refuting: dict[int, Any] = {}  # by depth, the last move that was found to win

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
        win = _win_of(seat)
        best: int = -win
        is_certain = True
        for move in self._moves(state, seat, depth):
            self._left -= 1
            if self._left < 0:
                raise _OutOfNodes
            value = self._search(state.play({seat: move}), depth - 1)
            if value == win:
                self._refuting[depth] = move
                return win
            if value is None:
                is_certain = False
            elif value == 0:
                best = 0
        return best if is_certain else None

    def _moves(self, state: State[Any], seat: Seat, depth: int) -> Iterator[Any]:
        """The legal moves; first the one that won last in another position at this depth."""
        first = self._refuting.get(depth)
        if first is not None:
            try:
                state.read(seat, state.write(first))
                yield first
            except Refusal:
                first = None
        for move in state.legal(seat):
            if move != first:
                yield move
