"""Moves that are chosen part by part, as persons do it by clicking on the picture, and seen before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest

from referee.check.clicks import remark
from referee.check.rules import random_game
from referee.core.seeds import Random
from referee.games import GAMES
from referee.games.api import Game, Options, Seat, State
from referee.games.picture import Mark, Picture, Plane, parts_of_picture
from referee.viewing.drawn_board import planes_of
from referee.viewing.ghosts import added_marks, ghost
from referee.viewing.svg import Layout
from tests.outside.connect_four import GAME, ConnectFour, ConnectFourState
from tests.rules.positions import play
from tests.tools.clicks import CASES, click_moves


@pytest.mark.parametrize(
    ("game", "given", "moves"),
    [
        *((game, given, 6) for game, given in CASES if given.get("size") != "8"),
        *(pytest.param(*case, 60, marks=pytest.mark.slow) for case in CASES),
    ],
    ids=lambda value: getattr(value, "slug", str(value)),
)
def test_every_legal_move_can_be_chosen_part_by_part(
    game: Game[Any], given: dict[str, str], moves: int
) -> None:
    clicked = click_moves(game, given, moves)
    assert (clicked.not_reached, clicked.illegal) == ([], [])


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


def test_a_growth_is_chosen_along_one_vine_and_then_the_other() -> None:
    state = GAMES["vinetree"].start({"size": 3, "bend": "excluded"})
    assert state.chosen(0, []) == (["B2"], (), None)
    assert list(state.chosen(0, ["B2"]).next) == ["A2", "B1", "B3", "C2"]
    assert list(state.chosen(0, ["B2", "B3"]).next) == ["A2", "B1", "C2"]
    done = state.chosen(0, ["B2", "B3", "A2"])
    assert [*map(state.write, done.moves)] == ["B2 R U"] and not done.next
    assert state.chosen(0, ["B2", "B3", "A2", "A1"]) == ((), (), 0), "both vines are at their ends"
    later = play(state, "B2 L R")
    for wrong in (["A9"], ["A2"], ["B2", "A1"], ["B2", "B3"], ["B2", "Z1"], ["B2", "B2"], ["B2", "A2", "B2"]):
        assert later.chosen(0, wrong) == ((), (), 0), wrong


def test_no_vine_is_begun_that_leaves_the_other_no_way() -> None:
    game = GAMES["vinetree"]
    state = play(game.start(game.settle({"size": "5"})), "C3 L U", "C2 DD LU", "C3 DD RD")
    assert list(state.chosen(1, ["B3"]).next) == ["B2", "B4"], "A3 is free, but a dead end"


@pytest.mark.parametrize("slug", ["blooms", "evengroups"])
def test_fewer_candidates_are_the_same_choice(slug: str) -> None:
    """Where a game looks only at the moves with a cell, none is lost."""
    state = play(GAMES[slug].start(GAMES[slug].settle({"size": "3"})), "L:B2" if slug == "blooms" else "O:B2")
    for cell in sorted(parts_of_picture(state.picture(1))):
        having = [move for move in state.legal(1) if cell in state.parts(move)]
        found = list(state.candidates(1, [cell]))
        assert sorted(map(state.write, found)) == sorted(map(state.write, having)), cell
        assert {*found} == {*having}


def test_a_check_tells_which_moves_have_to_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remark(GAME, GAME.settle({})) == ""
    monkeypatch.setattr(ConnectFourState, "picture", lambda state, seat: ())
    assert remark(GAME, GAME.settle({"columns": "20"})) == "", "there are buttons"
    monkeypatch.setattr("referee.check.clicks.MOST_MOVES", 3)
    said = remark(GAME, GAME.settle({}))
    assert re.match(r"persons have to type \d+ of \d+ random moves, such as `\d`, `\d` and `\d`: ", said), (
        said
    )


def ghosts(game: Game[Any], state: State[Any], seat: Seat, **given: str) -> dict[str, list[str]]:
    """By move the titles of the marks that it adds."""
    moves = list(state.legal(seat))
    found = added_marks(game, game.settle(given), state, seat, moves)
    return {
        state.write(move): [mark.title for _, mark in marks] for move, marks in zip(moves, found, strict=True)
    }


class Counted(ConnectFourState):
    """With the number of moves on the board."""

    __slots__ = ()

    def picture(self, seat: Seat | None) -> Picture:
        (plane,) = ConnectFourState.picture(self, seat)
        assert isinstance(plane, Plane)
        count = Mark(len(self.moves), -1, "*", title="number of moves")
        return (plane._replace(marks=(*plane.marks, count)),)


def test_what_is_shown_of_a_move_is_what_it_adds_and_not_every_other_move_too() -> None:
    discs = {str(column): [f"disc of seat 1 in column {column}"] for column in range(1, 61)}
    assert ghosts(GAME, Counted(((),) * 60, 6), 0) == discs
    assert {*map(str, ghosts(GAME, Counted(((),) * 61, 6), 0).values())} == {"[]"}, "too many"
    blooms = GAMES["blooms"]
    found = ghosts(blooms, blooms.start(blooms.settle({"size": "3"})), 0, size="3")
    assert found["L:A1"] == ["light stone of seat 1 at A1"]


def the_tree() -> State[Any]:
    """A position in which seat 1 has some places for a tile."""
    game = GAMES["thetree"]
    states = (state for state in random_game(game, game.settle({}), "ghosts") if state.to_act() == (0,))
    return next(state for state in islice(states, 5, None) if len(list(state.legal(0))) > 3)


def test_what_a_move_adds_is_drawn_where_the_board_stands_with_symbols_of_its_own() -> None:
    state = the_tree()
    for move, titles in ghosts(GAMES["thetree"], state, 0).items():
        tile, _, place = move.partition("@")
        assert titles == [f"tile {tile} at {place}"]
    picture = planes_of(state.picture(0))
    layout = Layout.of([picture])
    game, moves = GAMES["thetree"], list(state.legal(0))
    for marks in added_marks(game, game.settle({}), state, 0, moves):
        drawn = ghost(marks, layout, picture)
        assert layout.elements(picture)[0] in drawn
        for name in re.findall('href="#([^"]+)"', drawn):
            assert (f'id="{name}"' in drawn) != (name in layout.symbols)


@dataclass(frozen=True, slots=True)
class Carded(ConnectFourState):
    """With a card that nobody sees until a disc has fallen, and a number that changes."""

    card: int = 0

    def picture(self, seat: Seat | None) -> Picture:
        (plane,) = ConnectFourState.picture(self, seat)
        assert isinstance(plane, Plane)
        card = [Mark(-2, 0, "?", title=f"card {self.card}")] if self.moves else []
        count = Mark(-3, 0, "", title=f"{len(self.moves)} moves")
        return (plane._replace(marks=(*plane.marks, *card, count)),)


@pytest.mark.parametrize(("cards", "foretold"), [(1000, []), (1, ["card 0"])])
def test_nothing_is_foretold_that_the_seat_cannot_know(cards: int, foretold: list[str]) -> None:
    class Cards(ConnectFour):
        is_open = False

        def imagine(self, options: Options, seat: Seat, seen: Any, rng: Random) -> State[int]:
            return Carded(((),) * 7, 6, card=rng.below(cards))

    game, state = Cards(), Carded(((),) * 7, 6, card=77)
    ((marks,),) = (added_marks(game, game.settle({}), state, 0, [3]),)
    assert [mark.title for _, mark in marks] == ["disc of seat 1 in column 4", *foretold]


def test_a_symbol_that_the_board_has_is_not_sent_again() -> None:
    state = play(GAME.start(GAME.settle({})), "1", "2")
    picture, (marks,) = state.picture(0), added_marks(GAME, GAME.settle({}), state, 0, [2])
    assert "<defs></defs>" in ghost(marks, Layout.of([picture]), picture)


def test_where_several_seats_act_nothing_is_shown_before() -> None:
    game = GAMES["floral"]
    state = next(state for state in random_game(game, game.settle({}), "ghosts") if len(state.to_act()) > 1)
    assert {*map(str, ghosts(game, state, 0).values())} == {"[]"}
