"""Knockouts: the bracket, series and the order at the end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.pairing import Pairing
from referee.core.settings import PointScale
from referee.ratings import grids
from referee.ratings.format_tables import FormatTable
from referee.records.record import Summary
from referee.tournament.formats import SectionState
from referee.tournament.formats.knockout import Knockout
from tests.unit.simulated import Result, drawn, favourites, play, schedule_of, summary

WON, DRAWN, LOST = (1, 2), (1, 1), (2, 1)


def cup(names: str, best_of: int = 1, third_place: bool = False) -> Knockout:
    return Knockout(best_of, tuple(names), third_place)


def played(one: Knockout, result: Result) -> dict[str, Summary | None]:
    return play(schedule_of(one, one.seeding), result)


def with_results(games: Mapping[str, Summary | None]) -> dict[str, Summary]:
    return {game: what for game, what in games.items() if what}


def stages_of(games: Mapping[str, Summary | None]) -> list[str]:
    """By stage, its series."""
    found: dict[int, dict[str, None]] = {}
    for pairing in map(Pairing.parse, games):
        stage = found.setdefault(pairing.number, {})
        if "".join(reversed(pairing.bots)) not in stage:
            stage["".join(pairing.bots)] = None
    return [" ".join(stage) for stage in found.values()]


def test_of_twelve_bots_the_four_highest_have_byes_and_the_two_highest_meet_in_the_final() -> None:
    assert stages_of(played(cup("abcdefghijkl"), favourites("abcdefghijkl"))) == [
        "hi el gj fk",
        "ah de bg cf",
        "ad bc",
        "ab",
    ]
    assert stages_of(played(cup("abc"), favourites("cab"))) == ["bc", "ac"]


def series(best_of: int, *results: tuple[int, int]) -> list[str]:
    """The games of two bots, with these results in the order of play; `a` is the higher seed, and the results
    are those of `a` and `b`.
    """
    left = iter(results)

    def result(pairing: Pairing) -> tuple[int, ...]:
        ranks = next(left, DRAWN)
        return ranks if pairing.bots[0] == "a" else ranks[::-1]

    return list(played(cup("ab", best_of), result))


@pytest.mark.parametrize(
    ("best_of", "results", "encounters"),
    [
        (1, [WON, WON], 1),
        (1, [WON, DRAWN], 1),
        (1, [WON, LOST, LOST, DRAWN], 2),  # level, so that one more is played
        (1, [], 2),  # level again: the higher seed goes on
        (3, [WON, WON, WON, DRAWN], 2),  # 3.5 of 6 points
        (3, [WON, WON, DRAWN, DRAWN], 3),  # 3 of 4: two more would make it level
        (3, [LOST, LOST, LOST, LOST], 2),
        (3, [WON, WON, LOST, LOST, DRAWN, DRAWN, LOST], 4),
        (3, [], 6),
        (5, [WON] * 6, 3),
    ],
)
def test_a_series_ends_when_it_is_decided(
    best_of: int, results: list[tuple[int, int]], encounters: int
) -> None:
    games = [f"1.{part}:{bots}" for part in range(1, encounters + 1) for bots in ("a:b", "b:a")]
    assert series(best_of, *results) == games


def test_when_all_is_level_the_higher_seed_goes_on() -> None:
    one = cup("abcd")
    games = played(one, drawn(1, draws=1.0))
    assert stages_of(games) == ["ad bc", "ab"] and len(games) == one.games_in_all(4, 2).games == 3 * 2 * 2
    rows = one.standings(SectionState(with_results(games)))
    assert [row.bot for row in rows] == ["a", "b", "c", "d"]
    assert {row.columns["last series"] for row in rows} == {"2–2, by seed"}


def test_a_game_without_a_result_gives_nobody_points() -> None:
    one = cup("ab")

    def result(pairing: Pairing) -> tuple[int, ...] | None:
        return None if pairing.bots == ("a", "b") else (1, 2)

    assert list(played(one, result)) == ["1.1:a:b", "1.1:b:a"]
    rows = one.standings(
        SectionState({"1.1:b:a": summary(Pairing.parse("1.1:b:a"), (1, 2))}, without_result={"1.1:a:b"})
    )
    assert [(row.bot, row.columns["reached"]) for row in rows] == [
        ("b", "winner"),
        ("a", "final"),
    ]


def test_the_first_encounters_of_all_series_come_before_the_second_ones() -> None:
    games = [Pairing.parse(game) for game in played(cup("abcdefgh", 3), drawn(3, draws=0.5))]
    places = [(pairing.number, pairing.part) for pairing in games]
    assert places == sorted(places) and any(part > 1 for _, part in places)


def test_the_losers_of_the_semifinals_play_for_the_third_place_if_that_is_wanted() -> None:
    one = cup("abcd", third_place=True)
    games = played(one, favourites("abdc"))
    assert stages_of(games) == ["ad bc", "ab cd"] and len(games) == 8
    rows = one.standings(SectionState(with_results(games)))
    assert [(row.rank, row.bot, *row.columns.values()) for row in rows] == [
        (1, "a", "winner", "–", "2–0"),
        (2, "b", "final", "a", "0–2"),
        (3, "d", "semifinals", "a", "2–0"),
        (4, "c", "semifinals", "b", "0–2"),
    ]
    three = cup("abc", third_place=True)
    assert stages_of(played(three, favourites("abc"))) == ["bc", "ab"], "there is one semifinal"
    assert three.games_in_all(3, 2).games == len(played(three, drawn(1, draws=1.0))) == 2 * 2 * 2


def test_the_standings_have_shared_ranks_and_the_stages_by_name() -> None:
    names = "abcdefghijkl"
    games = with_results(played(cup(names), favourites(names)))
    rows = cup(names).standings(SectionState(games))
    assert [row.rank for row in rows] == [1, 2, 3, 3, 5, 5, 5, 5, 9, 9, 9, 9]
    assert [row.columns["reached"] for row in rows] == [
        "winner",
        "final",
        *["semifinals"] * 2,
        *["quarterfinals"] * 4,
        *["last 16"] * 4,
    ]
    half = {game: what for game, what in games.items() if Pairing.parse(game).number < 3}
    rows = cup(names).standings(SectionState(half))
    assert [(row.rank, row.bot, row.columns["reached"]) for row in rows][:5] == [
        (1, "a", "semifinals"),
        (1, "b", "semifinals"),
        (1, "c", "semifinals"),
        (1, "d", "semifinals"),
        (5, "e", "quarterfinals"),
    ]
    del half["2.1:h:a"]  # while a game of a series is played, the series is not decided
    rows = cup(names).standings(SectionState(half))
    assert {row.columns["reached"] for row in rows[:8]} == {"quarterfinals"}


@given(st.integers(2, 20), st.sampled_from((1, 3)), st.integers(), st.booleans())
def test_all_but_the_winner_lose_exactly_once(count: int, best_of: int, seed: int, third_place: bool) -> None:
    names = "abcdefghijklmnopqrst"[:count]
    one = cup(names, best_of, third_place)
    games = played(one, drawn(seed))
    pairs = [tuple(sorted(match)) for stage in stages_of(games) for match in stage.split()]
    assert len(set(pairs)) == len(pairs) == count - 1 + (third_place and count > 3)
    rows = one.standings(SectionState(with_results(games)))
    assert sorted(row.bot for row in rows if row.columns["lost to"] != "–") == sorted(
        {*names} - {rows[0].bot}
    )
    byes = (1 << one.rounds) - count
    in_first = {bot for match in stages_of(games)[0].split() for bot in match}
    assert in_first == set(names[byes:])


def lines(table: FormatTable, width: int = 80) -> list[str]:
    """A table as text, without the lines of its head."""
    grid, left_out = grids.fitted(table.grid, "simple", width)
    assert not left_out
    text = grid.drawn().splitlines()
    assert max(map(len, text)) <= width
    return text[2:]


def test_the_bracket_has_neighbours_that_meet_and_between_them_the_one_that_goes_on() -> None:
    one = cup("abcdef", best_of=3, third_place=True)
    games = with_results(played(one, favourites("abcdfe")))
    bracket, pairings = one.tables_of(SectionState(games, shown=lambda bot: f"bot-{bot}"))
    assert [line.split() for line in lines(bracket)] == [
        ["bot-a", "bye"],
        ["bot-a", "4"],
        ["bot-d", "4", "bot-d", "0"],
        ["bot-e", "0", "bot-a", "4", "bot-a"],
        ["bot-b", "bye", "bot-b", "0"],
        ["bot-b", "4"],
        ["bot-c", "4", "bot-c", "0"],
        ["bot-f", "0"],
        ["third", "place:"],
        ["bot-c", "4"],
        ["bot-d", "0"],
    ]
    assert bracket.data[0] == {
        "stage": "quarterfinals",
        "bot": "bot-a",
        "against": None,
        "points": 0.0,
        "against_points": 0.0,
        "winner": "bot-a",
        "decided_by": "bye",
    }
    assert [row["stage"] for row in pairings.data] == ["final", "third place"]
    assert one.stage_of(SectionState(games, shown=str.upper)) == "won by A"


def test_the_bracket_of_a_running_knockout_has_the_points_so_far() -> None:
    one = cup("abcd", best_of=3)
    games = with_results(played(one, drawn(1, draws=1.0)))
    some = {game: games[game] for game in [*games][:3]}
    bracket, pairings = one.tables_of(SectionState(some))
    assert [line.split() for line in lines(bracket)] == [["a", "1"], ["d", "1"], ["b", "½"], ["c", "½"]]
    assert [row["winner"] for row in pairings.data] == [None, None]
    assert (
        lines(pairings)[0].split()[2:4] == ["1–1", "…"] and one.stage_of(SectionState(some)) == "semifinals"
    )
    (bracket, _), (before, _) = (one.tables_of(SectionState(found)) for found in (games, {}))
    assert lines(bracket)[1].split() == ["d", "6", "a", "6*", "a"] and lines(bracket)[-1] == "* seed"
    assert {row["decided_by"] for row in bracket.data} == {"seed"}
    assert one.stage_of(SectionState(games)) == "won by a, by seed"
    assert [line.split() for line in lines(before)] == [["a"], ["d"], ["b"], ["c"]]


def test_a_bye_is_in_the_bracket_and_not_among_the_pairings() -> None:
    bracket, pairings = cup("abc").tables_of(SectionState({}))
    assert ("a", None) in [(row["bot"], row["against"]) for row in bracket.data]
    assert [(row["bot"], row["against"]) for row in pairings.data] == [("b", "c")]


@pytest.mark.parametrize(("count", "stages"), [(2, 1), (3, 2), (12, 4), (32, 4), (200, 4)])
def test_a_bracket_of_any_size_fits_eighty_columns(count: int, stages: int) -> None:
    names = [f"a-bot-with-a-long-name-{number}" for number in range(count)]
    one = Knockout(1, tuple(names))
    bracket, _ = one.tables_of(SectionState(with_results(played(one, drawn(1)))))
    assert len(bracket.grid.columns) == 2 * stages + 1 and len(lines(bracket)) in (2**stages, 2**stages + 1)
    assert len(bracket.data) == 2**one.rounds - 1


def test_other_points_decide_a_series() -> None:
    """With three points for a win, two points behind with two games left is not out."""
    one = cup("ab", 3)
    results = iter([WON, DRAWN, DRAWN, DRAWN, *[DRAWN] * 10])

    def result(pairing: Pairing) -> tuple[int, ...]:
        ranks = next(results)
        return ranks if pairing.bots[0] == "a" else ranks[::-1]

    scale = PointScale(3, 1)
    games = play(lambda found: one.schedule(SectionState(found, "ab", points=scale)), result)
    assert [*games] == [f"1.{part}:{bots}" for part in (1, 2, 3) for bots in ("a:b", "b:a")]
    (row, _) = one.standings(SectionState(with_results(games), points=scale))
    assert row.columns["last series"] == "8–5"
