"""What bots compute while they are not asked is measured, and prevented where that is wished."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.core.timecontrol import TimeControl
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu
from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.tournament.config import load
from referee.tournament.encounter import play_encounter
from referee.tournament.plan import entrant_json
from tests.command import RANDOM, ROOT, referee

pytestmark = pytest.mark.skipif(not cpu.AVAILABLE, reason="only Linux measures other processes")

BOT = """
import subprocess, sys, threading, time
from referee.protocol.bot import play

def think():
    while True:
        sum(range(1000))

if "thinks" in sys.argv:
    threading.Thread(target=think, daemon=True).start()
if "has-helpers" in sys.argv:  # in a session of their own, and one whose parent is gone
    subprocess.Popen(["sh", "-c", "(while :; do :; done) & while :; do :; done"], start_new_session=True)
if "has-late-helpers" in sys.argv:
    def later():
        time.sleep(0.2)
        subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True)
    threading.Thread(target=later, daemon=True).start()

def choose(game):
    time.sleep(0.1 if "slow" in sys.argv else 0)
    return game.legal()[0]

play(choose)
"""


def bot(tmp_path: Path, *words: str) -> Bot:
    path = tmp_path / "bot.py"
    path.write_text(BOT)
    name = "-".join(words)
    return Bot(name, ("{python}", str(path), *words), ROOT, env=(("PYTHONPATH", str(ROOT)),))


def played(*bots: Bot) -> tuple[dict[str, Any], dict[str, ExitReport]]:
    """What was measured of each bot in a game of some moves, and its exit report."""
    game = GAMES["evengroups"]
    names = tuple(one.name for one in bots)
    terms = Terms("x", game, game.settle({"size": "3"}), names, (TimeControl.parse("5s"),) * 2, b"")
    exits: dict[str, ExitReport] = {}
    (record,) = play_encounter(bots, [terms], on_exit=exits.__setitem__)
    assert not record.verdict.ending.is_fault, record.events[-1]
    return dict(zip(names, record.measured["seats"], strict=True)), exits


KINDS = [
    "thinks",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("has-helpers", "has-late-helpers")),
]


@pytest.mark.promise("PROTOCOL", "The helpers of a bot count as the bot.", case="has-helpers")
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_bot_computes_while_it_is_not_asked_is_measured(kind: str, tmp_path: Path) -> None:
    measured, _ = played(bot(tmp_path, kind), bot(tmp_path, "slow"))
    seat = measured[kind]
    assert seat["off_turn_cpu_us"] > seat["off_turn_us"] / 10
    assert measured["slow"].get("off_turn_cpu_us", 0) < measured["slow"]["off_turn_us"] / 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_bot_that_is_paused_computes_nothing_and_plays_on(kind: str, tmp_path: Path) -> None:
    paused = replace(bot(tmp_path, kind), pause=True)
    measured, exits = played(paused, bot(tmp_path, "slow"))
    seat = measured[kind]
    assert seat.get("off_turn_cpu_us", 0) < seat["off_turn_us"] / 4
    if kind == "thinks":
        assert exits[kind].status == "exited with status 0", "it runs again when the games are over"


@pytest.mark.promise(
    "PROTOCOL", "What a bot computes while it is not asked is measured and reported, and can be prevented."
)
@pytest.mark.slow
def test_a_match_tells_who_computed_and_can_prevent_it(tmp_path: Path) -> None:
    """Also between the games of an encounter."""
    path = bot(tmp_path, "thinks").command[1]
    bots = [f"{name}=env PYTHONPATH={ROOT} {sys.executable} {path} {name}" for name in ("thinks", "slow")]
    match = ["match", "evengroups", "-n", "2", "--option", "size=3", "--time", "5s", *bots]
    done = referee(*match)
    assert "bot `thinks` computed for" in done.err and "bot `slow` computed" not in done.err
    done = referee(*match, "--pause")
    assert done.code == 0 and "computed for" not in done.err


@pytest.mark.promise("PROTOCOL", "Bots that are asked at the same time can be paused until then.")
@pytest.mark.slow
def test_bots_that_are_asked_at_the_same_time_can_be_paused() -> None:
    bots = [f"{name}={RANDOM}" for name in "ab"]
    done = referee("match", "floral", "-n", "1", "--seed", "x", "--pause", "--time", "5s", "--strict", *bots)
    assert done.code == 0


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
