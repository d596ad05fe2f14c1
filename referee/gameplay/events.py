"""Events of a game, which its record is made of, and the closed list of endings with their sentences. Pure.

Every place that says how a game ended uses these words: verdicts, records, tables, the protocol's `end`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from referee.gameplay.clock import Charge

if TYPE_CHECKING:
    from referee.games.api import Seat  # the package of the games would bring all of them


class Ending(Enum):
    """How a game, or a seat's part in it, can end: word, sentence, hint. Those with a hint are faults."""

    RULES = "rules", "the rules ended the game", ""
    RESIGNED = "resigned", "resigned", ""
    START = (
        "start",
        "did not start",
        "before `ready`, a bot writes only its answers to `hello` and `prepare`, in time and flushed",
    )
    VOID = (
        "void",
        "forfeited the game",
        "a bot must not touch processes that it did not start; games that it played in became void",
    )
    OUT = (
        "out",
        "is out of the tournament",
        "it committed as many faults as the tournament allows, and forfeits its remaining games",
    )
    TIME = (
        "time",
        "ran out of time",
        "if it did answer: check that each line begins with `move`, ends with a newline, and is flushed",
    )
    GONE = (
        "gone",
        "crashed",
        "it exited, or closed its input or output; its stderr may say why",
    )
    FLOOD = (
        "flood",
        "wrote more than may be written",
        "write debug output to stderr or in short `log` lines",
    )
    PROTOCOL = (
        "protocol",
        "broke the protocol",
        "an answer is `move N TEXT`, with the number N of the last `ask`; debug output belongs on stderr",
    )
    TURN = (
        "turn",
        "spoke out of turn",
        "take N in `move N TEXT` from the last `ask` instead of counting, and answer each question once",
    )
    LIMIT = (
        "limit",
        "took more than it may",
        "the match or tournament limits its memory, files, processes and processor time",
    )
    ILLEGAL = (
        "illegal",
        "made too many illegal moves",
        "the game's page (`referee docs`) explains moves and reasons, and `list` asks for the legal moves",
    )

    def __init__(self, word: str, sentence: str, hint: str) -> None:
        self.word = word
        self.sentence = sentence
        self.hint = hint

    @property
    def is_fault(self) -> bool:
        """Whether a bot is to blame."""
        return bool(self.hint)

    @property
    def is_forfeit(self) -> bool:
        """Whether the game was lost without being played."""
        return self in (Ending.VOID, Ending.OUT)

    @classmethod
    def of(cls, word: str) -> Ending:
        """The ending with this word. Raises `KeyError`."""
        return _BY_WORD[word]


_BY_WORD = {ending.word: ending for ending in Ending}


BUSY_DIVISOR = 10
"""A bot whose processor time is more than this part of the time is busy."""


class Timing(NamedTuple):
    """What a wire measured of a move, apart from what is charged; microseconds."""

    asked_us: int = 0
    """When the move's first question was asked, from the beginning of the game."""
    wall_us: int = 0
    """From then to its answer, or to where the waiting ended."""
    cpu_us: int = 0
    """Processor time of the bot meanwhile; 0 where that cannot be known."""
    stopped_us: int = 0
    """How much of that time the referee itself was not running."""
    waited_us: int = 0
    """How long the bot was ready to run and got no processor; not measured where a move was quick."""
    forgiven_us: int = 0
    """How much of that was not charged."""

    @property
    def computing(self) -> bool:
        """Whether the bot computed for more than 1/10 of the time, and did not just wait."""
        return self.cpu_us * BUSY_DIVISOR > self.wall_us


NOT_TIMED = Timing()


class Drawn(NamedTuple):
    """An outcome of chance."""

    text: str


class Preset(NamedTuple):
    """A move of the opening, which the referee made in the name of a seat: nobody was asked."""

    seat: Seat
    text: str
    """The canonical spelling."""


class Rejected(NamedTuple):
    """A seat's answer was no legal move; its clock runs on."""

    seat: Seat
    text: str
    reason: str
    """A word; the game's page lists them."""
    sentence: str
    used_us: int
    """Since the seat was first asked for this move."""
    timing: Timing = NOT_TIMED


class Moved(NamedTuple):
    """A seat moved, or its time was up and the game's default was submitted for it."""

    seat: Seat
    text: str
    """The canonical spelling."""
    charge: Charge
    defaulted: bool = False
    info: str = ""
    """What the bot said of its move."""
    timing: Timing = NOT_TIMED


class Unplayed(NamedTuple):
    """A seat moved, but another one retired in the same turn, so that the turn did not count."""

    seat: Seat
    text: str
    used_us: int
    timing: Timing = NOT_TIMED


class Retired(NamedTuple):
    """A seat retired: by a fault, or because it resigned."""

    seat: Seat
    ending: Ending
    detail: str
    used_us: int
    timing: Timing = NOT_TIMED
    hint: str = ""
    """A hint for the author of the bot, where more is known than the ending's own hint says."""


Event = Drawn | Preset | Rejected | Moved | Unplayed | Retired
