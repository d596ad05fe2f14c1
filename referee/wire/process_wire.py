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
    GameDescription,
    LegalMoves,
    ListRequest,
    Question,
    Ready,
    Reply,
    ReplyContent,
    Silence,
)
from referee.gameplay.events import Ending
from referee.games.api import Outcome, Seat
from referee.processes.process import StreamEnds
from referee.processes.streams import READ_SIZE
from referee.wire.connection import BotConnection
from referee.wire.referee_session import ExtraOutput
from referee.wire.stoppage import SLICE_NS, StoppageDetector
from referee.wire.stopwatch import LOOK_NS, Stopwatch


class SeatWire:
    """The state of one seat: its connection, its stopwatch, and what it is being asked."""

    __slots__ = (
        "asked",
        "by_cpu",
        "connection",
        "description",
        "replies",
        "stderr_starting",
        "unasked",
        "watch",
    )

    def __init__(self, connection: BotConnection) -> None:
        self.connection = connection
        self.watch = Stopwatch(connection.process)
        self.description: GameDescription | None = None
        """The game that is described to it once it has said hello."""
        self.asked = False
        self.by_cpu = False
        """Whether its clock counts processor time."""
        self.unasked: list[ReplyContent] = []
        """Replies that it wrote before it was asked."""
        self.replies: deque[tuple[int, int, ReplyContent]] = deque()
        """Replies that the loop has not taken yet: time and processor time (ns), and the reply."""
        self.stderr_starting = StreamEnds()
        """Its stderr up to the `ready` of this game."""

    def enqueue(self, contents: Iterable[ReplyContent], wall_ns: int, cpu_ns: int = 0) -> None:
        """Keeps replies until the loop asks for them."""
        for content in contents:
            self.replies.append((wall_ns, cpu_ns, content))

    def receive_output(self, data: bytes, stamp_ns: int, cpu_ns: int, read_from_ns: int) -> None:
        """Keeps the replies in a chunk of output; `read_from_ns`: when the streams were last looked at."""
        if contents := self.connection.receive(data):
            more_behind = self.connection.session.more_behind
            self.enqueue(contents, self.watch.written_ns(stamp_ns, more_behind), cpu_ns)
        if len(data) < READ_SIZE:
            self.watch.empty_ns = read_from_ns  # guard: emptied

    def wanted(self) -> int:
        """Returns the streams to wait for, as bits: always its stderr; where it is asked also its output, the
        report of its exit, and room in its input.
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

    def __init__(self, seat_wires: Sequence[SeatWire], wanted: Sequence[int]) -> None:
        poll = select.poll()
        self.wait = poll.poll
        """Waits for at most this many milliseconds, and returns the descriptors that are ready."""
        self.streams: dict[int, tuple[SeatWire, int]] = {}
        """Seat and stream of each descriptor."""
        for seat_wire, bits in zip(seat_wires, wanted, strict=True):
            process = seat_wire.connection.process
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
                    self.streams[descriptor] = (seat_wire, bit)


ALIVE_NS = 1_000_000_000
"""The time between two reports that the referee still waits for its bots."""


class ProcessWire:
    """The seats of one game, each with the connection to its bot."""

    def __init__(
        self,
        connections: Sequence[BotConnection],
        start_us: int,
        report_alive: Callable[[], None] = lambda: None,
    ) -> None:
        """`report_alive` is called every `ALIVE_NS` while bots are waited for."""
        self._seat_wires = [SeatWire(connection) for connection in connections]
        self._start_ns = start_us * 1000
        self._polls: dict[tuple[int, ...], _Poll] = {}
        """The poll objects, by the streams that they wait for."""
        self._stoppage = StoppageDetector()
        self.began_ns = self._stoppage.looked_ns
        self._report_alive = report_alive
        self._alive_ns = 0

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Greets a new process first; the game is described once it has answered."""
        if not any(seat_wire.asked for seat_wire in self._seat_wires):
            self._stoppage.look()
        seat_wire = self._seat_wires[seat]
        connection = seat_wire.connection
        seat_wire.description = description
        seat_wire.by_cpu = description.control.by_cpu
        seat_wire.asked = True
        connection.session.begin()
        if connection.failure:
            seat_wire.watch.start(self._start_ns)
            seat_wire.enqueue([connection.failure], seat_wire.watch.began_ns)
        elif connection.greeted:
            self._describe(seat, seat_wire)
        else:
            connection.greeted = True
            seat_wire.watch.start(self._start_ns)
            self._send(seat_wire, connection.session.greet())

    def _describe(self, seat: Seat, seat_wire: SeatWire) -> None:
        description = seat_wire.description
        assert description
        seat_wire.description = None
        earlier_replies = seat_wire.connection.catch_up()
        seat_wire.watch.start(self._start_ns)
        # A failure from before has ended the session, and is told now: the bot did not start.
        failure = seat_wire.connection.session.failure
        seat_wire.enqueue([failure] if failure else earlier_replies, seat_wire.watch.began_ns)
        if not failure:
            self._send(seat_wire, seat_wire.connection.session.open(seat, description))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what the seats wrote unasked before anybody's time runs, so that it costs no seat time.

        Bots that are to be paused are stopped and continued here alone: never while a question is open.
        """
        self._stoppage.look()
        now_ns = time.monotonic_ns()
        for seat, seat_wire in enumerate(self._seat_wires):
            if now_ns - seat_wire.watch.looked_ns > LOOK_NS:
                seat_wire.watch.look_again()
            if process := seat_wire.connection.process:
                process.resume() if seat in seats else process.pause()  # guard: pause
        for seat in seats:
            seat_wire = self._seat_wires[seat]
            seat_wire.watch.mark(seat_wire.by_cpu)
            seat_wire.unasked = seat_wire.connection.catch_up()  # guard: off-turn-first

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat. What the bot wrote before is judged as written before the question."""
        seat_wire = self._seat_wires[seat]
        connection, watch = seat_wire.connection, seat_wire.watch
        earlier_replies, seat_wire.unasked = seat_wire.unasked, []
        if question.rejected:  # guard: deadline-after-rejection
            earlier_replies = connection.catch_up()
        else:
            watch.start(question.wait_us * 1000, question.allowance_us * 1000, seat_wire.by_cpu)
        seat_wire.asked = True
        if earlier_replies:
            seat_wire.enqueue(earlier_replies, watch.began_ns, watch.cpu_ns())
        self._write(seat_wire, b"" if connection.session.failure else connection.session.ask(seat, question))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends the legal moves, as fast as the bot reads them."""
        seat_wire = self._seat_wires[seat]
        if not seat_wire.connection.session.failure:
            self._write(seat_wire, seat_wire.connection.session.show_legal(legal))

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells every bot of the end, without waiting for room in its pipe."""
        for seat_wire in self._seat_wires:
            seat_wire.asked = False
            connection = seat_wire.connection
            if connection.process:
                connection.process.resume()
            if connection.process and connection.stdout_open:
                connection.send(connection.session.close(outcome, ending))

    def stopped_us(self, seat: Seat) -> int:
        """Returns how long the referee was not running while this seat's time ran; it was not charged for
        that.
        """
        return self._seat_wires[seat].watch.stopped_us

    def cpu_us(self, seat: Seat) -> int:
        """Processor time of the seat's bot since it was ready, in its own turns and in others'."""
        return self._seat_wires[seat].watch.game_cpu_us()

    def off_turn_us(self, seat: Seat) -> tuple[int, int]:
        """Returns how long the seat was not asked, and the processor time that its bot used then."""
        return self._seat_wires[seat].watch.off_turn_us()

    def extra_output(self, seat: Seat) -> tuple[ExtraOutput, StreamEnds, StreamEnds]:
        """Returns what a seat's bot wrote apart from its answers, and its stderr before and since its
        `ready`.
        """
        seat_wire = self._seat_wires[seat]
        process = seat_wire.connection.process
        return (
            seat_wire.connection.session.extra_output,
            seat_wire.stderr_starting,
            process.take_stderr() if process else StreamEnds(),
        )

    def attend(self, waited_us: int) -> bool:
        """Reads what has come from the bots, without waiting for it, while a person is waited for: to be
        called again and again, with no more than `waited_us` between. Returns whether a reply can be taken.
        """
        self._notice_stoppage(waited_us * 1000)
        self._wait(0)
        return any(seat_wire.asked and seat_wire.replies for seat_wire in self._seat_wires)

    @property
    def is_asked(self) -> bool:
        """Whether a reply of a bot is still to come."""
        return any(seat_wire.asked for seat_wire in self._seat_wires)

    def next_reply(self) -> Reply:
        """Waits until one of the asked seats has replied, or its time is up."""
        while True:
            for seat, seat_wire in enumerate(self._seat_wires):
                if seat_wire.asked and seat_wire.replies and (reply := self._taken(seat, seat_wire)):
                    return reply
            self._wait()
            # Only now is it known what the referee itself was late by.
            self._notice_stoppage(0)
            now_ns = self._stoppage.looked_ns
            for seat, seat_wire in enumerate(self._seat_wires):
                if (
                    seat_wire.asked
                    and not seat_wire.replies
                    and (silence := self._silence(seat, seat_wire, now_ns))
                ):
                    return silence

    def _silence(self, seat: Seat, seat_wire: SeatWire, now_ns: int) -> Reply | None:
        """Makes the reply of a seat whose time is up; None where it is not."""
        watch = seat_wire.watch
        used_us = watch.up_us(now_ns)
        if used_us is None:
            return None
        # What was written in time lies there by now, though nobody has looked since.
        self._read(seat_wire)  # guard: last-look
        if seat_wire.replies:
            return None
        seat_wire.asked = False
        watch.notice_waiting(now_ns)
        watch.rest(now_ns, watch.cpu_ns())
        seat_wire.connection.session.lapse()
        silence = Silence(*seat_wire.connection.what_came())
        return Reply(seat, silence, used_us, watch.timing(self.began_ns, now_ns, watch.cpu_ns()))

    def _read(self, seat_wire: SeatWire) -> None:
        """Reads everything that a bot has written by now."""
        connection, watch = seat_wire.connection, seat_wire.watch
        while (
            connection.stdout_open
            and not connection.session.failure
            and (data := connection.read()) is not None
        ):
            stamp_ns = time.monotonic_ns()
            if contents := connection.receive(data):
                more_behind = connection.session.more_behind
                seat_wire.enqueue(contents, watch.written_ns(stamp_ns, more_behind), watch.cpu_ns())

    def _write(self, seat_wire: SeatWire, data: bytes) -> None:
        """Writes to a bot while its time runs. What the referee was late by until now is not charged; after
        this the bot may run while the referee waits for a processor.
        """
        self._notice_stoppage(0, seat_wire)
        self._send(seat_wire, data)
        seat_wire.watch.answered()

    def _send(self, seat_wire: SeatWire, data: bytes) -> None:
        if failure := seat_wire.connection.send(data):
            seat_wire.enqueue([failure], time.monotonic_ns(), seat_wire.watch.cpu_ns())

    def _taken(self, seat: Seat, seat_wire: SeatWire) -> Reply | None:
        """Takes the next reply of a seat, where there is one."""
        watch = seat_wire.watch
        while seat_wire.replies:
            wall_ns, cpu_ns, content = seat_wire.replies.popleft()
            if wall_ns > watch.slow_from_ns:
                watch.notice_waiting(wall_ns)
            if isinstance(content, ListRequest):
                if watch.is_over(time.monotonic_ns()):
                    continue  # its time went by while earlier requests were answered
            else:
                if isinstance(content, Ready):
                    if seat_wire.description:
                        self._describe(seat, seat_wire)
                        continue
                    if seat_wire.connection.process:
                        seat_wire.stderr_starting = seat_wire.connection.process.take_stderr()
                    watch.look()
                    cpu_ns = watch.cpu_ns()
                seat_wire.asked = False
                watch.rest(wall_ns, cpu_ns)
            return Reply(
                seat, content, watch.used_us(wall_ns, cpu_ns), watch.timing(self.began_ns, wall_ns, cpu_ns)
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
        for seat_wire, stream in ready:
            if stream == _STDOUT:
                spoke.append(seat_wire)
                if (data := seat_wire.connection.read()) is not None:
                    read.append(  # guard: deadline
                        (seat_wire, time.monotonic_ns(), seat_wire.watch.cpu_ns(), data)
                    )
            elif stream == _STDERR:
                complained.append(seat_wire)
            elif stream == _STDIN:
                self._send(seat_wire, b"")
            else:
                died.append(seat_wire)
        for seat_wire in self._seat_wires:
            if seat_wire not in spoke:
                seat_wire.watch.empty_ns = before_ns
        for seat_wire in complained:  # after the stamps, since somebody may be shown it
            seat_wire.connection.drain_stderr()
        for seat_wire, stamp_ns, cpu_ns, data in read:
            seat_wire.receive_output(data, stamp_ns, cpu_ns, read_from_ns)
        for seat_wire in died:
            if not seat_wire.replies:
                seat_wire.enqueue(
                    seat_wire.connection.final_replies(), time.monotonic_ns(), seat_wire.watch.cpu_ns()
                )

    def _ready(self, now_ns: int, slice_ns: int) -> list[tuple[SeatWire, int]]:
        """Polls for the streams that are ready within a slice, or before the first deadline."""
        if now_ns - self._alive_ns > ALIVE_NS:
            self._alive_ns = now_ns
            self._report_alive()
        for seat_wire in self._seat_wires:
            if seat_wire.asked:
                slice_ns = min(slice_ns, seat_wire.watch.deadline_ns - now_ns)
        if slice_ns < 0:
            slice_ns = 0
        wanted = tuple([seat_wire.wanted() for seat_wire in self._seat_wires])
        poll = self._polls.get(wanted)
        if poll is None:
            poll = self._polls[wanted] = _Poll(self._seat_wires, wanted)
        ready = [poll.streams[descriptor] for descriptor, _ in poll.wait(-(-slice_ns // 1_000_000))]
        self._notice_stoppage(slice_ns)
        return ready

    def _notice_stoppage(self, waited_ns: int, writer: SeatWire | None = None) -> None:
        """Reports what the referee was late by to the stopwatches of the seats whose time runs."""
        looked_ns, now_ns = self._stoppage.looked_ns, time.monotonic_ns()
        if late_ns := self._stoppage.late_ns(now_ns, waited_ns):
            for seat_wire in self._seat_wires:
                if seat_wire.asked:
                    seat_wire.watch.late(looked_ns, now_ns, late_ns, ours=seat_wire is writer)
