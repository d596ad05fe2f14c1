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
from collections.abc import Callable, Sequence
from typing import NamedTuple

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
from referee.gameplay.events import Ending
from referee.games.api import Outcome, Seat
from referee.processes.process import BotProcess, StreamEnds
from referee.processes.streams import READ_SIZE
from referee.protocol.session import Phase
from referee.wire.connection import BotConnection
from referee.wire.referee_session import ExtraOutput
from referee.wire.stoppage import LATE_NS, SLICE_NS, StoppageDetector
from referee.wire.stopwatch import LOOK_NS, SLOW_NS, Stopwatch


class SeatWire:
    """The state of one seat: its connection, its stopwatch, and the game that it plays."""

    __slots__ = ("by_cpu", "connection", "description", "seat", "session", "stderr_starting", "watch")

    def __init__(self, seat: Seat, connection: BotConnection, game_began_ns: int) -> None:
        self.seat = seat
        self.connection = connection
        self.session = connection.session
        self.watch = Stopwatch(connection.process, game_began_ns)
        self.description: GameDescription | None = None
        """The game that is described to it once it has said hello."""
        self.by_cpu = False
        """Whether its clock counts processor time."""
        self.stderr_starting = StreamEnds()
        """Its stderr up to the `ready` of this game."""


_STDOUT, _CONTROL, _STDIN, _STDERR = range(4)


class _Poll:
    """A poll object for the streams that matter while certain seats are asked: of these their output, the
    report of their exit, and room in their input if something waits for it; of every seat its stderr.
    """

    def __init__(self, all_seats: Sequence[SeatWire], asked: Sequence[SeatWire]) -> None:
        self._poll = select.poll()
        self.wait = self._poll.poll
        """Waits for at most this many milliseconds, and returns the descriptors that are ready."""
        self.streams: dict[int, tuple[SeatWire, BotProcess, int]] = {}
        """Seat, process and stream of each descriptor."""
        for seat_wire in all_seats:
            process = seat_wire.connection.process
            if process is None:
                continue
            if seat_wire in asked:
                if process.stdout_open:
                    self._add(process.stdout, seat_wire, process, _STDOUT)
                if process.control_open:  # guard: death-with-open-output
                    self._add(process.control, seat_wire, process, _CONTROL)
                if seat_wire.connection.unsent:
                    self._add(process.stdin, seat_wire, process, _STDIN)
            if process.stderr_open:  # last: what was written there before an answer is seen with it
                self._add(process.stderr, seat_wire, process, _STDERR)

    def _add(self, descriptor: int, seat_wire: SeatWire, process: BotProcess, stream: int) -> None:
        self._poll.register(descriptor, select.POLLOUT if stream == _STDIN else select.POLLIN)
        self.streams[descriptor] = seat_wire, process, stream


ALIVE_NS = 1_000_000_000
"""The time between two reports that the referee still waits for its bots."""


class Waited(NamedTuple):
    """A bot that is to move."""

    bot: str
    waited_us: int
    """Since it was asked."""
    most_us: int
    """How long it is waited for."""


class ProcessWire:
    """The seats of one game, each with the connection to its bot."""

    def __init__(
        self,
        connections: Sequence[BotConnection],
        start_us: int,
        report_alive: Callable[[Waited | None], None] = lambda waited: None,
    ) -> None:
        """`report_alive` is called every `ALIVE_NS` while bots are waited for, with the first of them that is
        to move, if there is one and its clock does not count processor time.
        """
        self._stoppage = StoppageDetector()
        self.began_ns = self._stoppage.looked_ns
        self._seat_wires = [SeatWire(*numbered, self.began_ns) for numbered in enumerate(connections)]
        self._start_ns = start_us * 1000
        self._asked: list[SeatWire] = []
        """The seats that were opened or asked and have not replied; their time runs."""
        self._replies: deque[SeatReply] = deque()
        """What seats have replied and the loop has not taken yet."""
        self._polls: dict[tuple[SeatWire, ...], _Poll] = {}
        """The poll objects, by the seats that are asked; made anew after a change of what streams matter."""
        self._paused = [
            one for one in self._seat_wires if one.connection.process and one.connection.bot.pause
        ]
        """The seats whose bots are paused while they are not asked."""
        self._look_ns = self.began_ns + LOOK_NS
        """When new processes of the bots are to be looked for."""
        self._report_alive = report_alive
        self._alive_ns = self.began_ns + ALIVE_NS
        """When it is to be reported that bots are waited for."""

    def open(self, seat: Seat, description: GameDescription) -> None:
        """Greets a new process first; the game is described once it has answered."""
        if not self._asked:
            self._stoppage.forget()
        seat_wire = self._seat_wires[seat]
        connection = seat_wire.connection
        seat_wire.description = description
        seat_wire.by_cpu = description.control.by_cpu
        self._asked.append(seat_wire)
        connection.session.begin()
        if connection.failure:
            seat_wire.watch.start(time.monotonic_ns(), self._start_ns)
            self._fail(seat_wire, connection.failure)
        elif connection.greeted:
            self._describe(seat_wire, description)
        else:
            connection.greeted = True
            seat_wire.watch.start(time.monotonic_ns(), self._start_ns)
            self._send(seat_wire, connection.session.greet())

    def _describe(self, seat_wire: SeatWire, description: GameDescription) -> None:
        seat_wire.description = None
        session = seat_wire.session
        seat_wire.connection.catch_up()
        seat_wire.watch.start(time.monotonic_ns(), self._start_ns)
        # A failure from before has ended the session, and is told now: the bot did not start.
        if session.failure:
            self._fail(seat_wire, session.failure)
        else:
            self._send(seat_wire, session.open(seat_wire.seat, description))

    def _fail(self, seat_wire: SeatWire, failure: Failure) -> None:
        """Has a failure be the reply of a seat that was just opened or asked."""
        self._reply(seat_wire, failure, seat_wire.watch.began_ns, seat_wire.watch.cpu_ns())

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        """Reads what the seats wrote unasked before anybody's time runs, so that it costs no seat time.
        All of it is a fault or means nothing.

        Bots that are to be paused are stopped and continued here alone: never while a question is open.
        """
        now_ns = self._stoppage.looked_ns
        if now_ns > self._look_ns:
            self._look_ns = now_ns + LOOK_NS
            for seat_wire in self._seat_wires:
                seat_wire.watch.look_again()
        for seat_wire in self._paused:
            if process := seat_wire.connection.process:
                process.resume() if seat_wire.seat in seats else process.pause()  # guard: pause
        for seat in seats:
            seat_wire = self._seat_wires[seat]
            if now_ns > seat_wire.watch.mark_ns:
                seat_wire.watch.mark(now_ns, seat_wire.by_cpu)
            if seat_wire.connection.poll_stdout(0):
                seat_wire.connection.catch_up()  # guard: off-turn-first

    def post(self, seat: Seat, question: Question) -> None:
        """Asks a seat. What the bot wrote before is judged as written before the question."""
        seat_wire = self._seat_wires[seat]
        session, watch = seat_wire.session, seat_wire.watch
        goes_on = question.rejected is not None  # guard: deadline-after-rejection
        if goes_on:
            seat_wire.connection.catch_up()
            self._asked.append(seat_wire)
        failure = session.failure
        data = b"" if failure else session.ask(seat, question)
        if not goes_on:
            now_ns = time.monotonic_ns()
            watch.start(now_ns, question.wait_us * 1000, question.allowance_us * 1000, seat_wire.by_cpu)
            self._asked.append(seat_wire)
        if failure:
            self._fail(seat_wire, failure)
        else:
            self._send(seat_wire, data)
        if goes_on:
            watch.answered()

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        """Sends the legal moves, as fast as the bot reads them."""
        seat_wire = self._seat_wires[seat]
        if not seat_wire.session.failure:
            self._send(seat_wire, seat_wire.session.show_legal(legal))
            seat_wire.watch.answered()

    def close(self, outcome: Outcome, ending: Ending) -> None:
        """Tells every bot of the end, without waiting for room in its pipe."""
        self._asked.clear()
        self._replies.clear()
        for seat_wire in self._seat_wires:
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

    def kept_us(self, seat: Seat, used_us: int) -> int:
        """Returns how long the bot was kept from running in the move that it lost on time, if that is why."""
        return self._seat_wires[seat].watch.kept_us(used_us)

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
            seat_wire.session.extra_output,
            seat_wire.stderr_starting,
            process.take_stderr() if process else StreamEnds(),
        )

    def attend(self, waited_us: int) -> bool:
        """Reads what has come from the bots, without waiting for it, while a person is waited for: to be
        called again and again, with no more than `waited_us` between. Returns whether a reply can be taken.
        """
        self._look(waited_us * 1000)
        self._wait(0)
        return bool(self._replies)

    @property
    def is_asked(self) -> bool:
        """Whether a reply of a bot is still to come."""
        return bool(self._asked or self._replies)

    def next_reply(self) -> SeatReply:
        """Waits until one of the asked seats has replied, or its time is up."""
        replies = self._replies
        while True:
            if not replies:
                self._wait()
            if replies:
                reply = replies.popleft()
                if isinstance(reply.content, ListRequest) and self._is_over(reply.seat):
                    continue  # its time went by while earlier requests were answered
                return reply
            now_ns = self._look(0)  # only now is it known what the referee itself was late by
            for seat_wire in self._asked.copy():
                if silence := self._silence(seat_wire, now_ns):
                    return silence

    def _is_over(self, seat: Seat) -> bool:
        watch = self._seat_wires[seat].watch
        return watch.is_over(time.monotonic_ns() - watch.unread_ns)  # guard: unread-request

    def _silence(self, seat_wire: SeatWire, now_ns: int) -> SeatReply | None:
        """Makes the reply of a seat whose time is up; None if it is not, or something came at last."""
        watch = seat_wire.watch
        if watch.up_us(now_ns) is None:
            return None
        # What was written in time lies there by now, though nobody has looked since.
        self._read(seat_wire)  # guard: last-look
        used_us = watch.up_us(now_ns)
        if self._replies or used_us is None:  # where it said hello, it has the time to get ready
            return None
        self._asked.remove(seat_wire)
        watch.notice_waiting(now_ns)
        cpu_ns = watch.cpu_ns()
        _, timing = watch.measured(now_ns, cpu_ns)
        seat_wire.session.lapse()
        came = seat_wire.connection.what_came(self._start_ns // 1000, timing.computing)
        return SeatReply(seat_wire.seat, Silence(*came), used_us, timing)

    def _read(self, seat_wire: SeatWire) -> None:
        """Reads everything that a bot has written by now."""
        process, session = seat_wire.connection.process, seat_wire.session
        while (
            process and process.stdout_open and not session.failure and (data := process.read()) is not None
        ):
            self._receive(seat_wire, data, time.monotonic_ns(), seat_wire.watch.cpu_ns())

    def _reply(self, seat_wire: SeatWire, content: ReplyContent, wall_ns: int, cpu_ns: int) -> None:
        """Makes the reply of what came from a seat."""
        asked, watch = self._asked, seat_wire.watch
        if seat_wire not in asked:
            return  # a fault behind its answer: the session keeps it for the next question
        if wall_ns - watch.began_ns > SLOW_NS:
            watch.notice_waiting(wall_ns)
        if isinstance(content, Ready):
            if seat_wire.description:
                self._describe(seat_wire, seat_wire.description)
                return
            if seat_wire.connection.process:
                seat_wire.stderr_starting = seat_wire.connection.process.take_stderr()
            watch.look()
            cpu_ns = watch.cpu_ns()
        is_over = not isinstance(content, ListRequest)
        if is_over:
            asked.remove(seat_wire)
        used_us, timing = watch.measured(wall_ns, cpu_ns, is_over)
        self._replies.append(SeatReply(seat_wire.seat, content, used_us, timing))

    def _send(self, seat_wire: SeatWire, data: bytes) -> None:
        """Writes to a bot while its time runs. What the referee was late by until now is not charged, nor a
        stoppage while it writes if the bot has not read that; after this the bot may run while the referee
        waits for a processor.
        """
        self._look(0, seat_wire)  # guard: stopped-before-writing
        connection = seat_wire.connection
        if failure := connection.send(data):
            self._reply(seat_wire, failure, time.monotonic_ns(), seat_wire.watch.cpu_ns())
            return
        if connection.unsent:
            self._polls.clear()
        if time.monotonic_ns() - self._stoppage.looked_ns > LATE_NS:
            self._look(0, None if connection.has_read else seat_wire)

    def _wait(self, slice_ns: int = SLICE_NS) -> None:
        """Waits one slice at most; reads and stamps everything that is ready before any of it is parsed."""
        before_ns = time.monotonic_ns()
        if before_ns > self._alive_ns:
            self._alive_ns = before_ns + ALIVE_NS
            self._wait_on()
        quiet = self._asked.copy()
        for seat_wire in quiet:
            if (left_ns := seat_wire.watch.deadline_ns - before_ns) < slice_ns:
                slice_ns = max(0, left_ns)
        poll = self._polls.get(tuple(quiet)) or self._new_poll()
        ready = poll.wait(-(-slice_ns // 1_000_000))
        read_from_ns = self._look(slice_ns)
        read: list[tuple[SeatWire, bytes, int, int]] = []
        others: list[tuple[SeatWire, BotProcess, int]] = []
        for descriptor, _ in ready:
            seat_wire, process, stream = poll.streams[descriptor]
            if stream != _STDOUT:
                others.append((seat_wire, process, stream))
                continue
            quiet.remove(seat_wire)
            if (data := process.read()) is not None:
                read.append(  # guard: deadline
                    (seat_wire, data, time.monotonic_ns(), seat_wire.watch.cpu_ns())
                )
        for seat_wire in quiet:
            seat_wire.watch.empty_ns = before_ns
        if others:
            self._attend_others(others)
        for seat_wire, data, stamp_ns, cpu_ns in read:
            self._receive(seat_wire, data, stamp_ns, cpu_ns)
            if len(data) < READ_SIZE:
                seat_wire.watch.empty_ns = read_from_ns  # guard: emptied
        if others:
            self._notice_exits(others)

    def _wait_on(self) -> None:
        """Reports that bots are waited for, and notes the processes that they have by now: at `bwrap`, a bot
        that is starting is not the process that was started first.
        """
        moving = (one for one in self._asked if one.session.phase is Phase.ASKED and not one.by_cpu)
        first = next(moving, None)
        self._report_alive(_waited(first) if first else None)
        for seat_wire in self._asked:
            seat_wire.watch.look_again()

    def _new_poll(self) -> _Poll:
        asked = tuple(self._asked)
        poll = self._polls[asked] = _Poll(self._seat_wires, asked)
        return poll

    def _attend_others(self, ready: Sequence[tuple[SeatWire, BotProcess, int]]) -> None:
        """Reads what came on stderr, after the stamps, since somebody may be shown it; and writes on where
        there is room again.
        """
        for seat_wire, process, stream in ready:
            if stream == _STDERR:
                process.drain_stderr()
                if process.stderr_open:
                    continue
            elif stream == _STDIN:
                self._send(seat_wire, b"")
            self._polls.clear()  # it may not be wanted any more

    def _notice_exits(self, ready: Sequence[tuple[SeatWire, BotProcess, int]]) -> None:
        """Takes note of bots that have exited, after what they still wrote."""
        for seat_wire, _, stream in ready:
            if stream == _CONTROL:
                now_ns, cpu_ns = time.monotonic_ns(), seat_wire.watch.cpu_ns()
                for content in seat_wire.connection.final_replies():
                    self._reply(seat_wire, content, now_ns, cpu_ns)
                self._polls.clear()

    def _receive(self, seat_wire: SeatWire, data: bytes, stamp_ns: int, cpu_ns: int) -> None:
        """Makes the replies that are in a chunk of a seat's output."""
        if contents := seat_wire.connection.receive(data):
            if stamp_ns - self._stoppage.looked_ns > LATE_NS:  # it may have been stopped before it read this
                self._look(0)  # guard: stopped-before-reading
            wall_ns = seat_wire.watch.written_ns(stamp_ns, seat_wire.session.more_behind)
            for content in contents:
                self._reply(seat_wire, content, wall_ns, cpu_ns)

    def _look(self, waited_ns: int, writer: SeatWire | None = None) -> int:
        """Reports what the referee was late by since the last look, in which it waited for `waited_ns` at
        most, to the stopwatches of the seats whose time runs. Returns the time of this look.
        """
        stoppage, now_ns = self._stoppage, time.monotonic_ns()
        if now_ns <= stoppage.due_ns:
            stoppage.looked_ns = now_ns
            return now_ns
        looked_ns = stoppage.looked_ns
        late_ns = stoppage.late_ns(waited_ns)
        now_ns = stoppage.looked_ns
        if late_ns:
            for seat_wire in self._asked:
                seat_wire.watch.late(looked_ns, now_ns, late_ns, ours=seat_wire is writer)
        return now_ns


def _waited(seat_wire: SeatWire) -> Waited:
    began_ns, deadline_ns = seat_wire.watch.began_ns, seat_wire.watch.deadline_ns
    waited_us, most_us = (time.monotonic_ns() - began_ns) // 1000, (deadline_ns - began_ns) // 1000
    return Waited(seat_wire.connection.bot.name, waited_us, most_us)
