"""The wire to real processes, over pipes.

The referee waits in one place, `PipesWire._wait`, for all the seats that it asked something, with one
absolute deadline a seat that no output can push back. It waits in slices: a slice that ends late shows
that the referee itself was not running (stopped, or starved of its processor), and what it was late by
is taken off the time of the bots it was waiting for.
"""

from __future__ import annotations

import errno
import selectors
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from referee import text
from referee.bots import Bot
from referee.errors import EnvironmentLacksError
from referee.events import Ending, Seat
from referee.games.api import Outcome
from referee.wire.api import (
    LegalMoves,
    Opening,
    Question,
    Silence,
    WireEvent,
)
from referee.wire.channel import Aside, Channel, Heard, Ready, Trouble, Wants, event_of
from referee.wire.process import BotProcess, Keep, end_processes

SLICE_NS = 10_000_000
LATE_NS = 5_000_000
"""A slice may end late by so much and still be ordinary; half the default margin."""

_OUR_LACK = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Why a process cannot be started that is not its program's fault."""

Tap = Callable[[str, str, bytes], None]
"""Told of every byte that passes: the bot's name, `<` (to it) or `>` (from it), the bytes."""


class Link:
    """One bot's process with its conversation; it serves the games of an encounter.

    A bot that cannot even be started is a link too: its seat learns of it when it is opened.
    """

    def __init__(self, bot: Bot, tap: Tap | None = None, failure: str = "") -> None:
        """A `failure` that is known already spares trying."""
        self.bot = bot
        self.channel = Channel()
        self.greeted = False
        self.faulted = False
        """Set by whoever runs the games: a bot that lost by a fault is not asked to play on."""
        self.unsent = b""
        self.stdout_open = True
        self._tap = tap
        self.process: BotProcess | None = None
        self.failure = failure
        if failure:
            return
        try:
            self.process = BotProcess(bot)
        except OSError as error:
            if error.errno in _OUR_LACK:
                raise EnvironmentLacksError(f"cannot start bot `{bot.name}`: {error.strerror}") from None
            self.failure = f"{error.strerror}: `{text.shown(str(error.filename or bot.argv[0]))}`"

    @property
    def fit(self) -> bool:
        """Whether it may serve another game. What else it did meanwhile is judged when that is opened, not
        by what happens to be known of it now.
        """
        return self.process is not None and not self.faulted

    def send(self, data: bytes) -> Trouble | None:
        """Sends what can be sent now and keeps the rest; a bot that closed its input is gone."""
        self.unsent += data
        assert self.process
        try:
            while self.unsent and (count := self.process.write(self.unsent)):
                self.unsent = self.unsent[count:]
        except BrokenPipeError:
            self.unsent = b""
            return self._gone("closed its input")
        finally:
            if self._tap and data:
                self._tap(self.bot.name, "<", data)
        return None

    def read(self) -> bytes | None:
        """A chunk of its output: None if there is none, empty at the end."""
        assert self.process
        data = self.process.read()
        if data == b"":
            self.stdout_open = False
        return data

    def hear(self, data: bytes) -> list[Heard]:
        """What a chunk says; an empty chunk says that the bot is gone."""
        if self._tap and data:
            self._tap(self.bot.name, ">", data)
        return self.channel.hear(data) if data else [self._gone("closed its output")]

    def catch_up(self) -> list[Heard]:
        """What lies there, said before it was asked."""
        heard: list[Heard] = []
        while self.stdout_open and not self.channel.trouble and (data := self.read()) is not None:
            heard += self.hear(data)
        return heard

    def _gone(self, what: str) -> Trouble:
        assert self.process
        status = self.process.how_it_ended()
        partial = self.channel.partial
        behind = f", its last words without a newline: {text.shown(partial, 80)}" if partial else ""
        trouble = Trouble(Ending.GONE, (status or what) + behind)
        self.channel.trouble = trouble
        return trouble


def end_links(links: Sequence[Link]) -> None:
    """Says quit to bots and ends their processes; those that broke something are given no grace."""
    fit: list[BotProcess] = []
    unfit: list[BotProcess] = []
    for link in links:
        if link.process is None:
            continue
        (fit if link.fit else unfit).append(link.process)
        link.send(link.channel.quit())
    end_processes(unfit, grace_s=0)
    end_processes(fit)


@dataclass
class Place:
    """A seat of a game: its link, and what it is being asked."""

    link: Link
    opening: Opening | None = None
    asked: bool = False
    began_ns: int = 0
    deadline_ns: int = 0
    stopped_ns: int = 0
    """Of the time since it began, what the referee itself was not running."""
    stopped_us: int = 0
    """The same over the whole game."""
    heard: deque[tuple[int, Heard]] = field(default_factory=deque)
    """What it said and when, not yet told to the match."""
    stderr_starting: Keep = field(default_factory=Keep)
    """Its stderr up to this game's `ready`."""


class PipesWire:
    """The seats of one game, each with the link of the bot that sits there."""

    def __init__(self, links: Sequence[Link], start_us: int) -> None:
        self._places = [Place(link) for link in links]
        self._start_ns = start_us * 1000
        self._selectors: dict[tuple[tuple[bool, bool, bool], ...], selectors.PollSelector] = {}
        self._looked_ns = time.monotonic_ns()
        self._cpu_ns = time.process_time_ns()
        """When `_wait` was last through, and what the referee had computed by then."""

    def open(self, seat: Seat, opening: Opening) -> None:
        """Greets a new process first; the game is described when it has answered."""
        place = self._places[seat]
        link = place.link
        place.opening = opening
        place.asked = True
        if link.process is None:
            self._start_clock(place, self._start_ns)
            place.heard.append((place.began_ns, Trouble(Ending.START, link.failure)))
        elif link.greeted:
            self._describe(seat, place)
        else:
            link.greeted = True
            self._start_clock(place, self._start_ns)
            self._send(place, link.channel.greet())

    def _describe(self, seat: Seat, place: Place) -> None:
        opening = place.opening
        assert opening
        place.opening = None
        said_before = place.link.catch_up()
        self._start_clock(place, self._start_ns)
        # A trouble from before has ended the conversation, and is told now: the bot did not start.
        trouble = place.link.channel.trouble
        place.heard.extend((place.began_ns, fact) for fact in ([trouble] if trouble else said_before))
        if not trouble:
            self._send(place, place.link.channel.open(seat, opening))

    def post(self, seat: Seat, question: Question) -> None:
        """Whatever the bot said before now was said before it was asked, and is judged so. Reading it is
        not in its time, unless its clock runs anyway.
        """
        place = self._places[seat]
        link = place.link
        said_before = link.catch_up()
        if not question.rejected:
            self._start_clock(place, question.patience_us * 1000)
        place.asked = True
        place.heard.extend((place.began_ns, fact) for fact in said_before)
        if not link.channel.trouble:
            self._send(place, link.channel.ask(question))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """The moves go out as fast as the bot reads them."""
        place = self._places[seat]
        if not place.link.channel.trouble:
            self._send(place, place.link.channel.show_legal(legal))

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """What cannot be written at once is not waited for."""
        for place in self._places:
            place.asked = False
            link = place.link
            if link.process and link.stdout_open:
                link.send(link.channel.close(outcome, ending))

    def stopped_us(self, seat: Seat) -> int:
        """How long the referee was not running while this seat's time ran; it was not charged for that."""
        return self._places[seat].stopped_us

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
            # Only now is it known what the referee itself was late by, and nothing lies unread.
            now = time.monotonic_ns()
            for seat, place in enumerate(self._places):
                if place.asked and not place.heard and now > place.deadline_ns:
                    place.asked = False
                    place.link.channel.lapse()
                    return Silence(seat, _used_us(place, now), _what_came(place.link))

    def _start_clock(self, place: Place, patience_ns: int) -> None:
        place.stopped_ns = 0
        place.began_ns = time.monotonic_ns()
        place.deadline_ns = place.began_ns + patience_ns

    def _send(self, place: Place, data: bytes) -> None:
        if trouble := place.link.send(data):
            place.heard.append((time.monotonic_ns(), trouble))

    def _told(self, seat: Seat, place: Place) -> WireEvent | None:
        """The seat's next event, if there is one now."""
        while place.heard:
            stamp_ns, fact = place.heard.popleft()
            if isinstance(fact, Wants) and time.monotonic_ns() > place.deadline_ns:
                continue  # its time went by while earlier requests were answered
            if isinstance(fact, Ready):
                if place.opening:
                    self._describe(seat, place)
                    continue
                if place.link.process:
                    place.stderr_starting = place.link.process.cut()
            place.asked = isinstance(fact, Wants)  # all else closes the question
            return event_of(fact, seat, _used_us(place, stamp_ns))
        return None

    def _wait(self) -> None:
        """Waits one slice at most; reads and stamps all that is there before any of it is looked at."""
        deadline = min(place.deadline_ns for place in self._places if place.asked)
        slice_ns = max(0, min(SLICE_NS, deadline - time.monotonic_ns()))
        ready = self._selector().select(slice_ns / 1e9)
        after = time.monotonic_ns()
        self._note_stoppage(after, slice_ns)
        read: list[tuple[Place, int, bytes]] = []
        for key, _ in ready:
            seat, stream = key.data
            place = self._places[seat]
            process = place.link.process
            assert process
            if stream == "out":
                if (data := place.link.read()) is not None:
                    read.append((place, time.monotonic_ns(), data))
            elif stream == "err":
                process.drain_stderr()
            else:
                self._send(place, b"")
        if not ready:
            self._look_for_the_dead(after)
        for place, stamp, data in read:
            place.heard.extend((stamp, fact) for fact in place.link.hear(data))

    def _note_stoppage(self, now_ns: int, slice_ns: int) -> None:
        """Since the last look the referee computed, and waited for a slice at most. What it took beyond
        that it was not running: stopped, starved, or held up by who reads its own output.
        """
        cpu_ns = time.process_time_ns()
        late_ns = (now_ns - self._looked_ns) - (cpu_ns - self._cpu_ns) - slice_ns
        looked_ns, self._looked_ns, self._cpu_ns = self._looked_ns, now_ns, cpu_ns
        if late_ns <= LATE_NS:
            return
        for place in self._places:
            if place.asked:
                late = min(late_ns, now_ns - max(looked_ns, place.began_ns))
                place.stopped_ns += late
                place.stopped_us += late // 1000
                place.deadline_ns += late

    def _look_for_the_dead(self, now: int) -> None:
        """A bot can be dead though its output is open: somebody that it started still holds it."""
        for place in self._places:
            link = place.link
            if place.asked and not place.heard and link.process and link.process.exit_status():
                facts = link.catch_up() or link.hear(b"")
                place.heard.extend((now, fact) for fact in facts)

    def _selector(self) -> selectors.PollSelector:
        """What to wait for: output of the asked, room to write to them, and everybody's stderr."""
        wanted = tuple(
            (
                place.asked and place.link.stdout_open,
                place.asked and bool(place.link.unsent),
                place.link.process is not None and place.link.process.stderr_open,
            )
            for place in self._places
        )
        selector = self._selectors.get(wanted)
        if selector is None:
            selector = self._selectors[wanted] = selectors.PollSelector()
            for seat, (out, unsent, err) in enumerate(wanted):
                process = self._places[seat].link.process
                if process is None:
                    continue
                if out:
                    selector.register(process.stdout, selectors.EVENT_READ, (seat, "out"))
                if unsent:
                    selector.register(process.stdin, selectors.EVENT_WRITE, (seat, "in"))
                if err:
                    selector.register(process.stderr, selectors.EVENT_READ, (seat, "err"))
        return selector


def _used_us(place: Place, stamp_ns: int) -> int:
    """Rounded up: late by a nanosecond is late."""
    return max(0, -(-(stamp_ns - place.began_ns - place.stopped_ns) // 1000))


def _what_came(link: Link) -> str:
    """Of a bot whose time is up: what did come, since that often shows why."""
    if link.unsent:
        return f"{len(link.unsent)} bytes of what it was sent were not read"
    if link.channel.partial:
        return f"a line without a newline came: {text.shown(link.channel.partial, 80)}"
    aside = link.channel.aside
    if aside.noise:
        return f"{aside.noise_count} × a line that is no message came, such as `{aside.noise[-1]}`"
    return "nothing came"
