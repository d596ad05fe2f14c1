"""Moves that gave something away: which ones, of what kind, and what a diagnosis and a suite make of them."""

from __future__ import annotations

from pathlib import Path

from referee.analysis.diagnosing import diagnosed
from referee.analysis.kinds import Blunder, BlunderKind, SeatDecisions, decisions
from referee.analysis.significance import Count
from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis, Store, key_of
from referee.analysis.suite import read_suite
from referee.core.errors import UsageError
from referee.tournament.run.run import read_run
from referee.viewing.steps import steps_of
from tests.command import referee
from tests.unit.records.test_records import record
from tests.unit.tournament.test_exports import written

PLAYED = record("L:A1", "D:C3", None, others=("L:A2 D:B1", "L:E1"))
"""Seat 2 could have captured the corner with L:B2, and places a stone in another corner."""

MISSED = {
    BlunderKind(True, "`captured`"),
    BlunderKind(True, "`captured` with one cell"),
    BlunderKind(True, "`captured` with a cell at a corner"),
    BlunderKind(False, "`move` with a cell at a corner"),
}


def analysis(
    *proofs: int | None, drops: tuple[float | None, ...] = (), best: str = "L:B2", key: str = ""
) -> GameAnalysis:
    """The analysis of a game whose seats move in turn."""
    steps = tuple(
        AnalysedStep(number % 2 if number < 5 else None, proof, best=best)
        for number, proof in enumerate(proofs)
    )
    return GameAnalysis(key, AnalysisMethod(1), steps, (None,) * 6, drops)


def judged(seat: int, *proofs: int | None, drops: tuple[float | None, ...] = ()) -> SeatDecisions:
    return decisions(analysis(*proofs, drops=drops), seat, PLAYED.terms, steps_of(PLAYED).steps)


def test_a_proved_win_is_given_away_between_two_proved_positions() -> None:
    found = judged(1, None, None, None, -1, 1, 1)
    assert found.judged == 1 and found.wins == Count(1, 1)
    (blunder,) = found.blunders
    assert blunder == Blunder(3, "L:E1", "L:B2", True, True, blunder.kinds)
    assert blunder.kinds == MISSED


def test_a_win_that_is_kept_or_not_known_to_be_lost_was_not_given_away() -> None:
    assert judged(1, None, -1, -1, -1, -1, -1) == SeatDecisions(2, Count(0, 1), [])
    assert judged(1, None, -1, None, None, None, None) == SeatDecisions(0, Count(0, 1), [])
    assert judged(1, 1, 1, 1, 1, 1, 1) == SeatDecisions(0, Count(0, 0), []), "it was lost anyway"


def test_an_estimate_counts_from_20_points_on_and_only_where_nothing_is_proved() -> None:
    drops = (None, 0.19, None, 0.2, None, None)
    found = judged(1, *[None] * 6, drops=drops)
    assert found.judged == 2 and found.wins == Count(0, 0)
    assert [(blunder.step, blunder.is_proved) for blunder in found.blunders] == [(3, False)]
    assert found.blunders[0].kinds == MISSED
    assert judged(1, None, None, None, -1, -1, -1, drops=drops) == SeatDecisions(2, Count(0, 1), [])


def test_moves_of_the_opening_are_nobodys() -> None:
    assert judged(0, *[None] * 6, drops=(0.5, None, 0.5, None, None, None)).judged == 2
    steps = list(steps_of(PLAYED).steps)
    without = [
        steps[0],
        *(step.__class__(step.number, (), step.state, step.reserves_us) for step in steps[1:]),
    ]
    found = decisions(analysis(1, -1, 1, -1, 1, 1), 0, PLAYED.terms, without)
    assert found.blunders == [] and found.judged == 0


def test_a_move_that_an_analysis_cannot_name_has_no_kind() -> None:
    forged = analysis(None, None, None, -1, 1, 1, best="L:A1")
    (blunder,) = decisions(forged, 1, PLAYED.terms, steps_of(PLAYED).steps).blunders
    assert blunder.kinds == frozenset()


def blundering(folder: Path) -> None:
    """Games in which `b` gives away a proved win by leaving a corner alone, and `a` keeps a proved draw."""
    cells = [f"{shade}:{cell}" for shade in "LD" for cell in ("C3", "C4", "D2", "D3", "C2", "B3", "B4", "C5")]
    games = [
        record("L:A1", cell, None, others=("L:A2 D:B1", "L:E1"), number=number)
        for number, cell in enumerate(cells, 1)
    ]
    written(folder, *games, header={"rounds": 16})
    store, run = Store(folder), read_run(folder)
    for id_, game in run.games.items():
        store.append(analysis(0, 0, None, -1, 1, 1, key=key_of(game, run.header.section_of(id_))))
    store.close()


def test_what_was_given_away_is_told_and_becomes_a_suite(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    blundering(folder)
    found = diagnosed(read_run(folder), "b")
    assert found.wins == {1: Count(16, 16)} and found.analysed == 16
    first, *_ = (finding for finding in found.findings if finding.about == "blunder")
    assert first.sentence.startswith(
        "of 16 moves that can be judged, it gave something away, as is proved or estimated, in 16 where the "
        "move that the analysis names would have brought the news `captured`"
    )
    assert first.sentence.endswith("and its own did not; its opponents in 0 of 16")
    assert first.text.endswith("(p < 0.0001), as in 1:a:b@3 and 2:a:b@3.")
    done = referee("diagnose", str(folder), "b", "--suite", str(tmp_path / "s.toml"))
    assert done.code == 0 and "proved wins given away: 16 of 16 as seat 2\n" in done.out
    suite = read_suite(tmp_path / "s.toml")
    assert len(suite.positions) == 16
    position = suite.positions[0]
    assert not position.finds and position.moves == {"L:E1"} and position.seat == 1
    assert position.points_for("L:B2") == 1 and "L:B2 keeps it" in (tmp_path / "s.toml").read_text()


def test_without_an_analysis_there_is_no_suite(tmp_path: Path) -> None:
    written(tmp_path / "run", PLAYED)
    done = referee("diagnose", str(tmp_path / "run"), "b", "--suite", str(tmp_path / "s.toml"))
    assert done.code == UsageError.exit_code and "expected some that `referee analyse` has found" in done.err
    assert not (tmp_path / "s.toml").exists()
