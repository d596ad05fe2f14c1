"""What the match asks of a wire, and what a wire tells the match.

A wire knows processes and time and nothing of rules. It reports facts; what they mean is the match's
business. Times are of one monotonic clock, in microseconds, from the moment the wire began to write the
first question of a move to the moment the complete line had been read.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from referee.core.timecontrol import TimeControl
from referee.gameplay.clock import Charge
from referee.gameplay.events import NOT_TIMED, Ending, Seat, Timing
from referee.games.api import Options, Outcome


class Opening(NamedTuple):
    """A new game, as one seat is told of it."""

    slug: str
    rules: int
    seats: int
    options: Options
    control: TimeControl
    seed: int


class Question(NamedTuple):
    """What a seat is asked, and all it is told with it, in one write."""

    news: tuple[str, ...]
    """The lines since the last question."""
    left_us: tuple[int, int]
    """Of the allowance and of the reserve."""
    patience_us: int
    """When a wire stops waiting: after so much time of the move."""
    reserves_us: tuple[tuple[Seat, int], ...] = ()
    """The other seats' reserves; only in open games."""
    charged: Charge | None = None
    """What the seat's last move cost."""
    defaulted: str | None = None
    """The move that was submitted for the seat when its time was up."""
    rejected: tuple[str, str] | None = None
    """Why the last answer was no legal move: word and sentence. The move's clock runs on."""


class LegalMoves(NamedTuple):
    """The answer to a request for legal moves."""

    moves: tuple[str, ...]
    total: int | None
    """How many there are, where that is known."""
    sampled: bool
    """Whether `moves` is a random sample."""


class Opened(NamedTuple):
    """The seat is ready for the game."""

    seat: Seat


class Answer(NamedTuple):
    """A well-formed answer to the open question, whatever it says."""

    seat: Seat
    used_us: int
    text: str
    info: str = ""
    timing: Timing = NOT_TIMED


class Resigned(NamedTuple):
    """The seat gives up."""

    seat: Seat
    used_us: int
    timing: Timing = NOT_TIMED


class Request(NamedTuple):
    """The seat asks for its legal moves, `most` of them at most."""

    seat: Seat
    used_us: int
    most: int | None


class Silence(NamedTuple):
    """The patience is over and nothing was answered; `detail` says what did come, `hint` what that often
    means.
    """

    seat: Seat
    used_us: int
    detail: str
    timing: Timing = NOT_TIMED
    hint: str = ""


class Broken(NamedTuple):
    """The conversation with the seat broke; `ending` names the fact."""

    seat: Seat
    used_us: int
    ending: Ending
    detail: str
    timing: Timing = NOT_TIMED
    hint: str = ""


WireEvent = Opened | Answer | Resigned | Request | Silence | Broken


class Wire(Protocol):
    """The seats of one game. Each seat that was opened or asked gives one event, and another for each
    answer to it (`post` after a rejection, `show_legal` after a request).
    """

    def open(self, seat: Seat, opening: Opening) -> None:
        """Describes the game to a seat, which has to say that it is ready."""

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Hears what these seats have said unasked: they are asked next, and nobody's time runs yet."""

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat for a move. Its time runs from here, or runs on after a rejection."""

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Answers a request; the question stays open and its time runs on."""

    def next_event(self) -> WireEvent:
        """What happens next at the seats that were opened or asked."""

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells every seat that the game is over."""
