"""The referee's side of a session with one bot: output becomes replies, questions become bytes. Bounds what
the bot may write in a turn. Pure.

It knows the protocol and nothing of processes or time. It serves game after game, as the bot's process does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.core.text import shown
from referee.core.units import TimeControl
from referee.core.value import made
from referee.gameplay.api import (
    READY,
    RESIGNED,
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    ListRequest,
    Question,
    ReplyContent,
)
from referee.gameplay.events import Ending
from referee.gameplay.hints import UNEXPECTED
from referee.games.api import Outcome, Seat
from referee.protocol import messages as m
from referee.protocol.session import ASKED, WAITING, Breach, Phase, Session

CAPABILITIES = ("list",)
"""The capabilities that the referee announces in its `hello`."""

TURN_CAP = 1 << 20
"""Bytes that a bot may write between two answers, enough for hundreds of log lines of full length."""

LINES_CAP = 10_000
"""Lines that a bot may write between two answers: parsing each costs the referee some microseconds."""

LIST_CAP = 16
"""`list` requests that a bot may make for one question: each makes the referee work while the opponent may be
thinking too.
"""

LOG_CAP = 16_384
"""Bytes of a bot's `log` lines that are kept for each game."""

NOISE_KEPT = 5
"""Lines of noise that are kept for each game; all of them are counted."""


NO_MOVE = b"\xff"
"""A prefix that no answer has, since answers are ASCII."""

LAST_KEPT = 3
"""The last lines of each side that are kept to explain a fault."""


@dataclass
class ExtraOutput:
    """What a bot wrote in a game apart from its answers; it has no effect on the game."""

    noise: list[str] = field(default_factory=list)
    noise_count: int = 0
    stale_count: int = 0
    """Answers to questions that were closed."""
    log: list[str] = field(default_factory=list)
    log_asked: list[int] = field(default_factory=list)
    """For each line of the log, the number of the last question before it; 0 before the first one."""
    log_bytes: int = 0
    log_dropped: int = 0


@dataclass(slots=True)
class AskedTurn:
    """What a bot wrote instead of an answer since it was last asked for something."""

    noise: str = ""
    """The last line that is no message."""
    noise_count: int = 0
    stale_count: int = 0
    """Answers to closed questions, where the bot was asked for a move."""


class RefereeSession:
    """A session with one bot. Everything that comes after a `Failure` is dropped."""

    def __init__(self) -> None:
        self._session = Session()
        self._lines = m.LineSplitter()
        self._wants_clocks = False
        self._bytes_in_turn = self._lines_in_turn = 0
        self._lists = 0
        self._info = ""
        self._expected = NO_MOVE
        """The prefix of a move that answers the open question; `NO_MOVE` where no question is open."""
        self.received_bytes = 0
        self.more_behind = False
        """Whether there was more behind the last reply in what was heard last."""
        self.last_received: deque[bytes] = deque(maxlen=LAST_KEPT)
        """The last lines that the bot wrote."""
        self.last_sent = b""
        """The last write to the bot that asked it for something."""
        self.failure: Failure | None = None
        self.extra_output = ExtraOutput()
        self.turn = AskedTurn()

    @property
    def phase(self) -> Phase:
        """The phase of the session."""
        return self._session.phase

    @property
    def asked(self) -> int:
        """The number of the last question of the game; 0 where none has been asked."""
        return self._session.asked

    @property
    def partial(self) -> bytes:
        """The beginning of a line whose newline has not come yet."""
        return self._lines.partial

    def begin(self) -> None:
        """Forgets the dialogue of the previous game, which explains nothing in the next one, and what else
        was written in it.
        """
        self._session.asked = 0  # as `ready` does it, but what comes before is of the new game already
        self.extra_output = ExtraOutput()
        self.last_received.clear()
        self.last_sent = b""

    def greet(self) -> bytes:
        """Begins the session with the referee's `hello`."""
        self._session.phase = Phase.GREETED
        self.turn = AskedTurn()
        self.last_sent = m.encode(m.HelloLine(m.VERSION, CAPABILITIES))
        return self.last_sent

    def open(self, seat: Seat, description: GameDescription) -> bytes:
        """Encodes the description of a game."""
        # An answer may have crossed the end of the game before; debug output stays debug output.
        early = self.extra_output
        self.extra_output = ExtraOutput(early.noise, early.noise_count)
        self.turn = AskedTurn()
        self._bytes_in_turn = self._lines_in_turn = 0
        self._session.phase = Phase.LOADING
        self.last_sent = m.encode(
            m.GameLine(description.slug, description.rules, seat + 1, description.seats),
            *(m.OptionLine(name, str(value)) for name, value in description.options.items()),
            _clock(description.control),
            m.SeedLine(description.seed),
            m.PrepareLine(),
        )
        return self.last_sent

    def ask(self, seat: Seat, question: Question) -> bytes:
        """Encodes a question with all that goes with it; formatted directly, since every move has one."""
        session = self._session
        defaulted = question.defaulted
        lines = []
        if session.phase is ASKED and not defaulted:
            # Its time was up in a turn that did not count.
            lines.append(f"rejected {session.asked} closed time was up")
        if rejected := question.rejected:
            lines.append(f"rejected {session.asked} {rejected[0]} {rejected[1]}")
        elif charged := question.charged:
            lines.append(f"charged {session.asked} {charged.used_us} {charged.taken_us}")
        elif defaulted:
            lines.append(f"defaulted {session.asked} {defaulted}")
        for line in question.news:
            lines.append(f"news {line}")
        if self._wants_clocks:
            for other, other_us in enumerate(question.reserves_us):
                if other != seat:
                    lines.append(f"reserve {other + 1} {other_us // 1000}")
        number = session.ask()
        lines.append(f"ask {number} {question.allowance_us // 1000} {question.reserve_us // 1000}")
        self._lists = 0
        if self.turn.noise_count or self.turn.stale_count:
            self.turn = AskedTurn()
        self._expected = b"move %d " % number
        self.last_sent = data = m.encode_lines(lines)
        return data

    def lapse(self) -> None:
        """Closes the open question, whose time is up: an answer that still comes is dropped. The bot is told
        with its next question, which may be some turns later.
        """
        self._session.lapse()
        self._expected = NO_MOVE

    def show_legal(self, legal: LegalMoves) -> bytes:
        """Encodes the answer to a request for legal moves; nothing where the bot answered without waiting for
        it.
        """
        if self._session.phase is not Phase.ASKED:
            return b""
        kind = "sample" if legal.sampled else "all"
        total = "unknown" if legal.total is None else legal.total
        lines = [f"legal {self._session.asked} {kind} {len(legal.moves)} {total}"]
        lines += [f"choice {move}" for move in legal.moves]
        self.last_sent = data = m.encode_lines(lines)
        return data

    def close(self, outcome: Outcome, ending: Ending) -> bytes:
        """Encodes the end of the game; empty where the bot was never told about the game."""
        self._expected = NO_MOVE
        if self._session.phase not in (Phase.LOADING, Phase.WAITING, Phase.ASKED):
            return b""
        self._session.phase = Phase.IDLE
        return m.encode(m.EndLine(outcome.ranks, ending.word, outcome.sentence))

    def quit(self) -> bytes:
        """Encodes the last message; empty where the bot could not expect it."""
        if self._session.phase in (Phase.NEW, Phase.SETUP, Phase.CLOSED):
            return b""
        self._session.phase = Phase.CLOSED
        return m.encode(m.QuitLine())

    def is_awaited(self, line: bytes) -> bool:
        """Whether a line has the form of an answer to what the bot was asked last."""
        word, *rest = line.split(b" ", 2)
        if self.last_sent.startswith(b"hello "):
            return word == b"hello"
        if self.last_sent.endswith(b"prepare\n"):
            return word == b"ready"
        return word in (b"move", b"resign") and rest[:1] == [b"%d" % self._session.asked]

    def receive(self, data: bytes) -> list[ReplyContent]:
        """Decodes the replies in a chunk of the bot's output; nothing comes after a `Failure`."""
        if self.failure:
            return []
        self.received_bytes += len(data)
        self.more_behind = False
        if (answer := self._plain_move(data)) is not None:
            return [answer]
        replies: list[ReplyContent] = []
        self._bytes_in_turn += len(data)
        content: ReplyContent | None = None
        lines = self._lines.feed(data)
        self._lines_in_turn += len(lines)
        for line in lines:
            if isinstance(line, m.Overlong):
                content = self._flood(line.start)
            else:
                self.last_received.append(line)
                content = self._line(line)
            if content is not None:
                replies.append(content)
            if isinstance(content, Failure):
                break
        else:
            if self._bytes_in_turn > TURN_CAP:  # guard: bytes-of-a-turn
                replies.append(Failure(Ending.FLOOD, f"more than {TURN_CAP} bytes without an answer"))
            elif self._lines_in_turn > LINES_CAP:  # guard: lines-of-a-turn
                replies.append(Failure(Ending.FLOOD, f"more than {LINES_CAP} lines without an answer"))
        self.more_behind = content is None or bool(self._lines.partial)
        if replies and isinstance(replies[-1], Failure):
            self.failure = replies[-1]
        return replies

    def _plain_move(self, data: bytes) -> Answer | None:
        """The answer in a chunk that is just one line, a move to the open question in plain characters, as
        nearly all chunks are; None for all others. Going through `_line` and the table gives the same result.
        """
        expected = self._expected
        if (
            not (data.startswith(expected) and data.endswith(b"\n") and data.isascii())
            or self._lines.partial
            or len(data) > m.LINE_CAP
        ):
            return None
        text = data[len(expected) : -1].decode().strip(" ")
        if not text or not text.isprintable():  # with a newline it is not
            return None
        self.last_received.append(data[:-1])
        self._session.phase = WAITING
        return self._answer(text)

    def _flood(self, start: bytes) -> Failure:
        return Failure(Ending.FLOOD, f"a line of more than {m.LINE_CAP} bytes: {shown(start, 60)}")

    def _line(self, line: bytes) -> ReplyContent | None:
        try:
            message = m.parse(line, m.Speaker.BOT)
        except m.NotAMessage:
            self.extra_output.noise_count += 1
            self.turn.noise_count += 1
            self.turn.noise = shown(line, 200)
            if len(self.extra_output.noise) < NOISE_KEPT:
                self.extra_output.noise.append(shown(line, 200))
            return None
        except m.Malformed as error:
            return Failure(Ending.PROTOCOL, f"{shown(line, 200)}: {shown(str(error), 200)}")
        try:
            counts = self._session.said(m.Speaker.BOT, message)
        except Breach as breach:
            hint = UNEXPECTED.get(message.word, "")
            return Failure(Ending.TURN, f"{shown(line, 200)}: {breach}", hint)
        if not counts:
            self.extra_output.stale_count += 1
            if self._session.phase is Phase.ASKED:
                self.turn.stale_count += 1
            return None
        return self._message(message)

    def _message(self, message: m.Message) -> ReplyContent | None:
        match message:
            case m.MoveLine(_, text):
                return self._answer(text)
            case m.ResignLine():
                self._answer("")
                return RESIGNED
            case m.ListLine(_, most):
                self._lists += 1
                if self._lists > LIST_CAP:  # guard: lists-of-a-question
                    return Failure(
                        Ending.FLOOD,
                        f"more than {LIST_CAP} times `list` to one question",
                        "keep the legal moves: to one question, `list` needs to be sent only once",
                    )
                return ListRequest(most)
            case m.InfoLine(info):
                self._info = info
            case m.LogLine(line):
                self._keep_log(line)
            case m.HelloLine(version, capabilities):
                if version != m.VERSION:
                    return Failure(
                        Ending.PROTOCOL, f"it speaks protocol {version}, expected protocol {m.VERSION}"
                    )
                self._wants_clocks = "clocks" in capabilities
                return READY
            case m.ReadyLine():
                self._info = ""
                return READY
        return None

    def _answer(self, text: str) -> Answer:
        answer = made(Answer, (text, self._info))
        self._expected = NO_MOVE
        self._info = ""
        self._bytes_in_turn = self._lines_in_turn = 0
        return answer

    def _keep_log(self, line: str) -> None:
        size = len(line.encode()) + 1
        if self.extra_output.log_bytes + size > LOG_CAP:
            self.extra_output.log_dropped += 1
        else:
            self.extra_output.log.append(line)
            self.extra_output.log_asked.append(self.asked)
            self.extra_output.log_bytes += size


def _clock(control: TimeControl) -> m.ClockLine:
    periods = (control.move_us, control.reserve_us, control.step_us, control.increment_us)
    return m.ClockLine(*(us // 1000 for us in periods))
