"""Detects that the referee itself was not running: stopped, or without a processor."""

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
    """Compares the time that passed with the time that the referee computed or waited."""

    def __init__(self) -> None:
        self.looked_ns = self._read_ns = time.monotonic_ns()
        """The times of the last check and of the last reading of the processor time."""
        self._cpu_ns = time.process_time_ns()

    def look(self) -> None:
        """Forgets what was missed since the last check, where nobody's time ran meanwhile."""
        now_ns = time.monotonic_ns()
        if now_ns - self.looked_ns > LATE_NS:
            self.looked_ns = self._read_ns = now_ns
            self._cpu_ns = time.process_time_ns()

    def late_ns(self, now_ns: int, waited_ns: int) -> int:
        """Nanoseconds since the last check in which the referee was not running; 0 where that is ordinary.

        Since the last check it computed, and waited for `waited_ns` at most. For the rest of the time it was
        stopped, had no processor, or was blocked by a reader of its own output.
        """
        gap_ns = now_ns - self.looked_ns - waited_ns
        self.looked_ns = now_ns
        if gap_ns <= LATE_NS and now_ns - self._read_ns <= _REFRESH_NS:
            return 0
        cpu_ns = time.process_time_ns()
        late_ns = gap_ns - (cpu_ns - self._cpu_ns)
        self._read_ns, self._cpu_ns = now_ns, cpu_ns
        return late_ns if late_ns > LATE_NS else 0  # guard: stoppages
