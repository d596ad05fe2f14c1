"""Games of two seats that move in turn and see everything: what all of them share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Self, TypeVar

from referee.core.value import value
from referee.games.api import OpenGame, Options, Outcome, Seat, State, walkover
from referee.games.trail import Trail

M = TypeVar("M")


@value
class TwoSeatState(State[M]):
    """A position of which its game adds what lies on the board. Whether the game is over is found out when
    the position is made, so nothing is ever added to a position later.
    """

    turn: int
    """Turns played before this position."""
    last: M | None
    """The move that led here."""
    over: bool
    trail: Trail
    left: frozenset[Seat]

    @property
    def mover(self) -> Seat:
        """Who moves here, or would if the game were on."""
        return self.turn & 1

    def to_act(self) -> tuple[Seat, ...]:
        """The mover, or nobody."""
        return () if self.over else (self.turn & 1,)

    def drop(self, seats: Iterable[Seat]) -> Self:
        """The position with these seats gone, which ends the game."""
        return replace(self, over=True, left=self.left | frozenset(seats))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """`move SEAT MOVE` for each turn, followed by what else it did."""
        return self.trail.lines()

    def told(self, move: M, audience: Seat | None) -> tuple[str, ...]:
        """The news of a move made here."""
        return (f"move {self.mover + 1} {self.write(move)}",)

    def outcome(self) -> Outcome | None:
        """Who wins by the rules; a seat that left loses."""
        if not self.over:
            return None
        if self.left:
            return walkover(self.left, self.scores())
        winner = self.winner()
        return Outcome((1 + winner, 2 - winner), self.scores(), self.reason(winner))

    @abstractmethod
    def scores(self) -> tuple[int, int]:
        """One a seat, in the game's own unit. Only where the game is over."""

    @abstractmethod
    def winner(self) -> Seat:
        """Who has won. Only where the game is over and nobody left."""

    @abstractmethod
    def reason(self, winner: Seat) -> str:
        """Why, for people. Only where the game is over and nobody left."""


class TwoSeatGame(OpenGame[M]):
    """The rules of a game of two seats that move in turn and see everything."""

    def seats(self, options: Options) -> int:
        """Two."""
        return 2
