"""The wire to a bot that is asked: a program that is started when needed, one process for game after game."""

from __future__ import annotations

from referee.gameplay import hints
from referee.gameplay.api import Failure, GameDescription, LegalMoves, Question, SeatReply
from referee.gameplay.events import Ending, Retired
from referee.games.api import Outcome, Seat
from referee.processes.program import Program
from referee.protocol.session import Phase
from referee.wire.connection import BotConnection, end_connections
from referee.wire.process_wire import ProcessWire

_NOBODY = Failure(Ending.START, "nobody is asked in this seat")


class AskedBot:
    """A bot's program. It is a wire to one seat of one game after the other."""

    def __init__(self, program: Program, start_us: int) -> None:
        """`start_us`: how long it may take to say hello, and to get ready."""
        self._program = program
        self._start_us = start_us
        self._connection: BotConnection | None = None
        self._wire = ProcessWire((), start_us)
        self._seat = 0

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Describes a game, to a new process if the last one has been ended.

        Raises `EnvironmentLacksError` where no process can be started.
        """
        asked = self._connection = self._connection or BotConnection(self._program)
        nobody = BotConnection(self._program, failure=_NOBODY)
        seats = [asked if other == seat else nobody for other in range(description.seats)]
        self._seat = seat
        self._wire = ProcessWire(seats, self._start_us)
        self._wire.open(seat, description)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what the bot wrote unasked. With no seats, it is not asked next."""
        self._wire.catch_up(seats)

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the bot."""
        self._wire.post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends the bot its legal moves."""
        self._wire.show_legal(seat, legal)

    def next_reply(self) -> SeatReply:
        """The bot's next reply."""
        return self._wire.next_reply()

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells the bot that the game is over."""
        self._wire.close(outcome, ending)

    def end_at_fault(self, fault: Retired) -> tuple[Retired, str]:
        """Ends the process for a fault. Returns the fault with what is known now, and what the bot wrote to
        stderr in the last game: beginning and end, where that is much.
        """
        asked = self._connection
        if asked is None or asked.process is None:
            self._connection = None
            return fault, ""
        asked.faulted = True
        kept_us = self._wire.kept_us(self._seat, fault.used_us) if fault.ending is Ending.TIME else 0
        _, starting, playing = self._wire.extra_output(self._seat)
        self.end()
        if kept_us:
            kept = f"; for {kept_us // 1000} of {fault.used_us // 1000} ms it got no processor"
            fault = fault._replace(detail=fault.detail + kept)
        if asked.held_back and fault.ending in (Ending.TIME, Ending.START):
            fault = fault._replace(hint=hints.HELD_BACK)
        return fault, starting.text() + playing.text() + asked.process.complaints.text()

    def end(self) -> None:
        """Ends the process, if there is one, and everything that it started. A bot that is still asked gets
        no more time than one at fault.
        """
        asked, self._connection = self._connection, None
        if asked:
            asked.faulted |= asked.session.phase is Phase.ASKED
            end_connections([asked])
