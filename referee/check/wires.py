"""The wires of a check: the house player, which moves at random, plays all other seats.

The house player picks its moves with the engine of the game and answers at once. The wires differ only in
what it does besides that: it resigns early, fails, rejects a legal answer, or plays the first moves of the
bot's seat. The game loop and the session with the bot are the same as in every game. The end of the dialogue
with the bot is kept, to be shown if it fails.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from referee.core.seeds import house_stream
from referee.core.text import shown
from referee.gameplay.api import (
    READY,
    RESIGNED,
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    Question,
    SeatReply,
    Silence,
)
from referee.gameplay.events import Ending, Event, Moved, Rejected, Retired
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Outcome, Refusal, Seat, State
from referee.protocol.messages import LINE_CAP, WORDS_OF, Speaker
from referee.wire.connection import BotConnection
from referee.wire.dialogue import SPEAKERS, STDERR
from referee.wire.process_wire import ProcessWire

_MAX_ROWS = 8  # consecutive lines of one sender that begin with the same word count as one row

_WIDTH = 100

_TIMED_MESSAGES = {("<", b"prepare"), ("<", b"ask"), (">", b"hello"), (">", b"ready"), (">", b"move")}

NOISE_KEPT = 3  # the first lines that are no messages are kept; all of them are counted


@dataclass
class _Row:
    """Consecutive lines of one sender that begin with the same word."""

    direction: str
    word: bytes
    first: bytes
    last: bytes
    count: int = 1
    ended: bool = True  # whether the last line ended with a newline


class DialogueTail:
    """A tap for a connection, with bounded memory however long the dialogue is."""

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._rows: deque[_Row] = deque(maxlen=_MAX_ROWS)
        self._partial = {"<": b"", ">": b""}
        self._times_ns: dict[tuple[str, bytes], int] = {}
        self.noise: list[bytes] = []  # the first lines of the bot that are no messages
        self.noise_count = 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes bytes that were sent in one direction: `<` to the bot, `>` from it. Its stderr is shown
        elsewhere.
        """
        if direction == STDERR:
            return
        if direction == "<" and (partial := self._partial[">"]):
            self._rows.append(_Row(">", b"", partial, partial, ended=False))
            self._partial[">"] = b""
        *lines, rest = (self._partial[direction] + data).split(b"\n")
        self._partial[direction] = rest[:LINE_CAP]
        for line in lines:
            self._take(direction, line)

    def _take(self, direction: str, line: bytes) -> None:
        word = line[:LINE_CAP].strip().partition(b" ")[0]
        if (direction, word) in _TIMED_MESSAGES:
            self._times_ns.setdefault((direction, word), time.monotonic_ns())
        if direction == ">" and word.decode("ascii", "replace") not in WORDS_OF[Speaker.BOT]:
            self.noise_count += 1
            self.noise += [line] * (self.noise_count <= NOISE_KEPT)
        last = self._rows[-1] if self._rows else None
        if last and (last.direction, last.word) == (direction, word):
            last.last = line
            last.count += 1
        else:
            self._rows.append(_Row(direction, word, line, line))

    def when_us(self, direction: str, word: bytes) -> int | None:
        """Microseconds from the start to the first line with this word, or None if there was none."""
        time_ns = self._times_ns.get((direction, word))
        return None if time_ns is None else (time_ns - self._began_ns) // 1000

    def lines(self) -> tuple[str, ...]:
        """The last lines, in the format of the protocol's examples."""
        rows = [*self._rows]
        if partial := self._partial[">"]:
            rows.append(_Row(">", b"", partial, partial, ended=False))
        lines: list[str] = []
        for row in rows:
            sender = SPEAKERS[row.direction]
            lines.append(f"{sender}: {shown(row.first, _WIDTH)}")
            if row.count > 2:
                lines.append(f"# … {row.count - 2} more such lines")
            if row.count > 1:
                lines.append(f"{sender}: {shown(row.last, _WIDTH)}")
            if not row.ended:
                lines.append("# … without a newline")
        return tuple(lines)


NO_MOVE = "\0"  # A text that is not a move in any game, and that no bot can send

REJECTION = "this answer is rejected to check the bot: answer the new question"
"""The sentence of a rejection that is made by the check and not by the game."""


class SeatedBot(NamedTuple):
    """A bot's process with the game that it is to play and its seat in it."""

    terms: Terms
    seat: Seat
    connection: BotConnection
    dialogue: DialogueTail
    start_us: int


class HouseWire:
    """A wire without bots: the house player plays all seats."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.state: State[Any] = terms.game.start(terms.options)
        self.events: list[Event] = []
        self._rng = house_stream(terms.seed)
        self._replies: deque[SeatReply] = deque()
        """Replies of the house player that the game loop has not read yet."""

    def play(self) -> None:
        """Plays the game to its end."""
        play(self.terms, self, seeded_dice(self.terms), self.watch)

    def watch(self, event: Event, state: State[Any]) -> None:
        """Takes an event from the game loop, with the state after it."""
        self.events.append(event)
        self.state = state

    def act(self, seat: Seat) -> SeatReply:
        """The house player's reply to a question: a random legal move."""
        return SeatReply(seat, Answer(self.state.write(self.state.sample(seat, self._rng))))

    def open(self, seat: Seat, description: GameDescription) -> None:
        """The house player is ready at once."""
        self._replies.append(SeatReply(seat, READY))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Does nothing: the house player sends nothing unasked."""

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the house player, which replies at once."""
        self._replies.append(self.act(seat))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Does nothing: the house player never asks for legal moves."""

    def next_reply(self) -> SeatReply:
        """The next reply of the house player."""
        return self._replies.popleft()

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Does nothing: the house player needs no message at the end."""


MAX_GAME_S = 5.0
"""The house player resigns a game that takes longer from the bot's first answer on, so that a slow bot does
not hold up the check.
"""


class TimedOut(Exception):
    """The bot did not answer in time, and the game would continue with a default move."""


class BotWire(HouseWire):
    """A wire to a bot in one seat, with the house player in all others.

    When the bot has answered `max_answers` questions, the house player resigns. If the bot runs out of time
    the game ends, even where a default move would be submitted.
    """

    def __init__(self, seated: SeatedBot, max_answers: int | None = None, max_s: float = MAX_GAME_S) -> None:
        super().__init__(seated.terms)
        self.seat = seated.seat
        self.answers = 0  # how many answers the bot gave, legal or not
        self.may_cross = False
        """Whether an answer of the bot may come when its question was closed, through no fault of its own."""
        self._max_answers = max_answers
        self._max_s = max_s
        self._ends_at_s = math.inf
        self._dialogue = seated.dialogue
        self.rejection_dialogue: tuple[str, ...] = ()
        """The end of the dialogue when the bot was first told of a rejection."""
        self._silence: Silence | None = None
        self._late: Retired | None = None
        nobody = BotConnection(
            seated.connection.bot, failure=Failure(Ending.START, "the house player has this seat")
        )
        connections = [
            seated.connection if seat == self.seat else nobody for seat in range(len(seated.terms.bots))
        ]
        self.process_wire = ProcessWire(connections, seated.start_us)

    @property
    def fault(self) -> Retired | None:
        """The bot's fault, or None if it had none."""
        for event in self.events:
            if isinstance(event, Retired) and event.seat == self.seat and event.ending.is_fault:
                return event
        return self._late

    @property
    def rejections(self) -> list[Rejected]:
        """The bot's answers that were not legal moves."""
        return [event for event in self.events if isinstance(event, Rejected) and event.seat == self.seat]

    @property
    def moves(self) -> list[Moved]:
        """The moves that were made in the bot's seat."""
        return [event for event in self.events if isinstance(event, Moved) and event.seat == self.seat]

    @property
    def resigned(self) -> bool:
        """Whether the bot resigned."""
        resigned = (
            event for event in self.events if isinstance(event, Retired) and not event.ending.is_fault
        )
        return any(event.seat == self.seat for event in resigned)

    @property
    def is_done(self) -> bool:
        """Whether the bot has answered enough questions, or the game has taken too long."""
        return time.monotonic() > self._ends_at_s or (
            self._max_answers is not None and self.answers >= self._max_answers
        )

    def watch(self, event: Event, state: State[Any]) -> None:
        """Takes an event from the game loop. Raises `TimedOut` if the bot's move is a default move."""
        super().watch(event, state)
        if isinstance(event, Moved) and event.seat == self.seat and event.defaulted:
            detail, hint = (self._silence.detail, self._silence.hint) if self._silence else ("", "")
            self._late = Retired(self.seat, Ending.TIME, detail, event.charge.used_us, event.timing, hint)
            raise TimedOut

    def act(self, seat: Seat) -> SeatReply:
        """Lets the house player move, or resign when the bot has answered enough questions."""
        return SeatReply(seat, RESIGNED) if self.is_done else super().act(seat)

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Describes the game to the bot."""
        if seat == self.seat:
            self.process_wire.open(seat, description)
        else:
            super().open(seat, description)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what the bot sent unasked."""
        if self.seat in seats:
            self.process_wire.catch_up((self.seat,))

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the bot, or the house player."""
        if seat != self.seat:
            super().post(seat, question)
            return
        self.process_wire.post(seat, question)
        if question.rejected and question.rejected[1] != REJECTION and not self.rejection_dialogue:
            self.rejection_dialogue = self._dialogue.lines()

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends the bot its legal moves."""
        self.process_wire.show_legal(seat, legal)

    def next_reply(self) -> SeatReply:
        """The next reply: those of the house player first, then the bot's."""
        if self._replies:
            return super().next_reply()
        reply = self.process_wire.next_reply()
        if isinstance(reply.content, Answer):
            self.answers += 1
            self._ends_at_s = min(self._ends_at_s, time.monotonic() + self._max_s)
        self._silence = reply.content if isinstance(reply.content, Silence) else None
        return reply

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Reports the end of the game to the bot."""
        self.process_wire.close(outcome, ending)


class RejectingWire(BotWire):
    """Rejects the bot's first legal answer to a question that has more than one.

    The game loop itself rejects it: the wire replaces the answer by a text that is not a move.
    """

    rejected = ""  # the answer that was rejected, or empty if none was
    again = ""  # the answer to the next question

    @property
    def rejections(self) -> list[Rejected]:
        """The bot's answers that were not legal moves, without the one that was rejected here."""
        return [event for event in super().rejections if event.text != NO_MOVE]

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the bot, with the answer that it did give where this wire rejected it."""
        if seat == self.seat and question.rejected and self._just_rejected:
            question = replace(question, rejected=(question.rejected[0], REJECTION))
        super().post(seat, question)

    _just_rejected = False

    def next_reply(self) -> SeatReply:
        """The next reply; the answer to be rejected is replaced."""
        reply = super().next_reply()
        self._just_rejected = False
        if reply.seat != self.seat or not isinstance(reply.content, Answer):
            return reply
        text = reply.content.text
        if not self.rejected and self._is_choice(text):
            self._just_rejected = True
            self.rejected = text
            return replace(reply, content=reply.content._replace(text=NO_MOVE))
        if self.rejected and not self.again:
            self.again = text
        return reply

    def _is_choice(self, text: str) -> bool:
        try:
            self.state.read(self.seat, text)
        except Refusal:
            return False
        return len(list(islice(self.state.legal(self.seat), 2))) == 2


class FaultyOpponentWire(BotWire):
    """Lets the house player fail when the bot has answered `max_answers` questions; with 0 it does not start.

    With `while_asked`, in a game where several seats act at once, the game ends while the bot's own question
    is open.
    """

    def __init__(self, seated: SeatedBot, max_answers: int, while_asked: bool = False) -> None:
        super().__init__(seated, max_answers)
        self.may_cross = True
        self._while_asked = while_asked
        self.ended_while_asked = False  # whether the game ended while the bot's question was open

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Describes the game to the bot; the house player is ready, or fails to start."""
        if self._max_answers == 0 and seat != self.seat:
            self._replies.append(SeatReply(seat, Failure(Ending.START, "the house player does not start")))
        else:
            super().open(seat, description)

    def act(self, seat: Seat) -> SeatReply:
        """Lets the house player move, or fail when the bot has answered enough questions."""
        if self.is_done:
            return SeatReply(seat, Failure(Ending.GONE, "the house player is gone"))
        return super().act(seat)

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the bot, and does not wait for its answer if the house player fails meanwhile."""
        super().post(seat, question)
        if seat == self.seat and self._while_asked and self.is_done and self._can_end_while_asked():
            self.ended_while_asked = True
            silence = Silence("the game ended meanwhile")
            self._replies.append(SeatReply(seat, silence, question.wait_us + 1))

    def _can_end_while_asked(self) -> bool:
        return len(self.state.to_act()) > 1 and self.state.default(self.seat) is not None


class TakeoverWire(BotWire):
    """Lets the house player make the first `house_moves` moves of the bot's seat too.

    Then the bot is asked for the first time, with all the news so far.
    """

    def __init__(self, seated: SeatedBot, house_moves: int, max_answers: int) -> None:
        super().__init__(seated, max_answers)
        self._house_moves = house_moves
        self._withheld_news: tuple[str, ...] = ()  # news that the bot was not sent yet
        self.news_count = 0  # how many lines of news came with the bot's first question

    def post(self, seat: Seat, question: Question) -> None:
        """Asks the bot, or the house player in its place."""
        if seat != self.seat:
            super().post(seat, question)
        elif self._house_moves:
            self._house_moves -= 1
            self._withheld_news += question.news
            HouseWire.post(self, seat, question)
        else:
            if self._withheld_news:
                news = self._withheld_news + question.news
                question = replace(question, news=news, charged=None, defaulted=None)
                self._withheld_news = ()
                self.news_count = len(news)
            super().post(seat, question)
