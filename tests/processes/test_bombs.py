"""Bots that take all that they can get lose their own game or nothing, and leave the other one alone.

Each is bounded by itself as well, so that a test that fails does not take the machine with it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.gameplay.events import Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.processes.limits import SHARE, Limits
from referee.processes.process import ExitReport
from referee.records.record import GameRecord
from referee.tournament.workers.encounter import Hooks, play_encounter
from tests.command import ROOT
from tests.processes.encounters import LONG, LONG_US
from tests.programs import needs_level

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a warden needs"),
]

BOT = """
import mmap, os, sys, time
from referee.protocol.bot import play

def bomb():
{}

exploded = []

def choose(game):
    if "bomb" in sys.argv and not exploded:
        exploded.append(True)
        bomb()
    return game.legal()[0]

play(choose)
"""

FORKS = """
    for _ in range(9):  # 512 at most
        os.fork()
    time.sleep(600)
"""
FORKS_IN_SESSIONS = """
    for _ in range(400):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
    time.sleep(600)
"""
MEMORY = """
    taken = []
    for _ in range(100):
        taken.append(b"x" * (10 << 20))
    time.sleep(600)
"""
SHARED_MEMORY = """
    file = os.memfd_create("x")
    for _ in range(100):
        os.write(file, bytes(10 << 20))
    time.sleep(600)
"""
DISK = """
    with open(os.environ["TMPDIR"] + "/x", "wb", buffering=0) as file:
        try:
            for _ in range(30):
                file.write(bytes(10 << 20))
        except OSError:  # no room is left: it waits until that is counted
            pass
    time.sleep(600)
"""
INODES = """
    for number in range(2500):
        os.mkdir(os.environ["TMPDIR"] + f"/{number}")
    time.sleep(600)
"""
BUSY = """
    for _ in range(60):
        if os.fork() == 0:
            end = time.time() + 5
            while time.time() < end:
                pass
            os._exit(0)
"""
LIMITS = Limits.parse({"processes": "100", "memory": "300MB", "scratch": "100MB", "scratch_files": "1000"})


def bot(name: str, folder: Path, bomb: str = "    pass", level: str = "none") -> Bot:
    path = folder / f"{name}.py"
    path.write_text(BOT.format(bomb))
    limits = replace(LIMITS, memory=SHARE, share=LIMITS.memory)  # no limit for each process by the kernel
    command = ("{python}", str(path), name)
    env = (("PYTHONPATH", str(ROOT)),)
    return Bot(name, command, ROOT, env, limits=limits, isolation=level, read=(ROOT,))


def played(folder: Path, bomb: str, level: str = "none") -> tuple[list[GameRecord], list[ExitReport]]:
    """The records of two games against a bot that plays on, and the exit reports of all bots."""
    game = GAMES["evengroups"]
    exits: list[ExitReport] = []
    bots = [bot("bomb", folder, bomb, level), bot("good", folder)]
    terms = [
        Terms(number, game, game.settle({"size": "3"}), names, (TimeControl.parse(LONG),) * 2, b"")
        for number, names in (("1", ("bomb", "good")), ("2", ("good", "bomb")))
    ]
    records = list(
        play_encounter(bots, terms, start_us=LONG_US, hooks=Hooks(lambda _, report: exits.append(report)))
    )
    return records, exits


@pytest.mark.parametrize(
    ("bomb", "told"),
    [
        (FORKS, "expected at most 100"),
        (FORKS_IN_SESSIONS, "expected at most 100"),
        (MEMORY, "of memory, expected at most 300 MB"),
        (SHARED_MEMORY, "of memory, expected at most 300 MB"),
        (DISK, "in its scratch folder, expected at most 100 MB"),
        (INODES, "more than 1000 files and folders in its scratch folder"),
    ],
    ids=["forks", "forks in sessions", "memory", "shared memory", "disk", "inodes"],
)
def test_a_bomb_loses_its_own_games_by_the_limit(bomb: str, told: str, tmp_path: Path) -> None:
    records, exits = played(tmp_path, bomb)
    for record in records:
        last = record.events[-1]
        assert isinstance(last, Retired)
        assert record.terms.bots[last.seat] == "bomb" and last.ending.word == "limit"
        assert told in last.detail
    assert not any(report.unkillable for report in exits)


def test_a_bomb_of_files_in_memory_loses_by_the_limit_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as much room in its scratch folder, which lies in memory at this level, as the machine has."""
    needs_level("bwrap")
    monkeypatch.setattr(sys.modules[__name__], "LIMITS", replace(LIMITS, scratch=None, scratch_files=None))
    records, _ = played(tmp_path, DISK.replace("range(30)", "range(60)"), "bwrap")
    for record in records:
        last = record.events[-1]
        assert isinstance(last, Retired)
        assert record.terms.bots[last.seat] == "bomb" and last.ending.word == "limit"
        assert "of memory, expected at most 300 MB" in last.detail


def test_many_busy_children_end_with_their_bot(tmp_path: Path) -> None:
    records, exits = played(tmp_path, BUSY)
    for record in records:
        retired = [event for event in record.events if isinstance(event, Retired)]
        assert all(record.terms.bots[event.seat] == "bomb" for event in retired)
    assert not any(report.unkillable for report in exits)
