"""Times and sizes of memory: parsed from text, and written as text. Pure.

All periods are whole microseconds, all sizes whole bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from referee.core.errors import TimeControlError, UsageError
from referee.core.text import shown

_UNITS_US = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
PERIOD = r"([0-9]{1,13})(?:\.([0-9]{1,6}))?(us|ms|s|m|h)"
LONGEST_US = 1000 * _UNITS_US["h"]  # the longest period that is accepted


def period(whole: str, part: str | None, unit: str) -> int:
    """A period in microseconds, computed without binary floats, in which 0.3 s would become 299 ms.

    Raises `TimeControlError` for fractions of a microsecond and for more than `LONGEST_US`."""
    digits = part or ""
    scale: int = 10 ** len(digits)
    us, rest = divmod(int(whole + digits) * _UNITS_US[unit], scale)
    if rest:
        raise TimeControlError(f"`{whole}.{digits}{unit}` is not a whole number of microseconds")
    if us > LONGEST_US:
        raise TimeControlError(f"`{whole}{unit}` is too long, expected at most 1000h")
    return us


def parse_period(text: str) -> int:
    """The microseconds of a period such as `10ms`. Raises `TimeControlError`."""
    match = re.fullmatch(PERIOD, text)
    if not match:
        raise TimeControlError(
            f"`{shown(text, 80)}` is not a time, expected a number and a unit "
            "(us, ms, s, m, h), such as `10ms`"
        )
    return period(*match.groups())


def show_period(us: int) -> str:
    """A period in the largest unit that is exact."""
    for unit, size in _UNITS_US.items():
        if us and us % size == 0:
            return f"{us // size}{unit}"
    return "0s"


def seconds(us: int) -> str:
    """Microseconds as seconds, exact and without needless zeros, such as `0.25 s`."""
    whole, part = divmod(us, 1_000_000)
    return f"{whole}.{part:06d}".rstrip("0").rstrip(".") + " s"


def about(us: int) -> str:
    """A duration for people, to two or three figures: from `850 µs` and `3.2 ms` to `1.5 h` and `12 days`."""
    if us < 1_000:
        return f"{us} µs"
    if us < 1_000_000:
        return f"{us / 1_000:.1f} ms" if us < 10_000 else f"{us / 1_000:.0f} ms"
    if us < 90_000_000:
        return f"{us / 1_000_000:.1f} s" if us < 10_000_000 else f"{us / 1_000_000:.0f} s"
    minutes, hours = us / _UNITS_US["m"], us / _UNITS_US["h"]
    if minutes < 90:
        return f"{minutes:.0f} min"
    if hours < 72:
        return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"
    return f"{hours / 24:,.0f} days"


def about_seconds(us: int) -> str:
    """A duration that is estimated, for people: as `about` has it, but in whole seconds, from `1 s`."""
    return f"{max(1, round(us / 1_000_000))} s" if us < 10_000_000 else about(us)


def in_minutes(us: int) -> str:
    """A duration in whole minutes and seconds, such as `53 s` or `11 min 30 s`."""
    minutes, seconds = divmod(us // 1_000_000, 60)
    return " ".join([f"{minutes:,} min"] * (minutes > 0) + [f"{seconds} s"] * (seconds > 0 or not minutes))


_SIZES = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
LARGEST_SIZE = 1 << 50


def parse_size(text: str) -> int:
    """The bytes of a size such as `512MB`; a MB is 2 to the 20 bytes. Raises `UsageError`."""
    match = re.fullmatch(r"([0-9]{1,9})(KB|MB|GB)", text)
    size = int(match[1]) * _SIZES[match[2]] if match else 0
    if not 0 < size <= LARGEST_SIZE:
        raise UsageError(f"`{shown(text, 40)}` is not a size, expected one such as `512MB`")
    return size


def show_size(size: int) -> str:
    """A size in the largest unit that is exact, in the form that `parse_size` reads."""
    unit = max((unit for unit in _SIZES if size % _SIZES[unit] == 0), key=_SIZES.__getitem__)
    return f"{size // _SIZES[unit]}{unit}"


def about_size(size: int) -> str:
    """A size for people, such as `85 KB`, `3.5 MB` or `12 GB`."""
    unit = next((unit for unit in ("GB", "MB") if size >= _SIZES[unit]), "KB")
    count = size / _SIZES[unit]
    return f"{count:.1f} {unit}" if 0 < count < 10 else f"{count:.0f} {unit}"


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
    @lru_cache(maxsize=100)  # games share clocks
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
