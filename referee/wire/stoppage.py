"""Whether the referee itself was running: it notices afterwards when it was stopped or got no processor."""

from __future__ import annotations

import time

SLICE_NS = 10_000_000
"""The referee waits for so long at most before it looks whether it is running."""

LATE_NS = 5_000_000
"""A slice may end late by so much and still be ordinary; half the default margin."""

_REFRESH_NS = 1_000_000
"""So old may the reading of the referee's own computing time be: reading it costs as much as a move's rules,
and it is needed only where a gap is suspicious.
"""


class StoppageDetector:
    """Compares the time that passed with what the referee computed and waited for meanwhile."""

    def __init__(self) -> None:
        self.looked_ns = self._read_ns = time.monotonic_ns()
        """When it was last looked, and when the computing time was last read."""
        self._cpu_ns = time.process_time_ns()

    def late_ns(self, now_ns: int, waited_ns: int) -> int:
        """For how long the referee was not running since the last look; 0 where that is ordinary.

        Since the last look it computed, and waited for `waited_ns` at most. What passed beyond that it was
        stopped, starved, or held up by who reads its own output.
        """
        gap_ns = now_ns - self.looked_ns - waited_ns
        self.looked_ns = now_ns
        if gap_ns <= LATE_NS and now_ns - self._read_ns <= _REFRESH_NS:
            return 0
        cpu_ns = time.process_time_ns()
        late_ns = gap_ns - (cpu_ns - self._cpu_ns)
        self._read_ns, self._cpu_ns = now_ns, cpu_ns
        return late_ns if late_ns > LATE_NS else 0  # guard: stoppages
