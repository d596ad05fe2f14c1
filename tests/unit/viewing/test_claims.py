"""What bots said of their moves that was wrong is told, and only to those who may know it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.gameplay.events import Moved
from referee.games import GAMES
from referee.pages.game_data import game_data
from referee.records.record import GameRecord
from referee.viewing.claims import ILLEGAL_LINE, LOST_WIN, first_claims, wrong_claims
from referee.viewing.info import refused_move
from referee.viewing.steps import steps_of
from referee.viewing.words import step_lines
from tests.rules.random_play import random_game
from tests.unit.viewing.test_deciding import CAPTURED
from tests.unit.viewing.test_steps import recorded


def said(record: GameRecord, *lines: str) -> GameRecord:
    """The game, in which the bots said this of their moves."""
    infos = iter(lines)
    events = (
        event._replace(info=next(infos, "")) if isinstance(event, Moved) else event for event in record.events
    )
    return replace(record, events=tuple(events))


def test_a_line_of_play_is_legal_as_far_as_it_is_followed() -> None:
    start = steps_of(CAPTURED).steps[0].state
    assert refused_move(start, "L:A1") == refused_move(start, "L:A1; L:A2 D:B1;") == ""
    assert refused_move(start, "L:A1; L:A1").startswith("move 2 `L:A1`: ")
    assert refused_move(start, "L:Z9").startswith("move 1 `L:Z9`: ")
    assert refused_move(start, "L:A1;; L:A2").startswith("move 2 ``: ")
    before = steps_of(CAPTURED).steps[-2].state
    assert refused_move(before, "L:B2; L:D3") == "move 2 `L:D3`: the game is over"
    alone = random_game(GAMES["thetree"], b"1", {"players": "1"})
    assert refused_move(steps_of(alone).steps[0].state, "nonsense") == "", "chance acts"


def test_wrong_claims_are_told_at_their_moves_and_counted() -> None:
    record = said(CAPTURED, "value 1 pv L:A1; L:A1", "value 1", "value 1 pv L:D4; L:A1", "pv L:B2")
    steps = steps_of(record)
    found = wrong_claims(steps, steps.known_by(None))
    assert [(claim.step, claim.seat, claim.key) for claim in found] == [
        (1, 0, ILLEGAL_LINE),
        (1, 0, LOST_WIN),
        (3, 0, ILLEGAL_LINE),
        (3, 0, LOST_WIN),
    ], "seat 2 won"
    assert [(claim.step, count) for claim, count in first_claims(found)] == [(1, 2), (1, 2)]
    assert wrong_claims(steps, steps.known_by(1)) == [], "what seat 1 said"
    assert any("the `pv` is not legal, move 2 `L:A1`: " in line for line in step_lines(steps, 1, None))
    view = game_data(steps).value["views"][0]
    assert [seat for seat, _ in view["steps"][1]["wrong"]] == [1, 1] and "wrong" not in view["steps"][2]


def test_a_certain_win_that_a_fault_lost_is_not_told() -> None:
    late = recorded(GAMES["blooms"], ("L:A1", None), ("L:A2",))
    steps = steps_of(said(late, "value 1"))
    assert steps.verdict and steps.verdict.outcome.ranks == (2, 1)
    assert wrong_claims(steps, steps.known_by(None)) == []


@pytest.mark.parametrize("view", [None, 0])
def test_lines_of_play_are_not_checked_where_information_is_hidden(view: int | None) -> None:
    record = random_game(GAMES["thetree"], b"0", {"players": "2"})
    steps = steps_of(said(record, *["pv nonsense"] * 4))
    assert wrong_claims(steps, steps.known_by(view)) == []
