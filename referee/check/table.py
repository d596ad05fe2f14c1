"""A table at which one bot plays against the house: wires for the match.

The house plays at random, through the engine, and answers at once. What it does beside that (it leaves
early, breaks off, rejects, plays the bot's first moves) is all that the kinds of tables differ in; the
match and the conversation with the bot are those of every game.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from typing import Any, NamedTuple

from referee.core.seeds import house_stream
from referee.gameplay.api import (
    READY,
    RESIGNED,
    Answer,
    Failure,
    LegalMoves,
    Opening,
    Question,
    Reply,
    Silence,
)
from referee.gameplay.events import Ending, Event, Moved, Rejected, Retired, Seat
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Outcome, Refusal, State
from referee.wire.link import Link
from referee.wire.pipes import PipesWire

NO_MOVE = "\0"
"""What no game takes for a move, and no bot can say."""

CHECKED = "this answer is rejected to check the bot: answer the new question"
"""The sentence of a rejection that is not the game's."""


class Sitting(NamedTuple):
    """A game that a bot is to play, and where it sits."""

    terms: Terms
    seat: Seat
    link: Link
    start_us: int


class House:
    """A wire to nobody: the house plays all seats."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.state: State[Any] = terms.game.start(terms.options)
        self.events: list[Event] = []
        self._rng = house_stream(terms.seed)
        self._said: deque[Reply] = deque()
        """What the house has said and the match was not told yet."""

    def play(self) -> None:
        """Plays the game to its end."""
        play(self.terms, self, seeded_dice(self.terms), self.watch)

    def watch(self, event: Event, state: State[Any]) -> None:
        """What the match tells of the game."""
        self.events.append(event)
        self.state = state

    def act(self, seat: Seat) -> Reply:
        """What the house does on being asked."""
        return Reply(seat, Answer(self.state.write(self.state.sample(seat, self._rng))))

    def open(self, seat: Seat, opening: Opening) -> None:
        """The house is ready."""
        self._said.append(Reply(seat, READY))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """The house says nothing unasked."""

    def post(self, seat: Seat, question: Question) -> None:
        """The house knows already what it does."""
        self._said.append(self.act(seat))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """The house never asks."""

    def next_reply(self) -> Reply:
        """What the house said."""
        return self._said.popleft()

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """The house needs no telling."""


LONGEST_S = 20
"""The house resigns a game that takes longer: a slow bot is looked at, not waited for."""


class TimeIsUp(Exception):
    """The bot did not answer in time, in a game that would go on with a default move."""


class Table(House):
    """A bot sits in one seat, the house in all others. When the bot has answered `most` questions the
    house resigns. A bot whose time is up ends the game in any case.
    """

    def __init__(self, sitting: Sitting, most: int | None = None) -> None:
        super().__init__(sitting.terms)
        self.seat = sitting.seat
        self.answers = 0
        """That came from the bot, legal or not."""
        self._most = most
        self._until_s = time.monotonic() + LONGEST_S
        self._silence: Silence | None = None
        self._late: Retired | None = None
        nobody = Link(sitting.link.bot, failure=Failure(Ending.START, "the house sits here"))
        links = [sitting.link if seat == self.seat else nobody for seat in range(len(sitting.terms.bots))]
        self.pipes = PipesWire(links, sitting.start_us)

    @property
    def fault(self) -> Retired | None:
        """How the bot left the game, if it was at fault."""
        for event in self.events:
            if isinstance(event, Retired) and event.seat == self.seat and event.ending.is_fault:
                return event
        return self._late

    @property
    def rejections(self) -> list[Rejected]:
        """The bot's answers that were no legal moves."""
        return [event for event in self.events if isinstance(event, Rejected) and event.seat == self.seat]

    @property
    def moves(self) -> list[Moved]:
        """The moves that were made in the bot's seat."""
        return [event for event in self.events if isinstance(event, Moved) and event.seat == self.seat]

    @property
    def enough(self) -> bool:
        """Whether the bot has answered all that it is to answer."""
        return time.monotonic() > self._until_s or (self._most is not None and self.answers >= self._most)

    def watch(self, event: Event, state: State[Any]) -> None:
        """What the match tells of the game. Raises `TimeIsUp`."""
        super().watch(event, state)
        if isinstance(event, Moved) and event.seat == self.seat and event.defaulted:
            detail, hint = (self._silence.detail, self._silence.hint) if self._silence else ("", "")
            self._late = Retired(self.seat, Ending.TIME, detail, event.charge.used_us, event.timing, hint)
            raise TimeIsUp

    def act(self, seat: Seat) -> Reply:
        """The house plays on, or resigns."""
        return Reply(seat, RESIGNED) if self.enough else super().act(seat)

    def open(self, seat: Seat, opening: Opening) -> None:
        """The bot is told of the game."""
        if seat == self.seat:
            self.pipes.open(seat, opening)
        else:
            super().open(seat, opening)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """What the bot said unasked is heard."""
        if self.seat in seats:
            self.pipes.catch_up((self.seat,))

    def post(self, seat: Seat, question: Question) -> None:
        """The bot is asked."""
        if seat == self.seat:
            self.pipes.post(seat, question)
        else:
            super().post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """The bot is shown its legal moves."""
        self.pipes.show_legal(seat, legal)

    def next_reply(self) -> Reply:
        """What the house said, and then what the bot says."""
        if self._said:
            return super().next_reply()
        reply = self.pipes.next_reply()
        self.answers += isinstance(reply.what, Answer)
        self._silence = reply.what if isinstance(reply.what, Silence) else None
        return reply

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """The bot is told that the game is over."""
        self.pipes.close(outcome, ending)


class RejectingTable(Table):
    """The first legal answer of the bot's to a question that has others is rejected, as if it were no move.

    It is the match itself that rejects it: it is given what is no move in its place.
    """

    rejected = ""
    """That answer."""
    again = ""
    """The answer to the question behind it."""

    @property
    def rejections(self) -> list[Rejected]:
        """But for the one that was made here."""
        return [event for event in super().rejections if event.text != NO_MOVE]

    def post(self, seat: Seat, question: Question) -> None:
        """The bot is told the truth."""
        if seat == self.seat and question.rejected and self._was_just_rejected:
            question = question._replace(rejected=(question.rejected[0], CHECKED))
        super().post(seat, question)

    _was_just_rejected = False

    def next_reply(self) -> Reply:
        """What the bot says, but for the answer that is taken away."""
        reply = super().next_reply()
        self._was_just_rejected = False
        if reply.seat != self.seat or not isinstance(reply.what, Answer):
            return reply
        text = reply.what.text
        if not self.rejected and self._has_others(text):
            self._was_just_rejected = True
            self.rejected = text
            return reply._replace(what=reply.what._replace(text=NO_MOVE))
        if self.rejected and not self.again:
            self.again = text
        return reply

    def _has_others(self, text: str) -> bool:
        try:
            self.state.read(self.seat, text)
        except Refusal:
            return False
        return len(list(islice(self.state.legal(self.seat), 2))) == 2


class FaultyTable(Table):
    """When the bot has answered `most` questions the house is at fault; with none it does not even start.

    `crossing`: where several act at once the game is over while the bot's own question is open.
    """

    def __init__(self, sitting: Sitting, most: int, crossing: bool = False) -> None:
        super().__init__(sitting, most)
        self._crossing = crossing
        self.crossed = False
        """Whether that came to be."""

    def open(self, seat: Seat, opening: Opening) -> None:
        """The house starts, if it is to play at all."""
        if self._most == 0 and seat != self.seat:
            self._said.append(Reply(seat, Failure(Ending.START, "the house does not start")))
        else:
            super().open(seat, opening)

    def act(self, seat: Seat) -> Reply:
        """The house plays on, or is gone."""
        if self.enough:
            return Reply(seat, Failure(Ending.GONE, "the house is gone"))
        return super().act(seat)

    def post(self, seat: Seat, question: Question) -> None:
        """The bot is asked, and not waited for when the house leaves meanwhile."""
        super().post(seat, question)
        if seat == self.seat and self._crossing and self.enough and self._may_cross():
            self.crossed = True
            silence = Silence("the game ended meanwhile")
            self._said.append(Reply(seat, silence, question.wait_us + 1))

    def _may_cross(self) -> bool:
        return len(self.state.to_act()) > 1 and self.state.default(self.seat) is not None


class TakenOverTable(Table):
    """The house plays the bot's own first moves too; then the bot is asked for the first time, and told all
    the news so far.
    """

    def __init__(self, sitting: Sitting, after: int, most: int) -> None:
        super().__init__(sitting, most)
        self._left = after
        self._news: tuple[str, ...] = ()
        """That the bot was not told yet."""
        self.told = 0
        """Lines of news with its first question."""

    def post(self, seat: Seat, question: Question) -> None:
        """The bot is asked, or the house in its place."""
        if seat != self.seat:
            super().post(seat, question)
        elif self._left:
            self._left -= 1
            self._news += question.news
            House.post(self, seat, question)
        else:
            if self._news:
                news = self._news + question.news
                question = question._replace(news=news, charged=None, defaulted=None)
                self._news = ()
                self.told = len(news)
            super().post(seat, question)
