"""What bots compute while they are not asked is measured, and prevented where that is wished."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.cli import progress
from referee.core.units import TimeControl
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu
from referee.processes.process import ExitReport
from referee.processes.program import Program
from referee.records.record import OFF_TURN
from referee.tournament.file.config import load
from referee.tournament.plan import entrant_json
from referee.tournament.workers.encounter import Hooks, play_encounter
from tests.command import RANDOM, ROOT, THIS_PYTHON, Done, referee
from tests.processes.encounters import LONG, LONG_US
from tests.processes.runs import toml
from tests.waiting import TOO_LONG_S

pytestmark = pytest.mark.skipif(not cpu.AVAILABLE, reason="only Linux measures other processes")

BOT = """
import glob, os, subprocess, sys, threading, time
from referee.protocol.bot import play

COMPUTES = "echo $$ >>pids; while :; do :; done"
FORKS = f"(sh -c '{COMPUTES}') & {COMPUTES}"  # one of them is soon without its parent

def think():
    while True:
        sum(range(1000))

def note():
    with open("pids", "a") as file:
        file.write(f"{os.getpid()}\\n")

if "thinks" in sys.argv:
    note()
    threading.Thread(target=think, daemon=True).start()
def start_helpers(command, count):
    subprocess.Popen(["sh", "-c", command], start_new_session=True)
    while not os.path.exists("pids") or len(open("pids").read().split()) < count:
        time.sleep(0.001)  # what a helper computed before the referee knew it does not count
if "has-helpers" in sys.argv:
    start_helpers(FORKS, 2)

def tasks():
    if not os.path.exists("pids"):
        return []
    return [task for pid in open("pids").read().split() for task in glob.glob(f"/proc/{pid}/task/*")]

def computed_ns(tasks):
    return sum(int(open(f"{task}/schedstat").read().split()[0]) for task in tasks)

def all_stopped(tasks):
    return all(open(f"{task}/stat").read().rpartition(")")[2].split()[0] == "T" for task in tasks)

def write(*numbers):
    with open(f"seen-{sys.argv[1]}", "a") as file:
        print(*map(int, numbers), file=file)

REST_NS = 30_000_000
turn = 0

def choose(game):
    global turn
    turn += 1
    others = tasks()
    before_ns = computed_ns(others)
    if "watches" in sys.argv and others:  # the other one computes meanwhile
        while computed_ns(tasks()) < before_ns + 20_000_000:
            time.sleep(0.001)
        write(computed_ns(tasks()) - before_ns)
    elif "rests" in sys.argv and others:
        while not all_stopped(others) and computed_ns(others) < before_ns + REST_NS:
            time.sleep(0.001)
        stopped_ns = computed_ns(others)
        time.sleep(REST_NS / 1e9)
        write(stopped_ns - before_ns < REST_NS, computed_ns(others) - stopped_ns)
    elif "has-late-helpers" in sys.argv and turn == 2:
        start_helpers(COMPUTES, 1)
    return game.legal()[0]

play(choose)
"""


def bot(tmp_path: Path, *words: str) -> Program:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    name = "-".join(words)
    return Program(name, ("{python}", str(path), *words), tmp_path, env=(("PYTHONPATH", str(ROOT)),))


def seen(folder: Path, name: str) -> list[list[int]]:
    """What this bot wrote of the other one in each of its turns."""
    return [
        [int(word) for word in line.split()] for line in (folder / f"seen-{name}").read_text().splitlines()
    ]


def played(*bots: Program) -> tuple[dict[str, Any], dict[str, ExitReport]]:
    """What was measured of each bot in a game that lasts longer than the time between two looks for new
    processes, and its exit report.
    """
    game = GAMES["evengroups"]
    names = tuple(one.name for one in bots)
    terms = Terms("x", game, game.settle({"size": "5"}), names, (TimeControl.parse(LONG),) * 2, b"")
    exits: dict[str, ExitReport] = {}
    (record,) = play_encounter(bots, [terms], start_us=LONG_US, hooks=Hooks(exits.__setitem__))
    assert not record.verdict.ending.is_fault, record.events[-1]
    return dict(zip(names, record.measured["seats"], strict=True)), exits


KINDS = [
    "thinks",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("has-helpers", "has-late-helpers")),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_bot_computes_while_it_is_not_asked_is_measured(kind: str, tmp_path: Path) -> None:
    measured, _ = played(bot(tmp_path, kind), bot(tmp_path, "watches"))
    seen_us = [ns // 1000 for (ns,) in seen(tmp_path, "watches")]
    # New processes are looked for now and then: of late helpers, what they computed last counts at least.
    least_us = seen_us[-1] if kind == "has-late-helpers" else sum(seen_us)
    assert measured[kind]["off_turn_cpu_us"] > least_us / 2 > 0
    assert measured["watches"].get("off_turn_cpu_us", 0) < measured[kind]["off_turn_cpu_us"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_bot_that_is_paused_computes_nothing_and_plays_on(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.wire.connection.GRACE_S", TOO_LONG_S)
    paused = replace(bot(tmp_path, kind), pause=True)
    measured, exits = played(paused, bot(tmp_path, "rests"))
    turns = seen(tmp_path, "rests")
    assert {computed_ns for _, computed_ns in turns} == {0}
    assert [1] * len(turns) == [was_stopped for was_stopped, _ in turns]
    assert measured[kind].get("off_turn_cpu_us", 0) < measured[kind]["off_turn_us"]
    if kind == "thinks":
        assert exits[kind].status == "exited with status 0", "it runs again when the games are over"


@pytest.mark.slow
def test_a_tournament_tells_who_computed_and_can_prevent_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also between the games of an encounter."""
    monkeypatch.setattr(progress, "OFF_TURN_PERCENT", 0)  # on a busy machine it is any share
    path = bot(tmp_path, "thinks").command[1]

    def run(*names: str, **main: Any) -> Done:
        command = f"env -C {tmp_path} PYTHONPATH={shlex.quote(str(ROOT))} {THIS_PYTHON} {path}"
        bots = {name: f"{command} {name}" for name in names}
        file = tmp_path / f"{names[1]}.toml"
        main = {"game": "evengroups", "rounds": 1, "clock": LONG, "start": LONG, **main}
        return referee("run", str(toml(file, bots, **main)))

    done = run("thinks", "watches")
    assert "bot `thinks` computed for" in done.err and "bot `watches` computed" not in done.err
    # A referee that gets no processor pauses a bot late; one that is not paused computes nearly all the time.
    monkeypatch.setattr(progress, "OFF_TURN_PERCENT", 50)
    done = run("thinks", "rests", pause=True)
    assert done.code == 0 and "computed for" not in done.err


@pytest.mark.parametrize(
    ("idle_us", "cpu_us", "told"),
    [
        (1_000_000, 100_000, True),
        (1_000_000, 99_999, False),
        (999_999, 99_999, False),
        (1_000_001, 100_000, False),
    ],
)
def test_a_tenth_of_the_time_is_told(
    idle_us: int, cpu_us: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.report_bots(
        Counter(dict(zip((("a", name) for name in OFF_TURN), (idle_us, cpu_us), strict=True))), {}
    )
    assert ("bot `a` computed for" in capsys.readouterr().err) == told


@pytest.mark.slow
def test_bots_that_are_asked_at_the_same_time_can_be_paused(tmp_path: Path) -> None:
    bots = dict.fromkeys("ab", RANDOM)
    file = toml(tmp_path / "t.toml", bots, "", game="floral", rounds=1, pause=True, clock=LONG)
    assert referee("run", str(file), "--strict").code == 0


def test_a_tournament_says_who_is_paused(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(
        """[tournament]
game = "blooms"
pause = true
[[bot]]
name = "a"
cmd = "true"
[[bot]]
name = "b"
cmd = "true"
pause = false
"""
    )
    a, b = load(file).entrants
    assert a.bot.pause and not b.bot.pause
    assert entrant_json(a, {})["pause"] is True and "pause" not in entrant_json(b, {})
