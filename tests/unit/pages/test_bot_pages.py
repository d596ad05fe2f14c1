"""What a report says of each bot besides its games: cells, openings, best and worst games."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.analysis.diagnosis import diagnosis
from referee.analysis.played import DiagnosedGame, SeatPlay
from referee.games import GAMES
from referee.pages.report.bots import MOST_OPENINGS, Opening, board_of, bot_reports, openings, words_of
from referee.pages.report.front import ListedGame, PairOfBots, pairs_to_see
from referee.pages.report.pages import bots_data, opening_rows, pairs_data
from referee.pages.report.rating_history import RatingHistory
from referee.ratings.metrics import Metrics
from referee.ratings.standings import standings
from referee.viewing.claims import ILLEGAL_LINE, WrongClaim
from tests.unit.pages.test_front import listed
from tests.unit.pages.test_report import game


@pytest.mark.parametrize(
    ("slug", "cells"), [("blooms", 37), ("evengroups", 61), ("vinetree", 81), ("floral", 0), ("thetree", 0)]
)
def test_a_board_has_the_cells_that_its_picture_names(slug: str, cells: int) -> None:
    played = GAMES[slug]
    board = board_of(played.start(played.settle({"size": "4"} if slug == "blooms" else {})))
    assert (len(board.cells) if board else 0) == cells


def test_a_cell_counts_once_in_a_move() -> None:
    assert words_of(["L:A1 D:B2", "L:A1", "A1-A1"]) == {"L": 2, "A1": 3, "D": 1, "B2": 1}


def test_openings_are_a_tree_of_what_was_played_more_than_once() -> None:
    games = [
        (game(("ant", "bee"), (1, 2)), ("a", "b", "c")),
        (game(("ant", "bee"), (2, 1)), ("a", "b", "d")),
        (game(("ant", "bee"), (1, 1)), ("a", "e")),
        (game(("ant", "bee"), (1, 2)), ("x",)),
        (game(("bee", "ant"), (1, 2)), ("a", "b")),
    ]
    found = openings(games, "ant", 0)
    assert found == [Opening(("a",), 3, 1.5), Opening(("a", "b"), 2, 1)]
    assert openings(games, "bee", 0) == [] and openings(games, "ant", 3) == []
    many = [(game(("ant", "bee"), (1, 2)), (str(number // 2),)) for number in range(100)]
    assert len(openings(many, "ant", 0)) == MOST_OPENINGS


def test_each_opening_stands_below_what_it_continues() -> None:
    found = [Opening(moves, 5 - len(moves), 4) for moves in (("a",), ("b",), ("a", "c"), ("a", "d"))]
    assert [(depth, move) for depth, move, _, _ in opening_rows(found)] == [
        (0, "a"),
        (1, "c"),
        (1, "d"),
        (0, "b"),
    ]


def test_a_bot_has_its_best_and_worst_games_and_what_it_said_at_faults() -> None:
    games = [
        listed(("ant", "bee"), 0, 20, 1),
        listed(("bee", "ant"), 1, 9, 2),
        listed(("ant", "bee"), 0, 30, 3, (0.1, 0.9)),
        listed(("ant", "bee"), 1, 30, 4),
        listed(("ant", "bee"), 1, 2, 5, fault="gone", last_words="KeyError"),
        *(listed(("ant", "bee"), 0, 40, number) for number in range(6, 12)),
    ]
    table = standings(["ant", "bee"], [each.game for each in games], 2)
    found = bot_reports(table, games, None, None, {}, {}, {})
    ant = found["ant"]
    assert [(seen.name, seen.game.id) for seen in ant.to_see] == [
        ("Best win", games[1].game.id),
        ("Best comeback", games[2].game.id),
        ("Worst loss", games[3].game.id),
    ]
    assert ant.to_see[1].sentence == "it gave itself a chance of 10 %, and still won"
    assert ant.to_see[2].sentence.startswith("against bee, rated ") and " lower" in ant.to_see[2].sentence
    assert [tuple(fault) for fault in ant.faults] == [(games[4].game.id, "gone", "KeyError")]
    assert ant.elo and found["bee"].faults == []
    assert (ant.points, found["bee"].points) == ("9 of 11", "2 of 11")
    history = RatingHistory({"ant": [(12, 40.0)]}, [])
    of_history = bot_reports(table, games, None, history, {}, {}, {})
    assert (of_history["ant"].course, of_history["bee"].course) == ([(12, 40.0)], ()), "bee is not rated"


def test_a_pair_has_the_games_to_see_of_its_own_and_of_each_section() -> None:
    games = [
        listed(("ant", "bee"), 0, 30, 1, (0.1, 0.9)),
        replace(listed(("bee", "ant"), 0, 40, 2), deciding=7),
        listed(("ant", "cat"), 0, 90, 3),
    ]
    elo = {"ant": 100.0, "bee": 0.0, "cat": 0.0}
    assert pairs_to_see(games, elo, ["ant", "cat"]).keys() == {PairOfBots(("ant", "cat"), None)}
    found = pairs_to_see(games, elo, elo)
    assert [*found] == [PairOfBots(("ant", "bee"), None), PairOfBots(("ant", "cat"), None)]
    assert [(seen.name, seen.game.id, seen.deciding) for seen in found[PairOfBots(("ant", "bee"), None)]] == [
        ("Upset", games[1].game.id, 7),
        ("Biggest swing", games[0].game.id, None),
    ]
    small = replace(games[0], game=games[0].game._replace(id="small/1:ant:bee"))
    found = pairs_to_see([small, *games[1:]], elo, elo)
    assert [seen.game.id for seen in found[PairOfBots(("ant", "bee"), "small")]] == ["small/1:ant:bee"]
    rows = pairs_data(found)
    assert ("ant", "bee", None) in [row[:3] for row in rows] and len(rows) == len(found) == 5
    assert rows[0][3][0][:2] == ("Upset", "100 Elo") and rows[0][3][0][3:] == (games[1].game.id, 7)


def test_a_bot_has_what_it_said_that_was_wrong_and_its_own_numbers() -> None:
    illegal = WrongClaim(3, 1, ILLEGAL_LINE, "move 2 `x`: no")
    games = [
        listed(("ant", "bee"), 0, 20, 1),
        replace(listed(("ant", "bee"), 0, 20, 2), claims=((illegal, 4),)),
        replace(listed(("bee", "ant"), 1, 20, 3), claims=((illegal._replace(seat=0, step=5), 1),)),
    ]
    metrics = Metrics()
    metrics.add(1, {"cuts": 0.123456})
    table = standings(["ant", "bee"], [each.game for each in games], 2)
    about = bots_data(bot_reports(table, games, None, None, {}, {"ant": metrics}, {}))["about"]
    assert about["ant"]["metrics"] == [("cuts", [(1, 0.12346)])] and about["ant"]["wrong"] == []
    ((words, game_id, step, first),) = about["bee"]["wrong"]
    assert words == "In 5 moves of 2 games, the line of play that it expected (pv) was not legal"
    assert (game_id, step, first) == (games[1].game.id, 3, illegal.why)


def test_a_bot_has_what_chance_does_not_explain() -> None:
    games = [listed(("ant", "bee"), 0, 20, number) for number in range(1, 21)]
    table = standings(["ant", "bee"], [each.game for each in games], 2)
    plays = SeatPlay((5,) * 9 + (900,) * 9, "", 0), SeatPlay((5,) * 18, "", 0)
    played = [DiagnosedGame(each.game._replace(digest=each.game.id), 0, plays) for each in games]
    diagnoses = {
        name: [("small", diagnosis(name, [each._replace(seat=seat) for each in played]))]
        for seat, name in enumerate(("ant", "bee"))
    }
    about = bots_data(bot_reports(table, games, None, None, {}, {}, diagnoses))["about"]
    ((section, ((claim, examples),)),) = about["ant"]["diagnoses"]
    assert (
        section == "small" and claim.startswith("From its move 10 on it took 900 µs") and claim.endswith(").")
    )
    assert [tuple(example) for example in examples] == [("1:ant:bee", None), ("2:ant:bee", None)]
    ((_, ((claim, examples),)),) = about["bee"]["diagnoses"]
    assert claim.startswith("Nothing found that chance does not explain") and examples == ()


def test_boards_are_in_the_data_once() -> None:
    played = GAMES["blooms"]
    board = board_of(played.start(played.settle({"size": "3"})))
    assert board is not None
    games = [ListedGame(game(("ant", "bee"), (1, 2)), 3)]
    table = standings(["ant", "bee"], [each.game for each in games], 2)
    cells = {"ant": {board: {"A1": 2}}, "bee": {board: {"B2": 1}}}
    value = bots_data(bot_reports(table, games, None, None, cells, {}, {}))
    assert len(value["boards"]) == 1
    names = [name for name, _, _ in value["boards"][0]["cells"]]
    assert value["about"]["ant"]["cells"] == [[2 if name == "A1" else 0 for name in names]]
    assert value["about"]["bee"]["cells"] == [[1 if name == "B2" else 0 for name in names]]
