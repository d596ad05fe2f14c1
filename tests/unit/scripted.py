"""A wire without processes and without time: bots are functions, and say when they say something."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from referee.gameplay.api import (
    Failure,
    GameDescription,
    LegalMoves,
    ListRequest,
    Question,
    Ready,
    ReplyContent,
    SeatReply,
    Silence,
)
from referee.gameplay.events import Ending, Event
from referee.games.api import Outcome, Seat, State
from referee.protocol import messages as m
from referee.protocol.session import Session
from referee.wire.referee_session import RefereeSession

Said = tuple[int, bytes]
"""After so many microseconds of the move, these bytes; none at all are the end of the output."""

Bot = Callable[[list[str]], Iterable[Said]]
"""Called with the lines that the referee wrote at once."""


class ScriptedWire:
    """The session is real, from `RefereeSession` to bytes; processes and clocks are not.

    A second session for each bot is told of every line, and holds the table against what the referee says.
    """

    def __init__(self, *bots: Bot) -> None:
        self.sessions = [RefereeSession() for _ in bots]
        self.mirrors = [Session() for _ in bots]
        self._lines = [m.LineSplitter() for _ in bots]
        self._bots = bots
        self._asked: dict[Seat, int] = {}
        """How long each seat that is asked is waited for."""
        self._descriptions: dict[Seat, GameDescription] = {}
        self._greeted: set[Seat] = set()
        self._coming: list[list[Said]] = [[] for _ in bots]
        self._heard: list[list[tuple[int, ReplyContent]]] = [[] for _ in bots]
        self._off_turn: list[list[bytes]] = [[] for _ in bots]

    def say_off_turn(self, seat: Seat, data: bytes) -> None:
        """What lies in the pipe when the seat is next asked."""
        self._off_turn[seat].append(data)

    def fail(self, seat: Seat, failure: Failure) -> None:
        """What a process shows, or the encounter decides: the answer to whatever the seat is asked next."""
        self.sessions[seat].failure = failure
        self._heard[seat].append((0, failure))

    def _tell(self, seat: Seat, data: bytes) -> None:
        if data:
            lines = data.decode().splitlines()
            for line in lines:
                message = m.parse(line.encode(), m.Speaker.REFEREE)
                assert str(message) == line
                self.mirrors[seat].said(m.Speaker.REFEREE, message)
            self._coming[seat] += self._bots[seat](lines)

    def _hear(self, seat: Seat, used_us: int, data: bytes) -> None:
        session = self.sessions[seat]
        if data:
            whats = session.receive(data)
            self._mirror(seat, data)
        else:
            session.failure = session.failure or Failure(Ending.GONE, "closed its output")
            whats = [session.failure]
        self._heard[seat] += [(used_us, what) for what in whats]

    def _mirror(self, seat: Seat, data: bytes) -> None:
        """What the bot says is told to the second session too, as long as it is well formed."""
        if self.sessions[seat].failure:
            return
        for line in self._lines[seat].feed(data):
            assert isinstance(line, bytes)
            with contextlib.suppress(m.NotAMessage):
                self.mirrors[seat].said(m.Speaker.BOT, m.parse(line, m.Speaker.BOT))
        assert self.mirrors[seat].phase is self.sessions[seat].phase

    def open(self, seat: Seat, description: GameDescription) -> None:
        self._asked[seat] = 10_000_000
        if seat in self._greeted:
            self._tell(seat, self.sessions[seat].open(seat, description))
        else:
            self._greeted.add(seat)
            self._descriptions[seat] = description
            self._tell(seat, self.sessions[seat].greet())

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        for seat in seats:
            for data in self._off_turn[seat]:
                self._hear(seat, 0, data)
            self._off_turn[seat] = []

    def post(self, seat: Seat, question: Question) -> None:
        self._asked[seat] = question.wait_us
        if not question.rejected:
            self._coming[seat] = []
        if not self.sessions[seat].failure:
            self._tell(seat, self.sessions[seat].ask(seat, question))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        self._tell(seat, self.sessions[seat].show_legal(legal))

    def close(self, outcome: Outcome, ending: Ending) -> None:
        for seat, session in enumerate(self.sessions):
            self._tell(seat, session.close(outcome, ending))

    def quit(self) -> None:
        for seat, session in enumerate(self.sessions):
            self._tell(seat, session.quit())

    def next_reply(self) -> SeatReply:
        while True:
            for seat in sorted(self._asked):
                if self._heard[seat]:
                    used_us, what = self._heard[seat].pop(0)
                    if isinstance(what, Ready) and seat in self._descriptions:
                        description = self._descriptions.pop(seat)
                        self._tell(seat, self.sessions[seat].open(seat, description))
                        continue
                    if not isinstance(what, ListRequest):
                        del self._asked[seat]
                    return SeatReply(seat, what, used_us)
            waiting = [(self._coming[seat][0][0], seat) for seat in self._asked if self._coming[seat]]
            if not waiting:
                seat, wait_us = min(self._asked.items(), key=lambda item: item[1])
                del self._asked[seat]
                self.sessions[seat].lapse()
                self.mirrors[seat].lapse()
                return SeatReply(seat, Silence("nothing came"), wait_us + 1)
            used_us, seat = min(waiting)
            if used_us > self._asked[seat]:
                # As the real wire: beyond the deadline a complete line may still be read, and is late.
                data = self._coming[seat].pop(0)[1]
                if b"\n" not in data or self._heard[seat]:
                    wait_us = self._asked.pop(seat)
                    self.sessions[seat].lapse()
                    self.mirrors[seat].lapse()
                    return SeatReply(seat, Silence("nothing came"), wait_us + 1)
                self._hear(seat, used_us, data)
                continue
            self._hear(seat, used_us, self._coming[seat].pop(0)[1])


class Answering(ABC):
    """A bot that says hello and ready; how it answers a question is for its subclasses to say."""

    def __call__(self, lines: list[str]) -> Iterator[Said]:
        for line in lines:
            word, *rest = line.split()
            if word == "hello":
                yield 0, b"hello 1\n"
            elif word == "prepare":
                yield 0, b"ready\n"
            elif word == "ask":
                yield from self.answer(rest[0])

    @abstractmethod
    def answer(self, number: str) -> Iterator[Said]:
        """What it says to the question with this number."""


class Puppet(Answering):
    """Gives these answers, after so many µs; None is silence.

    `{n}` in an answer is the question's number; an answer without it is a move's text.
    """

    def __init__(self, *answers: str | tuple[int, str] | None) -> None:
        self._remaining = list(answers)

    def answer(self, number: str) -> Iterator[Said]:
        answer = self._remaining.pop(0) if self._remaining else None
        if answer is not None:
            used_us, text = answer if isinstance(answer, tuple) else (1000, answer)
            text = text.replace("{n}", number) if "{n}" in text else f"move {number} {text}"
            yield used_us, text.encode() + b"\n"


def puppet(*answers: str | tuple[int, str] | None) -> Bot:
    """A bot that gives these answers, as `Puppet` says."""
    return Puppet(*answers)


def listening(heard: list[str], bot: Bot) -> Bot:
    """The same bot; what it is told is kept."""

    def listen(lines: list[str]) -> Iterable[Said]:
        heard.extend(lines)
        return bot(lines)

    return listen


def saying(replies: Mapping[str, Said], otherwise: Bot | None = None) -> Bot:
    """A bot that says these to lines that begin so, and to others what another bot says."""
    other = otherwise or puppet()

    def bot(lines: list[str]) -> Iterator[Said]:
        for line in lines:
            said = [said for beginning, said in replies.items() if line.startswith(beginning)]
            yield from said[:1] or other([line])

    return bot


class Events:
    """Collects what a match tells its watcher."""

    def __init__(self) -> None:
        self.all: list[Event] = []
        self.states: list[State[Any]] = []

    def __call__(self, event: Event, state: State[Any]) -> None:
        self.all.append(event)
        self.states.append(state)
