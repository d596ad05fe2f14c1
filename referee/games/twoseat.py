"""Open games of two seats in turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Self, TypeVar

from referee.core.value import value
from referee.games.api import OpenGame, Options, Outcome, Seat, State, walkover
from referee.games.trail import Audience, Heard, Trail, TrailLines

M = TypeVar("M")


@value
class TwoSeatState(State[M], Trail):
    """A position; each game adds its board. Whether the game is over is computed when the position is made,
    so that a position never changes.
    """

    turn: int  # the number of turns before this position
    last: M | None  # the move that led here
    over: bool
    before: Self | None  # the position before the last move
    heard: Heard
    left: frozenset[Seat]  # the seats that left the game

    @property
    def mover(self) -> Seat:
        """The seat to move, or that would be if the game were not over."""
        return self.turn & 1

    def to_act(self) -> tuple[Seat, ...]:
        """The seat to move, or none."""
        return () if self.over else (self.turn & 1,)

    def drop(self, seats: Iterable[Seat]) -> Self:
        """The position with these seats gone, which ends the game."""
        return replace(self, over=True, left=self.left | frozenset(seats))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """`move SEAT MOVE` for each turn, followed by its consequences."""
        return self.lines()

    def told(self, audience: Audience) -> TrailLines:
        """The news of the last move."""
        return (f"move {2 - (self.turn & 1)} {self.write(self.last)}",) if self.last is not None else ()

    def outcome(self) -> Outcome | None:
        """The result by the rules; a seat that left loses."""
        if not self.over:
            return None
        if self.left:
            return walkover(self.left, self.scores())
        winner = self.winner()
        return Outcome((1 + winner, 2 - winner), self.scores(), self.reason(winner))

    @abstractmethod
    def scores(self) -> tuple[int, int]:
        """By seat, in the game's own unit. Only where the game is over."""

    @abstractmethod
    def winner(self) -> Seat:
        """The seat that has won. Only where the game is over and nobody left."""

    @abstractmethod
    def reason(self, winner: Seat) -> str:
        """A sentence with the reason. Only where the game is over and nobody left."""


class TwoSeatGame(OpenGame[M]):
    """The rules of a game for two seats that move in turn with open information."""

    def seats(self, options: Options) -> int:
        """Two seats."""
        return 2
