"""What becomes of a game that was lost on time because the bot got no processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.tournament.plan import Entrant, Plan
from referee.tournament.run.voids import ATTEMPTS
from referee.tournament.schedule import encounter
from referee.tournament.workers.task import Began, Finished, Report, Task, Void
from referee.tournament.workers.worker import Player
from referee.wire.stopwatch import Stopwatch
from tests.unit.scripted_process import ScriptedPipes, ScriptedStart

GAME = GAMES["blooms"]
PLAN = Plan(
    GAME,
    GAME.settle({}),
    tuple(Entrant(Program(name, ("silent",), Path("/")), TimeControl.parse("1ms")) for name in "ab"),
    "s",
)


@pytest.mark.parametrize("kept_us", [0, 98_000])
def test_it_is_void_and_held_against_nobody(monkeypatch: pytest.MonkeyPatch, kept_us: int) -> None:
    monkeypatch.setattr(
        "referee.tournament.workers.encounter.BotStart", lambda bot: ScriptedStart(ScriptedPipes())
    )
    monkeypatch.setattr(Stopwatch, "kept_us", lambda watch, used_us: kept_us)
    reports: list[Report] = []
    games = tuple((pairing, ATTEMPTS) for pairing in encounter(1, ("a", "b")).games)
    Player(reports.append, lambda: False).play(Task(PLAN, games, "nothing"))
    if not kept_us:
        assert [type(report) for report in reports] == [Began, Finished] * 2
        return
    assert [type(report) for report in reports] == [Began, Void] * 2, "the next game is played all the same"
    for report, bot in zip(reports[1::2], "ab", strict=True):
        assert isinstance(report, Void) and not report.suspects and not report.lost
        assert report.error.startswith(f"bot `{bot}` ran out of time, but for 98 of ")
        assert report.error.endswith(" ms it was kept waiting for a processor")
