"""The wire to processes, without processes: which of their streams it looks at, and when."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from referee.core.units import TimeControl
from referee.gameplay.api import Answer, Failure, GameDescription, LegalMoves, ListRequest, Question, Ready
from referee.gameplay.events import Ending
from referee.games import GAMES
from referee.processes import messages, stamped
from referee.processes.process import BotStart
from referee.processes.program import Program
from referee.wire.connection import BotConnection, end_connections
from referee.wire.process_wire import ProcessWire
from referee.wire.stoppage import LATE_NS
from referee.wire.stopwatch import Stopwatch
from tests.unit.scripted_process import ScriptedPipes, ScriptedStart

HOUR_US = 3_600_000_000
SECOND_US = 1_000_000
SECOND_NS = 1_000_000_000


class Seats:
    """A wire with two seats, whose bots are ready, and the ends of their pipes."""

    def __init__(self) -> None:
        self.bots = [ScriptedPipes(), ScriptedPipes()]
        self.starts = [ScriptedStart(pipes) for pipes in self.bots]
        self.connections = [
            BotConnection(Program(name, ("scripted",), Path("/")), start=cast("BotStart", start))
            for name, start in zip("ab", self.starts, strict=True)
        ]
        self.wire = ProcessWire(self.connections, HOUR_US)
        game = GAMES["blooms"]
        for seat in (0, 1):
            control = TimeControl(HOUR_US)
            self.wire.open(seat, GameDescription("blooms", 1, 2, game.settle({}), control, 1))
        assert [type(self.wire.next_reply().content) for _ in self.bots] == [Ready, Ready]

    def ask(self, seat: int, *news: str) -> None:
        self.wire.catch_up((seat,))
        self.wire.post(seat, Question(news, HOUR_US, 0, HOUR_US))


@pytest.fixture
def seats() -> Iterator[Seats]:
    seats = Seats()
    yield seats
    end_connections(seats.connections)


def test_what_a_pipe_does_not_take_is_written_as_the_bot_reads(seats: Seats) -> None:
    (bot, _), (connection, _) = seats.bots, seats.connections
    seats.ask(0)
    bot.say(b"move 1 L:D5\n")
    assert seats.wire.next_reply().content == Answer("L:D5")
    bot.reads = False
    seats.ask(0, *(f"{number} {'x' * 1000}" for number in range(200)))
    assert connection.unsent
    read = b""
    while connection.unsent:
        before = len(connection.unsent)
        read += os.read(bot.bot_stdin, 1 << 20)
        seats.wire._wait()
        assert len(connection.unsent) < before, "it is written as soon as there is room"
    read += os.read(bot.bot_stdin, 1 << 20)
    assert read.count(b"\nnews ") == 199 and read.endswith(b"\nask 2 3600000 0\n")
    bot.say(b"move 2 L:D4\n")
    assert seats.wire.next_reply().content == Answer("L:D4")


def test_an_exit_is_seen_while_the_output_stays_open(seats: Seats) -> None:
    seats.ask(0)
    seats.bots[0].warden.send(f"{messages.EXITED} 3\n".encode())
    seats.wire._wait(0)
    assert seats.wire._replies, "nobody waits for its time to be up"
    content = seats.wire.next_reply().content
    assert isinstance(content, Failure) and content.ending is Ending.GONE
    assert content.detail == "exited with status 3"


def test_a_move_that_was_written_before_the_exit_counts(seats: Seats) -> None:
    seats.ask(0)
    seats.bots[0].say(b"move 1 L:D4\n")
    seats.bots[0].warden.send(f"{messages.EXITED} 3\n".encode())
    assert seats.wire.next_reply().content == Answer("L:D4")


def test_a_stream_that_was_closed_is_not_looked_at_again(
    seats: Seats, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = seats.connections[1].process
    assert process
    drained: list[None] = []
    drain = process.drain_stderr
    monkeypatch.setattr(process, "drain_stderr", lambda: drained.append(drain()))
    seats.ask(0)
    seats.wire._wait(0)
    seats.starts[1].close_stderr()
    for _ in range(3):
        seats.wire._wait(0)
    assert len(drained) == 1, "else each wait would end at once"


def test_seats_that_answer_at_the_same_time_are_all_heard(seats: Seats) -> None:
    for seat in (0, 1):
        seats.ask(seat)
        seats.bots[seat].say(b"move 1 L:D%d\n" % (seat + 1))
    replies = [seats.wire.next_reply() for _ in seats.bots]
    assert {reply.seat: reply.content for reply in replies} == {0: Answer("L:D1"), 1: Answer("L:D2")}
    assert not seats.wire.is_asked


def test_once_output_was_read_what_is_read_later_is_no_older(seats: Seats) -> None:
    """Also of a bot that writes all the time."""
    seats.ask(0)
    seats.bots[0].say(b"log thinking\n")
    before_ns = time.monotonic_ns()
    seats.wire._wait()
    assert seats.wire._seat_wires[0].watch.empty_ns >= before_ns


@pytest.mark.parametrize("before", ["write", "look", "send", "read"])
def test_a_stoppage_just_before_the_wire_writes_or_reads_is_not_charged(
    seats: Seats, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The referee is stopped for a second once the move has begun, in the system call by which it looks
    whether it was stopped, in the one by which it asks a bot that has not read that, or once it has seen that
    there is output of a bot that then writes on.
    """
    process = seats.connections[0].process
    where, name = {
        "write": (Stopwatch, "start"),
        "look": (time, "process_time_ns"),
        "send": (process, "write"),
        "read": (process, "read"),
    }[before]
    seats.wire._stoppage.due_ns = 0
    seats.bots[0].reads = before != "send"
    done, stopped_ns = getattr(where, name), [0]

    def stopped(*arguments: object, **named: object) -> object:
        result = done(*arguments, **named)
        stopped_ns[0] = SECOND_NS
        return result

    def later(clock: Callable[..., int]) -> Callable[..., int]:
        return lambda *arguments: clock(*arguments) + stopped_ns[0]

    monkeypatch.setattr(where, name, stopped)
    for place, clock in ((time, "monotonic_ns"), (time, "time_ns"), (stamped, "written_ns")):
        monkeypatch.setattr(place, clock, later(getattr(place, clock)))
    seats.ask(0)
    seats.bots[0].say(b"move 1 L:D4\n" + b"log thinking\n" * (before == "read"))
    reply = seats.wire.next_reply()
    assert reply.content == Answer("L:D4")
    assert reply.used_us + reply.timing.stopped_us < 2 * SECOND_NS // 1000, "no time counts as both"
    assert reply.used_us < reply.timing.stopped_us - LATE_NS // 1000


@pytest.mark.skipif(not stamped.TICK_NS, reason="this system does not record when a pipe was written to")
def test_a_request_that_lay_unread_while_the_referee_was_stopped_is_answered(
    seats: Seats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot asks for its legal moves at once, and the referee is stopped until long after the deadline."""
    seats.wire.post(0, Question((), SECOND_US, 0, SECOND_US))
    seats.bots[0].say(b"list 1\n")
    clock, date = time.monotonic_ns, time.time_ns
    monkeypatch.setattr(time, "monotonic_ns", lambda: clock() + 5 * SECOND_NS)
    monkeypatch.setattr(time, "time_ns", lambda: date() + 5 * SECOND_NS)
    assert isinstance(seats.wire.next_reply().content, ListRequest)
    seats.wire.show_legal(0, LegalMoves(("L:D4",), 1, sampled=False))
    seats.bots[0].say(b"move 1 L:D4\n")
    reply = seats.wire.next_reply()
    assert reply.content == Answer("L:D4") and reply.used_us < SECOND_US


def test_a_fault_behind_an_answer_is_the_reply_to_the_next_question(seats: Seats) -> None:
    seats.ask(0)
    seats.bots[0].say(b"move 1 L:D4\nmove 2 L:D5\n")
    assert seats.wire.attend(0)
    assert seats.wire.next_reply().content == Answer("L:D4")
    assert not seats.wire.attend(0), "nobody is asked"
    seats.ask(1)
    seats.bots[1].say(b"move 1 L:D6\n")
    assert seats.wire.next_reply().content == Answer("L:D6")
    seats.ask(0)
    reply = seats.wire.next_reply()
    assert isinstance(reply.content, Failure) and reply.content.ending is Ending.TURN
    assert (reply.seat, reply.used_us) == (0, 0)
    assert not seats.wire.is_asked
