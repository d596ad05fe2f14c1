"""Time controls: the time that a seat gets, parsed from text, and written as text. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.core.errors import TimeControlError
from referee.core.text import shown
from referee.core.units import PERIOD, parse_period, period, show_period

_CONTROL = re.compile(rf"{PERIOD}(?:\+{PERIOD}(?:/{PERIOD})?)?(?:\^{PERIOD})?")
_FORM = (
    "MOVE[+RESERVE[/STEP]][^INCREMENT] such as `2s+60s/10s`, with `cpu:` before it for processor time, "
    "or `none`; units us, ms, s, m, h"
)
_CPU = "cpu:"

NO_CLOCK_WAIT_US = parse_period("1h")
"""How long the referee waits for an answer where there is no clock, so that every match ends."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A seat's time: the allowance per move, the reserve, its step, and the increment that each move adds."""

    move_us: int
    reserve_us: int = 0
    step_us: int = 0  # the unit in which the reserve is charged; 0 for exact microseconds
    increment_us: int = 0
    timed: bool = True
    """False for `none`: nothing is charged, and `move_us` is how long the referee waits for an answer."""
    by_cpu: bool = False  # whether the clock counts the bot's processor time instead of wall-clock time

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """The time control that a text describes. Raises `TimeControlError`."""
        if text == "none":
            return NO_CLOCK
        match = _CONTROL.fullmatch(text.removeprefix(_CPU))
        if not match:
            raise TimeControlError(f"`{shown(text, 80)}` is not a time control, expected {_FORM}")
        groups = match.groups()
        parts = [groups[i : i + 3] for i in range(0, 12, 3)]
        move, reserve, step, increment = (period(*part) if part[0] is not None else 0 for part in parts)
        if move + reserve == 0:
            raise TimeControlError(f"`{text}` contains no time, expected {_FORM}")
        if parts[2][0] is not None and step == 0:
            raise TimeControlError(f"`{text}` has a step of 0, expected {_FORM}")
        return cls(move, reserve, step, increment, by_cpu=text.startswith(_CPU))

    def __str__(self) -> str:
        if not self.timed:
            return "none"
        text = (_CPU if self.by_cpu else "") + show_period(self.move_us)
        if self.reserve_us or self.step_us:
            text += f"+{show_period(self.reserve_us)}"
        if self.step_us:
            text += f"/{show_period(self.step_us)}"
        if self.increment_us:
            text += f"^{show_period(self.increment_us)}"
        return text


NO_CLOCK = TimeControl(NO_CLOCK_WAIT_US, timed=False)
