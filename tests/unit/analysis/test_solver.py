"""Proofs: they are what a plain search finds, with few positions or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest

from referee.analysis.solver import Solver, is_solvable
from referee.check.rules import (
    InvariantViolation,
    keys_stand_for_positions,
    policies_play_legal_moves,
    random_game,
)
from referee.games import GAMES, game_named
from referee.games.api import Options, State

SMALL: Mapping[str, Mapping[str, str]] = {
    "blooms": {"size": "3", "target": "2"},
    "evengroups": {"size": "3"},
    "vinetree": {"size": "5"},
}

PLAIN = 100  # how many positions the plain search looks at before it gives up
NODES = {"blooms": 1000, "evengroups": 30_000, "vinetree": 4000}
"""How many are enough for the solver, which looks at every move of a turn before it looks deeper."""


def searched(state: State[Any], left: list[int]) -> int:
    """How a position ends for seat 1, by looking at every move until one wins. Raises `OverflowError`."""
    outcome = state.outcome()
    if outcome:
        return (outcome.ranks[0] < outcome.ranks[1]) - (outcome.ranks[0] > outcome.ranks[1])
    left[0] -= 1
    if left[0] < 0:
        raise OverflowError
    (seat,) = state.to_act()
    win = -1 if seat else 1
    best = -win
    for move in state.legal(seat):
        value = searched(state.play({seat: move}), left)
        if value == win:
            return win
        best = best or value
    return best


def late_positions(slug: str) -> Iterator[tuple[State[Any], int]]:
    """Positions of random games on a small board, with what the plain search says of them."""
    game = game_named(slug)
    options: Options = game.settle(SMALL[slug])
    for number in range(1000):
        for state in reversed([*random_game(game, options, f"late {number}")][:-1]):
            try:
                yield state, searched(state, [PLAIN])
            except OverflowError:
                break


@pytest.mark.parametrize(
    ("slug", "number"),
    [
        *[(slug, 6) for slug in SMALL],
        *[pytest.param(slug, 150, marks=pytest.mark.slow) for slug in SMALL],
    ],
)
def test_proofs_are_what_a_plain_search_finds(slug: str, number: int) -> None:
    solver = Solver(NODES[slug])
    for at, (state, value) in enumerate(islice(late_positions(slug), number)):
        assert solver.value(state) == value, state.seen(None)
        if at % 10:
            continue
        best = solver.best(state)
        assert best is not None and searched(state.play({state.to_act()[0]: best}), [PLAIN]) == value


def test_a_search_that_looks_at_too_few_positions_proves_nothing() -> None:
    blooms = game_named("blooms")
    state = blooms.start(blooms.settle({}))
    assert Solver(1000).value(state) is None and Solver(1000).best(state) is None
    over = [*random_game(blooms, blooms.settle({}), "over")][-1]
    assert over.outcome() and Solver(0).value(over) is not None and Solver().best(over) is None


def test_only_open_games_of_two_seats_can_be_proved() -> None:
    solvable = {slug for slug, game in GAMES.items() if is_solvable(game, game.settle({}))}
    assert solvable == {"blooms", "evengroups", "vinetree"}


@pytest.mark.parametrize("slug", SMALL)
def test_a_key_that_forgets_something_is_noticed(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_named(slug)
    options = game.settle(SMALL[slug])
    keys_stand_for_positions(game, options)
    state = type(game.start(options))
    monkeypatch.setattr(state, "key", lambda position: position.to_act())
    with pytest.raises(InvariantViolation, match="`key` is the same for positions that go on differently"):
        keys_stand_for_positions(game, options)


def test_a_policy_that_plays_what_is_not_legal_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = game_named("thetree")
    options = tree.settle({})
    policies_play_legal_moves(tree, options)
    first = next(state for state in random_game(tree, options, "policy") if state.to_act()[:1] == (0,))
    wrong = next(first.legal(0))
    monkeypatch.setattr(type(tree), "policy", lambda game: lambda state, seat, rng: wrong)
    with pytest.raises(InvariantViolation):
        policies_play_legal_moves(tree, options)
    monkeypatch.undo()
    monkeypatch.setattr(type(first), "reshuffled", lambda state, rng: tree.start(options))
    with pytest.raises(InvariantViolation, match="a seat knows something else"):
        policies_play_legal_moves(tree, options)
