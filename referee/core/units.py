"""Periods of time and sizes of memory, read from texts and written for people. Pure.

All periods are whole microseconds, all sizes whole bytes.
"""

from __future__ import annotations

import re

from referee.core.errors import TimeControlError
from referee.core.text import shown

_UNITS_US = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
PERIOD = r"([0-9]{1,13})(?:\.([0-9]{1,6}))?(us|ms|s|m|h)"
LONGEST_US = 1000 * _UNITS_US["h"]
"""No period is longer."""


def period(whole: str, part: str | None, unit: str) -> int:
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
    match = re.fullmatch(PERIOD, text)
    if not match:
        raise TimeControlError(
            f"`{shown(text, 80)}` is no time, expected a number and a unit (us, ms, s, m, h)"
        )
    return period(*match.groups())


def show_period(us: int) -> str:
    """A period in the largest unit that is exact."""
    for unit, size in _UNITS_US.items():
        if us and us % size == 0:
            return f"{us // size}{unit}"
    return "0s"
