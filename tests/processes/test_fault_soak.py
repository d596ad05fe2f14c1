"""The soak among bots that fault, in short, and that it notices what it is there for."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from typing import Any

import pytest

from referee.gameplay import loop
from referee.gameplay.events import Ending
from referee.tournament.workers.task import Finished, Report
from referee.tournament.workers.worker import Player
from tests.command import ROOT
from tests.tools.fault_soak import Checker, Meeting, meeting
from tests.waiting import TOO_LONG_S


@pytest.mark.slow
def test_games_between_bots_that_fault_go_as_foretold() -> None:
    """In a process of its own, since all that a process holds is counted: this one may open other things."""
    words = [sys.executable, "-m", "tests.tools.fault_soak", "40", "--seed", "tiny", "--workers", "2"]
    soak = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TOO_LONG_S)
    assert soak.returncode == 0, soak.stderr + soak.stdout


def played(fault: str, checker: Checker) -> list[Report]:
    """The reports of an encounter in which this fault comes up, checked."""
    meetings = (meeting("noticed", number, "noticed-") for number in count(1))
    following: Meeting = next(
        one
        for one in meetings
        if one.task.plan.game.slug == "blooms"
        and any(fault in foretold.course.faults for foretold in one.foretold.values())
    )
    checker.foretold.update(following.foretold)
    reports: list[Report] = []
    Player(reports.append, lambda: False).play(following.task)
    checker.take(reports)
    return reports


@pytest.mark.slow
def test_a_wrong_word_for_a_fault_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = loop.ending_of

    def wrong(*arguments: Any) -> Ending | None:
        ending = right(*arguments)
        return Ending.TURN if ending is Ending.PROTOCOL else ending

    monkeypatch.setattr(loop, "ending_of", wrong)
    checker = Checker()
    played("protocol", checker)
    assert len(checker.complaints) == 1 and "left turn" in checker.complaints[0]


@pytest.mark.slow
def test_a_game_that_is_reported_twice_is_noticed() -> None:
    checker = Checker()
    reports = played("gone", checker)
    assert checker.complaints == []
    checker.take([next(report for report in reports if isinstance(report, Finished))])
    assert len(checker.complaints) == 1 and "twice" in checker.complaints[0]


@pytest.mark.slow
def test_a_failure_of_the_referee_s_own_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "ending_of", None)
    checker = Checker()
    played("gone", checker)
    assert checker.complaints and all("the referee itself failed" in one for one in checker.complaints)
