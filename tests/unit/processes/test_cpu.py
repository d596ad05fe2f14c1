"""How long a bot waited for a processor, by counters that the test sets."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.core.units import TimeControl
from referee.processes import cpu
from referee.processes.cpu import MARK_NS, StarvationClock, Threads, TreeClock
from referee.processes.program import Program
from referee.tournament.plan import Entrant, entrant_json

MS = 1_000_000


class Kernel:
    """Stands in for the kernel's counters of a bot's threads, in ms."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000_000 * MS
        self.warden = 0
        self.threads: dict[int, tuple[int, int]] = {1: (0, 0)}
        self.ended_ms = 0
        """What threads computed that have ended."""
        monkeypatch.setattr("referee.processes.cpu.time.monotonic_ns", lambda: self.now_ns)
        self.clock = StarvationClock(cast("TreeClock", self), lambda _: self.read(), self.is_ready)
        self.is_ready_now = True
        self.clock.mark(self.now_ns)
        self.marked_ns = self.now_ns

    def processes(self) -> list[int]:
        return [1]

    def all_ns(self) -> int:
        return (sum(ran for ran, _ in self.threads.values()) + self.ended_ms) * MS

    def is_ready(self, thread: int) -> bool:
        return self.is_ready_now

    def read(self) -> Threads:
        return {thread: (ran * MS, waited * MS) for thread, (ran, waited) in self.threads.items()}

    def waited_ms(self, began_ms: int = 0) -> int:
        return self.clock.waited_ns(self.marked_ns + began_ms * MS)[0] // MS


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


def test_a_bot_that_others_keep_from_running_waits(kernel: Kernel) -> None:
    kernel.threads = {1: (150, 10)}
    assert kernel.waited_ms() == 10


def test_a_bot_that_keeps_its_own_threads_from_running_does_not(kernel: Kernel) -> None:
    """Two threads that compute by turns on one core each wait for as long as the other computes."""
    kernel.threads = {1: (50, 50), 2: (50, 50)}
    assert kernel.waited_ms() == 0


def test_what_computed_and_ended_is_the_bot_s_own_load_too(kernel: Kernel) -> None:
    kernel.threads = {1: (50, 50)}
    kernel.ended_ms = 50
    assert kernel.waited_ms() == 0


def test_of_both_only_what_others_caused_counts(kernel: Kernel) -> None:
    kernel.threads = {1: (20, 75), 2: (20, 75), 3: (0, 0)}
    assert kernel.waited_ms() == 55


def test_threads_that_wait_at_the_same_time_do_not_add_up(kernel: Kernel) -> None:
    kernel.threads = dict.fromkeys(range(1, 9), (0, 30))
    assert kernel.waited_ms() == 30


def test_a_thread_that_waits_is_no_excuse_for_another_one_that_sleeps(kernel: Kernel) -> None:
    """The first one sleeps, and has the second wait for a processor meanwhile."""
    kernel.threads = {1: (1, 2), 2: (3, 98), 3: (0, 0)}
    longest_ns, least_ns = kernel.clock.waited_ns(kernel.marked_ns)
    assert (longest_ns, least_ns) == (97 * MS, 0), "the third one did nothing"
    kernel.threads = {1: (4, 98), 3: (0, 0)}
    assert kernel.clock.waited_ns(kernel.marked_ns) == (98 * MS, 98 * MS)


@pytest.mark.skipif(not cpu.COUNTS_WAITING, reason="this kernel does not count waiting")
def test_a_bot_that_gives_up_its_share_of_the_processors_is_noticed(kernel: Kernel) -> None:
    program = "import os, sys; sys.stdin.readline(); os.nice(1); print(flush=True); sys.stdin.readline()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        kernel.warden = os.getpid()
        kernel.threads = {process.pid: (0, 0)}
        assert not kernel.clock.is_held_back()
        process.stdin.write(b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        process.stdout.readline()  # type: ignore[union-attr]
        assert kernel.clock.is_held_back()
    assert kernel.clock.is_held_back(), "of one that has ended, nothing is known"


def test_all_that_it_computed_is_told(kernel: Kernel) -> None:
    kernel.threads = {1: (50, 0), 2: (20, 0)}
    kernel.ended_ms = 40
    assert kernel.clock.computed_ns(kernel.marked_ns) == 110 * MS
    assert kernel.clock.computed_ns(kernel.marked_ns + 10 * MS) == 100 * MS


def test_what_may_have_been_before_the_question_does_not_count(kernel: Kernel) -> None:
    kernel.threads = {1: (5, 30)}
    assert kernel.waited_ms(began_ms=12) == 18
    assert kernel.waited_ms(began_ms=40) == 0


def test_a_mark_holds_for_a_while(kernel: Kernel) -> None:
    kernel.threads = {1: (5, 30)}
    kernel.now_ns += MARK_NS - 1
    kernel.clock.mark(kernel.now_ns)
    assert kernel.waited_ms() == 30
    kernel.now_ns += 1
    kernel.clock.mark(kernel.now_ns)
    assert kernel.waited_ms() == 0, "it had waited before"
    kernel.threads = {1: (9, 37)}
    assert kernel.clock.waited_ns(kernel.now_ns) == (7 * MS, 7 * MS)


def test_before_a_mark_nothing_is_known(kernel: Kernel) -> None:
    fresh = StarvationClock(cast("TreeClock", kernel), lambda _: kernel.read())
    kernel.threads = {1: (0, 400)}
    assert fresh.waited_ns(kernel.now_ns) == (0, 0)


def test_too_many_threads_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "MAX_THREADS", 0)
    if cpu.COUNTS_WAITING:
        assert cpu.threads_of([1]) == {}


def test_a_thread_that_is_ready_and_does_not_run_may_be_waiting(kernel: Kernel) -> None:
    assert kernel.clock.is_waiting(), "it runs or waits, nobody knows"
    assert kernel.clock.is_waiting()
    kernel.threads = {1: (4, 0)}
    assert not kernel.clock.is_waiting(), "it ran"
    kernel.threads = {1: (9, 0)}
    kernel.clock.mark(kernel.now_ns)
    assert kernel.clock.is_waiting(), "in a new move nothing is known again"
    kernel.is_ready_now = False
    assert not kernel.clock.is_waiting(), "it sleeps"


def test_a_bot_whose_waiting_is_forgiven_is_refused_where_that_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = Program("a", (sys.executable,), tmp_path, forgive_waiting=True)
    entrant = Entrant(bot, TimeControl.parse("1s"))
    monkeypatch.setattr(cpu, "COUNTS_WAITING", True)
    entrant.check()
    assert entrant_json(entrant, {})["forgive_waiting"] is True
    monkeypatch.setattr(cpu, "COUNTS_WAITING", False)
    with pytest.raises(EnvironmentLacksError, match=r"bot `a`: `forgive_waiting` needs a kernel"):
        entrant.check()
    replace(entrant, bot=replace(bot, forgive_waiting=False)).check()
