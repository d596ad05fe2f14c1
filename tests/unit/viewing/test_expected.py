"""The moves that a bot expects: followed as far as they are legal, for those who know the position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from referee.gameplay.events import Moved
from referee.games import GAMES
from referee.games.picture import boards_and_notes
from referee.pages.game_data import game_data
from referee.records.record import GameRecord
from referee.viewing.info import MOST_MOVES, expected_moves
from referee.viewing.steps import steps_of
from referee.viewing.svg import Layout
from tests.rules.random_play import random_game
from tests.unit.viewing.test_steps import recorded

BLOOMS = recorded(GAMES["blooms"], ("L:A1", "L:B1", "resign {n}"), ("L:A2 D:C1",))


def saying(record: GameRecord, line: str) -> GameRecord:
    """The game, in which each bot says this of each move."""
    events = (event._replace(info=line) if isinstance(event, Moved) else event for event in record.events)
    return replace(record, events=tuple(events))


def expected(data: Any, step: int) -> list[Any]:
    return data["steps"][step].get("expected", [])  # type: ignore[no-any-return]


def test_legal_moves_are_followed_in_turn() -> None:
    start = steps_of(BLOOMS).steps[0].state
    found = expected_moves(start, "L:A1; D:C1 L:A2 ;L:B1;L:B1;L:B2")
    assert [one.text for one in found] == ["L:A1", "L:A2 D:C1", "L:B1"], "canonical, up to B1 again"
    assert [one.state.to_act() for one in found] == [(1,), (0,), (1,)]
    assert expected_moves(start, "") == expected_moves(start, "L:Z9; L:A1") == []
    alone = random_game(GAMES["thetree"], b"1", {"players": "1"})
    assert expected_moves(steps_of(alone).steps[0].state, "0-0@1,1") == [], "chance acts"


def test_only_the_first_of_many_are_followed() -> None:
    state = steps_of(BLOOMS).steps[0].state
    moves = []
    for _ in range(MOST_MOVES + 2):
        (seat,) = state.to_act()
        moves.append(state.write(next(state.legal(seat))))
        state = state.play({seat: state.read(seat, moves[-1])})
    found = expected_moves(steps_of(BLOOMS).steps[0].state, "; ".join(moves))
    assert [one.text for one in found] == moves[:MOST_MOVES]


def test_pages_have_their_positions() -> None:
    steps = steps_of(saying(BLOOMS, "value 0.5 pv L:A1; L:A2; L:B1"))
    made = game_data(steps, with_texts=True).value
    (view,) = made["views"]
    ((of_seat_1,),) = [expected(view, 1)]
    assert of_seat_1["seat"] == 1 and [move["text"] for move in of_seat_1["moves"]] == [
        "L:A1",
        "L:A2",
        "L:B1",
    ]
    states = [one.state for one in expected_moves(steps.steps[0].state, "L:A1; L:A2; L:B1")]
    pictures, _ = boards_and_notes(
        [state.picture(None) for state in [*(step.state for step in steps.steps), *states]]
    )
    layout = Layout.of(pictures)
    for move, picture in zip(of_seat_1["moves"], pictures[-3:], strict=True):
        assert [made["elements"][index] for index in move["draw"]] == layout.elements(picture)
        assert move["rows"].keys() == view["rows"].keys()
    assert expected(view, 2) == [], "A1 is no longer free"
    assert all(not expected(view, number) for number in range(4) if number != 1)
    assert not any("expected" in step for step in game_data(steps).value["views"][0]["steps"])
    (of_other,) = game_data(steps, [1], with_texts=True).value["views"]
    assert not any("expected" in step for step in of_other["steps"]), "what seat 1 said"


def test_a_seat_of_a_game_with_hidden_information_is_not_shown_what_would_follow() -> None:
    record = random_game(GAMES["thetree"], b"0", {"players": "2"})
    moves = [number for number, event in enumerate(record.events) if isinstance(event, Moved)]
    record = replace(record, events=record.events[: moves[2]])  # later steps would be looked at in vain
    first = record.events[moves[0]]
    assert isinstance(first, Moved)
    views = game_data(steps_of(saying(record, f"pv {first.text}")), with_texts=True).value["views"]
    has = [any("expected" in step for step in view["steps"]) for view in views]
    assert has == [True, False, False]
