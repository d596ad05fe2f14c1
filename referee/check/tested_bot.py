"""The bot under test: the settings of its check, each process of it with its games, and what is known when
a step fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, NamedTuple

from referee.check import advice
from referee.check.advice import Remarks, of_noise, of_stale_answers
from referee.check.wires import BotWire, DialogueTail, HouseWire, SeatedBot, TimedOut
from referee.core.errors import GameOptionError
from referee.core.seeds import game_seed
from referee.core.text import shown
from referee.core.units import TimeControl, about
from referee.gameplay.events import Ending, Moved, Retired
from referee.gameplay.hints import gone, of_rejections
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import ChoiceOption, Game, Option, Options, Seat
from referee.processes.process import ExitReport
from referee.processes.program import Program
from referee.wire.connection import BotConnection, end_connections
from referee.wire.dialogue import Tap

_STDERR_LINES = 16
"""The last lines of stderr that are shown: a stack trace with the line that says what was wrong."""

_STDERR_MAX = 8192  # characters that are kept, over all games of a process

NewConnection = Callable[[Program, Tap], BotConnection]


class Diagnostics(NamedTuple):
    """What was observed of a bot when it failed a step."""

    dialogue: tuple[str, ...]  # the last lines of the dialogue with the referee
    stderr: tuple[str, ...]  # the last lines that the bot wrote to stderr
    process: str  # how the process ended, in words, or that it was still running or was not started


class StepFailed(Exception):
    """The bot failed a step: what happened, a hint for its author, and the diagnostics.

    Failures of the same cause, where it is known, are the same mistake.
    """

    def __init__(self, what: str, hint: str, diagnostics: Diagnostics, cause: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.diagnostics = diagnostics
        self.cause = cause


class TestedBot:
    """One process of the bot under test; the end of the `with` block ends it."""

    def __init__(
        self, bot: Program, start_us: int, remarks: Remarks, new_connection: NewConnection = BotConnection
    ) -> None:
        self.dialogue = DialogueTail()
        self.connection = new_connection(bot, self.dialogue)
        self.exit_report: ExitReport | None = None  # set once the process has been ended
        self._start_us = start_us
        self._remarks = remarks
        self._may_cross = False
        """Whether answers to closed questions may come in this game: also those of the game before."""
        self._stderr = ""

    def __enter__(self) -> TestedBot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def seated(self, terms: Terms, seat: Seat) -> SeatedBot:
        """This bot in a seat of a game, for a wire."""
        return SeatedBot(terms, seat, self.connection, self.dialogue, self._start_us)

    def expect(self, wire: BotWire, where: str = "", hint: str = "") -> None:
        """Plays a game. Raises `StepFailed` if the bot has a fault or a rejection in it."""
        self.play(wire)
        self.require_no_fault(wire, where, hint)

    def play(self, wire: BotWire) -> None:
        """Plays the game of a wire, whatever its result."""
        with contextlib.suppress(TimedOut):
            play(wire.terms, wire, seeded_dice(wire.terms), wire.watch)
        extra_output, starting, playing = wire.process_wire.extra_output(wire.seat)
        # A bot that died between two games may have said why in either.
        self._stderr = (self._stderr + starting.text() + playing.text())[-_STDERR_MAX:]
        if wire.fault:
            return
        if self.dialogue.noise_count:
            self._remarks.add(of_noise(self.dialogue.noise, self.dialogue.noise_count))
        self._may_cross |= wire.may_cross
        if extra_output.stale_count and not self._may_cross:
            self._remarks.add(of_stale_answers(extra_output.stale_count))

    def require_no_fault(self, wire: BotWire, where: str = "", hint: str = "") -> None:
        """Raises `StepFailed` if the game of this wire had a fault or a rejection; `where` names the game in
        the message.
        """
        where = f"{where}: " if where else ""
        fault = wire.fault
        if fault and not (wire.rejections and fault.ending is Ending.ILLEGAL):
            raise self._fault_failure(fault, wire, where, hint)
        if wire.rejections:
            raise self._rejection_failure(wire, where, hint)

    def _fault_failure(self, fault: Retired, wire: BotWire, where: str, hint: str) -> StepFailed:
        detail = f": {shown(fault.detail, 300)}" if fault.detail else ""
        if fault.ending is Ending.TIME and fault.timing.cpu_us:
            detail += f"; it computed for {about(fault.timing.cpu_us)} of {about(fault.timing.wall_us)}"
        what = f"{where}the bot {fault.ending.sentence}{detail}"
        failure = self.failed(what, hint or self.hint_of(fault))
        if fault.ending in advice.CRASHED:
            stderr = failure.diagnostics.stderr
            failure.cause = " ".join([fault.detail, *stderr[-1:]])
            crash = gone(False, None, self._stderr, (), self.connection.bot.isolation)
            failure.hint = f"{crash}; {hint}" if crash and hint else crash or failure.hint
        else:
            failure.cause = f"{fault.detail} of {wire.terms.controls[wire.seat]}"
        return failure

    def _rejection_failure(self, wire: BotWire, where: str, hint: str) -> StepFailed:
        first, *others = wire.rejections
        what = f"{where}`{shown(first.text, 80)}` was rejected: {first.reason}, {shown(first.sentence)}"
        hint = hint or of_rejections(wire.rejections, wire.terms.game.slug)
        if others and {one.text for one in others} == {first.text}:
            what += f"; the bot sent it {len(wire.rejections)} times"
        elif others:
            what += f" (and {len(others)} more of its {wire.answers} answers in this game)"
        return self.failed(what, hint, wire.rejection_dialogue, f"rejected {first.reason}")

    def hint_of(self, fault: Retired) -> str:
        """The hint for a fault: its own, or one on the line that was at fault, or that of the ending."""
        session = self.connection.session
        breach = ""
        if session.failure and session.failure.ending in (Ending.PROTOCOL, Ending.TURN):
            line = session.last_received[-1] if session.last_received else b""
            breach = advice.of_breach(line, session.asked)
        return fault.hint or breach or fault.ending.hint

    def stderr_lines(self) -> tuple[str, ...]:
        """The last lines that the bot wrote to stderr, with their indentation."""
        lines = [shown(line.rstrip().expandtabs(4)) for line in self._stderr.split("\n") if line.strip()]
        return tuple(lines[-_STDERR_LINES:])

    def failed(self, what: str, hint: str, dialogue: tuple[str, ...] = (), cause: str = "") -> StepFailed:
        """A failure of the current step, with the diagnostics as they are now."""
        status = "was not started"
        if self.exit_report:
            status = self.exit_report.status
        elif process := self.connection.process:
            status = process.how_it_ended() or "was still running"
            self._stderr += process.take_stderr().text()
        diagnostics = Diagnostics(dialogue or self.dialogue.lines(), self.stderr_lines(), status)
        return StepFailed(what, hint, diagnostics, cause)

    def end(self) -> None:
        """Ends the process and everything it started, with the grace period of a bot without a fault."""
        process = self.connection.process
        if process is None or self.exit_report:
            return
        try:
            end_connections([self.connection])
        finally:  # a signal may interrupt the waiting, but the process is ended all the same, and only once
            self._stderr += process.complaints.text()
            self.exit_report = process.exit_report


SCALE = 30  # by which the allowance of the game's own clock is divided for the clock of most steps

_SHORTER = 2 * SCALE  # by which it is divided for the second clock, which has no reserve either

_SHORTEST = 4 * SCALE  # by which all times are divided for the third clock, which has a reserve

_MIN_US = 500_000
"""What every scaled clock gives for a move, unless the game's own gives less: some runtimes start slowly."""

_UNTIMED = TimeControl.parse("60s")  # stands for the clock of a game that has none


def scaled_clocks(own: TimeControl) -> tuple[TimeControl, ...]:
    """The clocks for a check of a game with this clock; all steps but one use the first."""
    own = own if own.timed else _UNTIMED
    whole = TimeControl(
        _scaled_us(own.move_us, _SHORTEST),
        own.reserve_us // _SHORTEST // 1000 * 1000,
        own.step_us // _SHORTEST // 1000 * 1000,
        own.increment_us // _SHORTEST // 1000 * 1000,
        by_cpu=own.by_cpu,
    )
    allowance_us = own.move_us or own.reserve_us // 10
    bare = [
        replace(whole, move_us=_scaled_us(allowance_us, scale), reserve_us=0, step_us=0, increment_us=0)
        for scale in (SCALE, _SHORTER)
    ]
    return (*bare, whole) if whole.reserve_us else tuple(bare)


def _scaled_us(us: int, scale: int) -> int:
    return max(us // scale // 1000 * 1000, min(us, _MIN_US))


_MAX_TRIES = 50  # how many games are tried to find one in which the bot is asked often enough


@dataclass(frozen=True, eq=False)
class CheckSettings:
    """The bot under test and everything that is fixed before the first step."""

    bot: Program
    game: Game[Any]
    given_options: Mapping[str, str]  # the options of the game that the user gave
    seed: str
    clocks: tuple[TimeControl, ...]
    """The clocks that the bot must keep; steps that do not test time use the first one."""
    start_us: int
    memory_bytes: int | None  # the limit for the bot's largest process; None is no limit
    scale: int = 0
    """By which the game's own clock was divided for the first of the clocks; 0 where clocks were given."""
    remarks: Remarks = field(default_factory=Remarks)
    """What was noticed that is no failure, from where the runner takes it."""

    @property
    def options(self) -> Options:
        """The game's options."""
        return self.game.settle(self.given_options)

    @property
    def seats(self) -> int:
        """The number of seats."""
        return self.game.seats(self.options)

    def start(self, new_connection: NewConnection = BotConnection) -> TestedBot:
        """A new process of the bot."""
        return TestedBot(self.bot, self.start_us, self.remarks, new_connection)

    def terms(self, name: str, options: Options | None = None, control: TimeControl | None = None) -> Terms:
        """The terms of a game; the same name gives the same game."""
        options = self.options if options is None else options
        seats = self.game.seats(options)
        return Terms(
            name,
            self.game,
            options,
            (self.bot.name,) * seats,
            (control or self.clocks[0],) * seats,
            game_seed(self.seed, name),
            game_seed(self.seed, f"{name} shared"),
        )

    def terms_with_questions(
        self, name: str, seat: Seat, questions: int, control: TimeControl | None = None
    ) -> Terms:
        """The terms of a game in which this seat gets this many questions if the house player has all seats.

        Several games are tried, as a seat may be asked rarely in a game with chance.
        """
        for number in range(_MAX_TRIES):
            terms = self.terms(f"{name} {number}", control=control)
            if len(house_moves(terms, seat)) >= questions:
                break
        return terms

    def option_sets(self) -> Iterator[Options]:
        """The options as given; if none were given, also values next to each option's default."""
        yield self.options
        if not self.given_options:
            for option in self.game.options:
                for value in _neighbours(option):
                    yield self.game.settle({option.name: value})


def house_moves(terms: Terms, seat: Seat) -> list[Moved]:
    """The moves of a seat in a game in which the house player plays all seats."""
    wire = HouseWire(terms)
    wire.play()
    return [event for event in wire.events if isinstance(event, Moved) and event.seat == seat]


def _neighbours(option: Option) -> Iterator[str]:
    """Values next to an option's default: the next lower and the next higher number, or the other words."""
    if isinstance(option, ChoiceOption):
        yield from option.values[1:]
    elif isinstance(option.default, int):
        for side in (-1, 1):
            for far in (1, 2):  # some options take odd numbers only
                value = str(option.default + side * far)
                if _is_valid(option, value):
                    yield value
                    break


def _is_valid(option: Option, value: str) -> bool:
    try:
        option.read(value)
    except GameOptionError:
        return False
    return True
