"""Whose time it is: stamps of the kernel, stoppages of the referee, computing time, garbage."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.core.timecontrol import TimeControl
from referee.gameplay.events import Moved, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu, stamped
from referee.processes.bot import Bot
from referee.processes.ending import end_processes
from referee.processes.process import BotProcess
from referee.records.record import GameRecord, from_json, to_json
from referee.records.replay import verify
from referee.tournament.encounter import play_encounter
from referee.tournament.plan import Entrant
from referee.wire.stopwatch import Stopwatch, _both_clocks_ns
from tests.processes.test_processes import bot

MS = 1_000_000
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these clocks")


class Pretended:
    """A bot's process as far as a stopwatch looks at it."""

    stamped = True
    clock = None
    stdout = -1


class Written:
    """Stands in for the kernel: says when the pipe was written to, so long after the watch began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000_000 * MS
        self.offset_ns = 50_000_000 * MS
        self.written_ns = 0
        monkeypatch.setattr("referee.wire.stopwatch.time.monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr("referee.wire.stopwatch.time.time_ns", lambda: self.now_ns + self.offset_ns)
        monkeypatch.setattr("referee.wire.stopwatch.stamped.written_ns", lambda _: self.written_ns)
        self.watch = Stopwatch(cast("BotProcess", Pretended()))

    def began(self, patience_ms: int = 1000, free_ms: int = 500) -> Stopwatch:
        self.watch.start(patience_ms * MS, free_ms * MS)
        self.began_ns = self.now_ns
        return self.watch

    def at(self, ms: int, written_ms: int) -> int:
        """The moment, with the last write at another one."""
        self.now_ns = self.began_ns + ms * MS
        self.written_ns = self.began_ns + self.offset_ns + written_ms * MS
        return self.now_ns

    def used_ms(self, ms: int, written_ms: int) -> int:
        read_ns = self.at(ms, written_ms)
        return self.watch.used_us(self.watch.written_ns(read_ns), 0) // 1000


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Written:
    return Written(monkeypatch)


def stopped(kernel: Written, from_ms: int, to_ms: int, ours: bool = False) -> None:
    began = kernel.began_ns
    kernel.watch.late(began + from_ms * MS, began + to_ms * MS, (to_ms - from_ms) * MS, ours)


def test_within_the_allowance_and_without_a_stoppage_what_counts_is_when_it_was_read(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(499, 480) == 499


def test_beyond_the_allowance_what_counts_is_when_it_was_written(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(1013, 990) == 990, "the referee came late to the reading"


def test_nobody_gains_by_the_referee_s_stoppage(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 100, 2000)
    assert kernel.used_ms(2001, 1500) == 1500
    assert watch.deadline_ns == kernel.began_ns + 1000 * MS, "the bot ran on meanwhile"
    assert watch.timing(0, kernel.now_ns, 0).stopped_us == watch.stopped_us == 1_900_000


def test_nobody_loses_by_the_referee_s_stoppage(kernel: Written) -> None:
    kernel.began()
    stopped(kernel, 100, 2000)
    assert kernel.used_ms(2001, 200) == 200


def test_what_the_referee_is_late_with_its_own_words_is_taken_off(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 0, 300, ours=True)
    assert watch.deadline_ns == kernel.began_ns + 1300 * MS
    assert kernel.used_ms(700, 690) == 400


def test_a_rejected_answer_that_lay_unread_costs_nothing_until_the_next_question(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 100, 1000)
    kernel.used_ms(1001, 200)
    watch.answered()
    assert watch.deadline_ns == kernel.began_ns + 1801 * MS
    assert kernel.used_ms(1101, 1101) == 300


def test_what_leaves_no_stamp_is_no_older_than_the_last_look_at_an_empty_pipe(kernel: Written) -> None:
    """splice(2) into a pipe leaves its times alone: the stamp is that of something written before."""
    watch = kernel.began()
    watch.empty_ns = kernel.began_ns + 890 * MS
    assert kernel.used_ms(900, 10) == 890


def test_the_clocks_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the processor was taken away between two readings, a clock would seem to have been set."""
    times = iter([0, 5 * MS, 6 * MS, 6 * MS + 1000])
    monkeypatch.setattr("referee.wire.stopwatch.time.monotonic_ns", lambda: next(times))
    monkeypatch.setattr("referee.wire.stopwatch.time.time_ns", lambda: 7)
    assert _both_clocks_ns() == (6 * MS, 7)


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000, 20])
def test_a_clock_that_was_set_is_not_believed(kernel: Written, step_ms: int) -> None:
    kernel.began()
    kernel.at(700, 600)
    kernel.offset_ns += step_ms * MS
    assert kernel.watch.written_ns(kernel.now_ns) == kernel.now_ns


def test_a_stamp_from_before_the_question_is_not_believed(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(700, -10) == 700


def test_without_stamps_a_stoppage_is_taken_off_and_moves_the_deadline() -> None:
    watch = Stopwatch(None)
    watch.start(1000 * MS, 500 * MS)
    began = watch.began_ns
    watch.late(began, began + 400 * MS, 400 * MS, ours=False)
    assert watch.deadline_ns == began + 1400 * MS
    assert watch.up_us(began + 1400 * MS) is None and watch.up_us(began + 1401 * MS) == 1_001_000
    assert watch.used_us(watch.written_ns(began + 900 * MS), 0) == 500_000


@linux
def test_the_kernel_s_stamp_is_that_of_the_write() -> None:
    pipe = stamped.make()
    try:
        if not pipe.stamped:
            pytest.skip("no folder of this machine keeps the times of pipes")
        before = time.time_ns()
        os.write(pipe.write_end, b"x\n")
        after = time.time_ns()
        time.sleep(0.1)
        assert before <= stamped.written_ns(pipe.read_end) <= after + 2 * stamped.TICK_NS
        os.read(pipe.read_end, 10)
        # Who holds the pipe can set its times; the kernel's own note of that is later, not earlier.
        os.utime(f"/proc/self/fd/{pipe.write_end}", ns=(0, 0))
        assert stamped.written_ns(pipe.read_end) >= after
    finally:
        os.close(pipe.read_end)
        os.close(pipe.write_end)


def test_where_pipes_have_no_stamps_there_are_pipes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamped, "_folder", lambda: "")
    process = BotProcess(Bot("cat", ("cat",), Path("/")))
    assert not process.stamped and process.write(b"x\n") == 2
    deadline = time.monotonic() + 5
    while (said := process.read()) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    end_processes([process])
    assert said == b"x\n"


# --- Computing time ------------------------------------------------------------------------------------

SPIN = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"


@linux
def test_what_a_whole_tree_computes_is_counted() -> None:
    spin = f"{sys.executable} -I -S -c '{SPIN.format(0.2)}'"
    process = BotProcess(Bot("sh", ("sh", "-c", f"{spin}; setsid {spin} & wait; read x"), Path("/")))
    assert process.clock
    deadline = time.monotonic() + 30
    while process.clock.all_ns() < 400 * MS and time.monotonic() < deadline:
        time.sleep(0.02)
    assert 400 * MS <= process.clock.all_ns() < 1200 * MS
    assert process.clock.near_ns() < 100 * MS, "the shell alone was there when it was looked"
    end_processes([process])


@linux
def test_helpers_that_nobody_waits_for_are_counted() -> None:
    """Where SIGCHLD is ignored the kernel reaps them, and adds their time to nobody's."""
    spin = f"{sys.executable} -I -S -c '{SPIN.format(0.3)}'"
    script = f"import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.system({spin!r}); input()"
    process = BotProcess(Bot("py", (sys.executable, "-I", "-S", "-c", script), Path("/")))
    assert process.clock
    deadline = time.monotonic() + 3
    before = 0
    while time.monotonic() < deadline:
        now = process.clock.all_ns()
        assert now >= before
        before = now
        time.sleep(0.005)
    end_processes([process])
    assert before > 250 * MS


def test_what_is_computed_while_an_answer_lies_unread_is_not_the_move_s(kernel: Written) -> None:
    kernel.watch.start(1000 * MS, 0, by_cpu=True)
    kernel.began_ns = kernel.now_ns
    stopped(kernel, 100, 2000)
    read_ns = kernel.at(2001, 200)
    wall_ns = kernel.watch.written_ns(read_ns)
    assert kernel.watch.used_us(wall_ns, 1900 * MS) == 99_000


def test_a_stoppage_is_taken_off_once(kernel: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel.watch, "_stamp_ns", lambda: None)
    kernel.began()
    stopped(kernel, 100, 1100)
    assert kernel.used_ms(1600, 0) == 600
    kernel.watch.answered()
    assert kernel.used_ms(2600, 0) == 1600


@linux
@pytest.mark.parametrize(
    ("script", "ending", "wall_us"),
    [
        ("sleep 0.5; echo move $1 L:D4; sleep 60", "", 500_000),  # sleeping is free
        ("while :; do :; done", "time", 0),
        ("(while :; do :; done) & wait", "time", 0),
        ("sleep 60", "time", 1_600_000),  # until three times the time and a second are over
    ],
)
def test_a_clock_of_computing_time(script: str, ending: str, wall_us: int) -> None:
    loop = "echo hello 1; while read word rest; do case $word in prepare) echo ready;; ask) set -- $rest; "
    game = GAMES["blooms"]
    bots = [Bot("a", ("sh", "-c", f"{loop}{script};; esac; done"), Path("/")), bot("b", "exits")]
    control = TimeControl.parse("cpu:200ms")
    assert str(control) == "cpu:200ms"
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"")
    (record,) = play_encounter(bots, [terms])
    verify(to_json(record))
    event = record.events[0]
    if ending:
        assert isinstance(event, Retired) and event.seat == 0 and event.ending.word == ending
        assert event.used_us > 200_000
    else:
        assert isinstance(event, Moved) and event.charge.used_us < 200_000
    assert isinstance(event, Moved | Retired) and event.timing.wall_us > wall_us


def test_cpu_clocks_are_not_kept_where_they_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "AVAILABLE", False)
    process = BotProcess(Bot("cat", ("cat",), Path("/")))
    end_processes([process])
    assert process.clock is None and Stopwatch(process).cpu_ns() == 0
    cat = Bot("cat", ("cat",), Path("/"))
    Entrant(cat, TimeControl.parse("1s")).check()
    with pytest.raises(EnvironmentLacksError, match="needs Linux"):
        Entrant(cat, TimeControl.parse("cpu:1s")).check()


# --- In the record -------------------------------------------------------------------------------------


def played(*vices: tuple[str, ...], show: Any = None) -> GameRecord:
    game = GAMES["blooms"]
    control = TimeControl.parse("300ms+1s")
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"")
    bots = [bot(name, *vice) for name, vice in zip("ab", vices, strict=True)]
    (record,) = play_encounter(bots, [terms], show)
    return record


def test_a_record_has_when_each_move_was_asked_and_what_it_took() -> None:
    before = time.monotonic_ns() // 1000
    record = played(("sleep", "0.4", "0", "60"), ("none",))
    value = to_json(record)
    verify(value)
    assert from_json(value).events == record.events
    assert before <= value["measured"]["mono_us"] <= time.monotonic_ns() // 1000
    events = value["measured"]["events"]
    asked = [event["asked_us"] for event in events]
    assert asked == sorted(asked)
    assert events[0]["wall_us"] >= 400_000 and 50_000 <= events[0]["taken_us"] <= events[0]["wall_us"]
    if cpu.AVAILABLE:
        assert all(0 < event["cpu_us"] < event["wall_us"] for event in events[:3])


def test_garbage_is_collected_between_games() -> None:
    collecting: list[bool] = []
    assert gc.isenabled()
    played(("sleep", "0", "60"), ("none",), show=lambda *_: collecting.append(gc.isenabled()))
    assert collecting and not any(collecting) and gc.isenabled()
