"""An encounter: a few games of the same bots, one after the other, in the same processes.

It is the unit of work of a match and of a tournament. The bots are started for it and ended after it. A
bot that committed a fault gets a fresh process for its next game, so no game is affected by the one before.
"""

from __future__ import annotations

import contextlib
import gc
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import referee
from referee.core.defaults import START_US
from referee.core.errors import ProcessLostError
from referee.core.text import shown
from referee.core.this_machine import this_machine
from referee.gameplay import hints
from referee.gameplay.api import Failure, Wire
from referee.gameplay.events import Ending, Event, Retired, Seat
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.processes.isolation import reaches_referee
from referee.processes.process import BotStart
from referee.records.played_on import BY_REFEREE, PlayedOn
from referee.records.record import OFF_TURN, GameRecord, Summary, faults
from referee.tournament.idle import IdleBots, OnExit, end_and_report
from referee.wire.connection import BotConnection
from referee.wire.conversation import LAST_KEPT, Conversation
from referee.wire.dialogue import Tap
from referee.wire.process_wire import ProcessWire

NOT_TRIED = Failure(Ending.START, "it failed to start several times in a row, and is not tried again")
FORFEITED = Failure(
    Ending.VOID, "processes of the referee died or hung while it played, and nothing is played"
)

PERSON = Failure(Ending.START, "a person has this seat, and no process is started for it")
"""Of the connection in a seat where no bot is asked."""

OUT = Failure(Ending.OUT, "it committed too many faults, and is not started")

ShowEvent = Callable[[Terms, Event, State[Any]], None]
"""Called with every event of a game and the state after it."""

Join = Callable[[Terms, ProcessWire], Wire]
"""Gives the wire for a game in which persons take part, around the one to its bots."""


def play_encounter(
    bots: Iterable[Bot],
    games: Iterable[Terms],
    show: ShowEvent | None = None,
    tap: Tap | None = None,
    start_us: int = START_US,
    fresh: Collection[str] = (),
    given_up: Collection[str] = (),
    on_exit: OnExit | None = None,
    reused: Collection[str] = (),
    idle: IdleBots | None = None,
    forfeiting: Collection[str] = (),
    out: Collection[str] = (),
    show_life: Callable[[], None] = lambda: None,
    patient: bool = False,
    join: Join | None = None,
) -> Iterator[GameRecord]:
    """Plays the games in their order and yields the record of each. All its processes end with it.

    Bots whose names are in `fresh` get a new process for every game, those in `given_up` none at all; those
    in `forfeiting` and `out` neither, and lose for that. `show_life` is called now and then while bots are
    waited for. Those in `reused` are taken from `idle` if they are there, and put back at the end if they can
    play on; `tap` must then be the same each time, and the owner of `idle` ends them. `patient`: bots have as
    long as they take to exit, unless this is interrupted. With `join`, some of `bots` may be persons.

    Raises `EnvironmentLacksError` where a bot did not start for a reason that is not its own, and
    `ProcessLostError` where one lost since its warden was killed, which it may not have done itself.
    """
    by_name = {bot.name: bot for bot in bots}
    connections: dict[str, BotConnection] = {}
    reused_connections: set[BotConnection] = set()
    """The connections that played before this encounter."""

    starts: dict[str, BotStart] = {}
    """Starts that were requested and have not been waited for yet."""

    def connect(names: Iterable[str]) -> None:
        """Connects to these bots; all that have to be started start at the same time."""
        for name in names:
            if by_name[name].is_person:
                connections[name] = BotConnection(by_name[name], tap, PERSON)
            elif name in forfeiting:
                connections[name] = BotConnection(by_name[name], tap, FORFEITED)
            elif name in out:
                connections[name] = BotConnection(by_name[name], tap, OUT)
            elif connection := idle.take(by_name[name]) if idle and name in reused else None:
                reused_connections.add(connection)
                connections[name] = connection
            elif name in given_up:
                connections[name] = BotConnection(by_name[name], tap, NOT_TRIED)
            else:
                with contextlib.suppress(OSError):  # the connection reports it
                    starts[name] = BotStart(by_name[name])
        for name in names:
            if name not in connections:
                connections[name] = BotConnection(by_name[name], tap, start=starts.pop(name, None))

    try:
        for terms in games:
            connect([name for name in dict.fromkeys(terms.bots) if name not in connections])
            seated = [connections[name] for name in terms.bots]
            served = [connection.served if connection in reused_connections else 0 for connection in seated]
            record = _play(terms, ProcessWire(seated, start_us, show_life), seated, show, join)
            _check_wardens(record, seated)
            for seat, fault in enumerate(faults(record)):
                seated[seat].faulted = bool(fault)  # guard: fresh-after-fault
                seated[seat].served += 1
            # Bots with a fault are ended now, so that the record has the processes that they left behind.
            unfit = {name for name in terms.bots if name in fresh or not connections[name].fit}
            end_and_report([connections.pop(name) for name in unfit], on_exit, patient)
            yield _with_exit_reports(record, seated, served)
        if idle:
            for name in [name for name in connections if name in reused]:
                idle.put(connections.pop(name))
        end_and_report([connections.pop(name) for name in list(connections)], on_exit, patient)
    finally:
        for start in starts.values():
            start.cancel()
        end_and_report(connections.values(), on_exit)


def _check_wardens(record: GameRecord, connections: list[BotConnection]) -> None:
    """Raises `ProcessLostError` where a bot's warden was killed, and the bot with it, and something outside
    may have done it: nothing shows who did. A bot that could have done it and was ready before loses.
    """
    for name, fault, connection in zip(record.terms.bots, faults(record), connections, strict=True):
        if not connection.lost_warden:
            continue
        if fault == Ending.START.word:  # guard: lost-warden
            raise ProcessLostError(f"the warden of bot `{name}` was killed before the bot was ready")
        if fault == Ending.GONE.word and not reaches_referee(connection.bot):  # guard: warden-killed-outside
            raise ProcessLostError(f"the warden of bot `{name}` was killed while the bot played")


def _with_exit_reports(record: GameRecord, connections: list[BotConnection], served: list[int]) -> GameRecord:
    """The record with how many games each process had played before, and, of bots that have ended by now,
    the processes that they left behind, the system calls that they were refused, and their last output.
    """
    for measured, connection, count in zip(record.measured["seats"], connections, served, strict=True):
        if count:
            measured["games_before"] = count
        exit_report = connection.process.exit_report if connection.process else None
        if exit_report:
            measured.update(left_behind(exit_report))
            if exit_report.refused:
                measured["refused_calls"] = dict(exit_report.refused)
    return replace(record, events=tuple(_with_hint(event, connections) for event in record.events))


def _with_hint(event: Event, connections: list[BotConnection]) -> Event:
    match event:
        case Retired(seat, Ending.TIME | Ending.START) if connections[seat].held_back:
            return event._replace(hint=hints.HELD_BACK)
    return event


def left_behind(report: ExitReport) -> dict[str, list[str]]:
    """The processes that a bot left behind, by how they were found; empty for a well-behaved bot."""
    found = {
        "left": report.orphans,
        "escaped": report.escaped,
        "unkillable": report.unkillable,
    }
    return {name: list(map(shown, processes)) for name, processes in found.items() if processes}


class FailedStarts:
    """Counts failed starts: after `LIMIT` in a row a bot is not started again, and loses its games at the
    start.
    """

    LIMIT = 3

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()
        self._given_up: set[str] = set()

    def note(self, game: Summary) -> None:
        """Takes a finished game into account."""
        for name, fault in zip(game.bots, game.faults, strict=True):
            self._in_a_row[name] = self._in_a_row[name] + 1 if fault == Ending.START.word else 0
            (self._given_up.add if self._in_a_row[name] >= self.LIMIT else self._given_up.discard)(name)

    def among(self, names: Iterable[str]) -> frozenset[str]:
        """Which of these bots are no longer started."""
        return frozenset(self._given_up.intersection(names))


def _play(
    terms: Terms,
    wire: ProcessWire,
    connections: list[BotConnection],
    show: ShowEvent | None,
    join: Join | None,
) -> GameRecord:
    events: list[Event] = []

    def watch(event: Event, state: State[Any]) -> None:
        events.append(event)
        if show:
            show(terms, event, state)

    began = datetime.now(UTC)
    if join:  # a person may think for hours, and memory is not to grow meanwhile
        verdict = play(terms, join(terms, wire), seeded_dice(terms), watch)
    else:
        with _garbage_collection_off():
            verdict = play(terms, wire, seeded_dice(terms), watch)
    gone = {event.seat for event in events if isinstance(event, Retired) and event.ending.is_fault}
    measured = {
        "began": began.isoformat(timespec="milliseconds"),
        "mono_us": wire.began_ns // 1000,
        "seats": [
            {
                **_seat_measured(wire, seat),
                **(_last_lines(connections[seat].conversation) if seat in gone else {}),
            }
            for seat in range(len(connections))
        ],
        "referee": referee.__version__,
        "python": platform.python_version(),
        "host": platform.platform(),
        "machine": PlayedOn(*this_machine(), BY_REFEREE)._asdict(),
    }
    return GameRecord(
        terms,
        tuple(events),
        verdict,
        measured,
        terms.game.rules,
        isolation=tuple(connection.bot.isolation for connection in connections),
    )


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Disables garbage collection, which can take many milliseconds, while a game is played."""
    was_on = gc.isenabled()
    gc.disable()  # guard: garbage
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _last_lines(conversation: Conversation) -> dict[str, Any]:
    """The last lines between the referee and a bot that committed a fault."""
    sent = conversation.last_said.splitlines()[-LAST_KEPT:]
    partial = [conversation.partial] if conversation.partial else []
    return {
        "last_sent": [shown(line) for line in sent],
        "last_came": [shown(line) for line in (*conversation.last_heard, *partial)][-LAST_KEPT:],
    }


def _seat_measured(wire: ProcessWire, seat: Seat) -> dict[str, Any]:
    """What was measured of a seat, and what its bot wrote beside its answers; empty parts are left out."""
    aside, starting, playing = wire.aside(seat)
    measured: dict[str, Any] = {}
    times = (
        ("stopped_us", wire.stopped_us(seat)),
        ("cpu_us", wire.cpu_us(seat)),
        *zip(OFF_TURN, wire.off_turn_us(seat), strict=True),
    )
    for name, us in times:
        if us:
            measured[name] = us
    if aside.log or aside.log_dropped:
        measured["log"] = {"lines": aside.log, "dropped": aside.log_dropped}
    if aside.noise_count:
        measured["noise"] = {"lines": aside.noise, "count": aside.noise_count}
    if aside.stale_count:
        measured["stale"] = aside.stale_count
    stderr = {
        when: {"bytes": keep.total, "text": keep.text()}
        for when, keep in (("starting", starting), ("playing", playing))
        if keep.total
    }
    if stderr:
        measured["stderr"] = stderr
    return measured
