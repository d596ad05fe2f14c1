"""The first screen of a report: each sentence and each game to see follows its rule."""

from __future__ import annotations

from itertools import combinations

import pytest

from referee.core.pairing import Pairing
from referee.core.settings import PointScale
from referee.pages.report.front import Headline, ListedGame, evidence, front, games_to_see, lead_text, likely
from referee.ratings.pool import Rating
from referee.ratings.sprt import SprtResult, bounds, llr
from referee.ratings.standings import Facts, FormatPlace, NextInRank, standings
from referee.records.record import Summary
from tests.unit.pages.test_report import game

ELO = {"ant": 200.0, "bee": 0.0, "cat": -200.0}


def listed(
    bots: tuple[str, str],
    winner: int,
    moves: int = 20,
    number: int = 1,
    lowest: tuple[float | None, ...] = (),
    fault: str = "",
    last_words: str = "",
) -> ListedGame:
    """A game that the seat `winner` won, by a fault of the other if one is named."""
    played = game(bots, (1, 2) if winner == 0 else (2, 1), number)
    if fault:
        faults = ("", fault) if winner == 0 else (fault, "")
        played = played._replace(faults=faults, ending=fault)
    return ListedGame(played, moves, lowest, last_words)


def test_each_game_to_see_has_its_rule() -> None:
    games = [
        listed(("ant", "bee"), 0, 20, 1),
        listed(("ant", "cat"), 1, 21, 2),  # rated 400 lower
        listed(("bee", "cat"), 1, 22, 3),  # rated 200 lower
        listed(("ant", "bee"), 0, 23, 4, (0.08, 0.9)),
        listed(("ant", "bee"), 0, 24, 5, (0.3, 0.01)),  # what the loser gave itself does not count
        listed(("ant", "bee"), 0, 40, 6),
        listed(("ant", "bee"), 0, 7, 7),
        listed(("bee", "ant"), 1, 2, 8, fault="time"),
        listed(("bee", "ant"), 1, 2, 9, fault="time"),
        listed(("bee", "ant"), 1, 3, 10, fault="gone", last_words="KeyError: 'x'"),
    ]
    found = {seen.name: seen for seen in games_to_see(games, ELO)}
    assert {name: Pairing.parse(seen.game.id).number for name, seen in found.items()} == {
        "Upset": 2,
        "Biggest swing": 4,
        "Longest": 6,
        "Quickest win": 7,
        "Strangest fault": 10,
    }
    assert (found["Upset"].number, found["Upset"].sentence) == (
        "400 Elo",
        "cat beats ant, although rated 400 Elo lower",
    )
    assert found["Biggest swing"].sentence == "ant beats bee after giving itself a chance of only 8 %"
    assert found["Longest"].number == "40 moves" and found["Quickest win"].number == "7 moves"
    assert found["Quickest win"].sentence.startswith("ant beats bee: ant ")
    assert found["Strangest fault"].sentence == "bee crashed, saying: KeyError: 'x'"
    assert found["Strangest fault"].number == "gone: 1 game"


def test_no_game_is_shown_twice_nor_one_that_fits_no_rule() -> None:
    only = listed(("ant", "bee"), 0, 9)
    assert [seen.name for seen in games_to_see([only], ELO)] == ["Longest"]
    assert games_to_see([], ELO) == []
    drawn = ListedGame(game(("ant", "bee"), (1, 1)), 5)
    assert [seen.name for seen in games_to_see([drawn], ELO)] == ["Longest"]


@pytest.mark.parametrize(
    ("superiority", "words"),
    [
        (0.975, "almost certainly"),
        (0.974, "very likely"),
        (0.9, "very likely"),
        (0.75, "probably"),
        (0.6, "perhaps"),
    ],
)
def test_a_likelihood_has_its_words(superiority: float, words: str) -> None:
    assert likely(superiority) == words


def many() -> list[Summary]:
    pairs = [("ant", "bee"), ("bee", "ant"), ("ant", "cat"), ("cat", "ant"), ("bee", "cat"), ("cat", "bee")]
    order = ["ant", "bee", "cat"]
    return [
        game(bots, (1, 2) if order.index(bots[0]) < order.index(bots[1]) else (2, 1), number)
        for number in range(1, 6)
        for bots in pairs
    ]


def test_the_headline_and_the_podium_are_those_of_the_standings() -> None:
    games = [ListedGame(each, 10 + number) for number, each in enumerate(many())]
    table = standings(order := ["ant", "bee", "cat"], [each.game for each in games])
    found = front(table, games, (), is_over=True)
    assert found.headline and found.test is None and found.evidence == []
    assert (found.headline.kicker, found.headline.answer) == ("Winner", "ant")
    assert found.headline.sentence.startswith(
        "20 wins in 20 games. It is almost certainly stronger than bee (more than 99 %), with a lead of at"
    )
    assert found.headline.sentence.endswith(" Elo.")
    assert [place.bot for place in found.podium] == order
    first, _, last = found.podium
    assert first.game and first.against == "bee" and first.game is games[0]
    assert last.game is None and last.points == "0 of 20 points"
    others = standings(order, [each.game for each in games], facts=Facts(points=PointScale(3, 1)))
    assert front(others, games, (), is_over=True).podium[0].points == "60 points in 20 games"
    before = front(table, games, (), is_over=False).headline
    assert before and before.kicker == "In the lead"
    assert front(standings(order, []), [], (), is_over=True).headline is None


def headline(
    names: list[str], games: list[Summary], places: dict[str, list[FormatPlace]] | None = None
) -> Headline:
    """The headline of a run that is over."""
    table = standings(names, games, facts=Facts(places=places or {}))
    found = front(table, [ListedGame(each, 9) for each in games], (), is_over=True).headline
    assert found
    return found


def both_win(bots: tuple[str, str], winner: int = 0) -> list[Summary]:
    """A pair of games: each bot wins one as that seat."""
    ranks = (1, 2) if winner == 0 else (2, 1)
    return [game(bots, ranks), game(bots[::-1], ranks)]


def test_bots_that_nothing_tells_apart_share_the_first_place() -> None:
    names = ["ant", "bee", "cat", "dog"]
    games = [one for pair in combinations(names[:3], 2) for one in both_win(pair)]
    found = headline(names, games)
    assert (found.kicker, found.answer) == ("Level in the first place", "ant, bee and cat")
    more = [one for pair in combinations(names, 2) for one in both_win(pair)]
    assert headline(names, more).answer == "ant, bee and 2 others"


def test_bots_of_groups_that_never_met_have_no_common_winner() -> None:
    names = ["ant", "bee", "cat", "dog"]
    games = [game(("ant", "bee"), (1, 2)), game(("cat", "dog"), (2, 1))]
    found = headline(names, games)
    assert (found.kicker, found.answer) == ("The best of each group that met", "ant and dog")
    places: dict[str, list[FormatPlace]] = {
        "": [(1, "cat", {}), (2, "ant", {}), (3, "dog", {}), (4, "bee", {})]
    }
    assert headline(names, games, places=places).answer == "cat", "the order of a format"


def test_a_final_that_the_seed_decided_is_told() -> None:
    columns = {"last series": "1–1, by seed"}
    places: dict[str, list[FormatPlace]] = {"": [(1, "ant", columns), (2, "bee", columns)]}
    found = headline(["ant", "bee"], both_win(("ant", "bee")), places=places)
    assert found.sentence == "1 win in 2 games. The last series ended 1–1, and the higher seed won it."


@pytest.mark.parametrize(
    ("superiority", "is_by_rating", "text"),
    [
        (0.8, True, "It is probably stronger than bee (80 %), with a lead of +40 ± 90 Elo."),
        (0.8, False, "By the ratings, it is probably stronger than bee (80 %)."),
        (0.2, False, "By the ratings, bee is probably stronger (80 %)."),
        (None, True, ""),
    ],
)
def test_how_sure_the_first_place_is(superiority: float | None, is_by_rating: bool, text: str) -> None:
    compared = NextInRank(Rating(40.0, -50.0, 130.0), superiority)
    assert lead_text("bee", compared, is_by_rating) == text


def test_a_bot_that_is_first_with_the_same_rating_has_no_lead() -> None:
    compared = NextInRank(Rating(0.3, -50.0, 51.0), 0.55)
    assert lead_text("bee", compared, True) == (
        "It is perhaps stronger than bee (55 %), with the same rating."
    )


@pytest.mark.parametrize(
    ("columns", "scale", "text"),
    [
        ({}, PointScale(), "1 of 2 points"),
        ({"points": 1.0}, PointScale(), "1 of 2 points"),
        ({"points": 3.0}, PointScale(), "3 points: 1 in 2 games, 2 without a game"),
        ({}, PointScale(3, 1, 0), "3 points in 2 games"),
    ],
)
def test_the_podium_has_the_points_of_the_standings(
    columns: dict[str, float | str], scale: PointScale, text: str
) -> None:
    games = both_win(("ant", "bee"))
    places = {"": [(1, "ant", columns), (2, "bee", columns)]}
    table = standings(["ant", "bee"], games, facts=Facts(places=places, points=scale))
    found = front(table, [ListedGame(each, 9) for each in games], (), is_over=True)
    assert [place.points for place in found.podium] == [text, text]


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (
            {"points": 5, "wins": 3},
            {"points": 5, "wins": 2},
            "Level on points with bee, it is ahead by wins, 3 to 2. ",
        ),
        ({"points": 5, "wins": 3}, {"points": 4, "wins": 3}, "It is ahead of bee by points, 5 to 4. "),
        ({"reached": "winner"}, {"reached": "final"}, ""),
        ({"place": 1, "wins": 3}, {"place": 2, "wins": 2}, ""),
    ],
)
def test_what_a_format_decided_the_first_place_by(
    first: dict[str, float | str], second: dict[str, float | str], text: str
) -> None:
    places = {"": [(1, "ant", first), (2, "bee", second)]}
    games = [game(("ant", "bee"), (1, 2), 1)]
    table = standings(["ant", "bee"], games, facts=Facts(places=places))
    found = front(table, [ListedGame(each, 1) for each in games], (), is_over=True).headline
    assert found and found.sentence.startswith(f"1 win in 1 game. {text}By the ratings, ")


def test_a_sequential_test_is_its_verdict() -> None:
    games = [game(bots, (1, 2), number) for number in (1, 2) for bots in (("ant", "bee"),)]
    games += [game(("bee", "ant"), (2, 1), number) for number in (1, 2)]
    counts = (0, 0, 0, 0, 2)
    test = SprtResult("", "ant", "bee", 0, 50, 0.05, 0.05, "logistic", counts, llr(counts, 0, 50), "H1")
    assert evidence(test, games) == [llr((0, 0, 0, 0, 1), 0, 50), llr(counts, 0, 50)]
    table = standings(["ant", "bee"], games)
    listed_games = [ListedGame(each, 9) for each in games]
    answers = {}
    for accepted in ("H0", "H1", ""):
        found = front(table, listed_games, [test._replace(accepted=accepted)], is_over=True)
        assert found.headline and not found.podium
        answers[accepted] = (found.headline.answer, found.headline.tone)
        assert "ant scored 4 of 4 points against bee" in found.headline.sentence
        assert f"the test ends at −{bounds(0.05, 0.05)[1]:.2f} or +2.94" in found.headline.sentence
    assert answers == {
        "H0": ("No, ant is not stronger", "bad"),
        "H1": ("Yes, ant is stronger", "good"),
        "": ("Not decided yet", ""),
    }
    tests = [test._replace(accepted=accepted) for accepted in ("H0", "H1", "H0", "")]
    several = front(table, listed_games, tests, is_over=False).headline
    assert several and several.answer == "ant"
    assert several.sentence.endswith(" Sequential tests: 1 accepted H1, 2 accepted H0 and 1 not decided yet.")
    loss = front(table, listed_games, [test._replace(elo0=-10, elo1=0)], is_over=True).headline
    assert loss and loss.answer == "Yes, ant is no weaker"
