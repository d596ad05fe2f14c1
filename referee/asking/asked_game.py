"""A game in which one bot is asked for moves: positions are given, and the game loop judges. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.gameplay.api import Wire
from referee.gameplay.clock import SeatClock
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.loop import GameLoop, Turn, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Outcome, Seat, State


class AskedGame(GameLoop):
    """A game in which the bot of one seat is asked, position by position, and nobody else plays."""

    def __init__(self, terms: Terms, seat: Seat, wire: Wire) -> None:
        super().__init__(terms, wire, seeded_dice(terms), lambda event, state: None)
        self.seat = seat
        self._is_open = False
        self._replies: list[Rejected | Moved | Retired] = []
        """What the bot replied to the last position."""
        self._moves: Mapping[Seat, Any] = {}
        """Its move there."""

    def ask_at(self, state: State[Any]) -> list[Rejected | Moved | Retired]:
        """Asks for a move in a position in which the seat acts, each time with a full clock and no rejections
        so far. Returns what the bot replied, `Moved` or `Retired` at the end. After a `Retired` the game is
        over.
        """
        self.state = state
        player = self.players[self.seat]
        player.rejections = 0
        player.clock = SeatClock.start(player.clock.control)
        player.wait_us = player.clock.wait_us(self.terms.margin_us)
        self.reserves_us = self.all_reserves_us()
        if not self._is_open:
            self._is_open = True
            if exits := self.open((self.seat,)):
                return [Retired(self.seat, *exits[self.seat])]
        self.take_turn((self.seat,))
        self.wire.catch_up(())  # nobody is asked until the next position: a bot may have to be paused
        return self._replies

    def apply(self, turn: Turn, acting: tuple[Seat, ...]) -> None:
        """Keeps what the bot replied, and applies nothing: the other seats did not move."""
        self._moves = turn.moves
        self._replies = [*turn.events, *(Retired(seat, *why) for seat, why in turn.exits.items())]
        for event in turn.events:
            if isinstance(event, Moved):
                self.settle(event)

    def goes_on_at(self, state: State[Any]) -> bool:
        """Whether the bot can take a position for one that came of its last move. Where several seats moved
        at once that is not known.
        """
        if self.state.to_act() != (self.seat,) or not self._moves:
            return False
        known = self.state.play(self._moves).seen(self.seat)
        return state.seen(self.seat)[: len(known)] == known

    def leave(self) -> None:
        """Tells the bot that the game is over, in which nobody plays on: a draw."""
        seats = len(self.players)
        self.wire.close(Outcome((1,) * seats, (0,) * seats, "the game is not played on"), Ending.RESIGNED)
