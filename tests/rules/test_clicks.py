"""Moves that are chosen part by part, as persons do it by clicking on the picture."""

from __future__ import annotations

import pytest

from referee.games import GAMES
from referee.games.picture import parts_of_picture
from tests.rules.positions import play


def test_what_remains_follows_from_the_parts_that_are_chosen() -> None:
    state = play(GAMES["evengroups"].start({"size": 2}), "O:A1")
    first = state.chosen(1, [])
    assert (list(first.next), first.moves) == (["A2", "B1", "B2", "B3", "C1", "C2"], [])
    assert first.left == len(list(state.legal(1)))
    second = state.chosen(1, ["B2"])
    assert "B2" not in second.next and second.moves == [] and second.left and second.left < first.left
    last = state.chosen(1, ["B2", "A2"])
    assert last.next == [] and last.left == len(last.moves)
    assert last.moves == [move for move in state.legal(1) if {"A2", "B2"} <= {*state.parts(move)}]
    for unknown in (["A1"], ["Z9"], ["B2", "A1"], ["A2", "B2", "C1"]):
        assert state.chosen(1, unknown) == ([], [], 0)


@pytest.mark.parametrize("slug", ["blooms", "evengroups"])
def test_fewer_candidates_are_the_same_choice(slug: str) -> None:
    """Where a game looks only at the moves with a cell, none is lost."""
    state = play(GAMES[slug].start(GAMES[slug].settle({"size": "3"})), "L:B2" if slug == "blooms" else "O:B2")
    cells = parts_of_picture(state.picture(1))
    for cell in sorted(cells):
        having = [move for move in state.legal(1) if cell in state.parts(move)]
        found = list(state.candidates(1, [cell]))
        assert sorted(map(state.write, found)) == sorted(map(state.write, having)), cell
        assert {*found} == {*having}
