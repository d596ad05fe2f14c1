"""The wire of a game with persons: it combines the interface for them with the wire to the bots."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from referee.gameplay.api import READY, GameDescription, LegalMoves, Question, Reply
from referee.gameplay.events import Ending
from referee.games.api import Outcome, Seat
from referee.person.interface import PersonInterface
from referee.wire.process_wire import ProcessWire

ATTENDED_US = 30_000
"""The longest time between two looks after the bots while a person is waited for, if nothing is wrong."""


class PersonWire:
    """The seats of one game: every question is posted first, then persons are asked, one after the other, and
    the bots' replies are taken as they come.
    """

    def __init__(self, bots: ProcessWire, persons: Collection[Seat], interface: PersonInterface) -> None:
        self._bots = bots
        self._persons = persons
        self._interface = interface
        self._ready: deque[Reply] = deque()
        self._asked: dict[Seat, Question] = {}
        """The questions to persons that are open, in the order of the seats."""
        self._bots_asked: set[Seat] = set()

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Opens a seat; persons are ready at once."""
        if seat in self._persons:
            self._ready.append(Reply(seat, READY))
        else:
            self._bots.open(seat, description)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Begins a turn."""
        self._interface.begin_turn(seats)
        self._bots_asked = {seat for seat in seats if seat not in self._persons}
        self._bots.catch_up(tuple(self._bots_asked))

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a bot at once; a person is asked when the next reply is waited for."""
        if seat in self._persons:
            self._asked[seat] = question
        else:
            self._bots.post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends a bot its legal moves."""
        self._bots.show_legal(seat, legal)

    def next_reply(self) -> Reply:
        """The next reply of a person or a bot."""
        if self._ready:
            return self._ready.popleft()
        if self._asked:
            seat = min(self._asked)
            if reply := self._interface.ask(seat, self._asked[seat], self._poll_bots):
                del self._asked[seat]
                return reply
        elif self._bots_asked:
            self._interface.wait_for_bots(self._bots_asked)
        return self._bots.next_reply()

    def _poll_bots(self) -> bool:
        """Attends to the bots while a person is waited for; whether one of them has to be heard."""
        return self._bots.attend(ATTENDED_US)

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells the bots that the game is over."""
        self._bots.close(outcome, ending)
