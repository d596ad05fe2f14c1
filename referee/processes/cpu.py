"""The processor time of a bot: of its process and of all that it started. Linux only.

The kernel has a clock for each process, exact to the nanosecond and cheap to read. When a
process is reaped, its time is added to that of its parent, in ticks of some milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from referee.processes.tree import descendants

AVAILABLE = sys.platform == "linux" and Path(f"/proc/self/task/{os.getpid()}/children").exists()

_TICK_NS = 1_000_000_000 // (os.sysconf("SC_CLK_TCK") if AVAILABLE else 100)


class TreeClock:
    """The processor time of a bot and all its descendants."""

    def __init__(self, warden: int, bot: int) -> None:
        self.warden = warden
        self._bot = bot
        self._earlier_ns = _ended_ns(warden)  # the time of earlier bots of the same warden
        self._known = [_clock_of(bot)]
        self._shift_ns = 0  # what makes `near_ns` continue where it was when other processes are looked at
        self._seen: dict[int, tuple[int, int]] = {}
        """For each process, its own time and that of its reaped children at the last reading."""
        self._lost = self._total = 0

    def look(self) -> None:
        """Notes the processes that exist now, for `near_ns`. What a new one used before counts as nothing."""
        before_ns = self.near_ns()
        self._known = [_clock_of(pid) for pid in self.processes()] or [_clock_of(self._bot)]
        self._shift_ns += before_ns - self.near_ns()

    def processes(self) -> list[int]:
        """The ids of the processes that exist now."""
        return descendants(self.warden)

    def own_ns(self) -> int:
        """The time of the bot's own process as the kernel counts it for its limit, in ticks; the process may
        have exited, but it is 0 where it was reaped since.
        """
        try:
            return time.clock_gettime_ns(_clock_of(self._bot, _PROF))
        except OSError:
            return 0

    def near_ns(self) -> int:
        """The time of the processes that the last `look` found. Takes about a microsecond."""
        total = self._shift_ns
        for clock in self._known:
            try:  # `contextlib.suppress` would cost more than the reading
                total += time.clock_gettime_ns(clock)
            except OSError:
                continue
        return total

    def all_ns(self) -> int:
        """The time of all processes, past and present. Takes about 50 µs.

        Where a process ignores SIGCHLD, the kernel reaps its children and adds their time to no parent; the
        time last read of such a process is added here. Only one that begins and ends between two readings is
        missed.
        """
        warden = _ended_ns(self.warden) - self._earlier_ns
        seen: dict[int, tuple[int, int]] = {self.warden: (0, warden)}
        for pid in descendants(self.warden):
            with contextlib.suppress(OSError):
                seen[pid] = (time.clock_gettime_ns(_clock_of(pid)), _ended_ns(pid))
        vanished = sum(sum(account) for pid, account in self._seen.items() if pid not in seen)
        inherited = sum(seen[pid][1] - ended for pid, (_, ended) in self._seen.items() if pid in seen)
        self._lost += max(0, vanished - inherited - _TICK_NS) if vanished else 0
        self._seen = seen
        self._total = max(self._total, self._lost + sum(map(sum, seen.values())))
        return self._total


_PROF, _SCHED = 0, 2
"""The two clocks of a process, in ticks and exact, by the kernel's numbers: CPUCLOCK_PROF and _SCHED."""


def _clock_of(pid: int, which: int = _SCHED) -> int:
    """The number of a process's clock: MAKE_PROCESS_CPUCLOCK(pid, which) of the kernel."""
    return (~pid << 3) | which


def _ended_ns(pid: int) -> int:
    """The time of the children that a process has reaped: fields 16 and 17 of proc(5)'s `stat`."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - in a bot's time
            fields = file.read(4096).rpartition(b")")[2].split()
    except OSError:
        return 0
    return (int(fields[13]) + int(fields[14])) * _TICK_NS
