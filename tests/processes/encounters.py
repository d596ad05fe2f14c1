"""Bad bots for encounters with real processes, and clocks that leave nothing to chance."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from referee.gameplay.api import SeatReply
from referee.processes.program import Program
from referee.wire.process_wire import ProcessWire, SeatWire
from tests.command import BAD

MARGIN_US = 10_000

LONG = "1h"
"""The clock of a bot that is not at fault: it is in time however busy the machine is."""

SHORT = "20ms"
"""The clock of a bot that never answers, and so is late however fast the machine is."""

LONG_US = 3_600_000_000
"""How long bots that are not at fault have to start."""


def bot(name: str, *vice: str) -> Program:
    return Program(name, (*shlex.split(BAD), *vice), Path.cwd())


def time_is_up_once(
    monkeypatch: pytest.MonkeyPatch, done: Callable[[SeatWire], object], bot: str | None = None
) -> None:
    """Has the time of a seat be up once this is true of it, and not before, as if its clock had run out: of
    the seat of a bot, or of any.

    For a bot that does something before its time is up: no clock is both long enough for that on a busy
    machine and short enough for a test.
    """
    judged = ProcessWire._silence

    def silence(wire: ProcessWire, seat_wire: SeatWire, now_ns: int) -> SeatReply | None:
        if bot not in (None, seat_wire.connection.bot.name) or not done(seat_wire):
            return None
        seat_wire.watch.deadline_ns = 0
        reply = judged(wire, seat_wire, now_ns)
        return reply and replace(reply, used_us=reply.used_us + LONG_US + MARGIN_US)

    monkeypatch.setattr(ProcessWire, "_silence", silence)
