"""The default clocks of a check: the game's own, shortened. Pure."""

from __future__ import annotations

from dataclasses import replace

from referee.core.units import TimeControl

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
