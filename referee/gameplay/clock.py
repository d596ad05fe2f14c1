"""Reserve clocks: integer microseconds. Pure.

The rule, from the rules of the games: a move has its own allowance; what goes beyond it is taken from
the seat's reserve, in whole steps where there is a step, rounded up and never more than what remains.
Needing more than the reserve holds loses on time. Exactly all of it is in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from referee.core.units import TimeControl
from referee.core.value import made


class Charge(NamedTuple):
    """The arithmetic of one move: time used, what of it was beyond the allowance, what was taken."""

    used_us: int
    over_us: int
    taken_us: int
    reserve_us: int  # the reserve after the move, its increment included


@dataclass(frozen=True, slots=True)
class SeatClock:
    """A seat's clock between two moves."""

    control: TimeControl
    reserve_us: int

    @classmethod
    def start(cls, control: TimeControl) -> SeatClock:
        """A clock before the first move."""
        return cls(control, control.reserve_us)

    def wait_us(self, margin_us: int = 0) -> int:
        """How long the next move may take, and is waited for: its allowance and the reserve. The margin is
        added here and nowhere else; using it costs no more than the reserve.
        """
        return self.control.move_us + self.reserve_us + margin_us  # guard: margin

    def charge(self, used_us: int, in_time: bool = True) -> Charge:
        """Charges a move, at most what remains; only a move in time earns the increment."""
        control = self.control
        earned = control.increment_us if in_time else 0
        over = used_us - control.move_us
        if over <= 0:
            return made(Charge, (used_us, 0, 0, self.reserve_us + earned))
        step = control.step_us
        owed = -(-over // step) * step if step else over
        taken = min(owed, self.reserve_us)
        return Charge(used_us, over, taken, self.reserve_us - taken + earned)

    def after(self, charge: Charge) -> SeatClock:
        """The clock after a move that was charged so."""
        return SeatClock(self.control, charge.reserve_us)

    def remaining_us(self, used_us: int) -> tuple[int, int]:
        """Returns what remains of the allowance and of the reserve at this time of the move."""
        over = max(0, used_us - self.control.move_us)
        return max(0, self.control.move_us - used_us), max(0, self.reserve_us - over)
