"""Detects that the referee was not running: stopped, or without a processor."""

from __future__ import annotations

import time

SLICE_NS = 10_000_000
"""The longest wait between two checks whether the referee was running."""

LATE_NS = 5_000_000
"""Lateness that is ordinary, half the default margin; only more counts as a stoppage."""

_REFRESH_NS = 1_000_000
"""The greatest age of the last reading of the referee's own processor time. Reading it takes a system call,
and it is needed only where a gap is suspicious.
"""


class StoppageDetector:
    """Compares the time that passed with the time that the referee computed or waited.

    It is needed at every step of a move, and nearly always the last reading of the processor time is young
    enough: whoever needs it looks at `due_ns`, and sets `looked_ns` where that is still to come.
    """

    def __init__(self) -> None:
        self.looked_ns = 0
        """The time of the last check."""
        self.due_ns = 0
        """Until then nothing can be late by more than is ordinary."""
        self._cpu_ns = 0
        """The processor time at its last reading."""
        self.forget()

    def forget(self) -> int:
        """Begins anew, without what was missed since the last check. Returns the processor time since its
        last reading.
        """
        before_ns, self._cpu_ns = self._cpu_ns, time.process_time_ns()
        # Where the referee is to lose its processor, it does at a system call, such as that reading.
        self.looked_ns = time.monotonic_ns()
        self.due_ns = self.looked_ns + _REFRESH_NS
        return self._cpu_ns - before_ns

    def late_ns(self, waited_ns: int) -> int:
        """Nanoseconds between the last check and this one in which the referee was not running; 0 where that
        is ordinary.

        Since the last check it computed, and waited for `waited_ns` at most. For the rest of the time it was
        stopped, had no processor, or was blocked by a reader of its own output.
        """
        before_ns = self.looked_ns
        computed_ns = self.forget()
        late_ns = self.looked_ns - before_ns - waited_ns - computed_ns
        return late_ns if late_ns > LATE_NS else 0  # guard: stoppages
