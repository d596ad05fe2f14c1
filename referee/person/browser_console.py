"""What persons send from pages of their own: an inbox for each seat, so that all who are asked can think at
the same time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from referee.games.api import Seat
from referee.person.console import OTHERS_FIRST, SLICE_S, TIME_UP, InputEnd, LineRequest

KEPT_LINES = 100  # how many of the latest lines that a person was shown stay on the page

NOT_ASKED = "it is not your turn"


class LineInFlightError(Exception):
    """The line of this person before has had no response yet."""


class _SentLine(NamedTuple):
    text: str
    came_ns: int
    response: Future[str]  # why it is not taken; empty if it is


class _Inbox:
    """What one person sent and was shown."""

    def __init__(self) -> None:
        self.is_asked = False
        self.sent: _SentLine | None = None  # the line that is to be read
        self.in_hand: _SentLine | None = None  # the line that was read, and has had no response yet
        self.question = ""  # what the person is to answer with yes or no
        self.agrees: bool | None = None
        self.shown: deque[str] = deque(maxlen=KEPT_LINES)

    def refuse(self, why: str) -> None:
        """Responds to whatever has had no response."""
        for line in (self.sent, self.in_hand):
            if line:
                line.response.set_result(why)
        self.sent = self.in_hand = None


class BrowserConsole:
    """The pages of the persons of a game, for the thread that plays it; other threads call `send`."""

    is_looked_at = False
    room = (0, 0)

    def __init__(self, persons: Collection[Seat]) -> None:
        self.came_ns = 0
        self.check: Callable[[], object] = lambda: None
        """Called while persons are waited for. Raises what ended the server of the pages."""
        self._inboxes = {seat: _Inbox() for seat in persons}
        self._changed = threading.Condition()

    def send(self, seat: Seat, text: str) -> Future[str]:
        """Takes a line from a person, or the answer to a question; the result says why it is not taken, and
        is empty if it is. Raises `LineInFlightError`.
        """
        response: Future[str] = Future()
        with self._changed:
            inbox, word = self._inboxes[seat], text.strip().lower()
            if inbox.question and word in ("yes", "no"):
                inbox.agrees = word == "yes"
                self._changed.notify_all()
                response.set_result("")
                return response
            if inbox.sent or inbox.in_hand:
                raise LineInFlightError
            if inbox.is_asked:
                inbox.sent = _SentLine(text, time.monotonic_ns(), response)
                self._changed.notify_all()
            else:
                response.set_result(NOT_ASKED)
        return response

    def ask(self, seat: Seat) -> None:
        """Takes lines of a person from here on."""
        with self._changed:
            self._inboxes[seat].is_asked = True

    def end_turn(self, seats: Collection[Seat]) -> None:
        """Takes no more lines of these persons; those that came too late are told so."""
        with self._changed:
            for seat in seats:
                self._inboxes[seat].is_asked = False
                self._inboxes[seat].refuse(NOT_ASKED)

    def is_asked(self, seat: Seat) -> bool:
        """Whether a line of a person would be taken."""
        return self._inboxes[seat].is_asked

    def next_seat(self, requests: Sequence[LineRequest], poll_bots: Callable[[], bool]) -> Seat:
        """Waits until there is something to read for one of these requests, and returns its seat; any of
        them where a bot comes first.
        """
        while True:
            for request in requests:
                if self._inboxes[request.seat].sent or request.is_late:
                    return request.seat
            if poll_bots():
                return requests[0].seat
            self._wait(lambda: any(self._inboxes[request.seat].sent for request in requests))

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """The line of a person, without waiting for it. What came after the deadline is too late."""
        with self._changed:
            inbox = self._inboxes[request.seat]
            deadline_ns, line = request.deadline_ns, inbox.sent
            if line and (deadline_ns is None or line.came_ns <= deadline_ns):
                inbox.sent, inbox.in_hand = None, line
                self.came_ns = line.came_ns
                return line.text
            if request.is_late:
                self.came_ns = time.monotonic_ns()
                inbox.refuse("the time is up")
                return TIME_UP
        return OTHERS_FIRST

    @contextlib.contextmanager
    def asking(self, seat: Seat, question: str) -> Iterator[None]:
        """Has a person answer a question with yes or no while this goes on."""
        inbox = self._inboxes[seat]
        inbox.agrees, inbox.question = None, question
        try:
            yield
        finally:
            inbox.question = ""

    def agrees(self, seat: Seat, requests: Sequence[LineRequest], poll_bots: Callable[[], object]) -> bool:
        """Waits for the answer to a question: no where the time of one of these requests, which are open
        meanwhile, is up.
        """
        inbox = self._inboxes[seat]
        while inbox.agrees is None and not any(request.is_late for request in requests):
            poll_bots()
            self._wait(lambda: inbox.agrees is not None)
        return bool(inbox.agrees)

    def question(self, seat: Seat) -> str | None:
        """The question that a person is to answer, if there is one."""
        return self._inboxes[seat].question or None

    def _wait(self, is_over: Callable[[], bool]) -> None:
        self.check()
        with self._changed:
            self._changed.wait_for(is_over, SLICE_S)

    def respond(self, seat: Seat, why: str) -> None:
        """Answers the request that brought the line."""
        with self._changed:
            inbox = self._inboxes[seat]
            if inbox.in_hand:
                inbox.in_hand.response.set_result(why)
                inbox.in_hand = None

    def show(self, text: str, seat: Seat | None) -> None:
        """Keeps lines of text for the page of a person; None is everybody."""
        for whom, inbox in self._inboxes.items():
            if seat in (whom, None):  # guard: texts-of-others
                inbox.shown.extend(text.split("\n"))

    def shown(self, seat: Seat) -> list[str]:
        """The latest lines that a person was shown."""
        return list(self._inboxes[seat].shown)

    def note(self, text: str) -> None:
        """Shows nothing: the board says whose turn it is."""

    def clear(self) -> None:
        """Does nothing: nobody sees the page of another person."""
