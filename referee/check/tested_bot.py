"""The bot under test: one process of it, the games it plays, and diagnostics when a step fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from referee.check.dialogue_tail import DialogueTail
from referee.check.wires import BotWire, SeatedBot, TimedOut
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Ending, Event, Rejected, Retired, Seat
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.wire.connection import Connection, end_connections
from referee.wire.dialogue import Tap

REJECTED = "the game's page in protocol/games/ lists the reasons; `list` requests the legal moves"

_STDERR_LINES = 8

_STDERR_MAX = 8192
"""Characters that are kept, over all games of a process."""

NewConnection = Callable[[Bot, Tap], Connection]


class Diagnostics(NamedTuple):
    """What was observed of a bot when it failed a step."""

    dialogue: tuple[str, ...]
    """The last lines of the dialogue with the referee."""
    stderr: tuple[str, ...]
    """The last lines that the bot wrote to stderr."""
    process: str
    """How the process ended, in words; empty if it was still running."""


class StepFailed(Exception):
    """The bot failed a step: what happened, a hint for its author, and the diagnostics."""

    def __init__(self, what: str, hint: str, diagnostics: Diagnostics) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.diagnostics = diagnostics


class TestedBot:
    """One process of the bot under test; the end of the `with` block ends it."""

    def __init__(self, bot: Bot, start_us: int, new_connection: NewConnection = Connection) -> None:
        self.dialogue = DialogueTail()
        self.connection = new_connection(bot, self.dialogue)
        self.exit_report: ExitReport | None = None
        """Set once the process has been ended."""
        self._start_us = start_us
        self._stderr = ""
        self._rejection_dialogue: tuple[str, ...] = ()
        """The end of the dialogue when an answer was first rejected."""

    def __enter__(self) -> TestedBot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def seated(self, terms: Terms, seat: Seat) -> SeatedBot:
        """This bot in a seat of a game, for a wire."""
        return SeatedBot(terms, seat, self.connection, self._start_us)

    def expect(self, wire: BotWire, where: str = "", hint: str = "") -> None:
        """Plays a game. Raises `StepFailed` if the bot has a fault or a rejection in it."""
        self.play(wire)
        self.require_no_fault(wire, where, hint)

    def play(self, wire: BotWire) -> None:
        """Plays the game of a wire, whatever its result."""

        def watch(event: Event, state: State[object]) -> None:
            wire.watch(event, state)
            if isinstance(event, Rejected) and event in wire.rejections and not self._rejection_dialogue:
                self._rejection_dialogue = self.dialogue.lines()

        with contextlib.suppress(TimedOut):
            play(wire.terms, wire, seeded_dice(wire.terms), watch)
        _, starting, playing = wire.process_wire.aside(wire.seat)
        # A bot that died between two games may have said why in either.
        self._stderr = (self._stderr + starting.text() + playing.text())[-_STDERR_MAX:]

    def require_no_fault(self, wire: BotWire, where: str = "", hint: str = "") -> None:
        """Raises `StepFailed` if the game of this wire had a fault or a rejection; `where` names the game in
        the message.
        """
        where = f"{where}: " if where else ""
        rejections = wire.rejections
        fault = wire.fault
        if fault and not (rejections and fault.ending is Ending.ILLEGAL):
            detail = f": {shown(fault.detail, 300)}" if fault.detail else ""
            if fault.ending is Ending.TIME and fault.timing.cpu_us:
                detail += f"; it computed for {about(fault.timing.cpu_us)} of {about(fault.timing.wall_us)}"
            raise self.failed(f"{where}the bot {fault.ending.sentence}{detail}", hint or hint_of(fault))
        if rejections:
            first, *others = rejections
            what = f"{where}`{shown(first.text, 80)}` was rejected: {first.reason}, {shown(first.sentence)}"
            if others:
                what += f" (and {len(others)} more of its {wire.answers} answers in this game)"
            raise self.failed(what, hint or REJECTED, self._rejection_dialogue)

    def failed(self, what: str, hint: str, dialogue: tuple[str, ...] = ()) -> StepFailed:
        """A failure of the current step, with the diagnostics as they are now."""
        status: str | None = None
        if self.exit_report:
            status = self.exit_report.status
        elif process := self.connection.process:
            status = process.how_it_ended()
            self._stderr += process.cut().text()
        stderr = [shown(line) for line in self._stderr.split("\n") if line.strip()]
        diagnostics = Diagnostics(
            dialogue or self.dialogue.lines(), tuple(stderr[-_STDERR_LINES:]), status or ""
        )
        return StepFailed(what, hint, diagnostics)

    def end(self) -> None:
        """Ends the process and everything it started, with the grace period of a bot without a fault."""
        process = self.connection.process
        if process is None or self.exit_report:
            return
        end_connections([self.connection])
        self.exit_report = process.exit_report


def hint_of(fault: Retired) -> str:
    """The hint for a fault: its own, or the general one for this ending."""
    return fault.hint or fault.ending.hint
