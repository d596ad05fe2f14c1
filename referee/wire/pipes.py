"""The wire to real processes.

The referee waits in one place, `PipesWire._wait`, for all the seats that it asked something, with one
absolute deadline a seat that no output can push back. It waits in slices: a slice that ends late shows
that the referee itself was not running (stopped, or starved of its processor); `stopwatch.py` says what
becomes of that.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.gameplay.api import (
    LegalMoves,
    Opening,
    Question,
    Silence,
    WireEvent,
)
from referee.gameplay.events import Ending, Seat
from referee.games.api import Outcome
from referee.processes.process import Keep
from referee.wire.channel import Aside, Heard, Ready, Wants, event_of
from referee.wire.link import Link
from referee.wire.stopwatch import Stopwatch

SLICE_NS = 10_000_000
LATE_NS = 5_000_000
"""A slice may end late by so much and still be ordinary; half the default margin."""


class _Said(NamedTuple):
    """What a bot said, and when."""

    wall_ns: int
    cpu_ns: int
    """What it had computed by then."""
    fact: Heard


@dataclass
class Place:
    """A seat of a game: its link, and what it is being asked."""

    link: Link
    watch: Stopwatch
    opening: Opening | None = None
    asked: bool = False
    by_cpu: bool = False
    """Whether its clock counts what it computes."""
    unasked: list[Heard] = field(default_factory=list)
    """What it said before it is asked."""
    heard: deque[_Said] = field(default_factory=deque)
    """What it said, not yet told to the match."""
    stderr_starting: Keep = field(default_factory=Keep)
    """Its stderr up to this game's `ready`."""

    def hear(self, facts: Sequence[Heard], wall_ns: int, cpu_ns: int = 0) -> None:
        """Keeps what it said until the match asks for it."""
        self.heard.extend(_Said(wall_ns, cpu_ns, fact) for fact in facts)


class PipesWire:
    """The seats of one game, each with the link of the bot that sits there."""

    def __init__(self, links: Sequence[Link], start_us: int) -> None:
        self._places = [Place(link, Stopwatch(link.process)) for link in links]
        self._start_ns = start_us * 1000
        self._selectors: dict[tuple[tuple[bool, bool, bool, bool], ...], selectors.PollSelector] = {}
        self.began_ns = self._looked_ns = time.monotonic_ns()
        self._cpu_ns = time.process_time_ns()
        """When it was last looked whether the referee runs, and what it had computed by then."""

    def open(self, seat: Seat, opening: Opening) -> None:
        """Greets a new process first; the game is described when it has answered."""
        place = self._places[seat]
        link = place.link
        place.opening = opening
        place.by_cpu = opening.control.by_cpu
        place.asked = True
        link.channel.begin()
        if link.failure:
            place.watch.start(self._start_ns)
            place.hear([link.failure], place.watch.began_ns)
        elif link.greeted:
            self._describe(seat, place)
        else:
            link.greeted = True
            place.watch.start(self._start_ns)
            self._send(place, link.channel.greet())

    def _describe(self, seat: Seat, place: Place) -> None:
        opening = place.opening
        assert opening
        place.opening = None
        said_before = place.link.catch_up()
        place.watch.start(self._start_ns)
        # A trouble from before has ended the conversation, and is told now: the bot did not start.
        trouble = place.link.channel.trouble
        place.hear([trouble] if trouble else said_before, place.watch.began_ns)
        if not trouble:
            self._send(place, place.link.channel.open(seat, opening))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reading what one of them poured out is in nobody's time, least of all in another's."""
        for seat in seats:
            self._places[seat].unasked = self._places[seat].link.catch_up()

    def post(self, seat: Seat, question: Question) -> None:
        """What the bot said before was said before it was asked, and is judged so."""
        place = self._places[seat]
        link, watch = place.link, place.watch
        said_before, place.unasked = place.unasked, []
        if question.rejected:
            said_before = link.catch_up()
        else:
            watch.start(question.patience_us * 1000, question.left_us[0] * 1000, place.by_cpu)
        place.asked = True
        if said_before:
            place.hear(said_before, watch.began_ns, watch.cpu_ns())
        self._write(place, b"" if link.channel.trouble else link.channel.ask(question))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """The moves go out as fast as the bot reads them."""
        place = self._places[seat]
        if not place.link.channel.trouble:
            self._write(place, place.link.channel.show_legal(legal))

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """What cannot be written at once is not waited for."""
        for place in self._places:
            place.asked = False
            link = place.link
            if link.process and link.stdout_open:
                link.send(link.channel.close(outcome, ending))

    def stopped_us(self, seat: Seat) -> int:
        """How long the referee was not running while this seat's time ran; it was not charged for that."""
        return self._places[seat].watch.stopped_us

    def cpu_us(self, seat: Seat) -> int:
        """What the seat's bot has computed since it was ready, on its own time and on others'."""
        return self._places[seat].watch.game_cpu_us()

    def aside(self, seat: Seat) -> tuple[Aside, Keep, Keep]:
        """What a seat's bot said beside its answers, and on stderr before and since its `ready`."""
        place = self._places[seat]
        process = place.link.process
        return place.link.channel.aside, place.stderr_starting, process.cut() if process else Keep()

    def next_event(self) -> WireEvent:
        """Waits until one of the asked seats has something to tell, or its time is up."""
        while True:
            for seat, place in enumerate(self._places):
                if place.asked and (event := self._told(seat, place)):
                    return event
            self._wait()
            # Only now is it known what the referee itself was late by.
            now = time.monotonic_ns()
            for seat, place in enumerate(self._places):
                if place.asked and not place.heard and (silence := self._silence(seat, place, now)):
                    return silence

    def _silence(self, seat: Seat, place: Place, now_ns: int) -> Silence | None:
        """Whether a seat's time is up."""
        watch = place.watch
        used_us = watch.up_us(now_ns)
        if used_us is None:
            return None
        # What was written in time lies there by now, though nobody has looked since.
        self._read(place)
        if place.heard:
            return None
        place.asked = False
        place.link.channel.lapse()
        detail, hint = place.link.what_came()
        return Silence(seat, used_us, detail, watch.timing(self.began_ns, now_ns, watch.cpu_ns()), hint)

    def _read(self, place: Place) -> None:
        """Reads all that a bot has written by now."""
        link, watch = place.link, place.watch
        while link.stdout_open and not link.channel.trouble and (data := link.read()) is not None:
            stamp_ns = time.monotonic_ns()
            if facts := link.hear(data):
                place.hear(facts, watch.written_ns(stamp_ns), watch.cpu_ns())

    def _write(self, place: Place, data: bytes) -> None:
        """Tells a bot something in its own time. Until here the referee's lateness is not the bot's; from
        here on the bot may run, and the referee wait for its processor.
        """
        self._notice_stoppage(0, place)
        self._send(place, data)
        place.watch.answered()

    def _send(self, place: Place, data: bytes) -> None:
        if trouble := place.link.send(data):
            place.hear([trouble], time.monotonic_ns(), place.watch.cpu_ns())

    def _told(self, seat: Seat, place: Place) -> WireEvent | None:
        """The seat's next event, if there is one now."""
        watch = place.watch
        while place.heard:
            wall_ns, cpu_ns, fact = place.heard.popleft()
            if isinstance(fact, Wants) and time.monotonic_ns() > watch.deadline_ns:
                continue  # its time went by while earlier requests were answered
            if isinstance(fact, Ready):
                if place.opening:
                    self._describe(seat, place)
                    continue
                if place.link.process:
                    place.stderr_starting = place.link.process.cut()
                watch.look()
            place.asked = isinstance(fact, Wants)  # all else closes the question
            timing = watch.timing(self.began_ns, wall_ns, cpu_ns)
            return event_of(fact, seat, watch.used_us(wall_ns, cpu_ns), timing)
        return None

    def _wait(self) -> None:
        """Waits one slice at most; reads and stamps all that is there before any of it is looked at."""
        deadline = min(place.watch.deadline_ns for place in self._places if place.asked)
        before_ns = time.monotonic_ns()
        slice_ns = max(0, min(SLICE_NS, deadline - before_ns))
        ready = self._selector().select(slice_ns / 1e9)
        self._notice_stoppage(slice_ns)
        spoke = [key.data[0] for key, _ in ready if key.data[1] == "out"]
        for seat, place in enumerate(self._places):
            if seat not in spoke:
                place.watch.empty_ns = before_ns
        read: list[tuple[Place, int, int, bytes]] = []
        died: list[Place] = []
        for key, _ in ready:
            seat, stream = key.data
            place = self._places[seat]
            process = place.link.process
            assert process
            if stream == "out":
                if (data := place.link.read()) is not None:
                    read.append((place, time.monotonic_ns(), place.watch.cpu_ns(), data))
            elif stream == "err":
                process.drain_stderr()
            elif stream == "in":
                self._send(place, b"")
            else:
                died.append(place)
        for place, stamp_ns, cpu_ns, data in read:
            if facts := place.link.hear(data):
                place.hear(facts, place.watch.written_ns(stamp_ns), cpu_ns)
        for place in died:
            if not place.heard:
                place.hear(place.link.passed_away(), time.monotonic_ns(), place.watch.cpu_ns())

    def _notice_stoppage(self, waited_ns: int, writer: Place | None = None) -> None:
        """Since the last look the referee computed, and waited for so long at most. What it took beyond
        that it was not running: stopped, starved, or held up by who reads its own output.
        """
        now_ns, cpu_ns = time.monotonic_ns(), time.process_time_ns()
        late_ns = (now_ns - self._looked_ns) - (cpu_ns - self._cpu_ns) - waited_ns
        looked_ns, self._looked_ns, self._cpu_ns = self._looked_ns, now_ns, cpu_ns
        if late_ns > LATE_NS:
            for place in self._places:
                if place.asked:
                    place.watch.late(looked_ns, now_ns, late_ns, ours=place is writer)

    def _selector(self) -> selectors.PollSelector:
        """What to wait for: output and death of the asked, room to write to them, and everybody's stderr."""
        wanted = tuple(_wanted(place) for place in self._places)
        selector = self._selectors.get(wanted)
        if selector is None:
            selector = self._selectors[wanted] = selectors.PollSelector()
            for seat, streams in enumerate(wanted):
                process = self._places[seat].link.process
                if process is None:
                    continue
                files = (process.stdout, process.control, process.stdin, process.stderr)
                for name, file, is_wanted in zip(_STREAMS, files, streams, strict=True):
                    if is_wanted:
                        events = selectors.EVENT_WRITE if name == "in" else selectors.EVENT_READ
                        selector.register(file, events, (seat, name))
        return selector


_STREAMS = ("out", "control", "in", "err")


def _wanted(place: Place) -> tuple[bool, bool, bool, bool]:
    """Which of a bot's streams are waited for now."""
    process = place.link.process
    if process is None:
        return (False,) * 4
    asked = place.asked
    return (
        asked and process.stdout_open,
        asked and process.control_open,
        asked and bool(place.link.unsent),
        process.stderr_open,
    )
