"""Time controls and reserve clocks: integer microseconds, pure.

The rule, from the rules of the games: a move has its own allowance; what goes beyond it is taken from
the seat's reserve, in whole steps where there is a step, rounded up and never more than what is left.
Needing more than the reserve holds loses on time. Exactly all of it is in time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from referee.errors import TimeControlError
from referee.text import shown

_UNITS_US = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
_PERIOD = r"([0-9]{1,13})(?:\.([0-9]{1,6}))?(us|ms|s|m|h)"
_CONTROL = re.compile(rf"{_PERIOD}(?:\+{_PERIOD}(?:/{_PERIOD})?)?(?:\^{_PERIOD})?")
_FORM = (
    "MOVE[+RESERVE[/STEP]][^INCREMENT] such as `2s+60s/10s`, with `cpu:` before it for computing time, "
    "or `none`; units us, ms, s, m, h"
)
_CPU = "cpu:"

LONGEST_US = 1000 * _UNITS_US["h"]
"""No part of a time control is longer."""

PATIENCE_US = _UNITS_US["h"]
"""Without a clock a bot that is silent for this long is taken for dead: a match must end."""


def _period(whole: str, part: str | None, unit: str) -> int:
    """Microseconds, exact; no binary floats, in which 0.3 s would become 299 ms."""
    digits = part or ""
    scale: int = 10 ** len(digits)
    us, rest = divmod(int(whole + digits) * _UNITS_US[unit], scale)
    if rest:
        raise TimeControlError(f"`{whole}.{digits}{unit}` is no whole number of microseconds")
    if us > LONGEST_US:
        raise TimeControlError(f"`{whole}{unit}` is too long, expected at most 1000h")
    return us


def parse_period(text: str) -> int:
    """Microseconds of a single period such as `10ms`. Raises `TimeControlError`."""
    match = re.fullmatch(_PERIOD, text)
    if not match:
        raise TimeControlError(
            f"`{shown(text, 80)}` is no time, expected a number and a unit (us, ms, s, m, h)"
        )
    return _period(*match.groups())


def show_period(us: int) -> str:
    """A period in the largest unit that is exact."""
    for unit, size in _UNITS_US.items():
        if us and us % size == 0:
            return f"{us // size}{unit}"
    return "0s"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What a seat gets: per move, reserve, the reserve's step and what each move adds to the reserve."""

    move_us: int
    reserve_us: int = 0
    step_us: int = 0
    """0: the reserve is charged to the microsecond."""
    increment_us: int = 0
    timed: bool = True
    """False for `none`: nothing is charged, and `move_us` is only the referee's patience."""
    by_cpu: bool = False
    """Whether what counts is the time that a bot computes, instead of that on the wall."""

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """A time control from its text. Raises `TimeControlError`."""
        if text == "none":
            return NO_CLOCK
        match = _CONTROL.fullmatch(text.removeprefix(_CPU))
        if not match:
            raise TimeControlError(f"`{shown(text, 80)}` is no time control, expected {_FORM}")
        groups = match.groups()
        parts = [groups[i : i + 3] for i in range(0, 12, 3)]
        move, reserve, step, increment = (_period(*part) if part[0] is not None else 0 for part in parts)
        if move + reserve == 0:
            raise TimeControlError(f"`{text}` leaves no time at all, expected {_FORM}")
        if parts[2][0] is not None and step == 0:
            raise TimeControlError(f"`{text}` has a step of nothing, expected {_FORM}")
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


NO_CLOCK = TimeControl(PATIENCE_US, timed=False)


class Charge(NamedTuple):
    """The arithmetic of one move: time used, what of it was beyond the allowance, what was taken."""

    used_us: int
    over_us: int
    taken_us: int
    reserve_us: int
    """The reserve after the move, its increment included."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A seat's clock between two moves."""

    control: TimeControl
    reserve_us: int

    @classmethod
    def start(cls, control: TimeControl) -> Clock:
        """A clock before the first move."""
        return cls(control, control.reserve_us)

    @property
    def budget_us(self) -> int:
        """All that the next move may take."""
        return self.control.move_us + self.reserve_us

    def late(self, used_us: int, margin_us: int = 0) -> bool:
        """Whether a move that took so long loses on time. The margin widens this test and nothing else."""
        return used_us > self.budget_us + margin_us

    def charge(self, used_us: int, in_time: bool = True) -> Charge:
        """What a move costs, never more than what is left; only one in time earns the increment."""
        over = max(0, used_us - self.control.move_us)
        step = self.control.step_us
        owed = -(-over // step) * step if step else over
        taken = min(owed, self.reserve_us)
        earned = self.control.increment_us if in_time else 0
        return Charge(used_us, over, taken, self.reserve_us - taken + earned)

    def after(self, charge: Charge) -> Clock:
        """The clock after a move that was charged so."""
        return Clock(self.control, charge.reserve_us)

    def left(self, used_us: int) -> tuple[int, int]:
        """Of the allowance and of the reserve, what can still be used after so much of the move."""
        over = max(0, used_us - self.control.move_us)
        return max(0, self.control.move_us - used_us), max(0, self.reserve_us - over)
