"""The bot that is checked, in a process of its own, with the evidence of what it did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from referee.check.table import Sitting, Table, TimeIsUp
from referee.check.witness import Witness
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Ending, Event, Rejected, Retired, Seat
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.wire.link import Link, Tap, end_links

REJECTED = "the page of the game in protocol/games/ lists the reasons; `list` asks for the legal moves"

_STDERR_LINES = 8

_STDERR_MOST = 8192
"""Characters that are kept over all games of a process."""

NewLink = Callable[[Bot, Tap], Link]


class Evidence(NamedTuple):
    """What there is to see of a failure."""

    dialogue: tuple[str, ...]
    """The last lines that passed."""
    stderr: tuple[str, ...]
    """Its last lines there."""
    process: str
    """How it ended, for people; empty while it lives."""


class Failed(Exception):
    """A step that the bot failed, and what its author needs to know."""

    def __init__(self, what: str, hint: str, evidence: Evidence) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.evidence = evidence


class Subject:
    """One process of the bot; it is ended with the `with` block."""

    def __init__(self, bot: Bot, start_us: int, new_link: NewLink = Link) -> None:
        self.witness = Witness()
        self.link = new_link(bot, self.witness)
        self.exit_report: ExitReport | None = None
        """There when it was ended."""
        self._start_us = start_us
        self._stderr = ""
        self._rejection: tuple[str, ...] = ()
        """The dialogue when an answer was first rejected."""

    def __enter__(self) -> Subject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def sits(self, terms: Terms, seat: Seat) -> Sitting:
        """What a table needs to know."""
        return Sitting(terms, seat, self.link, self._start_us)

    def expect(self, table: Table, where: str = "", hint: str = "") -> None:
        """Plays a game without a fault and without a rejection. Raises `Failed`."""
        self.play(table)
        self.require_no_fault(table, where, hint)

    def play(self, table: Table) -> None:
        """Plays the game of a table, whatever comes of it."""

        def watch(event: Event, state: State[object]) -> None:
            table.watch(event, state)
            if isinstance(event, Rejected) and event in table.rejections and not self._rejection:
                self._rejection = self.witness.lines()

        with contextlib.suppress(TimeIsUp):
            play(table.terms, table, seeded_dice(table.terms), watch)
        _, starting, playing = table.pipes.aside(table.seat)
        # A bot that died between two games may have said why in either.
        self._stderr = (self._stderr + starting.text() + playing.text())[-_STDERR_MOST:]

    def require_no_fault(self, table: Table, where: str = "", hint: str = "") -> None:
        """Raises `Failed` where the game that was played had a fault or a rejection; `where` says in which
        game that was.
        """
        where = f"{where}: " if where else ""
        rejections = table.rejections
        fault = table.fault
        if fault and not (rejections and fault.ending is Ending.ILLEGAL):
            detail = f": {shown(fault.detail, 300)}" if fault.detail else ""
            if fault.ending is Ending.TIME and fault.timing.cpu_us:
                detail += f"; it computed for {about(fault.timing.cpu_us)} of {about(fault.timing.wall_us)}"
            raise self.failed(f"{where}it {fault.ending.sentence}{detail}", hint or hint_of(fault))
        if rejections:
            first, *others = rejections
            what = f"{where}`{shown(first.text, 80)}` was rejected: {first.reason}, {shown(first.sentence)}"
            if others:
                what += f" (and {len(others)} more of its {table.answers} answers in this game)"
            raise self.failed(what, hint or REJECTED, self._rejection)

    def failed(self, what: str, hint: str, dialogue: tuple[str, ...] = ()) -> Failed:
        """A failure, with the evidence as it is now."""
        status: str | None = None
        if self.exit_report:
            status = self.exit_report.status
        elif process := self.link.process:
            status = process.how_it_ended()
            self._stderr += process.cut().text()
        stderr = [shown(line) for line in self._stderr.split("\n") if line.strip()]
        evidence = Evidence(dialogue or self.witness.lines(), tuple(stderr[-_STDERR_LINES:]), status or "")
        return Failed(what, hint, evidence)

    def end(self) -> None:
        """Ends the process and all that it started; it has the grace of one that is at no fault."""
        process = self.link.process
        if process is None or self.exit_report:
            return
        end_links([self.link])
        self.exit_report = process.exit_report


def hint_of(fault: Retired) -> str:
    """What may help, as far as is known."""
    return fault.hint or fault.ending.hint
