"""Swiss tournaments: who is paired with whom, byes, and the order at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.pairing import Pairing
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.records.record import Summary
from referee.tournament.formats.matching import maximum_matching
from referee.tournament.formats.section import SectionState, Standing
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tie_breaks import DOWN, TIE_BREAKS, Scores
from referee.tournament.schedule import encounter
from tests.unit.simulated import Result, drawn, favourites, play, schedule_of, summary


def pairs_by_round(names: Sequence[str], rounds: int, result: Result) -> list[list[tuple[str, str]]]:
    swiss = Swiss(rounds, tuple(names))
    found: list[list[tuple[str, str]]] = [[] for _ in range(rounds)]
    for game in play(schedule_of(swiss, names), result):
        pairing = Pairing.parse(game)
        one, other = pairing.bots
        if (other, one) not in found[pairing.number - 1]:
            found[pairing.number - 1].append((one, other))
    return found


def matchings(bots: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    """All ways to pair an even number of bots."""
    if not bots:
        yield []
    for other in bots[1:]:
        for rest in matchings(tuple(bot for bot in bots[1:] if bot != other)):
            yield [(bots[0], other), *rest]


def text(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(one + other for one, other in pairs)


def test_the_upper_half_meets_the_lower_half_of_those_with_equal_points() -> None:
    rounds = pairs_by_round("abcdefgh", 3, favourites("abcdefgh"))
    assert [text(pairs) for pairs in rounds] == ["ae bf cg dh", "ac bd eg fh", "ab ce df gh"]
    # In round 3: c and d, e and f have equal points, and c meets neither d's opponent b nor its own a again.


def test_a_bot_that_nobody_is_left_for_goes_on_to_the_next_group_and_meets_its_highest_bot() -> None:
    rounds = pairs_by_round("abcdef", 2, favourites("abcdef"))
    assert [text(pairs) for pairs in rounds] == ["ad be cf", "ab cd ef"]
    # In round 2, a, b and c have won both games of round 1: c goes on.


def test_who_floated_down_in_the_last_round_is_not_the_first_to_float_down_again() -> None:
    names = "abcdefghij"
    rounds = pairs_by_round(names, 3, favourites(names))
    assert [text(pairs) for pairs in rounds[:2]] == ["af bg ch di ej", "ac bd ef gi hj"]
    # In round 2 e floated down; in round 3 a, b and e have won all their games.
    assert text(rounds[2]).startswith("ae bc")


def test_who_floated_up_in_the_last_round_does_not_meet_the_next_bot_from_above() -> None:
    rounds = pairs_by_round("abcdef", 3, favourites("badfec"))
    assert [text(pairs) for pairs in rounds[:2]] == ["ad be cf", "ab fd ce"]
    # In round 2 d floated up and beat f; in round 3 b is alone above a, d, e and f, and has met a and e.
    assert text(rounds[2]).startswith("bf")


def test_a_bye_is_a_float_down() -> None:
    scores = Scores("abc")
    scores.add([encounter(1, ("a", "b"))], "c", {})
    assert scores.floats == {"a": [0], "b": [0], "c": [DOWN]}


def test_the_lowest_bot_without_a_bye_has_the_next_one() -> None:
    rounds = pairs_by_round("abcde", 5, favourites("abcde"))
    byes = [set("abcde") - {bot for pair in pairs for bot in pair} for pairs in rounds]
    assert [*map(min, byes)] == ["e", "d", "c", "b", "a"] and all(len(bye) == 1 for bye in byes)


@given(st.integers(2, 9), st.integers(), st.sampled_from((0.0, 0.3, 1.0)))
def test_no_two_meet_again_while_it_can_be_avoided(count: int, seed: int, draws: float) -> None:
    names = "abcdefghi"[:count]
    met: Counter[frozenset[str]] = Counter()
    byes: Counter[str] = Counter()
    for pairs in pairs_by_round(names, count + 2, drawn(seed, draws)):
        playing = tuple(sorted(bot for pair in pairs for bot in pair))
        (bye,) = set(names) - set(playing) or {""}
        assert len(set(playing)) == len(playing) == count - count % 2
        possible = [playing]
        if bye:
            fewest_byes = min(byes[name] for name in names)
            assert byes[bye] == fewest_byes
            possible = [tuple(names.replace(name, "")) for name in names if byes[name] == fewest_byes]
            byes[bye] += 1
        fewest = min(met[frozenset(pair)] for pair in combinations(names, 2))
        others = (pairs, *(some for bots in possible for some in matchings(bots)))
        again = [sum(met[frozenset(pair)] > fewest for pair in some) for some in others]
        assert again[0] == min(again)
        met.update(map(frozenset, pairs))


@pytest.mark.slow
@given(st.integers(), st.sampled_from((0.0, 0.3)))
def test_sixteen_bots_meet_others_with_almost_equal_points(seed: int, draws: float) -> None:
    names = "abcdefghijklmnop"
    result = drawn(seed, draws)
    points = dict.fromkeys(names, 0.0)
    for number, pairs in enumerate(pairs_by_round(names, 5, result), 1):
        gaps = [abs(points[one] - points[other]) for one, other in pairs]
        # In encounters of two games, points differ by 2 or 4 from one group to the next without draws.
        assert sum(gaps) <= 16 and max(gaps) <= 4, number
        for one, other in pairs:
            for pairing in encounter(number, (one, other)).games:
                ranks = result(pairing)
                assert ranks
                for bot, rank in zip(pairing.bots, ranks, strict=True):
                    points[bot] += 0.5 if ranks == (1, 1) else 2 - rank


@pytest.mark.slow
@given(st.integers(1, 9), st.data())
def test_a_maximum_matching_has_as_many_pairs_as_any(count: int, data: st.DataObject) -> None:
    edges = data.draw(st.sets(st.sampled_from([*combinations(range(count), 2)] or [(0, 0)])))
    edges -= {(0, 0)}
    neighbours = [
        [other for other in range(count) if {(one, other), (other, one)} & edges] for one in range(count)
    ]
    mate = maximum_matching(neighbours)
    pairs = {(one, other) for one, other in enumerate(mate) if other > one}
    assert pairs <= edges and all(mate[mate[one]] == one for one in range(count) if mate[one] >= 0)
    most = next(
        size
        for size in range(count // 2, -1, -1)
        if any(len({bot for pair in some for bot in pair}) == 2 * size for some in combinations(edges, size))
    )
    assert len(pairs) == most


# --- Standings -----------------------------------------------------------------------------------------


def results(*games: tuple[str, int, int]) -> dict[str, Summary]:
    """Summaries from ids and ranks."""
    pairings = [(Pairing.parse(game), ranks) for game, *ranks in games]
    return {pairing.id: summary(pairing, tuple(ranks)) for pairing, ranks in pairings}


def test_the_standings_are_by_points_and_tie_breaks() -> None:
    one = Swiss(2, tuple("abcd"))
    games = results(
        ("1:a:c", 1, 2),  # a 2, c 0
        ("1:c:a", 2, 1),
        ("1:b:d", 1, 2),  # b 1, d 1
        ("1:d:b", 1, 2),
        ("2:a:b", 1, 1),  # a 3, b 2
        ("2:b:a", 1, 1),
        ("2:d:c", 1, 2),  # d 2, c 1
        ("2:c:d", 1, 2),
    )
    rows = one.standings(SectionState(games))
    assert [(row.rank, row.bot, *row.columns.values()) for row in rows] == [
        # points, Buchholz, Sonneborn-Berger, direct, byes
        (1, "a", 3.0, 3.0, 2 * 1.0 + 1 * 2.0, 0.0, 0),
        (2, "b", 2.0, 5.0, 1 * 2.0 + 1 * 3.0, 0.0, 0),
        (3, "d", 2.0, 3.0, 1 * 2.0 + 1 * 1.0, 0.0, 0),
        (4, "c", 1.0, 5.0, 0 * 3.0 + 1 * 2.0, 0.0, 0),
    ]


def test_bots_that_only_their_names_tell_apart_share_a_rank_unless_they_have_met() -> None:
    one = Swiss(1, tuple("dcba"))
    rows = one.standings(
        SectionState(results(("1:d:b", 1, 2), ("1:b:d", 1, 2), ("1:c:a", 1, 1), ("1:a:c", 1, 1)))
    )
    assert [(row.rank, row.bot) for row in rows] == [
        (1, "a"),
        (1, "b"),
        (1, "c"),
        (1, "d"),
    ]


@pytest.mark.slow
def test_bots_that_are_equal_in_all_else_are_ranked_by_their_direct_encounters() -> None:
    one = Swiss(3, tuple("abcd"))
    decided = 0
    for seed in range(200):
        games = play(schedule_of(one, "abcd"), drawn(seed))
        rows = one.standings(SectionState({game: what for game, what in games.items() if what}))
        for before, after in pairwise(rows):
            (*equal, direct, _), (*other, other_direct, _) = before.columns.values(), after.columns.values()
            if equal == other and direct != other_direct:
                assert float(direct) > float(other_direct) and before.rank < after.rank
                decided += 1
    assert decided


def test_a_bye_counts_once_as_an_opponent_with_the_same_points() -> None:
    one = Swiss(1, tuple("abc"))
    rows = one.standings(SectionState(results(("1:a:b", 1, 2), ("1:b:a", 2, 1))))
    assert [(row.bot, *row.columns.values()) for row in rows] == [
        # points, Buchholz, Sonneborn-Berger, direct, byes
        ("c", 2.0, 2.0, 2 * 2.0, 0.0, 1),
        ("a", 2.0, 0.0, 2 * 0.0, 0.0, 0),
        ("b", 0.0, 2.0, 0 * 2.0, 0.0, 0),
    ]


@pytest.mark.parametrize("played", [0, 1, 4, 5, 8])
def test_the_standings_of_a_running_tournament_count_what_was_played(played: int) -> None:
    one = Swiss(2, tuple("abcde"))
    games = play(schedule_of(one, "abcde", section="s"), favourites("abcde"))
    so_far = {game: what for game, what in list(games.items())[:played] if what}
    rows = one.standings(SectionState(so_far, name="s"))
    byes = 1 + (played >= 4)  # that of the second round is known after the first
    assert sum(float(row.columns["points"]) for row in rows) == played + 2 * byes
    assert sum(float(row.columns["byes"]) for row in rows) == byes


def test_a_game_that_is_annulled_gives_no_points_but_led_to_the_pairings_after_it() -> None:
    one = Swiss(2, tuple("abcd"))
    played = play(schedule_of(one, "abcd"), favourites("abcd"))
    games = {game: what for game, what in played.items() if what}
    assert [*games] == ["1:a:c", "1:c:a", "1:b:d", "1:d:b", "2:a:b", "2:b:a", "2:c:d", "2:d:c"]
    rows = one.standings(SectionState(games, annulled={"1:a:c", "1:c:a", "2:b:a"}))
    assert [(row.bot, row.columns["points"], row.columns["Buchholz"]) for row in rows] == [
        ("b", 2.0, 1.0),
        ("c", 2.0, 1.0),
        ("a", 1.0, 4.0),
        ("d", 0.0, 4.0),
    ]


def played_rounds(names: str, tiebreaks: Sequence[str], games: dict[str, Summary]) -> list[Standing]:
    return Swiss(3, tuple(names), tuple(tiebreaks)).standings(SectionState(games))


def test_tie_breaks_of_ones_choice_are_computed_by_hand() -> None:
    """Four bots meet each other: a gains 4, 2 and 2 halves, …"""
    games = results(
        ("1:a:c", 1, 2),  # a 2, c 0
        ("1:c:a", 2, 1),
        ("1:b:d", 1, 1),  # b 1, d 1
        ("1:d:b", 1, 1),
        ("2:a:b", 1, 2),  # a 1, b 1
        ("2:b:a", 1, 2),
        ("2:d:c", 1, 2),  # d 2, c 0
        ("2:c:d", 2, 1),
        ("3:a:d", 1, 2),  # a 1½, d ½
        ("3:d:a", 1, 1),
        ("3:b:c", 2, 1),  # b ½, c 1½
        ("3:c:b", 1, 1),
    )
    words = ("buchholz", "buchholz-cut-1", "median-buchholz", "wins", "progressive")
    # Points: a 4½, b 2½, c 1½, d 3½.
    assert {row.bot: [*row.columns.values()] for row in played_rounds("abcd", words, games)} == {
        "a": [4.5, 7.5, 6.0, 2.5, 4, 2 + 3 + 4.5, 0],
        "d": [3.5, 8.5, 7.0, 2.5, 2, 1 + 3 + 3.5, 0],
        "b": [2.5, 9.5, 8.0, 3.5, 1, 1 + 2 + 2.5, 0],
        "c": [1.5, 10.5, 8.0, 3.5, 1, 0 + 0 + 1.5, 0],
    }


@given(st.integers(), st.permutations([*TIE_BREAKS]))
def test_bots_are_in_the_order_of_the_tie_breaks_that_were_chosen(seed: int, words: list[str]) -> None:
    one = Swiss(3, tuple("abcdefg"), tuple(words[:3]))
    games = play(schedule_of(one, "abcdefg"), drawn(seed))
    rows = one.standings(SectionState({game: what for game, what in games.items() if what}))
    headings = [TIE_BREAKS[word].heading for word in words[:3]]
    assert [*rows[0].columns] == ["points", *headings, "byes"]
    keys = [[row.columns[heading] for heading in ("points", *headings)] for row in rows]
    assert keys == sorted(keys, reverse=True)
    for (before, after), (key, other) in zip(pairwise(rows), pairwise(keys), strict=True):
        assert (before.rank == after.rank) == (key == other)


def test_points_and_the_bye_are_those_of_the_tournament() -> None:
    one = Swiss(1, tuple("abc"))
    games = results(("1:a:b", 1, 2), ("1:b:a", 1, 1))
    rows = one.standings(SectionState(games, points=PointScale(3, 1, 0, 2.5)))
    assert [(row.bot, row.columns["points"]) for row in rows] == [("a", 4.0), ("c", 2.5), ("b", 1.0)]


def test_pairings_follow_the_points_of_the_tournament() -> None:
    """With 3 points for a win, one win and one loss are more than two draws: 3 and 2."""

    def result(pairing: Pairing) -> tuple[int, ...]:
        return (1, 1) if "a" in pairing.bots else (1, 2)

    def second(scale: PointScale) -> list[str]:
        one = Swiss(2, tuple("abcd"))
        games = play(lambda played: one.schedule(SectionState(played, "abcd", points=scale)), result)
        return [game for game in games if game.startswith("2:")]

    assert second(STANDARD_POINTS) == ["2:a:d", "2:d:a", "2:b:c", "2:c:b"]
    assert second(PointScale(3, 1)) == ["2:b:a", "2:a:b", "2:d:c", "2:c:d"]


def test_the_table_by_rounds_has_opponents_and_points() -> None:
    one = Swiss(2, tuple("abcde"))
    games = {
        game: what
        for game, what in play(schedule_of(one, "abcde"), favourites("abcde")).items()
        if what and game not in ("2:b:c", "2:c:b", "2:e:a")
    }
    by_rounds, pairings = one.tables_of(SectionState(games, out=lambda: ["a"], shown=str.upper))
    assert [column.heading for column in by_rounds.grid.columns] == ["#", "bot", "points", "1", "2"]
    assert [" ".join(row) for row in by_rounds.grid.texts] == [
        "1 E 2 bye 5:…",
        "2 D 2 3:0 bye",
        "3 B 2 2:2 4:…",
        "4 C 0 5:0 3:…",
        "5 A 3 4:2 1:1…",  # it is out
    ]
    assert by_rounds.data[4] == {"number": 5, "bot": "A", "points": 3.0, "round_1": "4:2", "round_2": "1:1…"}
    assert [" ".join(row) for row in pairings.grid.texts] == [
        "2 A 2 1–0 … E 2",
        "2 B 2 … C 0",
        "2 D 0 2 bye ",
    ]
    assert [row["over"] for row in pairings.data] == [False, False, True]
    (before, _) = Swiss(2, tuple("abcd")).tables_of(SectionState({}))
    assert [row[3] for row in before.grid.texts] == ["3:…", "4:…", "1:…", "2:…"], "before the first game"


def test_a_round_that_does_not_begin_any_more_gives_no_bye() -> None:
    one = Swiss(3, tuple("abc"))
    games = results(("1:a:b", 1, 2), ("1:b:a", 1, 1))
    for last, byes in ((None, 2), (2, 2), (1, 1), (0, 0)):
        found = SectionState(games, last_round=last)
        assert sum(float(row.columns["byes"]) for row in one.standings(found)) == byes
        assert len(one.tables_of(found)) == (1 if last == 0 else 2)
