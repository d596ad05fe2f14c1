"""The file of analyses: what is not used of it, and that nothing is lost by that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.analysis import analysing
from referee.analysis.analysing import AnalysisSettings, analyse
from referee.analysis.store import GameAnalysis, Store, analysed
from referee.core.errors import UsageError
from referee.records.run_files import ANALYSIS
from referee.tournament.run.run import StoredRun, read_run
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


def analyse_all(run: StoredRun, **settings: object) -> list[GameAnalysis]:
    return [*analyse(run, [*run.games], AnalysisSettings(50, **settings)).games.values()]  # type: ignore[arg-type]


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


def test_lines_that_are_cut_or_foreign_are_told_and_computed_again(run: StoredRun) -> None:
    found = analyse_all(run)
    first, second = lines(run)
    foreign = json.dumps({**json.loads(first), "events": "0" * 16}).encode()
    wrong_step = json.dumps({**json.loads(first), "steps": [[0, 5, None, None, None, None]]}).encode()
    (run.folder / ANALYSIS).write_bytes(foreign + b"\n" + wrong_step + b"\n" + second + first[:50])
    known = analysed(run)
    assert [*known.games] == ["2:a:b"]
    assert [problem.partition(": ")[2] for problem in known.problems] == [
        "2 lines cannot be read, left out",
        "1 line of no game of this run, left out",
    ]
    assert analyse_all(run) == found and lines(run)[-1] == first, "on a line of its own"


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
    analyse(run, ["2:a:b"], AnalysisSettings(7))
    assert {one.method.proof for one in analysed(run).games.values()} == {50}, "that of most games"
    only = analyse(run, ["2:a:b"], AnalysisSettings(7)).games
    assert [*only] == ["2:a:b"] and only["2:a:b"].method.proof == 7


def test_old_versions_and_other_rules_are_not_used(run: StoredRun) -> None:
    analyse_all(run)
    first, second = map(json.loads, lines(run))
    first["by"]["version"] += 1
    second["rules"] += 1
    (run.folder / ANALYSIS).write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    assert analysed(run).games == {}
    assert Store(run.folder).load()[1] == 0, "neither line is damaged"
