"""The wire to real processes.

The referee waits in one place, `ProcessWire._wait`, for all the seats that it asked something, with one
absolute deadline for each seat that no output can move. It waits in slices: a slice that ends late shows
that the referee itself was not running (stopped, or starved of its processor); `stopwatch.py` says what
becomes of that.
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from referee.gameplay.api import (
    LegalMoves,
    ListRequest,
    Opening,
    Question,
    Ready,
    Reply,
    Silence,
    What,
)
from referee.gameplay.events import Ending
from referee.games.api import Outcome, Seat
from referee.processes.process import Keep
from referee.processes.streams import READ_SIZE
from referee.wire.connection import BotConnection
from referee.wire.conversation import Aside
from referee.wire.stoppage import SLICE_NS, StoppageDetector
from referee.wire.stopwatch import Stopwatch


class SeatWire:
    """What the wire keeps of a seat: its connection, its stopwatch, and what it is being asked."""

    __slots__ = (
        "asked",
        "by_cpu",
        "connection",
        "heard",
        "opening",
        "stderr_starting",
        "unasked",
        "watch",
    )

    def __init__(self, connection: BotConnection) -> None:
        self.connection = connection
        self.watch = Stopwatch(connection.process)
        self.opening: Opening | None = None
        """The game that is described to it once it has said hello."""
        self.asked = False
        self.by_cpu = False
        """Whether its clock counts processor time."""
        self.unasked: list[What] = []
        """What it wrote before it is asked."""
        self.heard: deque[tuple[int, int, What]] = deque()
        """Replies that the loop has not taken yet: time and processor time (ns), and the reply."""
        self.stderr_starting = Keep()
        """Its stderr up to the `ready` of this game."""

    def hear(self, whats: Iterable[What], wall_ns: int, cpu_ns: int = 0) -> None:
        """Keeps replies until the loop asks for them."""
        for what in whats:
            self.heard.append((wall_ns, cpu_ns, what))

    def hear_output(self, data: bytes, stamp_ns: int, cpu_ns: int, read_from_ns: int) -> None:
        """Keeps the replies in a chunk of output; `read_from_ns`: when the streams were last looked at."""
        if whats := self.connection.hear(data):
            more_behind = self.connection.conversation.more_behind
            self.hear(whats, self.watch.written_ns(stamp_ns, more_behind), cpu_ns)
        if len(data) < READ_SIZE:
            self.watch.empty_ns = read_from_ns  # guard: emptied

    def wanted(self) -> int:
        """The streams to wait for, as bits: always its stderr; where it is asked also its output, the report
        of its exit, and room in its input.
        """
        process = self.connection.process
        if process is None:
            return 0
        bits = _STDERR if process.stderr_open else 0
        if self.asked:
            if process.stdout_open:
                bits |= _STDOUT
            if process.control_open:  # guard: death-with-open-output
                bits |= _CONTROL
            if self.connection.unsent:
                bits |= _STDIN
        return bits


_STDOUT, _CONTROL, _STDIN, _STDERR = 1, 2, 4, 8


class _Poll:
    """A poll object for one set of streams."""

    def __init__(self, places: Sequence[SeatWire], wanted: Sequence[int]) -> None:
        poll = select.poll()
        self.wait = poll.poll
        """Waits for so many milliseconds at most and returns the descriptors that are ready."""
        self.streams: dict[int, tuple[SeatWire, int]] = {}
        """Seat and stream of each descriptor."""
        for place, bits in zip(places, wanted, strict=True):
            process = place.connection.process
            if process is None:
                continue
            for bit, descriptor in (
                (_STDOUT, process.stdout),
                (_CONTROL, process.control),
                (_STDIN, process.stdin),
                (_STDERR, process.stderr),  # last: what was written there before an answer is seen with it
            ):
                if bits & bit:
                    poll.register(descriptor, select.POLLOUT if bit == _STDIN else select.POLLIN)
                    self.streams[descriptor] = (place, bit)


SIGN_NS = 1_000_000_000
"""The time between two signs that the referee still waits for its bots."""


class ProcessWire:
    """The seats of one game, each with the connection to its bot."""

    def __init__(
        self,
        connections: Sequence[BotConnection],
        start_us: int,
        show_life: Callable[[], None] = lambda: None,
    ) -> None:
        """`show_life` is called every `SIGN_NS` while bots are waited for."""
        self._places = [SeatWire(connection) for connection in connections]
        self._start_ns = start_us * 1000
        self._polls: dict[tuple[int, ...], _Poll] = {}
        """The poll objects, by the streams that they wait for."""
        self._stoppage = StoppageDetector()
        self.began_ns = self._stoppage.looked_ns
        self._show_life = show_life
        self._sign_ns = 0

    def open(self, seat: Seat, opening: Opening) -> None:
        """Greets a new process first; the game is described once it has answered."""
        if not any(place.asked for place in self._places):
            self._stoppage.look()
        place = self._places[seat]
        connection = place.connection
        place.opening = opening
        place.by_cpu = opening.control.by_cpu
        place.asked = True
        connection.conversation.begin()
        if connection.failure:
            place.watch.start(self._start_ns)
            place.hear([connection.failure], place.watch.began_ns)
        elif connection.greeted:
            self._describe(seat, place)
        else:
            connection.greeted = True
            place.watch.start(self._start_ns)
            self._send(place, connection.conversation.greet())

    def _describe(self, seat: Seat, place: SeatWire) -> None:
        opening = place.opening
        assert opening
        place.opening = None
        said_before = place.connection.catch_up()
        place.watch.start(self._start_ns)
        # A failure from before has ended the conversation, and is told now: the bot did not start.
        failure = place.connection.conversation.failure
        place.hear([failure] if failure else said_before, place.watch.began_ns)
        if not failure:
            self._send(place, place.connection.conversation.open(seat, opening))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what the seats wrote unasked before anybody's time runs, so that it costs no seat time.

        Bots that are to be paused are stopped and continued here alone: never while a question is open.
        """
        self._stoppage.look()
        for seat, place in enumerate(self._places):
            place.watch.look_again()
            if process := place.connection.process:
                process.resume() if seat in seats else process.pause()  # guard: pause
        for seat in seats:
            place = self._places[seat]
            place.watch.mark(place.by_cpu)
            place.unasked = place.connection.catch_up()  # guard: off-turn-first

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat. What the bot wrote before is judged as written before the question."""
        place = self._places[seat]
        connection, watch = place.connection, place.watch
        said_before, place.unasked = place.unasked, []
        if question.rejected:  # guard: deadline-after-rejection
            said_before = connection.catch_up()
        else:
            watch.start(question.wait_us * 1000, question.allowance_us * 1000, place.by_cpu)
        place.asked = True
        if said_before:
            place.hear(said_before, watch.began_ns, watch.cpu_ns())
        self._write(
            place, b"" if connection.conversation.failure else connection.conversation.ask(seat, question)
        )

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends the legal moves, as fast as the bot reads them."""
        place = self._places[seat]
        if not place.connection.conversation.failure:
            self._write(place, place.connection.conversation.show_legal(legal))

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells every bot of the end, without waiting for room in its pipe."""
        for place in self._places:
            place.asked = False
            connection = place.connection
            if connection.process:
                connection.process.resume()
            if connection.process and connection.stdout_open:
                connection.send(connection.conversation.close(outcome, ending))

    def stopped_us(self, seat: Seat) -> int:
        """How long the referee was not running while this seat's time ran; it was not charged for that."""
        return self._places[seat].watch.stopped_us

    def cpu_us(self, seat: Seat) -> int:
        """Processor time of the seat's bot since it was ready, in its own turns and in others'."""
        return self._places[seat].watch.game_cpu_us()

    def off_turn_us(self, seat: Seat) -> tuple[int, int]:
        """How long the seat was not asked, and the processor time that its bot used then."""
        return self._places[seat].watch.off_turn_us()

    def aside(self, seat: Seat) -> tuple[Aside, Keep, Keep]:
        """What a seat's bot wrote apart from its answers, and its stderr before and since its `ready`."""
        place = self._places[seat]
        process = place.connection.process
        return (
            place.connection.conversation.aside,
            place.stderr_starting,
            process.cut() if process else Keep(),
        )

    def attend(self, waited_us: int) -> bool:
        """Reads what has come from the bots, without waiting for it, while a person is waited for: to be
        called again and again, with no more than `waited_us` between. Returns whether a reply can be taken.
        """
        self._notice_stoppage(waited_us * 1000)
        self._wait(0)
        return any(place.asked and place.heard for place in self._places)

    @property
    def is_asked(self) -> bool:
        """Whether a reply of a bot is still to come."""
        return any(place.asked for place in self._places)

    def next_reply(self) -> Reply:
        """Waits until one of the asked seats has replied, or its time is up."""
        while True:
            for seat, place in enumerate(self._places):
                if place.asked and place.heard and (reply := self._told(seat, place)):
                    return reply
            self._wait()
            # Only now is it known what the referee itself was late by.
            self._notice_stoppage(0)
            now_ns = self._stoppage.looked_ns
            for seat, place in enumerate(self._places):
                if place.asked and not place.heard and (silence := self._silence(seat, place, now_ns)):
                    return silence

    def _silence(self, seat: Seat, place: SeatWire, now_ns: int) -> Reply | None:
        """The reply of a seat whose time is up; None where it is not."""
        watch = place.watch
        used_us = watch.up_us(now_ns)
        if used_us is None:
            return None
        # What was written in time lies there by now, though nobody has looked since.
        self._read(place)  # guard: last-look
        if place.heard:
            return None
        place.asked = False
        watch.notice_waiting(now_ns)
        watch.rest(now_ns, watch.cpu_ns())
        place.connection.conversation.lapse()
        silence = Silence(*place.connection.what_came())
        return Reply(seat, silence, used_us, watch.timing(self.began_ns, now_ns, watch.cpu_ns()))

    def _read(self, place: SeatWire) -> None:
        """Reads everything that a bot has written by now."""
        connection, watch = place.connection, place.watch
        while (
            connection.stdout_open
            and not connection.conversation.failure
            and (data := connection.read()) is not None
        ):
            stamp_ns = time.monotonic_ns()
            if whats := connection.hear(data):
                more_behind = connection.conversation.more_behind
                place.hear(whats, watch.written_ns(stamp_ns, more_behind), watch.cpu_ns())

    def _write(self, place: SeatWire, data: bytes) -> None:
        """Writes to a bot while its time runs. What the referee was late by until now is not charged; after
        this the bot may run while the referee waits for a processor.
        """
        self._notice_stoppage(0, place)
        self._send(place, data)
        place.watch.answered()

    def _send(self, place: SeatWire, data: bytes) -> None:
        if failure := place.connection.send(data):
            place.hear([failure], time.monotonic_ns(), place.watch.cpu_ns())

    def _told(self, seat: Seat, place: SeatWire) -> Reply | None:
        """The next reply of a seat, where there is one."""
        watch = place.watch
        while place.heard:
            wall_ns, cpu_ns, what = place.heard.popleft()
            watch.notice_waiting(wall_ns)
            if isinstance(what, ListRequest):
                if watch.is_over(time.monotonic_ns()):
                    continue  # its time went by while earlier requests were answered
            else:
                if isinstance(what, Ready):
                    if place.opening:
                        self._describe(seat, place)
                        continue
                    if place.connection.process:
                        place.stderr_starting = place.connection.process.cut()
                    watch.look()
                    cpu_ns = watch.cpu_ns()
                place.asked = False
                watch.rest(wall_ns, cpu_ns)
            return Reply(
                seat, what, watch.used_us(wall_ns, cpu_ns), watch.timing(self.began_ns, wall_ns, cpu_ns)
            )
        return None

    def _wait(self, slice_ns: int = SLICE_NS) -> None:
        """Waits one slice at most; reads and stamps everything that is ready before any of it is parsed."""
        before_ns = time.monotonic_ns()
        ready = self._ready(before_ns, slice_ns)
        read_from_ns = self._stoppage.looked_ns
        read: list[tuple[SeatWire, int, int, bytes]] = []
        complained: list[SeatWire] = []
        spoke: list[SeatWire] = []
        died: list[SeatWire] = []
        for place, stream in ready:
            if stream == _STDOUT:
                spoke.append(place)
                if (data := place.connection.read()) is not None:
                    read.append((place, time.monotonic_ns(), place.watch.cpu_ns(), data))  # guard: deadline
            elif stream == _STDERR:
                complained.append(place)
            elif stream == _STDIN:
                self._send(place, b"")
            else:
                died.append(place)
        for place in self._places:
            if place not in spoke:
                place.watch.empty_ns = before_ns
        for place in complained:  # after the stamps, since somebody may be shown it
            place.connection.drain_stderr()
        for place, stamp_ns, cpu_ns, data in read:
            place.hear_output(data, stamp_ns, cpu_ns, read_from_ns)
        for place in died:
            if not place.heard:
                place.hear(place.connection.last_words(), time.monotonic_ns(), place.watch.cpu_ns())

    def _ready(self, now_ns: int, slice_ns: int) -> list[tuple[SeatWire, int]]:
        """The streams that are ready within a slice, or before the first deadline."""
        if now_ns - self._sign_ns > SIGN_NS:
            self._sign_ns = now_ns
            self._show_life()
        for place in self._places:
            if place.asked:
                slice_ns = min(slice_ns, place.watch.deadline_ns - now_ns)
        if slice_ns < 0:
            slice_ns = 0
        wanted = tuple([place.wanted() for place in self._places])
        poll = self._polls.get(wanted)
        if poll is None:
            poll = self._polls[wanted] = _Poll(self._places, wanted)
        ready = [poll.streams[descriptor] for descriptor, _ in poll.wait(-(-slice_ns // 1_000_000))]
        self._notice_stoppage(slice_ns)
        return ready

    def _notice_stoppage(self, waited_ns: int, writer: SeatWire | None = None) -> None:
        """Reports what the referee was late by to the stopwatches of the seats whose time runs."""
        looked_ns, now_ns = self._stoppage.looked_ns, time.monotonic_ns()
        if late_ns := self._stoppage.late_ns(now_ns, waited_ns):
            for place in self._places:
                if place.asked:
                    place.watch.late(looked_ns, now_ns, late_ns, ours=place is writer)
