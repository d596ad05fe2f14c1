"""Plays a game with persons by the same loop as every game: it combines persons with the wire to the bots,
resumes the game when moves are taken back, and asks a bot for hints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from referee.asking.asked_bot import AskedBot
from referee.asking.asked_game import AskedGame
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.gameplay.api import (
    READY,
    Failure,
    GameDescription,
    LegalMoves,
    Question,
    Ready,
    SeatReply,
    Wire,
)
from referee.gameplay.events import Drawn, Ending, Event, Moved, Retired
from referee.gameplay.terms import Terms
from referee.games.api import Outcome, Seat, State
from referee.person.interface import NoHint, PersonInterface, TakenBack
from referee.processes.program import Program
from referee.records.record import GameRecord
from referee.records.replay import RecordedWire
from referee.tournament.workers.encounter import Hooks, OnExit, play_encounter
from referee.wire.process_wire import ProcessWire


@dataclass(frozen=True)
class PersonGame:
    """A game in which persons take part, with everybody who plays it."""

    terms: Terms
    bots: Sequence[Program]  # by seat, persons included
    interface: PersonInterface
    start_us: int
    on_exit: OnExit

    @property
    def persons(self) -> Collection[Seat]:
        """The seats of persons."""
        return [seat for seat, bot in enumerate(self.bots) if bot.is_person]

    def play(self) -> GameRecord:
        """Plays the game to its end. Raises `PersonLeft`."""
        began = datetime.now(UTC)
        before: list[Event] = []
        taken_back = 0
        while True:
            try:
                record = self._play_on(before)
            except TakenBack as back:
                before = self.interface.events[: back.events]
                taken_back += 1
                self.interface.begin_again(back.events)
            else:
                return self._with_persons(record, began, taken_back)

    def _play_on(self, before: Sequence[Event]) -> GameRecord:
        def join(terms: Terms, bots: ProcessWire) -> Wire:
            bots.began_ns = self.interface.began_ns
            wire = PersonWire(bots, self.persons, self.interface)
            return ContinuedWire(before, self.interface.events, wire) if before else wire

        def show(terms: Terms, event: Event, state: State[Any]) -> None:
            self.interface.watch(event, state)

        (record,) = play_encounter(
            self.bots, [self.terms], show, start_us=self.start_us, hooks=Hooks(self.on_exit, join=join)
        )
        return record

    def _with_persons(self, record: GameRecord, began: datetime, taken_back: int) -> GameRecord:
        """The record with what is to be known of a game with persons: who they are, how many hints they got,
        how often moves were taken back.
        """
        seats = [dict(seat) for seat in record.measured["seats"]]
        for seat in self.persons:
            hints = self.interface.hints.get(seat, 0)
            seats[seat] = {"person": True, **({"hints": hints} if hints else {})}
        measured = {
            **record.measured,
            "began": began.isoformat(timespec="milliseconds"),
            "seats": seats,
            **({"taken_back": taken_back} if taken_back else {}),
        }
        return replace(record, measured=measured)


ATTENDED_US = 30_000
"""The longest time between two looks after the bots while a person is waited for, if nothing is wrong."""


class PersonWire:
    """The seats of one game: every question is posted first, then persons are asked, and the replies of bots
    are taken as they come.
    """

    def __init__(self, bots: ProcessWire, persons: Collection[Seat], interface: PersonInterface) -> None:
        self._bots = bots
        self._persons = persons
        self._interface = interface
        self._ready: deque[SeatReply] = deque()
        self._asked: dict[Seat, Question] = {}
        """The questions to persons that are open, in the order of the seats."""
        self._bots_asked: set[Seat] = set()

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Opens a seat; persons are ready at once."""
        if seat in self._persons:
            self._ready.append(SeatReply(seat, READY))
        else:
            self._bots.open(seat, description)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Begins a turn."""
        self._interface.begin_turn(seats)
        self._bots_asked = {seat for seat in seats if seat not in self._persons}
        self._bots.catch_up(tuple(self._bots_asked))

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a bot at once; a person is asked when the next reply is waited for."""
        if seat in self._persons:
            self._asked[seat] = question
        else:
            self._bots.post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends a bot its legal moves."""
        self._bots.show_legal(seat, legal)

    def next_reply(self) -> SeatReply:
        """The next reply of a person or a bot."""
        if self._ready:
            return self._ready.popleft()
        while self._asked:
            seat = self._interface.next_seat(self._asked, self._poll_bots)
            if reply := self._interface.ask(seat, self._asked[seat], self._poll_bots):
                del self._asked[seat]
                return reply
            if self._poll_bots():
                break
        if not self._asked and self._bots_asked:
            self._interface.wait_for_bots(self._bots_asked)
        return self._bots.next_reply()

    def _poll_bots(self) -> bool:
        """Attends to the bots while a person is waited for; whether one of them has to be heard."""
        return self._bots.attend(ATTENDED_US)

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells the bots that the game is over."""
        self._bots.close(outcome, ending)


class ContinuedWire:
    """Answers the turns that stand in `before` as they were answered, with the same times, and hands all
    others to another wire. Bots are told the whole news with their first question.
    """

    def __init__(self, before: Sequence[Event], played: Sequence[Event], live: Wire) -> None:
        """`before` ends with a turn; `played` are the events of this game, which grow while it is played."""
        self._before = before
        self._played = played
        self._live = live
        # Chance is drawn again, which gives the same.
        self._recorded = RecordedWire([event for event in before if not isinstance(event, Drawn)])
        self._left = {event.seat: event for event in before if isinstance(event, Retired)}
        """The seats that have left the game, which are not opened again."""
        self._is_live = False
        self._opening = 0  # how many seats of the other wire have not replied yet to being opened
        self._replies: deque[SeatReply] = deque()
        self._failures: dict[Seat, Failure] = {}
        """The seats that did not start again; they are at fault when they are next asked."""
        self._news: dict[Seat, tuple[str, ...]] = {}  # the news that the seats were not sent yet

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Opens a seat, unless it has left the game by now."""
        left = self._left.get(seat)
        if left is None:
            self._opening += 1
            self._live.open(seat, description)
        elif left.ending in (Ending.START, Ending.VOID, Ending.OUT):
            self._recorded.open(seat, description)
        else:
            self._replies.append(SeatReply(seat, READY))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Begins a turn: a live one, when the events so far have been played."""
        self._is_live = len(self._played) >= len(self._before)
        if self._is_live:
            self._live.catch_up(seats)

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat, or finds what it answered."""
        if not self._is_live:
            self._news[seat] = self._news.get(seat, ()) + question.news
            self._recorded.post(seat, question)
        elif seat in self._failures:
            self._replies.append(SeatReply(seat, self._failures[seat]))
        else:
            if withheld := self._news.pop(seat, ()):
                question = replace(question, news=withheld + question.news, charged=None, defaulted=None)
            self._live.post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Answers a request, which only the other wire makes."""
        self._live.show_legal(seat, legal)

    def next_reply(self) -> SeatReply:
        """The next reply: as it was, or of the other wire."""
        if self._opening:
            self._opening -= 1
            return self._opened(self._live.next_reply())
        if self._replies:
            return self._replies.popleft()
        return self._live.next_reply() if self._is_live else self._recorded.next_reply()

    def _opened(self, reply: SeatReply) -> SeatReply:
        """The reply of a seat to being opened. One that was ready the first time has played since, so that it
        is at fault only when it is asked.
        """
        if not self._before or isinstance(reply.content, Ready):
            return reply
        again = Failure(Ending.START, "it did not restart after a move was taken back")
        self._failures[reply.seat] = reply.content if isinstance(reply.content, Failure) else again
        return replace(reply, content=READY)

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells the seats that the game is over."""
        self._live.close(outcome, ending)


HINT_CONTROL = TimeControl(10_000_000)  # how long a hint may take; the bot sees it as its clock


def hint(bot: Program, start_us: int, terms: Terms, state: State[Any], seat: Seat) -> tuple[str, str]:
    """A legal move that a bot would make for a seat, and what it said of it; it is started for this alone.

    Raises `NoHint`.
    """
    terms = replace(terms, controls=(HINT_CONTROL,) * len(terms.bots))
    asked = AskedBot(bot, start_us)
    try:
        *_, last = AskedGame(terms, seat, asked).ask_at(state)
    finally:
        asked.end()
    match last:
        case Moved(text=text, defaulted=False, info=info):
            return text, info
        case Retired(ending=ending, detail=detail):
            raise NoHint(f"it {ending.sentence}: {shown(detail, 200)}" if detail else f"it {ending.sentence}")
        case _:
            raise NoHint(f"it {Ending.TIME.sentence}")
