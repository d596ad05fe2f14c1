"""Where a game turned, if that is proved, and its worst moves."""

from __future__ import annotations

from collections.abc import Sequence

from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis
from referee.analysis.turning import CostlyMove, costly_moves, turning_point


def game(proofs: Sequence[int | None], drops: Sequence[float | None] = ()) -> GameAnalysis:
    """A game with these proofs for seat 1; the seats move in turn."""
    none: list[float | None] = [None] * len(proofs)
    steps = tuple(AnalysedStep(number % 2, proof, best=f"b{number}") for number, proof in enumerate(proofs))
    return GameAnalysis("", AnalysisMethod(1), steps, (*none,), (*(drops or none),))


def test_a_turning_point_is_proved_between_two_proved_positions() -> None:
    assert turning_point(game([None, -1, 1, 1, 1]), 0) == 2
    assert turning_point(game([None, 1, -1, 1, -1]), 1) == 4, "the last one"
    assert turning_point(game([None, 0, 1]), 0) == 2, "from a draw"


def test_nothing_is_said_where_a_proof_is_missing_in_between() -> None:
    assert turning_point(game([-1, None, 1, 1]), 0) is None
    assert turning_point(game([-1, 1, None, 1]), 0) is None, "it may have turned twice more"
    assert turning_point(game([1, 1, 1]), 0) is None, "the winner never had to come ahead"
    assert turning_point(game([-1, -1, -1]), 0) is None, "not the rules ended the game"


def test_costly_moves_are_proved_ones_before_estimated_ones() -> None:
    proofs = [None, None, None, 1, 1, -1, 1]
    found = costly_moves(game(proofs, drops=[0.3, 0.1, 0.5, None, 0.9, None, None]), most=3)
    assert found == [
        CostlyMove(3, 0, 0, 0.5, "b2"),
        CostlyMove(5, 0, 2, None, "b4"),
        CostlyMove(6, 1, 2, None, "b5"),
    ]
    assert costly_moves(game([-1, -1, -1], drops=[0.19, None, None])) == []
