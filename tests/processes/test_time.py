"""Whose time it is, with real processes: stamps of the kernel, processor time, garbage."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.core.units import TimeControl
from referee.gameplay.events import Moved, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu, stamped
from referee.processes.process import BotProcess, end_processes
from referee.processes.program import Program
from referee.records.record import GameRecord, from_json, to_json
from referee.records.replay import verify
from referee.tournament.plan import Entrant
from referee.tournament.workers.encounter import play_encounter
from referee.wire.stopwatch import Stopwatch
from tests.command import THIS_PYTHON
from tests.processes.encounters import LONG_US, bot
from tests.programs import needs
from tests.waiting import eventually

MS = 1_000_000
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these clocks")


@linux
def test_the_kernel_s_stamp_is_that_of_the_write() -> None:
    pipe = stamped.make()
    try:
        if not pipe.stamped:
            pytest.skip("no folder of this machine keeps the times of pipes")
        # More than once: a machine that is stopped misses a tick.
        assert any(stamped.is_write_stamped(pipe) for _ in range(20))
        after = time.time_ns()
        eventually(lambda: time.time_ns() > after + 100 * MS)
        assert stamped.written_ns(pipe.read_end) <= after + 2 * stamped.TICK_NS, "it is not the time of now"
        # Who holds the pipe can set its times; the kernel's own note of that is later, not earlier.
        os.utime(f"/proc/self/fd/{pipe.write_end}", ns=(0, 0))
        assert stamped.written_ns(pipe.read_end) >= after
    finally:
        os.close(pipe.read_end)
        os.close(pipe.write_end)


def test_where_pipes_have_no_stamps_there_are_pipes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamped, "_folder", lambda: "")
    process = BotProcess(Program("cat", ("cat",), Path("/")))
    assert not process.stamped and process.write(b"x\n") == 2
    said = eventually(process.read)
    end_processes([process])
    assert said == b"x\n"


SPIN = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"


@pytest.mark.slow
@needs("setsid")
@linux
def test_what_a_whole_tree_computes_is_counted() -> None:
    spin = f"{THIS_PYTHON} -I -S -c '{SPIN.format(0.2)}'"
    process = BotProcess(Program("sh", ("sh", "-c", f"{spin}; setsid {spin} & wait; read x"), Path("/")))
    clock = process.clock
    assert clock
    eventually(lambda: clock.all_ns() >= 400 * MS)
    assert clock.all_ns() < 1200 * MS
    assert clock.near_ns() < 100 * MS, "the shell alone was there when it was looked"
    end_processes([process])


@pytest.mark.slow
@linux
def test_helpers_that_nobody_waits_for_are_counted() -> None:
    """Where SIGCHLD is ignored the kernel reaps them, and adds their time to nobody's."""
    spin = f"{THIS_PYTHON} -I -S -c '{SPIN.format(1)}'"  # long enough to be looked at
    script = f"import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.system({spin!r}); input()"
    process = BotProcess(Program("py", (sys.executable, "-I", "-S", "-c", script), Path("/")))
    clock = process.clock
    assert clock
    found = [0]

    def enough() -> bool:
        found.append(clock.all_ns())
        return found[-1] > 250 * MS

    eventually(enough)
    assert found == sorted(found)
    end_processes([process])


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    ("script", "clock", "ending", "wall_us"),
    [
        ("sleep 0.5; echo move $1 L:D4; sleep 60", "cpu:1h", "", 500_000),  # sleeping is free
        ("while :; do :; done", "cpu:200ms", "time", 0),
        ("(while :; do :; done) & wait", "cpu:200ms", "time", 0),
        ("sleep 60", "cpu:200ms", "time", 1_600_000),  # until three times the time and a second are over
    ],
)
def test_a_clock_of_computing_time(script: str, clock: str, ending: str, wall_us: int) -> None:
    loop = "echo hello 1; while read word rest; do case $word in prepare) echo ready;; ask) set -- $rest; "
    game = GAMES["blooms"]
    bots = [Program("a", ("sh", "-c", f"{loop}{script};; esac; done"), Path("/")), bot("b", "exits")]
    control = TimeControl.parse(clock)
    assert str(control) == clock
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"")
    (record,) = play_encounter(bots, [terms], start_us=LONG_US)
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
    process = BotProcess(Program("cat", ("cat",), Path("/")))
    end_processes([process])
    assert process.clock is None and Stopwatch(process).cpu_ns() == 0
    cat = Program("cat", ("cat",), Path("/"))
    Entrant(cat, TimeControl.parse("1s")).check()
    with pytest.raises(EnvironmentLacksError, match="needs Linux"):
        Entrant(cat, TimeControl.parse("cpu:1s")).check()


def played(*vices: tuple[str, ...], show: Any = None) -> GameRecord:
    game = GAMES["blooms"]
    control = TimeControl.parse("300ms+1h")
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"")
    bots = [bot(name, *vice) for name, vice in zip("ab", vices, strict=True)]
    (record,) = play_encounter(bots, [terms], show, start_us=LONG_US)
    return record


@pytest.mark.slow
def test_a_record_has_when_each_move_was_asked_and_what_it_took() -> None:
    before = time.monotonic_ns() // 1000
    record = played(("sleep", "0.4"), ("resigns", "2"))
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
    played(("none",), ("resigns", "1"), show=lambda *_: collecting.append(gc.isenabled()))
    assert collecting and not any(collecting) and gc.isenabled()
