"""The interface of a wire: the questions of the game loop, and the replies. Pure.

A wire knows processes and time and nothing of rules. It reports facts; what they mean is the game loop's
business. Times are of one monotonic clock, in microseconds, from the moment the wire began to write the
first question of a move to the moment the complete answer had been written.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from referee.core.units import TimeControl
from referee.core.value import value
from referee.gameplay.clock import Charge
from referee.gameplay.events import NOT_TIMED, Ending, Timing
from referee.games.api import Options, Outcome, Seat


class GameDescription(NamedTuple):
    """The description of a new game that is sent to one seat."""

    slug: str
    rules: int
    seats: int
    options: Options
    control: TimeControl
    seed: int


@value
class Question:
    """A request for a move, with everything that is sent to the seat in the same write."""

    news: tuple[str, ...]
    """The lines since the last question."""
    allowance_us: int
    """What remains of the move's allowance."""
    reserve_us: int
    """What remains of the seat's reserve."""
    wait_us: int
    """How long an answer is waited for, from the first question of the move: the time available and the
    margin.
    """
    reserves_us: tuple[int, ...] = ()
    """The reserves of all seats; only in open games."""
    charged: Charge | None = None
    """The charge for the seat's last move."""
    defaulted: str | None = None
    """The move that was submitted for the seat when its time was up."""
    rejected: tuple[str, str] | None = None
    """Why the last answer was no legal move: word and sentence. The move's time runs on."""


class LegalMoves(NamedTuple):
    """The answer to a request for legal moves."""

    moves: tuple[str, ...]
    total: int | None
    """How many there are, where that is known."""
    sampled: bool
    """Whether `moves` is a random sample."""


class Ready(NamedTuple):
    """The bot said hello, or is ready for the game."""


class Answer(NamedTuple):
    """A well-formed answer to the open question, whatever it says."""

    text: str
    info: str = ""
    """What the bot wrote about its answer."""


class Resigned(NamedTuple):
    """The seat gives up."""


class ListRequest(NamedTuple):
    """The seat asks for its legal moves."""

    most: int | None
    """How many it wants at most; None is as many as it may have."""


class Silence(NamedTuple):
    """No answer came while one was waited for."""

    detail: str
    """Describes what came instead."""
    hint: str = ""
    """What that often means."""


class Failure(NamedTuple):
    """The bot committed a fault that ends the session; whatever it writes from here on is ignored."""

    ending: Ending
    detail: str
    hint: str = ""


ReplyContent = Ready | Answer | Resigned | ListRequest | Silence | Failure
"""What a seat can reply to a question, or to the description of a game."""

READY = Ready()
RESIGNED = Resigned()


@value
class SeatReply:
    """A seat's reply to a question, as a wire hands it to the game loop."""

    seat: Seat
    content: ReplyContent
    used_us: int = 0
    """The time to be charged for the move if this reply ends it."""
    timing: Timing = NOT_TIMED


class Wire(Protocol):
    """The seats of one game. Each seat that was opened or asked gives one reply, and another for each
    answer to it (`post` after a rejection, `show_legal` after a request).
    """

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Describes the game to a seat, which has to say that it is ready."""

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what these seats wrote unasked: they are asked next, and nobody's time runs yet."""

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat for a move. Its time runs from here, or runs on after a rejection."""

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Answers a request; the question stays open and its time runs on."""

    def next_reply(self) -> SeatReply:
        """Waits for the next reply of the seats that were opened or asked."""

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells every seat that the game is over."""
