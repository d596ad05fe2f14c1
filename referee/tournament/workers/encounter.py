"""An encounter, game by game, in the same processes.

It is the unit of work of a match and of a tournament. The bots are started for it and ended after it. A
bot that committed a fault gets a fresh process for its next game, so no game is affected by the one before.
"""

from __future__ import annotations

import contextlib
import gc
import platform
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import referee
from referee.core.errors import KeptWaitingError, ProcessLostError
from referee.core.settings import START_US
from referee.core.text import shown
from referee.core.this_machine import this_machine
from referee.gameplay import hints
from referee.gameplay.api import Failure, Wire
from referee.gameplay.events import Ending, Event, Retired
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Seat, State
from referee.live.feed import Feed
from referee.processes.isolation import reaches_referee
from referee.processes.process import BotStart, ExitReport
from referee.processes.program import Program
from referee.records.record import BY_REFEREE, OFF_TURN, GameRecord, PlayedOn
from referee.wire.connection import BotConnection, end_connections
from referee.wire.dialogue import Tap
from referee.wire.process_wire import ProcessWire, Waited
from referee.wire.referee_session import LAST_KEPT, RefereeSession

NOT_TRIED = Failure(Ending.START, "it failed to start several times in a row, and is not tried again")
FORFEITED = Failure(
    Ending.VOID, "processes of the referee died or hung while it played, and nothing is played"
)

PERSON = Failure(Ending.START, "a person has this seat, and no process is started for it")
"""The failure of the connection in a seat where no bot is asked."""

OUT = Failure(Ending.OUT, "it committed too many faults, and is not started")

ShowEvent = Callable[[Terms, Event, State[Any]], None]
"""Called with every event of a game and the state after it."""

Join = Callable[[Terms, ProcessWire], Wire]
"""Gives the wire for a game in which persons take part, around the one to its bots."""


IDLE_PER_SEAT = 4  # how many idle processes are kept at most, for each seat of the game

OnExit = Callable[[str, ExitReport], None]
"""Called for every bot whose processes were ended, with its name and exit report."""


class IdleBots:
    """The connections of bots that wait for their next encounter, longest wait first."""

    def __init__(self) -> None:
        self._links: dict[Program, BotConnection] = {}

    def take(self, bot: Program) -> BotConnection | None:
        """Removes and returns the connection of a bot, or None."""
        connection = self._links.pop(bot, None)
        if connection and connection.process:
            connection.process.resume()
        return connection

    def put(self, connection: BotConnection) -> None:
        """Adds a connection that can play another game."""
        if connection.process:
            connection.process.pause()
        self._links[connection.bot] = connection

    def pop_beyond(self, room: int) -> list[BotConnection]:
        """Removes and returns the connections that waited longest, so that at most `room` remain."""
        return [self._links.pop(bot) for bot in list(self._links)[: max(0, len(self._links) - room)]]


def end_and_report(
    connections: Iterable[BotConnection], on_exit: OnExit | None, patient: bool = False
) -> None:
    """Ends the processes of some connections together, and reports each exit. `patient`: they have as long as
    they take.
    """
    ending = list(connections)
    end_connections(ending, patient)
    for connection in ending:
        if on_exit and connection.process and connection.process.exit_report:
            ignored_quit = connection.fit and connection.process.ignored_end
            report = connection.process.exit_report._replace(ignored_quit=ignored_quit)
            on_exit(connection.bot.name, report)


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """Which processes the bots of an encounter play in; bots are given by their names."""

    fresh: Collection[str] = ()  # bots that get a new process for every game
    reused: Collection[str] = ()
    """Bots that are taken from `idle` if they are there, and put back at the end if they can play on."""
    idle: IdleBots | None = None
    """Processes of earlier encounters, which had the same tap; the owner of `idle` ends them."""
    failures: Mapping[str, Failure] = field(default_factory=dict)
    """Bots that are not started, with the failure that each of them loses by."""
    patient: bool = False  # whether bots have as long as they take to exit, unless this is interrupted


NEW_PROCESSES = ProcessUse()  # every bot is started for the encounter and ended after it


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that are called while an encounter is played."""

    on_exit: OnExit | None = None
    report_alive: Callable[[Waited | None], None] = lambda waited: None
    """Called now and then while bots are waited for, as `ProcessWire` does."""
    join: Join | None = None  # with it, some of the bots may be persons
    feed: Feed = field(default_factory=Feed)  # what is told of the games while they are played


NO_HOOKS = Hooks()


def play_encounter(
    bots: Iterable[Program],
    games: Iterable[Terms],
    show: ShowEvent | None = None,
    tap: Tap | None = None,
    start_us: int = START_US,
    use: ProcessUse = NEW_PROCESSES,
    hooks: Hooks = NO_HOOKS,
) -> Iterator[GameRecord]:
    """Plays the games in their order and yields the record of each. All its processes end with it, except for
    those that `use` keeps.

    Raises `EnvironmentLacksError` where a bot did not start for a reason that is not its own, and
    `ProcessLostError` where one lost since its warden was killed, `KeptWaitingError` where one lost on time
    since it got no processor.
    """
    connections = _Connections(bots, tap, use, hooks.on_exit)
    try:
        for terms in games:
            seated = connections.of(terms.bots)
            served = [0 if connection in connections.new else connection.served for connection in seated]
            record = _play(terms, ProcessWire(seated, start_us, hooks.report_alive), seated, show, hooks)
            found = record.faults
            _check_wardens(record, found, seated)
            for seat, fault in enumerate(found):
                seated[seat].faulted = bool(fault)  # guard: fresh-after-fault
                seated[seat].served += 1
            # Bots with a fault are ended now, so that the record has the processes that they left behind.
            connections.end_unfit(terms.bots)
            record = _with_exit_reports(record, seated, served)
            yield _with_hints(record, seated) if any(found) else record
        connections.put_back()
        connections.end(use.patient)
    finally:
        connections.end()


class _Connections:
    """The connections to the bots of an encounter, each made for the first game that needs it."""

    def __init__(
        self, bots: Iterable[Program], tap: Tap | None, use: ProcessUse, on_exit: OnExit | None
    ) -> None:
        self._bots = {bot.name: bot for bot in bots}
        self._tap = tap
        self._use = use
        self._on_exit = on_exit
        self._connections: dict[str, BotConnection] = {}
        self._starts: dict[str, BotStart] = {}  # starts that were requested and have not been waited for yet
        self.new: set[BotConnection] = set()  # the connections that did not play before this encounter

    def of(self, names: Sequence[str]) -> list[BotConnection]:
        """The connections of these bots; all that have to be started start at the same time."""
        lacking = [name for name in dict.fromkeys(names) if name not in self._connections]
        for name in lacking:
            bot = self._bots[name]
            failure = PERSON if bot.is_person else self._use.failures.get(name)
            if connection := self._idle(bot) if failure in (None, NOT_TRIED) else None:
                self._connections[name] = connection
            elif failure:
                self._connect(name, failure)
            else:
                with contextlib.suppress(OSError):  # the connection reports it
                    self._starts[name] = BotStart(bot)
        for name in lacking:
            if name not in self._connections:
                self._connect(name)
        return [self._connections[name] for name in names]

    def _idle(self, bot: Program) -> BotConnection | None:
        return self._use.idle.take(bot) if self._use.idle and bot.name in self._use.reused else None

    def _connect(self, name: str, failure: Failure | None = None) -> None:
        connection = BotConnection(self._bots[name], self._tap, failure, start=self._starts.pop(name, None))
        self._connections[name] = connection
        self.new.add(connection)

    def end_unfit(self, names: Iterable[str]) -> None:
        """Ends those of these bots that do not play another game."""
        unfit = {name for name in names if name in self._use.fresh or not self._connections[name].fit}
        end_and_report([self._connections.pop(name) for name in unfit], self._on_exit, self._use.patient)

    def put_back(self) -> None:
        """Keeps the bots that are to be reused for later encounters."""
        if self._use.idle:
            for name in [name for name in self._connections if name in self._use.reused]:
                self._use.idle.put(self._connections.pop(name))

    def end(self, patient: bool = False) -> None:
        """Ends all bots, and those that are being started."""
        while self._starts:
            self._starts.popitem()[1].cancel()
        ending = list(self._connections.values())
        self._connections.clear()
        end_and_report(ending, self._on_exit, patient)


def _check_wardens(record: GameRecord, found: tuple[str, ...], connections: list[BotConnection]) -> None:
    """Raises `ProcessLostError` where a bot lost since its warden, or the program that confines it, was
    killed: nothing shows whether the bot did that or something outside.
    """
    for name, fault, connection in zip(record.terms.bots, found, connections, strict=True):
        if connection.lost_warden and fault in (Ending.START.word, Ending.GONE.word):  # guard: lost-warden
            wrapper = " or its `bwrap` process" if connection.bot.isolation == "bwrap" else ""
            when = "before the bot was ready" if fault == Ending.START.word else "while the bot played"
            able = "; the bot could have done that" if reaches_referee(connection.bot) else ""
            raise ProcessLostError(
                f"the process that watches over bot `{name}`{wrapper} was killed {when}{able}", name
            )


def _check_waiting(terms: Terms, events: list[Event], wire: ProcessWire) -> None:
    """Raises `KeptWaitingError` where a bot lost on time that neither computed nor slept for most of it."""
    for event in events:
        match event:
            case Retired(seat, Ending.TIME, _, used_us) if kept_us := wire.kept_us(seat, used_us):
                raise KeptWaitingError(
                    f"bot `{terms.bots[seat]}` ran out of time, but for {kept_us // 1000} of "
                    f"{used_us // 1000} ms it was kept waiting for a processor"
                )


def _with_exit_reports(record: GameRecord, connections: list[BotConnection], served: list[int]) -> GameRecord:
    """The record with how many games each process had played before, the system calls that it was refused by
    now, and, of bots that have ended, the processes that they left behind.
    """
    for measured, connection, count in zip(record.measured["seats"], connections, served, strict=True):
        if count:
            measured["games_before"] = count
        if not connection.process:
            continue
        connection.process.listen()
        if refused := connection.process.refused():
            measured["refused_calls"] = dict(refused)
        if exit_report := connection.process.exit_report:
            measured.update(left_behind(exit_report))
    return record


def _with_hints(record: GameRecord, connections: list[BotConnection]) -> GameRecord:
    """The record, with hints at answers that came only when the input of a bot was closed."""
    events = list(record.events)
    for number, event in enumerate(events):
        match event:
            case Retired(seat, Ending.TIME | Ending.START) if connections[seat].held_back:
                events[number] = event._replace(hint=hints.HELD_BACK)
    return replace(record, events=tuple(events))


def left_behind(report: ExitReport) -> dict[str, list[str]]:
    """The processes that a bot left behind, by how they were found; empty for a well-behaved bot."""
    found = {
        "left": report.orphans,
        "escaped": report.escaped,
        "unkillable": report.unkillable,
    }
    return {name: list(map(shown, processes)) for name, processes in found.items() if processes}


def names_left(report: ExitReport) -> str:
    """The names of these processes, each once, for people."""
    return ", ".join(dict.fromkeys(name for names in left_behind(report).values() for name in names))


def _play(
    terms: Terms,
    wire: ProcessWire,
    connections: list[BotConnection],
    show: ShowEvent | None,
    hooks: Hooks,
) -> GameRecord:
    events: list[Event] = []
    feed = hooks.feed

    def watch(event: Event, state: State[Any]) -> None:
        events.append(event)
        feed.state = state
        if feed.is_on and time.monotonic_ns() >= feed.due_ns:
            feed.take()
        if show:
            show(terms, event, state)

    began = datetime.now(UTC)
    feed.begin(terms, events)
    if hooks.join:  # a person may think for hours, and memory is not to grow meanwhile
        verdict = play(terms, hooks.join(terms, wire), seeded_dice(terms), watch)
    else:
        with _garbage_collection_off():
            verdict = play(terms, wire, seeded_dice(terms), watch)
        _check_waiting(terms, events, wire)
    feed.end()
    seats = [
        {**_parameters_of(connection.bot), **_seat_measured(wire, seat)}
        for seat, connection in enumerate(connections)
    ]
    measured = {
        "began": began.isoformat(timespec="milliseconds"),
        "mono_us": wire.began_ns // 1000,
        "seats": seats,
        "referee": referee.__version__,
        "python": platform.python_version(),
        "host": platform.platform(),
        "machine": PlayedOn(*this_machine(), BY_REFEREE)._asdict(),
    }
    record = GameRecord(
        terms,
        tuple(events),
        verdict,
        measured,
        terms.game.rules,
        tuple(connection.bot.isolation for connection in connections),
    )
    for fault, seat, connection in zip(record.faults, seats, connections, strict=True):
        if fault:
            seat.update(_last_lines(connection.session))
    return record


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


def _last_lines(session: RefereeSession) -> dict[str, Any]:
    """The last lines between the referee and a bot that committed a fault."""
    sent = session.last_sent.splitlines()[-LAST_KEPT:]
    partial = [session.partial] if session.partial else []
    return {
        "last_sent": [shown(line) for line in sent],
        "last_came": [shown(line) for line in (*session.last_received, *partial)][-LAST_KEPT:],
    }


def _parameters_of(bot: Program) -> dict[str, Any]:
    return {"parameters": dict(bot.parameters)} if bot.parameters else {}


def _seat_measured(wire: ProcessWire, seat: Seat) -> dict[str, Any]:
    """Returns the measurements of a seat, and what its bot wrote besides its answers; empty parts are left
    out.
    """
    extra_output, starting, playing = wire.extra_output(seat)
    measured: dict[str, Any] = {}
    times = (
        ("stopped_us", wire.stopped_us(seat)),
        ("cpu_us", wire.cpu_us(seat)),
        *zip(OFF_TURN, wire.off_turn_us(seat), strict=True),
    )
    for name, us in times:
        if us:
            measured[name] = us
    if extra_output.log or extra_output.log_dropped:
        asked = [[number, len(list(lines))] for number, lines in groupby(extra_output.log_asked)]
        measured["log"] = {"lines": extra_output.log, "dropped": extra_output.log_dropped, "asked": asked}
    if extra_output.noise_count:
        measured["noise"] = {"lines": extra_output.noise, "count": extra_output.noise_count}
    if extra_output.stale_count:
        measured["stale"] = extra_output.stale_count
    stderr = {
        when: {
            "bytes": keep.total,
            "text": keep.text(),
            "asked": [[number, len(text)] for number, text in keep.parts()],
        }
        for when, keep in (("starting", starting), ("playing", playing))
        if keep.total
    }
    if stderr:
        measured["stderr"] = stderr
    return measured
