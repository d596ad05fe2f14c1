"""The processor time of a bot: what its process and all that it started used, and how long they were ready to
run and got no processor, because of other programs. Linux only.

The kernel has a clock for each process, exact to the nanosecond and cheap to read. When a
process is reaped, its time is added to that of its parent, in ticks of some milliseconds.

The kernel also counts for each thread how long it ran, and how long it waited in the queue of a processor. A
bot with more threads than processors makes its own threads wait, so what the others of its threads computed
meanwhile is subtracted: whatever a bot starts, it cannot make itself look starved.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
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


MARK_NS = 30_000_000
"""Minimum time between two marks: each takes 100 µs, which would make quick moves much slower."""

MAX_THREADS = 100
"""A bot with more threads than this is not measured: reading them would take the time of others."""

Threads = dict[int, tuple[int, int]]
"""By the id of a thread, how long it ran and how long it waited so far, in nanoseconds."""


def threads_of(pids: Iterable[int]) -> Threads:
    """The times of all threads of these processes; empty where there are more than `MAX_THREADS`."""
    found: Threads = {}
    for pid in pids:
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - in a bot's time
                if len(found) == MAX_THREADS:
                    return {}
                with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123
                    ran, waited, _ = file.read(100).split()
                found[int(thread)] = int(ran), int(waited)
        except OSError:  # it has ended
            continue
    return found


def is_ready(thread: int) -> bool:
    """Whether a thread runs or waits for a processor."""
    try:
        with open(f"/proc/{thread}/stat", "rb") as file:  # noqa: PTH123 - in a bot's time
            return file.read(4096).rpartition(b")")[2].split()[0] == b"R"
    except OSError:
        return False


def _scheduling(thread: int) -> tuple[object, ...]:
    """What a thread's share of the processors follows from; the number of the thread if it has ended."""
    try:
        group = Path(f"/proc/{thread}/autogroup")
        return (
            os.getpriority(os.PRIO_PROCESS, thread),
            os.sched_getscheduler(thread),
            os.sched_getaffinity(thread),
            group.read_bytes().rpartition(b" ")[2] if group.exists() else b"",
        )
    except OSError:
        return (thread,)


def _is_counted() -> bool:
    try:  # a kernel that does not count says 0
        return AVAILABLE and int(Path("/proc/self/schedstat").read_bytes().split()[0]) > 0
    except OSError:
        return False


COUNTS_WAITING = _is_counted()

WAITING_NEEDED = (
    "needs a kernel that counts how long programs wait for a processor (Linux, /proc/PID/schedstat)"
)
"""The message about what is missing where this is not available."""


class StarvationClock:
    """The waiting of a bot since the last mark, which is set shortly before a question."""

    def __init__(
        self,
        clock: TreeClock,
        read: Callable[[Iterable[int]], Threads] = threads_of,
        ready: Callable[[int], bool] = is_ready,
    ) -> None:
        self._clock = clock
        self._read = read
        self._ready = ready
        self._marked_ns = 0
        self._cpu_ns = 0
        self._threads: Threads = {}
        self._looked: Threads | None = None  # the times at the last `is_waiting` of this move

    def mark(self, now_ns: int) -> int:
        """Notes the times of now, unless that was done a moment ago. Returns when it is due again, if nobody
        calls `is_waiting` until then.
        """
        self._looked = None
        if now_ns - self._marked_ns >= MARK_NS:
            self._cpu_ns = self._clock.all_ns()
            self._threads = self._read(self._clock.processes())
            self._marked_ns = time.monotonic_ns()
        return self._marked_ns + MARK_NS

    def waited_ns(self, began_ns: int) -> tuple[int, int]:
        """Measures how long its threads waited for a processor, at least, since a moment after the mark: the
        one that waited longest, and of those that ran the one that waited least, since a thread that waits
        says nothing of another one that sleeps.

        The kernel counts a wait when it ends, so one that still lasts is not included. What may have been
        between the mark and that moment is subtracted.
        """
        if not self._threads:
            return 0, 0
        threads = self._read(self._clock.processes())
        computed_ns = self._clock.all_ns() - self._cpu_ns
        waits_ns, running_waits_ns = [0], []
        for thread, (ran_ns, waited_ns) in threads.items():
            ran_before_ns, waited_before_ns = self._threads.get(thread, (0, 0))
            others_ns = computed_ns - (ran_ns - ran_before_ns)  # guard: own-load
            waits_ns.append(waited_ns - waited_before_ns - max(0, others_ns))
            if ran_ns > ran_before_ns:
                running_waits_ns.append(waits_ns[-1])
        before_ns = max(0, began_ns - self._marked_ns)
        least_ns = min(running_waits_ns, default=0)  # guard: waiting-helper
        return max(0, max(waits_ns) - before_ns), max(0, least_ns - before_ns)

    def computed_ns(self, began_ns: int) -> int:
        """How long all of it computed since a moment after the mark, at least if it had one thread before."""
        return self._clock.all_ns() - self._cpu_ns - max(0, began_ns - self._marked_ns)

    def is_held_back(self) -> bool:
        """Whether a thread was made to wait by what the bot asked for: a lower priority than it was started
        with, another policy or other processors. So is one that has ended, of which that is not known.
        """
        warden = _scheduling(self._clock.warden)
        return not all(warden == _scheduling(thread) for thread in self._read(self._clock.processes()))

    def is_waiting(self) -> bool:
        """Whether a wait may still last: a thread is ready, and none has run since the last call."""
        before, self._looked = self._looked, self._read(self._clock.processes())
        return (before is None or before == self._looked) and self.is_ready()

    def is_ready(self) -> bool:
        """Whether one of its threads runs or waits for a processor."""
        return any(map(self._ready, self._looked or self._read(self._clock.processes())))
