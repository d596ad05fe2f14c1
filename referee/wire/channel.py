"""The referee's end of the conversation with one bot: bytes in, facts out; facts in, bytes out. Pure.

A channel knows the protocol and nothing of processes or time. It serves game after game, as the bot's
process does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from protocol import messages as m
from protocol.session import Breach, Session, State
from referee.core import text
from referee.core.timecontrol import TimeControl
from referee.gameplay.api import (
    Answer,
    Broken,
    LegalMoves,
    Opened,
    Opening,
    Question,
    Request,
    Resigned,
    WireEvent,
)
from referee.gameplay.events import NOT_TIMED, Ending, Seat, Timing
from referee.games.api import Outcome

CAPABILITIES = ("list",)
"""What this referee offers."""

TURN_CAP = 1 << 20
"""Bytes that a bot may write between two answers. A thousand full log lines are a quarter of it."""

LINES_CAP = 10_000
"""Lines that it may write between two answers: each costs the referee a microsecond that others wait for."""

LIST_CAP = 16
"""Requests for legal moves to one question: each costs the referee work that no clock but the bot's own
should have to bear.
"""

LOG_CAP = 16_384
"""Bytes of a bot's log lines that are kept of a game."""

NOISE_KEPT = 5
"""Lines of noise that are kept of a game, in words; all are counted."""


LAST_KEPT = 3
"""Lines of either side that are kept in case that the bot commits a fault."""


class Ready(NamedTuple):
    """The bot said hello, or is ready for the game."""


class Said(NamedTuple):
    """An answer to the open question: a move's text, or None for resigning."""

    text: str | None
    info: str


class Wants(NamedTuple):
    """A request for legal moves."""

    most: int | None


class Trouble(NamedTuple):
    """The bot broke something, and nothing that it says from here on counts."""

    ending: Ending
    detail: str
    hint: str = ""


Heard = Ready | Said | Wants | Trouble


def event_of(fact: Heard, seat: Seat, used_us: int, timing: Timing = NOT_TIMED) -> WireEvent:
    """A fact as the match is told of it."""
    match fact:
        case Ready():
            return Opened(seat)
        case Said(None):
            return Resigned(seat, used_us, timing)
        case Said(answer, info):
            return Answer(seat, used_us, answer or "", info, timing)
        case Wants(most):
            return Request(seat, used_us, most)
        case Trouble(ending, detail, hint):
            return Broken(seat, used_us, ending, detail, timing, hint)


@dataclass
class Aside:
    """What a bot said in a game beside its answers; nothing of it has an effect."""

    noise: list[str] = field(default_factory=list)
    noise_count: int = 0
    stale_count: int = 0
    """Answers to questions that were closed."""
    log: list[str] = field(default_factory=list)
    log_bytes: int = 0
    log_dropped: int = 0


class Channel:
    """One conversation. What it hears after a `Trouble` is dropped."""

    def __init__(self) -> None:
        self._session = Session()
        self._lines = m.Lines()
        self._capabilities: tuple[str, ...] = ()
        self._in_turn = self._lines_in_turn = 0
        self._lists = 0
        self._info = ""
        self._answered = 0
        self.heard_bytes = 0
        self.last_heard: deque[bytes] = deque(maxlen=LAST_KEPT)
        """The last lines that came, whatever they were."""
        self.last_said = b""
        """What was said last that asks for something, in one write."""
        self.trouble: Trouble | None = None
        self.aside = Aside()

    @property
    def partial(self) -> bytes:
        """What has come of a line that has no newline yet."""
        return self._lines.partial

    def _say(self, *messages: m.Message) -> bytes:
        for message in messages:
            self._session.said(m.Speaker.REFEREE, message)
        data = m.encode(*messages)
        if self._session.state not in (State.IDLE, State.CLOSED):
            self.last_said = data
        return data

    def begin(self) -> None:
        """A new game begins: what passed in the one before explains nothing of it."""
        self.last_heard.clear()
        self.last_said = b""

    def greet(self) -> bytes:
        """The referee's hello."""
        return self._say(m.Hello(m.VERSION, CAPABILITIES))

    def open(self, seat: Seat, opening: Opening) -> bytes:
        """A game's description."""
        self.aside = Aside()
        self._in_turn = self._lines_in_turn = 0
        return self._say(
            m.Game(opening.slug, opening.rules, seat + 1, opening.seats),
            *(m.Option(name, str(value)) for name, value in opening.options.items()),
            _clock(opening.control),
            m.Seed(opening.seed),
            m.Prepare(),
        )

    def ask(self, question: Question) -> bytes:
        """A question with all that goes with it."""
        said: list[m.Message] = []
        if self._session.state is State.ASKED and not question.defaulted:
            # Its time was up in a turn that did not count.
            said.append(m.Rejected(self._session.asked, "closed", "time was up"))
        if question.rejected:
            said.append(m.Rejected(self._answered, *question.rejected))
        elif question.charged:
            charge = question.charged
            said.append(m.Charged(self._answered, charge.used_us, charge.taken_us))
        elif question.defaulted:
            said.append(m.Defaulted(self._session.asked, question.defaulted))
        said += [m.News(line) for line in question.news]
        if "clocks" in self._capabilities:
            said += [m.Reserve(seat + 1, us // 1000) for seat, us in question.reserves_us]
        allowance_us, reserve_us = question.left_us
        said.append(m.Ask(self._session.asked + 1, allowance_us // 1000, reserve_us // 1000))
        self._lists = 0
        return self._say(*said)

    def lapse(self) -> None:
        """The open question's time is up: an answer that comes later is dropped, also before the bot is told
        what became of it, which may be some turns of the others later.
        """
        self._session.lapse()

    def show_legal(self, legal: LegalMoves) -> bytes:
        """The answer to a request for legal moves; nothing where the bot answered without waiting for it."""
        if self._session.state is not State.ASKED:
            return b""
        kind = "sample" if legal.sampled else "all"
        head = m.Legal(self._session.asked, kind, len(legal.moves), legal.total)
        return self._say(head, *(m.Choice(move) for move in legal.moves))

    def close(self, outcome: Outcome, ending: Ending) -> bytes:
        """The end of the game; nothing to a bot that does not know of the game."""
        if self._session.state not in (State.LOADING, State.WAITING, State.ASKED):
            return b""
        return self._say(m.End(outcome.ranks, ending.word, outcome.sentence))

    def quit(self) -> bytes:
        """The last message; nothing where it would make no sense."""
        if self._session.state in (State.NEW, State.SETUP, State.CLOSED):
            return b""
        return self._say(m.Quit())

    def hear(self, data: bytes) -> list[Heard]:
        """What a chunk of the bot's output says, as far as it matters; a `Trouble` is the last."""
        heard: list[Heard] = []
        if self.trouble:
            return heard
        self._in_turn += len(data)
        self.heard_bytes += len(data)
        lines = self._lines.feed(data)
        self._lines_in_turn += len(lines)
        for line in lines:
            if isinstance(line, m.Overlong):
                fact: Heard | None = self._flood(line.start)
            else:
                self.last_heard.append(line)
                fact = self._line(line)
            if fact is not None:
                heard.append(fact)
            if isinstance(fact, Trouble):
                break
        else:
            if self._in_turn > TURN_CAP:
                heard.append(Trouble(Ending.FLOOD, f"more than {TURN_CAP} bytes without an answer"))
            elif self._lines_in_turn > LINES_CAP:
                heard.append(Trouble(Ending.FLOOD, f"more than {LINES_CAP} lines without an answer"))
        if heard and isinstance(heard[-1], Trouble):
            self.trouble = heard[-1]
        return heard

    def _flood(self, start: bytes) -> Trouble:
        return Trouble(Ending.FLOOD, f"a line of more than {m.LINE_CAP} bytes: {text.shown(start, 60)}")

    def _line(self, line: bytes) -> Heard | None:
        try:
            message = m.parse(line, m.Speaker.BOT)
        except m.NotAMessage:
            self.aside.noise_count += 1
            if len(self.aside.noise) < NOISE_KEPT:
                self.aside.noise.append(text.shown(line, 200))
            return None
        except m.Malformed as error:
            return Trouble(Ending.PROTOCOL, f"{text.shown(line, 200)}: {text.shown(str(error), 200)}")
        try:
            counts = self._session.said(m.Speaker.BOT, message)
        except Breach as breach:
            return Trouble(Ending.TURN, f"{text.shown(line, 200)}: {breach}")
        if not counts:
            self.aside.stale_count += 1
            return None
        return self._message(message)

    def _message(self, message: m.Message) -> Heard | None:
        match message:
            case m.Move(question, answer):
                return self._answer(question, answer)
            case m.Resign(question):
                return self._answer(question, None)
            case m.List(_, most):
                self._lists += 1
                if self._lists > LIST_CAP:
                    return Trouble(Ending.FLOOD, f"more than {LIST_CAP} times `list` to one question")
                return Wants(most)
            case m.Info(info):
                self._info = info
            case m.Log(line):
                self._keep_log(line)
            case m.Hello(version, capabilities):
                if version != m.VERSION:
                    return Trouble(
                        Ending.PROTOCOL, f"it speaks protocol {version}, expected protocol {m.VERSION}"
                    )
                self._capabilities = capabilities
                return Ready()
            case m.Ready():
                self._info = ""
                return Ready()
        return None

    def _answer(self, question: int, answer: str | None) -> Said:
        said = Said(answer, self._info)
        self._answered = question
        self._info = ""
        self._in_turn = self._lines_in_turn = 0
        return said

    def _keep_log(self, line: str) -> None:
        size = len(line.encode()) + 1
        if self.aside.log_bytes + size > LOG_CAP:
            self.aside.log_dropped += 1
        else:
            self.aside.log.append(line)
            self.aside.log_bytes += size


def _clock(control: TimeControl) -> m.Clock:
    periods = (control.move_us, control.reserve_us, control.step_us, control.increment_us)
    return m.Clock(*(us // 1000 for us in periods))
