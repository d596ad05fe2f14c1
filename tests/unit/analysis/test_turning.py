"""Where a game turned: proved, estimated, or not known."""

from __future__ import annotations

from collections.abc import Sequence

from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis
from referee.analysis.turning import CostlyMove, TurningPoint, costly_moves, turning_point


def game(
    proofs: Sequence[int | None], chances: Sequence[float | None] = (), drops: Sequence[float | None] = ()
) -> GameAnalysis:
    """A game with these proofs for seat 1; the seats move in turn."""
    none: list[float | None] = [None] * len(proofs)
    steps = tuple(AnalysedStep(number % 2, proof, best=f"b{number}") for number, proof in enumerate(proofs))
    return GameAnalysis("", AnalysisMethod(1), steps, (*(chances or none),), (*(drops or none),))


def test_a_turning_point_is_proved_between_two_proved_positions() -> None:
    assert turning_point(game([None, -1, 1, 1, 1]), 0) == TurningPoint(2, True)
    assert turning_point(game([None, 1, -1, 1, -1]), 1) == TurningPoint(4, True), "the last one"
    assert turning_point(game([None, 0, 1]), 0) == TurningPoint(2, True), "from a draw"


def test_nothing_is_said_where_a_proof_is_missing_in_between() -> None:
    assert turning_point(game([-1, None, 1, 1]), 0) is None
    assert turning_point(game([-1, 1, None, 1]), 0) is None, "it may have turned twice more"
    assert turning_point(game([1, 1, 1]), 0) is None, "the winner never had to come ahead"
    assert turning_point(game([-1, -1, -1]), 0) is None, "not the rules ended the game"


def test_an_estimated_one_is_the_largest_gain_that_lasts_and_the_last_of_equal_ones() -> None:
    none = [None] * 5
    assert turning_point(game([*none], [0.5, 0.2, 0.6, 0.6, 0.8]), 0) == TurningPoint(2, False, 0.2, 0.6)
    assert turning_point(game([*none], [0.5, 0.75, 0.25, 0.25, 0.1]), 1) == TurningPoint(2, False, 0.25, 0.75)
    assert turning_point(game([*none], [0.2, 0.7, 0.3, 0.6, 0.6]), 0) == TurningPoint(3, False, 0.3, 0.6)
    assert turning_point(game([*none], [0.5, 0.6, 0.7, 0.8, 0.9]), 0) is None, "no move gained so much"
    assert turning_point(game([*none], [0.2, 0.7, None, 0.6, 0.7]), 0) is None, "who knows what came between"


def test_the_end_of_a_game_needs_no_proof() -> None:
    assert turning_point(game([None] * 4, [0.1, 0.2, 0.6, None]), 0) == TurningPoint(2, False, 0.2, 0.6)


def test_proofs_and_chances_make_no_turning_point_together() -> None:
    assert turning_point(game([None, None, 1, 1], [0.4, 0.2, None, None]), 0) is None
    assert turning_point(game([None, None, None, 1], [0.1, 0.2, 0.6, None]), 0) == TurningPoint(
        2, False, 0.2, 0.6
    )


def test_costly_moves_are_proved_ones_before_estimated_ones() -> None:
    proofs = [None, None, None, 1, 1, -1, 1]
    found = costly_moves(game(proofs, drops=[0.3, 0.1, 0.5, None, 0.9, None, None]), most=3)
    assert found == [
        CostlyMove(3, 0, 0, 0.5, "b2"),
        CostlyMove(5, 0, 2, None, "b4"),
        CostlyMove(6, 1, 2, None, "b5"),
    ]
    assert costly_moves(game([-1, -1, -1], drops=[0.19, None, None])) == []
