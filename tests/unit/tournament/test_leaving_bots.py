"""A bot that goes out in the middle of a round plays no later one, and the others are paired without it.

The better bot wins, in the order of the alphabet. The tables were worked out by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from referee.core.pairing import Pairing
from referee.ratings.standings import without_withdrawn
from referee.tournament.formats import SectionState
from referee.tournament.formats.swiss import Swiss
from referee.tournament.run.progress import facts_of
from referee.tournament.schedule import Encounter
from tests.unit.simulated import favourites, summary
from tests.unit.simulated_runs import SimulatedRun, Simulation, tournament


class Leaving(SimulatedRun):
    """The better bot wins. After so many games of a round, `leaver` is withdrawn; or from this round on, it
    commits the fault `way` in all of them.
    """

    leaver = ""
    number = 0
    games = 1
    way = "out"

    def __init__(self, header: dict[str, Any], seed: object, strikes: bool) -> None:
        super().__init__(header, seed, strikes)
        self._result = favourites("".join(sorted(header["bots"])))

    def finish(self, game: Pairing) -> None:
        if self.way != "out" and self.leaver in game.bots and game.number >= self.number:
            ranks = tuple(1 + (bot == self.leaver) for bot in game.bots)
            self.store_game(game, ranks, tuple(self.way * (bot == self.leaver) for bot in game.bots))
            return
        super().finish(game)
        played = [one for one in map(Pairing.parse, self.found) if self.leaver in one.bots]
        in_round = [one.number for one in played].count(self.number)
        if self.way == "out" and in_round == self.games and self.leaver not in self.state.amendments.out:
            self.take_out(self.leaver, "forfeit", "its author asked for it")


def left(bots: str, keys: Mapping[str, Any], leaver: str, number: int, **more: Any) -> list[str]:
    """The pairs of each round, and the table, of a tournament that a bot leaves in a round."""
    kind = type("_Leaving", (Leaving,), {"leaver": leaver, "number": number, **more})
    made = tournament(bots, keys)
    whole = Simulation(made, 0, 1, kind).play().run
    for seed in range(3):
        assert Simulation(made, 0, 1, kind).play(Random(seed)).run.found == whole.found, "when it is stopped"
    facts = facts_of(whole.state, whole.is_open)
    places = without_withdrawn(facts.places[""], facts.withdrawn)
    table = " ".join(f"{bot}{rank or '–'}" for rank, bot, _ in places)
    return [*pairs_by_round(whole.found), table]


def pairs_by_round(games: Iterable[str]) -> list[str]:
    rounds: dict[int, dict[str, None]] = {}
    for pairing in map(Pairing.parse, games):
        rounds.setdefault(pairing.number, {})["".join(sorted(pairing.bots))] = None
    return [" ".join(pairs) for pairs in rounds.values()]


SWISS = {"format": "swiss", "rounds": 4}
KNOCKOUT = {"format": "knockout", "third_place": True}
STAGES = {
    "stage": [
        {"name": "groups", "groups": 2, "advance": 2},
        {"name": "swiss", "format": "swiss", "rounds": 2, "advance": 2},
        {"name": "final", "format": "knockout"},
    ]
}


@pytest.mark.parametrize(
    ("bots", "number", "expected"),
    [
        # b wins against e, and forfeits the second game: a 2, c 2, d 0, e 1, f 0. Of the five that are left,
        # f has the bye: a 4, c 2, d 2, e 1, f 2. Then e has it, since it is the lowest without one: a 6, c 4,
        # d 2, e 3, f 2. Then c: d would come first, but has met all but f, which would leave c only bots that
        # it has met. At the end a has 8, c 6, d 4, e 3 and f 2 points.
        ("abcdef", 1, ["ad be cf", "ac de", "af cd", "ae df", "a1 c2 d3 e4 f5 b–"]),
        # After round 2: a 4, c 4, d 0, e 2, f 0; f has the bye. Then a 6, c 4, d 2, e 2, f 2; d has it, since
        # e floated down.
        ("abcdef", 2, ["ad be cf", "ab cd ef", "ac de", "af ce", "a1 c2 d3 f4 e5 b–"]),
        # After round 3: a 6, c 4, d 2, e 2, f 1. If f had the bye, c would have to meet d again; e floated
        # down, so d has it.
        ("abcdef", 3, ["ad be cf", "ab cd ef", "ac bf de", "af ce", "a1 c2 d3 e4 f5 b–"]),
        ("abcdef", 4, ["ad be cf", "ab cd ef", "ac bf de", "bc ae df", "a1 c2 d3 e4 f5 b–"]),
        # Of five, e has the bye of round 1; of the four that are left, nobody has another one: a 2, c 0, d 1,
        # e 2; then a 4, c 2, d 1, e 2; then a 6, c 4, d 1, e 2; then a, which has met all, meets c again.
        ("abcde", 1, ["ac bd", "ae cd", "ce ad", "ac de", "a1 c2 d3 e4 b–"]),
        # d has the bye of round 2: a 4, c 1, d 2, e 2; then a 6, c 3, d 2, e 2.
        ("abcde", 2, ["ac bd", "ae bc", "ad ce", "ac de", "a1 d2 c3 e4 b–"]),
        # c has had the bye of round 3: a 6, c 2, d 4, e 2.
        ("abcde", 3, ["ac bd", "ae bc", "ab de", "ad ce", "a1 c2 d2 e4 b–"]),
    ],
)
def test_a_bot_that_leaves_a_swiss_is_not_paired_in_later_rounds_and_has_no_bye(
    bots: str, number: int, expected: list[str]
) -> None:
    assert left(bots, SWISS, "b", number) == expected


@pytest.mark.parametrize(
    ("number", "games", "expected"),
    [
        # Of its two games in a series, b wins the first and forfeits the second: so it is level, and loses
        # the encounter that follows. g has its place in the bracket.
        (1, 1, ["ah de bg cf", "ad cg", "ac dg", "a1 c2 d3 g4 e5 f5 h5 b–"]),
        # When b leaves after it has won a series, c has a bye, and the only other loser d is third.
        (1, 2, ["ah de bg cf", "ad", "ac", "a1 c2 d3 e4 f4 g4 h4 b–"]),
        (2, 1, ["ah de bg cf", "ad bc", "ac", "a1 c2 d3 e4 f4 g4 h4 b–"]),
        # Then a wins without a final.
        (2, 2, ["ah de bg cf", "ad bc", "cd", "a1 c2 d3 e4 f4 g4 h4 b–"]),
        (3, 1, ["ah de bg cf", "ad bc", "ab cd", "a1 c2 d3 e4 f4 g4 h4 b–"]),
    ],
)
def test_who_would_meet_a_bot_that_left_a_knockout_has_a_bye(
    number: int, games: int, expected: list[str]
) -> None:
    assert left("abcdefgh", KNOCKOUT, "b", number, games=games) == expected


@pytest.mark.parametrize(
    ("number", "games", "expected"),
    [
        # The groups are ade and bcf.
        (1, 1, ["ad ae de bc bf cf", "ad cf", "ac df", "ac", "a1 c2 d3 f4 e5 b–"]),
        # b forfeits a game against c, or none, and then d has the bye: a 4, d 2, c 1 or 0.
        (2, 1, ["ad ae de bc bf cf", "ad bc", "ac", "ad", "a1 d2 c3 e4 f4 b–"]),
        (2, 2, ["ad ae de bc bf cf", "ad bc", "ac", "ad", "a1 d2 c3 e4 f4 b–"]),
        # b forfeits a game against a: it would be second, and c is in its place.
        (3, 1, ["ad ae de bc bf cf", "ad bc", "ab cd", "ac", "a1 c2 d3 e4 f4 b–"]),
        (4, 1, ["ad ae de bc bf cf", "ad bc", "ab cd", "ab", "a1 c2 d3 e4 f4 b–"]),
    ],
)
def test_the_next_bot_advances_in_the_place_of_one_that_left(
    number: int, games: int, expected: list[str]
) -> None:
    assert left("abcdef", STAGES, "b", number, games=games) == expected


def test_a_bot_that_left_and_advances_since_too_few_others_are_left_is_not_paired() -> None:
    stages = [{"name": "all", "advance": 4}, {"name": "swiss", "format": "swiss", "rounds": 1}]
    assert left("abcd", {"stage": stages}, "b", 1) == ["ab ac ad bc bd cd", "ac", "d1 a2 c3 b–"]


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        # With three failed starts a bot is given up: b is after round 2, in which a game is played as well.
        ("start", ["ad be cf", "ac de bf", "ae cd", "af ce", "a1 c2 d3 f4 e5 b6"]),
        ("void", ["ad be cf", "ac de", "af ce", "ae df", "a1 c2 d2 f4 e5 b6"]),
        ("gone", ["ad be cf", "ac de bf", "ae bc df", "cd ab ef", "a1 c2 d3 e4 f5 b6"]),
    ],
)
def test_a_bot_whose_games_are_forfeited_is_not_paired_but_one_that_crashes_is(
    way: str, expected: list[str]
) -> None:
    assert left("abcdef", SWISS, "b", 1, way=way) == expected


@pytest.mark.parametrize(
    ("faults", "out", "expected"),
    [
        ((("", ""), ("", "")), "", ["ac bd", "ad bc"]),
        ((("void", ""), ("", "")), "", ["ac bd", "bc"]),
        ((("void", "void"), ("", "")), "", ["ac bd", "ad bc"]),  # it is not known which of them is the cause
        ((("void", ""), ("", "void")), "b", ["ac bd"]),
    ],
)
def test_bots_are_paired_without_those_that_alone_forfeited_a_game_while_two_are_left(
    faults: Sequence[tuple[str, str]], out: str, expected: list[str]
) -> None:
    games = {
        game: summary(Pairing.parse(game), (1, 1))._replace(faults=of_game)
        for game, of_game in zip(("1:a:c", "1:b:d"), faults, strict=True)
    }
    state = SectionState(games, "abcd", out_after=lambda played: [*out] if played else [])
    steps = Swiss(2, tuple("abcd")).schedule(state)
    assert pairs_by_round(one.games[0].id for one in steps if isinstance(one, Encounter)) == expected
