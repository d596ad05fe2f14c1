"""Taking back moves: a wire that replays the first turns of a game, and then goes on live. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from referee.gameplay.api import READY, Failure, GameDescription, LegalMoves, Question, Ready, Reply, Wire
from referee.gameplay.events import Drawn, Ending, Event, Retired
from referee.games.api import Outcome, Seat
from referee.records.replay import RecordedWire


class TakenTurn(NamedTuple):
    """A turn of a game that is being played."""

    events: int  # how many events there were before it
    seats: tuple[Seat, ...]  # the seats that were asked


def before_move(turns: Sequence[TakenTurn], persons: Collection[Seat], number: int) -> int | None:
    """Counts the events that remain when the last `number` turns of persons before the last turn are taken
    back; None where there were not so many. The last turn is the present one, in which nobody has moved yet.
    """
    found = [turn for turn in turns[:-1] if any(seat in persons for seat in turn.seats)]
    return found[-number].events if len(found) >= number else None


def can_take_back(turns: Sequence[TakenTurn], persons: Collection[Seat]) -> int:
    """Counts the turns of persons that can be taken back."""
    return sum(any(seat in persons for seat in turn.seats) for turn in turns[:-1])


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
        self._replies: deque[Reply] = deque()
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
            self._replies.append(Reply(seat, READY))

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
            self._replies.append(Reply(seat, self._failures[seat]))
        else:
            if withheld := self._news.pop(seat, ()):
                question = replace(question, news=withheld + question.news, charged=None, defaulted=None)
            self._live.post(seat, question)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Answers a request, which only the other wire makes."""
        self._live.show_legal(seat, legal)

    def next_reply(self) -> Reply:
        """The next reply: as it was, or of the other wire."""
        if self._opening:
            self._opening -= 1
            return self._opened(self._live.next_reply())
        if self._replies:
            return self._replies.popleft()
        return self._live.next_reply() if self._is_live else self._recorded.next_reply()

    def _opened(self, reply: Reply) -> Reply:
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
