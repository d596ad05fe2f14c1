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
    Ask,
    Charged,
    Choice,
    Clock,
    Defaulted,
    End,
    Game,
    Hello,
    Info,
    Legal,
    List,
    Log,
    Message,
    Move,
    News,
    Option,
    Prepare,
    Quit,
    Ready,
    Rejected,
    Reserve,
    Resign,
    Seed,
    Speaker,
)


class State(Enum):
    """Where a session stands; the value is the word that `PROTOCOL.md` uses for it."""

    NEW = "new"
    GREETED = "greeted"
    IDLE = "idle"
    SETUP = "setup"
    LOADING = "loading"
    WAITING = "waiting"
    ASKED = "asked"
    CLOSED = "closed"


TABLE: dict[State, dict[type[Message], State]] = {
    State.NEW: {Hello: State.GREETED},  # the referee's hello …
    State.GREETED: {Hello: State.IDLE, Quit: State.CLOSED},  # … and the bot's
    State.IDLE: {Game: State.SETUP, Quit: State.CLOSED},
    State.SETUP: {
        Option: State.SETUP,
        Clock: State.SETUP,
        Seed: State.SETUP,
        Prepare: State.LOADING,
    },
    State.LOADING: {Ready: State.WAITING, End: State.IDLE, Quit: State.CLOSED},
    State.WAITING: {
        Charged: State.WAITING,
        Defaulted: State.WAITING,
        Rejected: State.WAITING,
        News: State.WAITING,
        Reserve: State.WAITING,
        Ask: State.ASKED,
        End: State.IDLE,
        Quit: State.CLOSED,
    },
    State.ASKED: {
        Move: State.WAITING,
        Resign: State.WAITING,
        List: State.ASKED,
        Legal: State.ASKED,
        Choice: State.ASKED,
        # Time was up, and the game goes on or ends without the answer.
        Defaulted: State.WAITING,
        Rejected: State.WAITING,
        End: State.IDLE,
        Quit: State.CLOSED,
    },
    State.CLOSED: {},
}

ANYWHERE = (Info, Log)
"""What a bot may say at any time after the referee's hello, without any effect on the session."""


_BETWEEN = (State.IDLE, State.SETUP, State.LOADING)
"""Between two games."""

_BOTS = frozenset(WORDS_OF[Speaker.BOT].values())


class Breach(Exception):
    """A message that the table does not allow; the text names the message and the state."""


class Session:
    """One conversation, as seen from either end."""

    def __init__(self) -> None:
        self.state = State.NEW
        self._row = TABLE[State.NEW]
        self.asked = 0
        """The highest question number so far in this game."""
        self._lapsed = False
        """Whether its time was up: it is closed, though the bot has not been told yet."""

    def lapse(self) -> None:
        """Closes the open question, whose time is up. What it comes to is told with the next one."""
        self._lapsed = True

    def said(self, speaker: Speaker, message: Message) -> bool:
        """Takes one message down. False for a stale answer, which has no effect.

        Raises `Breach` for what is not allowed; the session is then as it was before.
        """
        kind = type(message)
        if speaker is Speaker.BOT:
            if isinstance(message, Move | Resign | List):
                if self.state in _BETWEEN:
                    return False
                if message.question > self.asked or message.question == 0:
                    raise Breach(f"question {message.question} was never asked")
                if self.state is not State.ASKED or message.question != self.asked or self._lapsed:
                    return False
            elif kind in ANYWHERE and self.state is not State.NEW:
                return True
        to = self._row.get(kind)
        if to is None or not self._may_say(speaker, kind):
            raise Breach(f"`{message.word}` is not expected in state {self.state.value}")
        if isinstance(message, Ask):
            if message.question != self.asked + 1:
                raise Breach(f"question {message.question} after question {self.asked}")
            self.asked = message.question
            self._lapsed = False
        elif kind is Ready:
            self.asked = 0
        if to is not self.state:
            self.state = to
            self._row = TABLE[to]
        return True

    def _may_say(self, speaker: Speaker, kind: type[Message]) -> bool:
        if kind is Hello:  # both sides have it; the referee speaks first
            return (speaker is Speaker.REFEREE) == (self.state is State.NEW)
        return (kind in _BOTS) == (speaker is Speaker.BOT)
