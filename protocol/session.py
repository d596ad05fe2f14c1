"""The session between the referee and one bot: a table of who may say what in which state. No I/O.

The table below names every message that is allowed in a state, and the state it leads to; what is not in the
table is a breach by whoever said it. Both sides keep the same table and feed it every message, each from its
own end of the pipe.

Beyond the table there are question numbers. The referee numbers a seat's questions 1, 2, 3 … in each game.
An answer (`move`, `resign`, `list`) names the question it answers:

- the open question: the answer counts, and `move` and `resign` close it;
- a number that was asked and is closed: the answer is *stale*: it is dropped and not a breach. This cannot
  be avoided where both sides talk at the same time (time ran out while the answer was on its way);
- a number that was never asked: a breach at any moment.

An answer that is read between `end` and the bot's next `ready` belongs to an earlier game and is stale
whatever its number, since neither side controls when it is read. With `ready` the numbers start again.
"""

from __future__ import annotations

from enum import Enum

from referee.protocol.messages import (
    WORDS_OF,
    AskLine,
    ChargedLine,
    ChoiceLine,
    ClockLine,
    DefaultedLine,
    EndLine,
    GameLine,
    HelloLine,
    InfoLine,
    LegalLine,
    ListLine,
    LogLine,
    Message,
    MoveLine,
    NewsLine,
    OptionLine,
    PrepareLine,
    QuitLine,
    ReadyLine,
    RejectedLine,
    ReserveLine,
    ResignLine,
    SeedLine,
    Speaker,
)


class Phase(Enum):
    """The state of a session; the value is the word that `PROTOCOL.md` uses for it."""

    NEW = "new"
    GREETED = "greeted"
    IDLE = "idle"
    SETUP = "setup"
    LOADING = "loading"
    WAITING = "waiting"
    ASKED = "asked"
    CLOSED = "closed"


ASKED, WAITING = Phase.ASKED, Phase.WAITING
"""For what is done at every move: Python finds a global ten times as fast as a member of an enum."""

TABLE: dict[Phase, dict[type[Message], Phase]] = {
    Phase.NEW: {HelloLine: Phase.GREETED},  # the referee's hello …
    Phase.GREETED: {HelloLine: Phase.IDLE, QuitLine: Phase.CLOSED},  # … and the bot's
    Phase.IDLE: {GameLine: Phase.SETUP, QuitLine: Phase.CLOSED},
    Phase.SETUP: {
        OptionLine: Phase.SETUP,
        ClockLine: Phase.SETUP,
        SeedLine: Phase.SETUP,
        PrepareLine: Phase.LOADING,
    },
    Phase.LOADING: {ReadyLine: Phase.WAITING, EndLine: Phase.IDLE, QuitLine: Phase.CLOSED},
    Phase.WAITING: {
        ChargedLine: Phase.WAITING,
        DefaultedLine: Phase.WAITING,
        RejectedLine: Phase.WAITING,
        NewsLine: Phase.WAITING,
        ReserveLine: Phase.WAITING,
        AskLine: Phase.ASKED,
        EndLine: Phase.IDLE,
        QuitLine: Phase.CLOSED,
    },
    Phase.ASKED: {
        MoveLine: Phase.WAITING,
        ResignLine: Phase.WAITING,
        ListLine: Phase.ASKED,
        LegalLine: Phase.ASKED,
        ChoiceLine: Phase.ASKED,
        # Time was up, and the game goes on or ends without the answer.
        DefaultedLine: Phase.WAITING,
        RejectedLine: Phase.WAITING,
        EndLine: Phase.IDLE,
        QuitLine: Phase.CLOSED,
    },
    Phase.CLOSED: {},
}

ALWAYS_ALLOWED = (InfoLine, LogLine)
"""What a bot may say at any time after the referee's hello, without any effect on the session."""


_BETWEEN_GAMES = (Phase.IDLE, Phase.SETUP, Phase.LOADING)
"""The states between two games."""

_BOTS = frozenset(WORDS_OF[Speaker.BOT].values())


class Breach(Exception):
    """A message that the table does not allow; the text names the message and the state."""


class Session:
    """One conversation, as seen from either end.

    `said` processes what either side says, message by message. The referee writes whole blocks of its own
    lines at once, sets `phase` to the state that they lead to, and asks with `ask`; the tests compare it with
    a second session that processes every line.
    """

    def __init__(self) -> None:
        self.phase = Phase.NEW
        """Where the session stands."""
        self.asked = 0
        """The highest question number so far in this game."""
        self._lapsed = False
        """Whether the open question's time is up: it is closed, though the bot does not know this yet."""

    def ask(self) -> int:
        """Opens the next question and returns its number."""
        self.asked += 1
        self._lapsed = False
        self.phase = ASKED
        return self.asked

    def lapse(self) -> None:
        """Closes the open question, whose time is up. The bot learns the result with its next question."""
        self._lapsed = True

    def said(self, speaker: Speaker, message: Message) -> bool:
        """Processes one message. False for a stale answer, which has no effect.

        Raises `Breach` for a message that is not allowed, and does not change the session then.
        """
        kind = type(message)
        if speaker is Speaker.BOT:
            if isinstance(message, MoveLine | ResignLine | ListLine):
                if self.phase in _BETWEEN_GAMES:
                    return False
                if message.question > self.asked or message.question == 0:
                    raise Breach(f"question {message.question} was never asked")
                if self.phase is not Phase.ASKED or message.question != self.asked or self._lapsed:
                    return False
            elif kind in ALWAYS_ALLOWED and self.phase is not Phase.NEW:
                return True
        to = TABLE[self.phase].get(kind)
        if to is None or not self._may_say(speaker, kind):
            raise Breach(f"`{message.word}` is not allowed in the state `{self.phase.value}`")
        if isinstance(message, AskLine):
            if message.question != self.asked + 1:
                raise Breach(f"question {message.question} after question {self.asked}")
            self.asked = message.question
            self._lapsed = False
        elif kind is ReadyLine:
            self.asked = 0
        self.phase = to
        return True

    def _may_say(self, speaker: Speaker, kind: type[Message]) -> bool:
        if kind is HelloLine:  # both sides send it; the referee speaks first
            return (speaker is Speaker.REFEREE) == (self.phase is Phase.NEW)
        return (kind in _BOTS) == (speaker is Speaker.BOT)
