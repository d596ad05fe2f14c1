"""A bot that gets no processor, since other programs have it, is told from one that thinks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import KeptWaitingError
from referee.core.units import TimeControl
from referee.gameplay.events import Moved
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu
from referee.processes.program import Program
from referee.tournament.workers.encounter import play_encounter
from tests.command import RANDOM, ROOT, referee
from tests.processes.encounters import LONG, LONG_US
from tests.processes.runs import toml

pytestmark = pytest.mark.skipif(not cpu.COUNTS_WAITING, reason="this kernel does not count waiting")


@contextmanager
def computing(count: int, core: int | None = None, new_session: bool = False) -> Iterator[None]:
    """So many programs compute all the time, on this core if one is given: from now on, not once they have
    started.
    """
    pinned = "" if core is None else f"import os; os.sched_setaffinity(0, {{{core}}}); "
    command = [sys.executable, "-c", f"{pinned}print(flush=True)\nwhile True: pass"]
    busy = [
        subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=new_session) for _ in range(count)
    ]
    try:
        for process in busy:
            assert process.stdout and process.stdout.readline()
        yield
    finally:
        for process in busy:
            process.kill()
            process.communicate()


BOT = """
import os, time
from referee.protocol.bot import play

os.sched_setaffinity(0, {{{core}}})
asked = 0

def choose(game):
    global asked
    asked += 1
    until = time.process_time() + (0.05 if asked == 1 else 0)
    while time.process_time() < until:
        pass
    return game.legal()[0]

play(choose)
"""


@pytest.mark.slow
@pytest.mark.parametrize("forgiven", [False, True])
def test_a_bot_on_a_core_that_others_use_waits(tmp_path: Path, forgiven: bool) -> None:
    """It waits in a move in which it computes, and for no longer than it did not compute."""
    core = min(os.sched_getaffinity(0))
    path = tmp_path / "bot.py"
    path.write_text(BOT.format(core=core))
    bots = [
        Program(
            "a", ("{python}", str(path)), tmp_path, env=(("PYTHONPATH", str(ROOT)),), forgive_waiting=forgiven
        ),
        Program.parse(f"b={RANDOM}", tmp_path),
    ]
    control = TimeControl.parse("10ms+60s")
    game = GAMES["evengroups"]
    terms = Terms("x", game, game.settle({"size": "3"}), ("a", "b"), (control, control), b"")
    with computing(3, core):
        (record,) = play_encounter(bots, [terms], start_us=LONG_US)
    assert record.verdict.rated
    first = next(event for event in record.events if isinstance(event, Moved) and event.seat == 0)
    charge, timing = first.charge, first.timing
    assert charge.over_us and timing.cpu_us >= 45_000
    assert 1000 <= timing.waited_us <= timing.wall_us - timing.cpu_us + 5000
    assert forgiven or not timing.forgiven_us
    if forgiven:  # at once, or since the referee was kept waiting too, which is never charged
        assert charge.used_us <= timing.wall_us - timing.waited_us + 1
    assert charge.used_us <= timing.wall_us - timing.forgiven_us + 1


THINKING = """
import time
from referee.protocol.bot import play

def choose(game):
    until = time.process_time() + 0.03
    while time.process_time() < until:
        pass
    return game.legal()[0]

play(choose)
"""


@pytest.mark.skipif((os.cpu_count() or 1) > 8, reason="it would take many programs to keep all cores busy")
@pytest.mark.slow
def test_a_loss_on_a_busy_machine_is_void_if_the_bot_would_have_been_in_time(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(THINKING)
    bots = [
        Program("a", (sys.executable, str(path)), tmp_path, env=(("PYTHONPATH", str(ROOT)),)),
        Program.parse(f"b={RANDOM}", tmp_path),
    ]
    game = GAMES["evengroups"]
    controls = (TimeControl.parse("100ms"), TimeControl.parse("60s"))
    terms = Terms("x", game, game.settle({"size": "3"}), ("a", "b"), controls, b"")
    with (
        computing(12 * (os.cpu_count() or 1), new_session=True),
        pytest.raises(KeptWaitingError, match=r"^bot `a` ran out of time, but for \d+ of \d+ ms it was kept"),
    ):
        list(play_encounter(bots, [terms], start_us=LONG_US))


@pytest.mark.slow
def test_a_tournament_forgives_waiting_where_the_kernel_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    bots = dict.fromkeys("ab", RANDOM)
    main: dict[str, Any] = {
        "game": "evengroups",
        "clock": None,
        "rounds": 1,
        "start": LONG,
        "forgive_waiting": True,
    }
    file = toml(tmp_path / "t.toml", bots, **main)
    monkeypatch.setattr(cpu, "COUNTS_WAITING", False)
    done = referee("run", str(file), "-o", str(folder))
    assert done.code == 5 and not folder.exists()
    (line,) = done.err.splitlines()
    assert "bot `a`: `forgive_waiting` needs a kernel that counts" in line
    monkeypatch.undo()
    done = referee("run", str(file), "-o", str(folder))
    assert done.code == 0
    header = json.loads((folder / "games.jsonl").read_text().splitlines()[0])
    assert all(bot["forgive_waiting"] for bot in header["bots"].values())
    assert referee("verify", str(folder)).code == 0
