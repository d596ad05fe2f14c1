"""The deciding move: the last with which the winner came ahead to stay, by what is known of the game."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.gameplay.events import Moved
from referee.games import GAMES
from referee.pages.game_data import game_data
from referee.viewing.deciding import DecidingMove, by_chances, deciding_move, last_rise
from referee.viewing.steps import Steps, steps_of
from tests.rules.random_play import random_game
from tests.unit.viewing.test_steps import recorded

CAPTURED = recorded(GAMES["blooms"], ("L:A1", "L:D4"), ("L:A2 D:B1", "L:B2"), target="1")
"""Seat 2 captures a stone, and so wins, in step 4."""


@pytest.mark.parametrize(
    ("chances", "step"),
    [
        ([(0, 0, 0.4), (1, 1, 0.6), (2, 0, 0.7), (3, 1, 0.2)], 2),
        ([(0, 0, 0.4), (1, 1, 0.6), (2, 0, 0.7), (3, 1, 0.8), (4, 0, 0.9)], 4),  # behind once more
        ([(0, 0, 0.6), (1, 1, 0.3)], None),  # never behind
        ([(0, 0, 0.4), (2, 0, 0.3)], None),  # never ahead
        ([(0, 1, 0.9), (5, 1, 0.1)], 5),  # what one of them says is enough
    ],
)
def test_the_winner_came_ahead_by_what_the_bots_gave_themselves(
    chances: list[tuple[int, int, float]], step: int | None
) -> None:
    assert last_rise(by_chances(chances, 0)) == step


def said(*values: str) -> Steps:
    """The game, in which the bots said this of their moves."""
    infos = iter(values)
    events = (event._replace(info=next(infos)) for event in CAPTURED.events if isinstance(event, Moved))
    return steps_of(replace(CAPTURED, events=tuple(events)))


BY_LEAD = DecidingMove(4, "b took the lead to stay, counted in captures")
BY_CHANCES = DecidingMove(2, "b came ahead to stay, by the chances that the bots gave themselves")


def test_chances_count_before_the_lead_as_far_as_they_are_known() -> None:
    silent = steps_of(CAPTURED)
    assert deciding_move(silent, silent.known_by(None)) == BY_LEAD
    steps = said("value 0.7", "value 0.8", "value 0.2", "value 0.9")
    assert deciding_move(steps, steps.known_by(None)) == BY_CHANCES
    assert deciding_move(steps, steps.known_by(0)) == BY_CHANCES._replace(step=3)
    assert deciding_move(steps, steps.known_by(1)) == BY_LEAD, "seat 2 was always ahead, for all that it said"


def test_a_draw_and_a_game_without_a_lead_have_none() -> None:
    steps = steps_of(random_game(GAMES["vinetree"], b"1", {"size": "3"}))
    assert deciding_move(steps, steps.known_by(None)) is None
    data = game_data(steps).value
    assert data["lead"] is None and data["views"][0]["deciding"] is None
    tied = steps_of(
        recorded(
            GAMES["floral"],
            ("-",) * 9,
            ("-",) * 9,
            max_turns="2",
            spells="sum 3 3-21; sum 3 3-21; sum 3 3-21",
        )
    )
    assert deciding_move(tied, tied.known_by(None)) is None


def test_a_page_has_the_lead_at_each_step_and_the_deciding_move_of_each_view() -> None:
    data = game_data(steps_of(CAPTURED)).value
    assert data["lead"] == {"of": "captures", "steps": [[0, 0]] * 4 + [[-1, 1]]}
    assert data["views"][0]["deciding"] == BY_LEAD._asdict()
