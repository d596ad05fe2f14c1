"""How much a bot has computed: the processor time of its process and of all that it started. Linux only.

The kernel has a clock for each process, exact to the nanosecond and cheap to read. What a process had
computed when it ended is added to its parent's account, which is kept in ticks of some milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from referee.processes.warden import descendants

AVAILABLE = sys.platform == "linux" and Path(f"/proc/self/task/{os.getpid()}/children").exists()

_TICK_NS = 1_000_000_000 // (os.sysconf("SC_CLK_TCK") if AVAILABLE else 100)


class TreeClock:
    """The time that a bot with all below it has computed."""

    def __init__(self, warden: int, bot: int) -> None:
        self._warden = warden
        self._bot = bot
        self._earlier_ns = _ended_ns(warden)
        """What bots computed that the same warden had before."""
        self._known = [_clock_of(bot)]
        self._seen: dict[int, tuple[int, int]] = {}
        """What each process had computed when it was last looked, and its children that had ended."""
        self._lost = self._total = 0

    def look(self) -> None:
        """Takes note of the processes that there are now, for `near_ns`."""
        self._known = [_clock_of(pid) for pid in descendants(self._warden)] or [_clock_of(self._bot)]

    def near_ns(self) -> int:
        """Of the processes that were there at the last look. Takes about a microsecond."""
        total = 0
        for clock in self._known:
            try:  # `contextlib.suppress` would cost more than the reading
                total += time.clock_gettime_ns(clock)
            except OSError:
                continue
        return total

    def all_ns(self) -> int:
        """Of all that there are, and of all that there were. Takes about 50 µs.

        Who ignores SIGCHLD has the kernel reap its children, and their time is added to no account: what is
        missing of what was seen before is kept here. Only what begins and ends between two looks gets away.
        """
        warden = _ended_ns(self._warden) - self._earlier_ns
        seen: dict[int, tuple[int, int]] = {self._warden: (0, warden)}
        for pid in descendants(self._warden):
            with contextlib.suppress(OSError):
                seen[pid] = (time.clock_gettime_ns(_clock_of(pid)), _ended_ns(pid))
        vanished = sum(sum(account) for pid, account in self._seen.items() if pid not in seen)
        inherited = sum(seen[pid][1] - ended for pid, (_, ended) in self._seen.items() if pid in seen)
        self._lost += max(0, vanished - inherited - _TICK_NS) if vanished else 0
        self._seen = seen
        self._total = max(self._total, self._lost + sum(map(sum, seen.values())))
        return self._total


def _clock_of(pid: int) -> int:
    """The number of a process's clock: MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of the kernel."""
    return (~pid << 3) | 2


def _ended_ns(pid: int) -> int:
    """What those of its children had computed that it has reaped: fields 16 and 17 of proc(5)'s `stat`."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - in a bot's time
            fields = file.read(4096).rpartition(b")")[2].split()
    except OSError:
        return 0
    return (int(fields[13]) + int(fields[14])) * _TICK_NS
