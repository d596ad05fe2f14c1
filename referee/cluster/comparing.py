"""Compares the machines of a cluster: what differs between them, and what that means for a run. Pure."""

from __future__ import annotations

from referee.core.errors import EnvironmentLacksError

ALIKE_PERCENT = 5
LEAST_PERCENT = 50
MOST_PERCENT = 400


def clock_percent(reference: int, speed: int) -> int:
    """The clocks of a machine of this speed, in hundredths of those of a machine of the speed `reference`.

    Raises `EnvironmentLacksError` where the machine is too fast or too slow.
    """
    percent = round(100 * reference / max(1, speed))
    if not LEAST_PERCENT <= percent <= MOST_PERCENT:
        raise EnvironmentLacksError(
            f"clocks would be {percent} % of those of the first machine to make up for the speed, expected "
            f"{LEAST_PERCENT} to {MOST_PERCENT} %"
        )
    return 100 if abs(percent - 100) <= ALIKE_PERCENT else percent
