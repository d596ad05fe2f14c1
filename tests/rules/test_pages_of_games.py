"""What the pages of hidden games say of news, blocks and numbers, compared with the games."""

from __future__ import annotations

import pytest

from referee.check.rules import random_game
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import NotAMove
from referee.games.thetree import TheTree
from referee.kit import step
from tests.page_tables import rows
from tests.rules.test_leaks import LINES

HIDDEN = ("floral", "thetree")


@pytest.mark.parametrize("slug", HIDDEN)
def test_the_table_of_news_has_all_lines_those_of_spectators_too(slug: str) -> None:
    on_page = {first.strip("`").split()[0] for first, _ in rows(f"protocol/games/{slug}.md", "line | ")}
    game = GAMES[slug]
    told = set(LINES[slug])
    for number in range(4):
        *_, last = random_game(game, game.settle({}), f"pages {number}")
        told |= {line.split()[0] for line in last.seen(None)}
    assert on_page == told


def test_only_spectators_of_floral_are_told_the_weather() -> None:
    *_, last = random_game(GAMES["floral"], GAMES["floral"].settle({}), "weather")
    by_view = [{line.split()[0] for line in last.seen(view)} for view in (None, 0, 1)]
    assert ["weather" in words for words in by_view] == [True, False, False]
    assert ["stages" in words for words in by_view] == [False, True, True]


@pytest.mark.parametrize("text", ["5-1@-0,2", "5-1@0,-0", "5-1@+1,3", "5-1@01,3"])
def test_numbers_of_the_tree_have_one_spelling(text: str) -> None:
    game = TheTree()
    state = next(s for s in random_game(game, game.settle({}), "1") if s.to_act() and s.to_act()[0] >= 0)
    with pytest.raises(NotAMove):
        state.read(state.to_act()[0], text)


def test_a_last_blocked_deal_is_a_draw_only_between_those_who_are_still_in_play() -> None:
    """Three seats, one of them out before the only deal is blocked: it is third, the others share the first
    place.
    """
    game = TheTree()
    options = game.settle({"players": "3", "deals": "1"})
    for number in range(200):
        rng = Stream(f"blocked {number}".encode())
        state = step(game.start(options), rng).drop([2])
        while state.outcome() is None:
            state = step(state, rng)
        outcome = state.outcome()
        assert outcome
        if state.seen(None)[-1] == "blocked":
            assert outcome.ranks == (1, 1, 3)
            return
    raise AssertionError("no deal was blocked")
