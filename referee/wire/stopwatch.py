"""Times the move of one seat: how much of it counts as used.

A move begins when the referee starts to write the question, and ends when the answer was written. The time
of writing is normally taken to be the time of reading. When the referee may have read late, since it was
stopped or got no processor, the kernel's stamp of the pipe is used; without one, as on a terminal, the
referee's own delay is subtracted. The stamp is that of the last write: where more was written behind an
answer, nobody knows when the answer itself was written, and the delay is subtracted too. A delay while it is
the referee's turn to write is always subtracted.
"""

from __future__ import annotations

import time

from referee.core.value import made
from referee.gameplay.events import Timing
from referee.processes import stamped
from referee.processes.cpu import StarvationClock
from referee.processes.process import BotProcess
from referee.wire.stoppage import SLICE_NS

CPU_WALL = 3
"""Bound on the wall-clock time under a `cpu:` clock, or where waiting for a processor is forgiven, as a
multiple of the time available.
"""

CPU_WALL_NS = 1_000_000_000
"""Constant added to that bound, which is needed since a bot may wait for something that never comes."""

KEPT_WALL = 20
"""Bound on the wall-clock time where a bot is kept from running by others, as a multiple of the time
available: whether that is why it is late shows only when it has run.
"""

KEPT_WALL_NS = 10_000_000_000
"""Constant added to that bound."""

LOOK_NS = 100_000_000
"""Minimum time between two looks for new processes of a bot."""

WAITED_NS = 1_000_000
"""Waiting for a processor is ordinary if it is shorter."""

SLOW_NS = 10_000_000
"""A move that took less is not looked at for such waiting, which would cost too much of its time."""

_CLOCK_SET_NS = 2_000_000
"""A drift between the two clocks beyond which one of them must have been set."""


_COMPARE_NS = 50_000_000
"""Minimum time between two comparisons of the two clocks: one that is set meanwhile is noticed anyway."""

_TOGETHER_NS = 100_000
"""The longest gap between two clock readings that count as simultaneous."""


def _both_clocks_ns() -> tuple[int, int]:
    """The current time by the monotonic clock and by the system clock."""
    for _ in range(10):  # somebody else may get the processor in between, but not every time
        now_ns = time.monotonic_ns()
        real_ns = time.time_ns()
        if time.monotonic_ns() - now_ns < _TOGETHER_NS:
            break
    return now_ns, real_ns


def _no_time() -> int:
    return 0


class Stopwatch:
    """The stopwatch of one seat; times are nanoseconds of the monotonic clock."""

    # Python finds attributes quickly in an object that has at most 30 of them, or slots.
    __slots__ = (
        "_ahead_ns",
        "_allowance_ns",
        "_began_cpu_ns",
        "_by_cpu",
        "_clock",
        "_compare_ns",
        "_extension_ns",
        "_forgiven_ns",
        "_forgives",
        "_game_began_ns",
        "_judged_ns",
        "_kept_ns",
        "_lost_ns",
        "_process",
        "_ready_cpu_ns",
        "_rest_began_cpu_ns",
        "_rest_began_ns",
        "_rested_cpu_ns",
        "_rested_ns",
        "_settled_ns",
        "_stamped",
        "_starvation",
        "_stopped_ns",
        "_uncharged_ns",
        "_wait_ns",
        "_waited_ns",
        "began_ns",
        "cpu_ns",
        "deadline_ns",
        "empty_ns",
        "mark_ns",
        "stopped_us",
        "unread_ns",
    )

    def __init__(self, process: BotProcess | None, game_began_ns: int = 0) -> None:
        self._process = process
        self._game_began_ns = game_began_ns
        self._stamped = process is not None and process.stamped
        self._clock = process.clock if process else None
        self._starvation = process.starvation if process else None
        self._forgives = process is not None and process.forgives_waiting
        self._by_cpu = False
        self.cpu_ns = self._clock.near_ns if self._clock else _no_time
        """Gives the bot's processor time so far, in ns; under a `cpu:` clock that of everything it ever
        started. 0 where that cannot be known.
        """
        self.stopped_us = 0
        """Microseconds in which the referee was not running, over all moves of the game so far."""
        self.began_ns = self.deadline_ns = 0
        self.empty_ns = 0
        """The last time at which the bot's output was known to be empty; what is read now is newer."""
        self._began_cpu_ns = self._ready_cpu_ns = 0
        self._ahead_ns = 0
        """How far the system's clock was ahead of the monotonic one at their last comparison."""
        self._compare_ns = 0
        """When they are to be compared again."""
        self._rest_began_ns = self._rest_began_cpu_ns = 0
        """When the bot's last question was closed; 0 while it is asked."""
        self._rested_ns = self._rested_cpu_ns = 0
        """How long it was not asked so far, and the processor time that it used then."""
        self.mark_ns = 0
        """When the next `mark` is due."""
        self._wait_ns = self._allowance_ns = 0
        self.unread_ns = 0
        """How long its output lay unread that was read last."""
        self._uncharged_ns = self._stopped_ns = self._lost_ns = 0
        self._waited_ns = self._kept_ns = self._forgiven_ns = self._extension_ns = 0
        self._judged_ns = 0
        """The moment of which it was decided last whether the time was up."""
        self._settled_ns = 0
        """Until then it is decided what is charged: an answer was read then that may have lain unread."""

    def start(self, now_ns: int, wait_ns: int, allowance_ns: int = 0, by_cpu: bool = False) -> None:
        """Starts the time of a new move. Answers are waited for `wait_ns`; within `allowance_ns` a few
        milliseconds more or less cost nothing. `by_cpu`: what counts is the bot's processor time.
        """
        if by_cpu is not self._by_cpu:
            self._by_cpu = by_cpu
            if self._clock:
                self.cpu_ns = self._clock.all_ns if by_cpu else self._clock.near_ns
        self._uncharged_ns = self._stopped_ns = self.unread_ns = self._lost_ns = 0
        self._waited_ns = self._kept_ns = self._forgiven_ns = self._extension_ns = 0
        self._wait_ns, self._allowance_ns = wait_ns, allowance_ns
        self._began_cpu_ns = cpu_ns = self.cpu_ns()
        if now_ns > self._compare_ns:
            compared_ns, real_ns = _both_clocks_ns()
            self._ahead_ns = real_ns - compared_ns
            self._compare_ns = compared_ns + _COMPARE_NS
        if self._rest_began_ns:
            self._rested_ns += now_ns - self._rest_began_ns
            if cpu_ns > self._rest_began_cpu_ns:  # it is less where one of its processes has ended
                self._rested_cpu_ns += cpu_ns - self._rest_began_cpu_ns
            self._rest_began_ns = 0
        self.began_ns = self.empty_ns = now_ns
        self.deadline_ns = now_ns + (CPU_WALL * wait_ns + CPU_WALL_NS if by_cpu else wait_ns)

    def look(self) -> None:
        """Notes the processes that the bot has when it is ready, to measure their processor time."""
        if self._clock:
            self._clock.look()
            self._ready_cpu_ns = self._clock.near_ns()

    def look_again(self) -> None:
        """Notes the processes that the bot has by now, which is due every `LOOK_NS`."""
        if self._clock:
            self._clock.look()

    def mark(self, now_ns: int, by_cpu: bool) -> None:
        """Notes how long the bot had waited for processors before a move, which matters where its clock does
        not count processor time.
        """
        self.mark_ns = now_ns + LOOK_NS
        if self._starvation and not by_cpu:
            self.mark_ns = self._starvation.mark(now_ns)

    def notice_waiting(self, now_ns: int) -> None:
        """Measures how long the bot waited for a processor until a moment of a move that was not quick."""
        if now_ns - self.began_ns <= SLOW_NS or self._by_cpu or self._starvation is None:
            return
        waited_ns, kept_ns = self._starvation.waited_ns(self.began_ns)
        waited_ns = min(now_ns - self.began_ns, waited_ns)
        self._kept_ns = 0
        if waited_ns < WAITED_NS:
            return
        self._waited_ns = waited_ns
        # The referee may have been kept waiting at the same time, which is left out already.
        if self._forgives:
            self._forgiven_ns = max(0, waited_ns - self._uncharged_ns)  # guard: waited-once
        elif now_ns - self.began_ns > self._wait_ns:
            if self._starvation.is_ready():  # guard: ready-since
                kept_ns -= time.monotonic_ns() - now_ns
            self._kept_ns = max(0, min(waited_ns, kept_ns) - self._uncharged_ns)

    def is_over(self, now_ns: int) -> bool:
        """Whether the answer is not waited for any longer. The deadline moves by how long the bot waited for
        a processor, which is forgiven, or shows that it would have answered in time; and while a wait may
        still last, which the kernel has not counted, by another slice.
        """
        is_judged, self._judged_ns = now_ns == self._judged_ns, now_ns
        if now_ns > self.deadline_ns and not is_judged and not self._by_cpu and self._starvation:
            due_ns = self.deadline_ns - self._extension_ns
            self.notice_waiting(now_ns)
            until_ns = due_ns + self._forgiven_ns + self._kept_ns  # one of them is 0
            self.mark_ns = 0
            if now_ns > until_ns and self._may_be_waiting(self._starvation):
                until_ns = now_ns + SLICE_NS
            wall, wall_ns = (CPU_WALL, CPU_WALL_NS) if self._forgives else (KEPT_WALL, KEPT_WALL_NS)
            longest_ns = (wall - 1) * self._wait_ns + wall_ns
            self._extension_ns = min(until_ns - due_ns, longest_ns)  # guard: longest-wait
            self.deadline_ns = due_ns + self._extension_ns
        return now_ns > self.deadline_ns

    def _may_be_waiting(self, starvation: StarvationClock) -> bool:
        """Whether the bot may be waiting for a processor now, which the kernel has not counted."""
        if self._forgives:
            return starvation.is_waiting()
        return starvation.is_ready() and starvation.computed_ns(self.began_ns) <= self._wait_ns

    def kept_us(self, used_us: int) -> int:
        """How long the bot was kept from running in a move that it answered too late, if that is why: for
        most of the time, and without it the answer would have been in time. Else 0.
        """
        kept_us = self._kept_ns // 1000
        own_ns = used_us * 1000 - self._kept_ns
        if 2 * kept_us <= used_us or own_ns + SLOW_NS > self._wait_ns:  # guard: own-time
            return 0
        assert self._starvation
        return 0 if self._starvation.is_held_back() else kept_us  # guard: held-back

    def off_turn_us(self) -> tuple[int, int]:
        """Returns how long the bot was not asked in a game that is over, and the processor time that it used
        then, in microseconds.
        """
        if self._rest_began_ns:  # its rest ends, as with a question
            self.start(time.monotonic_ns(), 0, by_cpu=self._by_cpu)
        return self._rested_ns // 1000, self._rested_cpu_ns // 1000

    def game_cpu_us(self) -> int:
        """Processor time of these processes since, in microseconds."""
        return max(0, self._clock.near_ns() - self._ready_cpu_ns) // 1000 if self._clock else 0

    def late(self, looked_ns: int, now_ns: int, late_ns: int, ours: bool) -> None:
        """Between two checks the referee was not running for `late_ns`. `ours`: it was its turn to write."""
        late_ns = min(late_ns, now_ns - max(looked_ns, self.began_ns))
        self.stopped_us += late_ns // 1000
        self._lost_ns += late_ns
        late_ns = min(late_ns, now_ns - self._settled_ns)  # guard: late-once
        if ours or not self._stamped:
            self._uncharged_ns += late_ns
            self.deadline_ns += late_ns
        else:
            self._stopped_ns += late_ns

    def answered(self) -> None:
        """The referee wrote to a bot whose time runs on: while its output lay unread nothing is charged."""
        self._uncharged_ns += self.unread_ns
        self.deadline_ns += self.unread_ns
        self.unread_ns = self._stopped_ns = 0

    def written_ns(self, read_ns: int, more_behind: bool = False) -> int:
        """The time at which an answer was written that has just been read: the latest possible one, but what
        is in doubt because the referee was stopped is decided for the bot.

        `more_behind`: other output was read behind the answer.
        """
        in_doubt = self._stopped_ns or read_ns - self.began_ns - self._uncharged_ns > self._allowance_ns
        if not self._stamped or not in_doubt:
            return read_ns
        found = self._stamp_ns()  # guard: stamp
        if found is None:
            found = read_ns - self._stopped_ns
        elif self._stopped_ns and (more_behind or self._is_writing()):  # guard: last-write
            found = min(found, read_ns - self._stopped_ns)
        # Some ways of writing leave no stamp, but at the last check there was no output.
        written = min(read_ns, max(found, self.empty_ns))
        self.unread_ns = max(self.unread_ns, read_ns - written)
        self._settled_ns = read_ns
        return written

    def _is_writing(self) -> bool:
        """Whether the bot has written more since its output was read; the stamp may be that of the rest."""
        assert self._process
        return not stamped.is_empty(self._process.stdout)

    def _stamp_ns(self) -> int | None:
        """The kernel's stamp; None where the system clock, which it is taken from, was set meanwhile."""
        assert self._process
        written_ns = stamped.written_ns(self._process.stdout) - self._ahead_ns
        now_ns, real_ns = _both_clocks_ns()
        drift_ns = real_ns - now_ns - self._ahead_ns  # guard: clock-was-set
        if written_ns < self.began_ns or abs(drift_ns) > _CLOCK_SET_NS:
            return None
        return written_ns

    def up_us(self, now_ns: int) -> int | None:
        """The time used in microseconds where the time is up; else None."""
        if self._by_cpu and (used_ns := self.cpu_ns() - self._began_cpu_ns) > self._wait_ns:
            return -(-used_ns // 1000)
        if self.is_over(now_ns):
            return -(-(now_ns - self.began_ns - self._uncharged_ns - self._forgiven_ns) // 1000)
        return None

    def measured(self, wall_ns: int, cpu_ns: int, is_over: bool = True) -> tuple[int, Timing]:
        """Returns the time charged for a move until a moment at which the bot had used so much processor
        time, in microseconds, rounded up (late by a nanosecond is late), and everything that was measured of
        it. `is_over`: the bot is not asked any more from then on.
        """
        if is_over:
            self._rest_began_ns, self._rest_began_cpu_ns = wall_ns, cpu_ns
        began_ns, began_cpu_ns = self.began_ns, self._began_cpu_ns
        if self._by_cpu:  # what it computed while its answer lay unread is unknown, and not part of the move
            used_ns = cpu_ns - began_cpu_ns - self.unread_ns
        else:
            used_ns = wall_ns - began_ns - self._uncharged_ns - self._forgiven_ns
        asked_us = (began_ns - self._game_began_ns) // 1000
        wall_us = (wall_ns - began_ns) // 1000 if wall_ns > began_ns else 0
        cpu_us = (cpu_ns - began_cpu_ns) // 1000 if cpu_ns > began_cpu_ns else 0
        timing = made(Timing, (asked_us, wall_us, cpu_us, 0, 0, 0))
        if self._lost_ns or self._waited_ns:
            timing = timing._replace(
                stopped_us=self._lost_ns // 1000,
                waited_us=self._waited_ns // 1000,
                forgiven_us=self._forgiven_ns // 1000,
            )
        return -(-used_ns // 1000) if used_ns > 0 else 0, timing
