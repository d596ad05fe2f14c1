"""The file of analyses: what is not used of it, and that nothing is lost by that."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from referee.analysis import analysing, store
from referee.analysis import calibration as calibration_module
from referee.analysis.analysing import analyse, opened
from referee.analysis.diagnosing import diagnosed
from referee.analysis.store import (
    AnalysedStep,
    AnalysisMethod,
    GameAnalysis,
    Store,
    analysed,
    key_of,
)
from referee.core.errors import UsageError
from referee.gameplay.events import Moved, Preset
from referee.games.blooms import Blooms
from referee.records.record import json_of, to_json
from referee.records.run_files import ANALYSIS
from referee.tournament.run.run import StoredRun, read_run
from referee.viewing.steps import steps_of
from tests.unit.records.test_records import record
from tests.unit.tournament.test_exports import written

GAMES = [
    record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2")),
    record("L:A1", others=(None,), number=2),
    record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2"), number=3),
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredRun:
    """A run of three games, of which two are the same, that nobody estimates."""
    monkeypatch.setattr(analysing, "adviser_of", lambda game: ())
    return read_run(written(tmp_path / "run", *GAMES))


def analyse_all(run: StoredRun) -> list[GameAnalysis]:
    return [*analyse(run, [*run.games], proof=50).games.values()]


def lines(run: StoredRun) -> list[bytes]:
    return (run.folder / ANALYSIS).read_bytes().splitlines(keepends=True)


def test_what_is_stored_is_read_back_and_not_computed_again(
    run: StoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = analyse_all(run)
    assert [game.steps[-1].proof for game in found] == [-1, None, -1], "nobody won by the rules on time"
    assert [step.lead for step in found[0].steps][-1] == -1 and found[0].steps[0].seat == 0
    assert len(lines(run)) == 2, "the same game needs no second line"
    monkeypatch.setattr(analysing, "opened", lambda *given: pytest.fail("computed again"))
    assert analyse_all(run) == found
    assert (run.folder / ANALYSIS).stat().st_mode & 0o777 == 0o600


def test_lines_that_are_cut_or_foreign_are_not_used_and_computed_again(run: StoredRun) -> None:
    found = analyse_all(run)
    first, second = lines(run)
    foreign = json.dumps({**json.loads(first), "game": "0" * 32}).encode()
    wrong_step = json.dumps({**json.loads(first), "steps": [[0, 5, None, None, None, None]]}).encode()
    (run.folder / ANALYSIS).write_bytes(foreign + b"\n" + wrong_step + b"\n" + second + first[:50])
    known = analysed(run)
    assert [*known.games] == ["2:a:b"]
    (problem,) = known.problems
    assert problem.endswith(": 2 lines cannot be read, left out")
    told: list[str] = []
    diagnosed(run, "a", tell=told.append)
    assert told == [*known.problems]
    (run.folder / ANALYSIS).write_bytes(foreign + b"\n")
    assert analysed(run).problems[0].endswith("`: it has no game of this run"), "it is of another one"
    (run.folder / ANALYSIS).write_bytes(foreign + b"\n" + wrong_step + b"\n" + second + first[:50])
    assert analyse_all(run) == found and lines(run)[-1] == first, "on a line of its own"


def test_two_may_analyse_a_run_at_once(tmp_path: Path) -> None:
    with closing(Store(tmp_path)) as one, closing(Store(tmp_path)) as other:
        for steps in range(1, 4):
            for each, length in ((one, steps), (other, 5 * steps)):
                each.append(GameAnalysis("0", AnalysisMethod(1), (AnalysedStep(),) * length))
        found, damaged = one.load()
    assert len(found) == 6 and not damaged


def test_the_file_can_be_deleted_and_is_no_link(run: StoredRun) -> None:
    found = analyse_all(run)
    (run.folder / ANALYSIS).unlink()
    assert analysed(run).games == {} and analyse_all(run) == found
    (run.folder / ANALYSIS).rename(run.folder / "other")
    (run.folder / ANALYSIS).symlink_to(run.folder / "other")
    with pytest.raises(UsageError, match="cannot read"):
        analysed(run)


def test_analyses_by_different_methods_are_not_mixed(run: StoredRun) -> None:
    analyse_all(run)
    analyse(run, ["2:a:b"], proof=7)
    assert {one.method.proof for one in analysed(run).games.values()} == {50}, "that of most games"
    only = analyse(run, ["2:a:b"], proof=7).games
    assert [*only] == ["2:a:b"] and only["2:a:b"].method.proof == 7


def test_estimates_of_a_game_in_which_they_are_worth_nothing_are_not_used(
    run: StoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = analyse_all(run)
    scored = [json.loads(line) for line in lines(run)]
    for one in scored:
        one["steps"] = [[*step[:2], 1.0, *step[3:5], 1.0] for step in one["steps"]]
    (run.folder / ANALYSIS).write_text("".join(f"{json.dumps(one)}\n" for one in scored))
    monkeypatch.setattr(calibration_module, "LEAST_GAMES", 1)
    assert analysed(run).calibrations[""].games == 1, "the other one was not ended by the rules"
    monkeypatch.setattr(Blooms, "can_be_estimated", False)
    after = analysed(run)
    assert after.calibrations[""].games == 0
    assert [[step.proof for step in one.steps] for one in after.games.values()] == [
        [step.proof for step in one.steps] for one in found
    ], "but what is proved stays"


def test_a_move_that_no_bot_chose_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of an opening, and not those that the referee made when the time was up."""
    game = steps_of(GAMES[0])
    first, one, two, three, four = game.steps
    (moved,) = (event for event in three.events if isinstance(event, Moved))
    opening = replace(two, events=(Preset(1, "L:A2 D:B1"),))
    late = replace(three, events=(moved._replace(defaulted=True),))
    changed = replace(game, steps=[first, one, opening, late, four])
    monkeypatch.setattr(analysing, "steps_of", lambda record: changed)
    found = opened(json_of(to_json(GAMES[0])), 0)
    assert [step.seat for step in found] == [0, None, None, 1, None]  # type: ignore[union-attr]


def test_a_game_that_no_rule_ended_has_no_chances(run: StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_all(run)
    scored = [json.loads(line) for line in lines(run)]
    for one in scored:
        one["steps"] = [[*step[:1], None, 1.0, *step[3:5], 1.0] for step in one["steps"]]
    (run.folder / ANALYSIS).write_text("".join(f"{json.dumps(one)}\n" for one in scored))
    monkeypatch.setattr(calibration_module, "LEAST_GAMES", 1)
    monkeypatch.setattr(calibration_module, "WORST_BRIER", 1.0)
    by_rules, by_time, _ = analysed(run).games.values()
    assert {*by_rules.chances[1:]} == {0.5} and {*by_rules.drops} == {0.0, None}, "as there is one game"
    assert {*by_time.chances} == {*by_time.drops} == {None}


def test_old_versions_and_other_rules_are_not_used(run: StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_all(run)
    (game, *_), section = run.games.values(), run.header.sections[""]
    keys = {key_of(game, section), key_of(game, section._replace(rules=9))}
    monkeypatch.setattr(store, "VERSION", 9)
    assert len({*keys, key_of(game, section)}) == 3 and analysed(run).games == {}
    assert Store(run.folder).load()[1] == 0, "no line is damaged"
