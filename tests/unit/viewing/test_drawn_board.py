"""A board that goes on: whoever applies its patches has what a drawing of all positions has."""

from __future__ import annotations

from typing import Any

import pytest

from referee.core.units import TimeControl
from referee.games import GAMES
from referee.games.picture import Picture, Span, Symbol, badge, row_of
from referee.viewing.drawn_board import DrawnBoard, planes_of, seat_rows
from referee.viewing.steps import steps_of
from referee.viewing.svg import draw
from tests.rules.random_play import random_game

CONTROLS = [TimeControl.parse("1s+5s"), TimeControl.parse("none")]


def show(board: DrawnBoard, picture: Picture, moves: int) -> None:
    board.show(picture, turn=[1], reserves_us=[7, None], at_us=3, moves=moves, last="", rows={})


class Page:
    """What a page has of a board."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self.elements: list[str] = []
        self.board: dict[str, Any] = {}
        self.apply(whole)

    def apply(self, patch: dict[str, Any]) -> None:
        if "new" in patch:
            assert patch["from"] == len(self.elements)
            self.elements += patch["new"]
        self.board |= patch

    def drawn(self) -> tuple[str, str, str]:
        inside = "".join(self.elements[index] for index in self.board["draw"])
        return self.board["box"], self.board["defs"], self.board["ground"] + inside


@pytest.mark.parametrize("slug", GAMES)
def test_patches_make_the_board_that_all_positions_so_far_have(slug: str) -> None:
    steps = steps_of(random_game(GAMES[slug], bytes(32))).steps[:15]
    pictures = [planes_of(step.state.picture(None)) for step in steps]
    board = DrawnBoard("1", slug, ["a", "b"], CONTROLS)
    page: Page | None = None
    for number, picture in enumerate(pictures, 1):
        show(board, picture, number)
        page = page or Page(board.whole())
        page.apply(board.patch())
        layout, parts = draw(pictures[:number])
        inside = "".join(parts.elements[index] for index in parts.pictures[-1])
        assert page.drawn() == (layout.view_box, "".join(layout.symbols.values()), layout.ground + inside)
        assert Page(board.whole()).drawn() == page.drawn()


def test_a_patch_has_only_what_differs() -> None:
    picture = planes_of(GAMES["blooms"].start(GAMES["blooms"].settle({})).picture(None))
    board = DrawnBoard("1", "blooms", ["a", "b"], CONTROLS)
    show(board, picture, 1)
    assert board.patch()["clocks"] == [[1_000_000, 5_000_000], None]
    assert board.patch() == {}
    show(board, picture, 2)
    assert board.patch() == {"moves": 2}


def test_whoever_comes_between_two_patches_gets_what_the_next_one_continues() -> None:
    steps = steps_of(random_game(GAMES["blooms"], bytes(32))).steps
    board = DrawnBoard("1", "blooms", ["a", "b"], CONTROLS)
    show(board, planes_of(steps[0].state.picture(None)), 0)
    board.patch()
    show(board, planes_of(steps[5].state.picture(None)), 5)
    late = Page(board.whole())
    assert late.board["moves"] == 0
    late.apply(board.patch())
    assert late.drawn() == Page(board.whole()).drawn()


def test_the_rows_of_a_seat_are_a_line_without_its_badge_and_its_things() -> None:
    tile = Symbol("tile 1-2", ())
    picture = (
        row_of(badge(0, "seat 1:"), Span("1-2", "", tile, "tile 1-2"), " 3  of 15", seat=0),
        row_of(Span("  last  ", caption="last "), "casts\x1b", seat=0),
        row_of(Span("  last  ", "faint"), seat=1),
        row_of(badge(1, "seat 2:"), Span("  hand ", "faint"), Span("1-2", "", tile, "tile 1-2"), seat=1),
        row_of("a legend"),
    )
    assert seat_rows(picture, 2) == {"1": "3 of 15 · last casts\\x1b"}
