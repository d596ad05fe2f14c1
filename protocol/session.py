"""Who may say what, when: the session between the referee and one bot, as a table. No I/O.

Two rules: the table below names every message that is allowed in a state, and the state it leads to;
what is not in the table is a breach by whoever said it. Both sides keep the same table and feed it all
that is said, each from its own end of the pipe.

Beside the table there are the question numbers. The referee numbers a seat's questions 1, 2, 3 … in
each game. An answer (`move`, `resign`, `list`) names the question it answers:

- the open question: the answer counts, and `move` and `resign` close it;
- a number that was asked and is closed: the answer is *stale*, dropped, no breach. Two sides that talk
  at the same time cannot help that (the time ran out while the answer was under way);
- a number that was never asked: a breach, at whatever moment it is said.

What a bot says about questions between `end` and its next `ready` was said about an earlier game, and is
stale whatever its number: when it is read depends on nobody's doing. `ready` closes the door on the past,
and the numbers begin anew.
"""

from __future__ import annotations

from enum import Enum

from protocol.messages import (
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
    """Where a session stands; the value is the word that `PROTOCOL.md` uses for it."""

    NEW = "new"
    GREETED = "greeted"
    IDLE = "idle"
    SETUP = "setup"
    LOADING = "loading"
    WAITING = "waiting"
    ASKED = "asked"
    CLOSED = "closed"


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

ANYWHERE = (InfoLine, LogLine)
"""What a bot may say at any time after the referee's hello, without any effect on the session."""


_BETWEEN = (Phase.IDLE, Phase.SETUP, Phase.LOADING)
"""Between two games."""

_BOTS = frozenset(WORDS_OF[Speaker.BOT].values())


class Breach(Exception):
    """A message that the table does not allow; the text names the message and the state."""


class Session:
    """One conversation, as seen from either end.

    `said` takes down whatever either side says, message by message. The referee, which writes whole blocks
    of its own lines at once, sets `phase` to where they lead, and asks with `ask`; the tests hold a second
    session, which is told of every line, against it.
    """

    def __init__(self) -> None:
        self.phase = Phase.NEW
        """Where the session stands."""
        self.asked = 0
        """The highest question number so far in this game."""
        self._lapsed = False
        """Whether its time was up: it is closed, though the bot has not been told yet."""

    def ask(self) -> int:
        """The next question is open; its number."""
        self.asked += 1
        self._lapsed = False
        self.phase = Phase.ASKED
        return self.asked

    def lapse(self) -> None:
        """Closes the open question, whose time is up. What it comes to is told with the next one."""
        self._lapsed = True

    def said(self, speaker: Speaker, message: Message) -> bool:
        """Takes one message down. False for a stale answer, which has no effect.

        Raises `Breach` for what is not allowed; the session is then as it was before.
        """
        kind = type(message)
        if speaker is Speaker.BOT:
            if isinstance(message, MoveLine | ResignLine | ListLine):
                if self.phase in _BETWEEN:
                    return False
                if message.question > self.asked or message.question == 0:
                    raise Breach(f"question {message.question} was never asked")
                if self.phase is not Phase.ASKED or message.question != self.asked or self._lapsed:
                    return False
            elif kind in ANYWHERE and self.phase is not Phase.NEW:
                return True
        to = TABLE[self.phase].get(kind)
        if to is None or not self._may_say(speaker, kind):
            raise Breach(f"`{message.word}` is not expected in state {self.phase.value}")
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
        if kind is HelloLine:  # both sides have it; the referee speaks first
            return (speaker is Speaker.REFEREE) == (self.phase is Phase.NEW)
        return (kind in _BOTS) == (speaker is Speaker.BOT)
