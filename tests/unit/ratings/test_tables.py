"""Tables of results: what stands in them, what is said under them, and the forms that they have."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.rows import Column, Grid
from referee.core.settings import PointScale
from referee.ratings import grids
from referee.ratings.columns import COLUMNS, brief, parse_columns, rating_text, standings_grid
from referee.ratings.format_tables import RANK, FormatTable, name_column
from referee.ratings.notes import NO_ELO
from referee.ratings.pool import Rating
from referee.ratings.sprt import SprtResult
from referee.ratings.standings import Facts, FormatPlace, NextInRank, standings
from referee.ratings.table import KNOWN, TableText, parse_show, rendered
from referee.ratings.tally import Tallies, crosstable, pentanomial
from referee.ratings.times import MoveTimes, Times
from referee.records.header import Header
from referee.records.record import Summary, timed_moves
from referee.tournament.formats.stage import by_rating
from tests.page_tables import require_listed, require_same, rows, words

ORDERS = [(1, 2, 3, 4), (4, 3, 1, 1), (2, 1, 3, 3)] * 7


def summary(bots: str, ranks: tuple[int, ...], scores: tuple[int, ...], number: int = 1) -> Summary:
    names = tuple(bots)
    return Summary(
        ":".join((str(number), *names)),
        1,
        "thetree",
        names,
        ranks,
        scores,
        "rules",
        "",
        True,
        ("",) * len(names),
    )


def test_points_are_the_share_of_the_others_that_were_beaten() -> None:
    results = [summary("abcd", (1, 2, 2, 4), (0, 3, 3, 9))]
    assert [Tallies("abcd", results)[name].points for name in "abcd"] == [1, 0.5, 0.5, 0]
    results.append(summary("bcda", (1, 1, 3, 4), (2, 2, 5, 6), 2))
    assert Tallies("abcd", results)["b"].points == 4 / 3
    assert Tallies("abcd", results)["b"].counts == (1, 1, 0)
    table = rendered("abcd", results, "simple", 4)
    assert "1st–tied–rest" in table and "41.7 %" not in table
    assert "66.7 %" in table  # b: 4/3 of 2


def test_tallies_do_not_depend_on_the_order_of_the_games() -> None:
    results = [summary("abcd", tuple(ranks), (0, 0, 0, 0), n) for n, ranks in enumerate(ORDERS, 1)]
    forward, backward = Tallies("abcd", results), Tallies("abcd", reversed(results))
    assert [forward[name] for name in "abcd"] == [backward[name] for name in "abcd"]
    assert [forward[name].points for name in "abcd"] == [backward[name].points for name in "abcd"]


def test_bots_that_play_alone_are_ranked_by_wins_and_then_by_what_is_left() -> None:
    results = []
    for number, (a, b, c) in enumerate([(0, 4, 3), (5, 0, 2), (9, 0, 0)], 1):
        for name, left in zip("abc", (a, b, c), strict=True):
            results.append(summary(name, (1,) if left == 0 else (2,), (left,), number))
    rows = standings("abc", results, 1).rows
    assert [(row.bot, row.tally.counts[2], row.tally.scores) for row in rows] == [
        ("b", 2, 4),
        ("c", 1, 5),
        ("a", 1, 14),
    ]
    text = rendered("abc", results, "simple", 1)
    assert "Elo" not in text and text.index(" b ") < text.index(" c ") < text.index(" a ")
    values: dict[str, Any] = json.loads(rendered("abc", results, "json", 1))
    assert values["standings"][0]["score"] == pytest.approx(2 / 3, abs=1e-6)
    first = next(csv.DictReader(io.StringIO(rendered("abc", results, "csv", 1))))
    assert (first["bot"], first["wins"], first["score"], first["mean_score"]) == (
        "b",
        "2",
        "0.666667",
        "1.333333",
    )


# --- Two seats -----------------------------------------------------------------------------------------


def game(
    bots: tuple[str, str],
    winner: str = "",
    number: int = 1,
    section: str = "",
    fault: str = "",
    digest: str = "",
) -> Summary:
    """A game of two seats; without a winner it is a draw. The loser has the fault."""
    ranks = (1, 1) if not winner else (1, 2) if winner == bots[0] else (2, 1)
    faults = tuple(fault if bot != winner else "" for bot in bots)
    pairing = Pairing.of(number, bots, section=section)
    return Summary(pairing.id, 1, "blooms", bots, ranks, (0, 0), "rules", "", True, faults, (), digest)


def test_points_of_a_tournament_have_a_column_and_order_the_table_if_that_is_wanted() -> None:
    won = [
        ("a", "b", "b"),
        ("a", "c", "a"),
        ("a", "d", "a"),
        ("b", "c", "c"),
        ("b", "d", "b"),
        ("c", "d", "c"),
    ]
    games = [game((one, other), winner) for one, other, winner in won]
    games += [game(bots, number=2) for bots in (("c", "a"), ("c", "b"), ("d", "b"), ("a", "b"))]
    # b has two wins and three draws, a and c two wins and two draws; c is rated highest.
    by_points = [(1, "b", 9), (2, "c", 8), (3, "a", 8), (4, "d", 1)]
    by_rating = [(1, "c", 8), (2, "a", 8), (3, "b", 9), (4, "d", 1)]
    for is_by_points, expected in ((False, by_rating), (True, by_points)):
        facts = Facts(points=PointScale(3, 1), by_points=is_by_points)
        rows = standings("abcd", games, facts=facts).rows
        assert [(row.rank, row.bot, row.tally.points) for row in rows] == expected
        head, _, first, *_ = rendered("abcd", games, facts=facts).splitlines()
        assert first.split()[head.split().index("points")] == f"{expected[0][2]}"
    assert "points" not in rendered("abcd", games).splitlines()[0]


@pytest.mark.parametrize("fault", ["start", "void", "out"])
def test_a_bot_that_never_started_has_no_elo_and_is_last(fault: str) -> None:
    played = [game(("a", "b"), "a", number) for number in range(1, 12)]
    lost = [game(("b", "dead"), "b", number, fault=fault) for number in range(1, 12)]
    table = standings(["dead", "b", "a"], played + lost)
    assert table.names == ["a", "b", "dead"]
    assert [one.bot for one in by_rating(["dead", "b", "a"], played + lost, "cluster")] == table.names
    assert [row.rating for row in table.rows[:2]] == [row.rating for row in standings("ab", played).rows]
    assert not table.rows[2].is_rated and table.rows[1].next is None
    values = json.loads(rendered(["dead", "b", "a"], played + lost, "json"))["standings"]
    assert (values[2]["bot"], values[2]["elo"], values[2]["losses"]) == ("dead", None, 11)
    line = rendered(["dead", "b", "a"], played + lost, "simple").split(" dead ")[1].splitlines()[0]
    assert line.split()[:7] == ["–", "0.0", "%", "–", "–", "0–0–11", "11"]
    (first, *_, last) = brief(table.tallies, table.pool, 2, 9, 80)[1:]
    assert first.split()[:2] == ["1", "a"] and last.split()[:3] == ["3", "dead", "–"]


def test_a_bot_that_started_once_has_an_elo() -> None:
    results = [game(("a", "b"), "a"), *(game(("a", "b"), "a", n, fault="start") for n in range(2, 12))]
    assert all(row.is_rated for row in standings("ab", results).rows)


def test_who_never_started_takes_no_evidence_from_the_others_at_a_table() -> None:
    results = [summary("abx", (1, 2, 3), (0, 0, 0), n)._replace(faults=("", "", "start")) for n in (1, 2)]
    rows = standings("abx", results, 3).rows
    assert [(row.bot, row.is_rated) for row in rows] == [("a", True), ("b", True), ("x", False)]


def round_robin(names: Iterable[str], rounds: int, section: str = "") -> list[Summary]:
    """All pairs with the seats swapped: the first in alphabetical order wins all but each fourth game."""
    found: list[Summary] = []
    for number in range(1, rounds + 1):
        for one, other in combinations(sorted(names), 2):
            for bots in ((one, other), (other, one)):
                winner = other if (number + len(found)) % 4 == 0 else one
                found.append(game(bots, winner, number, section))
    return found


def notes(names: Iterable[str], games: Iterable[Summary], facts: Facts | None = None) -> str:
    """All that is said under the table, each note on one line."""
    return rendered(list(names), list(games), "simple", 2, TableText(width=0, notes=True), facts)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.from_regex(r"[a-z][a-z0-9._-]{0,63}", fullmatch=True), min_size=2, max_size=14, unique=True),
    st.sampled_from(["simple", "grid", "outline", "plain", "psql", "rst"]),
    st.sampled_from([80, 100, 200]),
)
def test_a_table_fits_the_width_or_says_what_it_left_out(names: list[str], form: str, width: int) -> None:
    games = round_robin(names, 1)
    whole = rendered(names, games, form, view=TableText(width=0, notes=True))
    text = rendered(names, games, form, view=TableText(width=width, notes=True))
    assert max(map(len, text.splitlines())) <= width
    is_shortened = re.search(r"…(?![−\w])", text) is not None  # a name, not the ends of an interval
    if max(map(len, whole.split("\n\n")[0].splitlines()[:1])) > width:
        assert "left out to fit" in text or is_shortened
    assert not is_shortened or "next" in text.partition("left out")[2], "names are shortened last"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("block", ["crosstable", "los"])
def test_a_wide_table_that_was_asked_for_is_printed_in_parts(block: str) -> None:
    names = [f"bot-{number}" for number in range(20)]
    text = rendered(names, round_robin(names, 1), view=TableText(show=(block,)))
    assert max(map(len, text.splitlines())) <= 80
    heads = [line for line in text.splitlines() if line.startswith("  #")]
    assert len(heads) > 1 and [word for head in heads for word in head.split() if word.isdigit()] == [
        str(number) for number in range(1, 21)
    ]


def test_sections_are_rated_apart_and_together() -> None:
    games = [*round_robin("ab", 3, "small"), *round_robin("bc", 3, "big")]
    text = rendered("abc", games)
    apart = [text.index(title) for title in ("big: blooms", "small: blooms", "all together: blooms")]
    assert apart == sorted(apart)
    value = json.loads(rendered("abc", games, "json"))
    assert [part["section"] for part in value["sections"]] == ["big", "small"]
    assert [row["bot"] for row in value["sections"][0]["standings"]] == ["b", "c"]
    assert {row["bot"]: row["games"] for row in value["standings"]} == {"a": 6, "b": 12, "c": 6}
    rows = list(csv.DictReader(io.StringIO(rendered("abc", games, "csv"))))
    assert [(row["section"], row["bot"]) for row in rows[:4]] == [
        ("big", "b"),
        ("big", "c"),
        ("small", "a"),
        ("small", "b"),
    ]


def test_games_of_bots_that_play_alone_are_not_rated_together_with_others() -> None:
    alone = summary("c", (1,), (0,))._replace(id="alone/1:c")
    value = json.loads(rendered("abc", [*round_robin("ab", 3, "small"), alone], "json"))
    assert {row["bot"]: row["games"] for row in value["standings"]} == {"a": 6, "b": 6, "c": 0}
    assert [part["seats"] for part in value["sections"]] == [1, 2]


def test_one_meaning_of_points_and_of_the_crosstable_in_every_form() -> None:
    games = [*round_robin("abc", 5), game(("a", "b"), "", 6), game(("b", "a"), "", 6)]
    value = json.loads(rendered("abc", games, "json"))
    rows = {row["bot"]: row for row in csv.DictReader(io.StringIO(rendered("abc", games, "csv")))}
    for row in value["standings"]:
        assert row["points"] == row["wins"] + row["draws"] / 2 == float(rows[row["bot"]]["points"])
        assert row["score"] == pytest.approx(row["points"] / row["games"], abs=1e-6)
        for word in ("wins", "draws", "losses"):
            against = {
                cell["against"]: cell[word] for cell in value["crosstable"] if cell["bot"] == row["bot"]
            }
            assert sum(against.values()) == row[word] == sum(seat[word] for seat in row["seats"])
            for other, count in against.items():
                assert rows[row["bot"]][f"{word} vs {other}"] == str(count)
    text = rendered("abc", games, view=TableText(parse_columns("points,score")))
    assert f"{value['standings'][0]['points']:g}" in text
    assert f"{100 * value['standings'][0]['score']:.1f} %" in text


def test_markdown_shows_names_as_they_are() -> None:
    names = ["__init__", "www.example.org", "-minus", "_a_"]
    text = rendered(names, round_robin(names, 1), "github")
    markdown = MarkdownIt("commonmark").enable("table")
    shown = [token.children or [] for token in markdown.parse(text) if token.type == "inline"]
    plain = ["".join(child.content for child in line if child.type == "text") for line in shown]
    assert set(names) <= set(plain)
    assert not any(child.type in ("em_open", "strong_open") for line in shown for child in line)
    assert "<table>" in markdown.render(text) and "<li>" in markdown.render(text)
    assert "www." not in text, "it would become a link"


def test_csv_has_one_table() -> None:
    games = round_robin("abc", 2)
    with pytest.raises(UsageError, match="one table"):
        rendered("abc", games, "csv", view=TableText(show=("standings", "los")))
    pairs = list(csv.DictReader(io.StringIO(rendered("abc", games, "csv", view=TableText(show=("pairs",))))))
    assert [(row["bot"], row["against"]) for row in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("parse", [parse_columns, parse_show])
def test_an_unknown_column_or_table_is_answered_with_the_known_ones(parse: Any) -> None:
    with pytest.raises(UsageError, match=r"`points2`, expected one of .*"):
        parse("points2")


# --- What is said under a table ------------------------------------------------------------------------


def test_repeated_games_are_told_with_what_to_do() -> None:
    games = [game(pair, "a", number, digest="".join(pair)) for number in range(1, 6) for pair in SEATINGS]
    text = notes("ab", games)
    assert "8 of 10 games repeat another one" in text and 'random openings, or `repeats = "count"`' in text
    assert "do not narrow any interval" not in notes("ab", games, Facts(repeats="count"))
    assert "repeat another" not in notes("ab", round_robin("ab", 5))


SEATINGS = (("a", "b"), ("b", "a"))


def test_few_games_and_neighbours_that_are_not_told_apart_are_told() -> None:
    assert "rough intervals: a and b played fewer than 10 independent encounters" in notes(
        "ab", round_robin("ab", 9)
    )
    many = [game(pair, "a" if number % 3 else "b", number) for number in range(1, 200) for pair in SEATINGS]
    assert "few games" not in notes("ab", many)
    assert re.search(
        r"a compared with b: between \+\d+ and \+\d+ Elo \(95 %\), so a is stronger", notes("ab", many)
    )
    even = [game(pair, "ab"[number % 2], number) for number in range(1, 200) for pair in SEATINGS]
    assert re.search(
        r"b compared with a: between −\d+ and \+\d+ Elo \(95 %\), so 0 is possible", notes("ab", even)
    )
    three = rendered("abc", [*even, *(game(pair, "c", 300) for pair in (("a", "c"), ("c", "b")))])
    assert re.search(r"^ +1 +c +1–3 .* open .*\n +2 +b +1–3 .* open .*\n +3 +a +1–3 ", three, re.MULTILINE)


def test_three_lines_of_notes_are_shown_and_the_others_counted() -> None:
    games = [game._replace(isolation=("bwrap", "bwrap")) for game in round_robin("abc", 12)]
    every = notes("abc", games).split("\n\n")[0].splitlines()[5:]
    table, _ = rendered("abc", games).split("\n\n")
    *first, more = table.splitlines()[5:]
    assert first == every[:3] and more == f"{len(every) - 3} more notes: `--notes` shows all"
    assert first[0].startswith("ranks: ") and every[-1] == "isolation: bwrap", "the most important first"
    facts = Facts(changed=dict.fromkeys("abc", "2026-01-02T03:04:05+00:00"))
    long = rendered("abc", games, facts=facts).split("\n\n")[0].splitlines()[5:]
    assert len(long) == 4 and long[0].startswith("programs changed") and long[1].startswith("  ")
    assert "- 4 more notes" in rendered("abc", games, "github", facts=facts)


def test_a_table_of_few_games_has_no_ratings_unless_they_are_asked_for() -> None:
    few, enough = round_robin("ab", 9), round_robin("ab", 10)
    text = rendered("ab", few)
    assert "Elo ±" not in text and "to next" not in text and "seat" not in text
    assert text.splitlines()[4:] == [f"{NO_ELO}; `--notes` shows it anyway"]
    crosstable = rendered("abc", round_robin("abc", 3))
    assert "Elo ±" not in crosstable and "wins–draws–losses" in crosstable
    asked = (TableText(notes=True), TableText(show=("standings",)), TableText(columns=("elo",)))
    for shown in (rendered("ab", enough), *(rendered("ab", few, view=view) for view in asked)):
        assert "Elo ±" in shown and NO_ELO not in shown
    alike = [game(pair, "a", number, digest="".join(pair)) for number in range(1, 30) for pair in SEATINGS]
    assert NO_ELO in rendered("ab", alike), "however often a game is repeated"
    assert json.loads(rendered("ab", few, "json"))["standings"][0]["elo"], "data has everything"


def test_after_one_game_the_table_is_a_line_that_says_who_won_how_and_why() -> None:
    (won,) = (one._replace(sentence="seat 1 has captured 2 of 2") for one in [game(("a", "b"), "a")])
    assert rendered("ab", [won]) == "a won in seat 1 against b: a has captured 2 of 2"
    assert rendered("ab", [won], "github") == "- a won in seat 1 against b: a has captured 2 of 2"
    assert rendered("ab", [won._replace(ranks=(1, 1))]).startswith("a and b drew: ")
    assert rendered(
        "abc", [won._replace(bots=("c", "a", "b"), ranks=(1, 3, 1), scores=(0, 0, 0), faults=("",) * 3)]
    ).startswith("c and b shared the first place against a: ")
    assert rendered("ab", [won], facts=Facts(closed="closed")).splitlines()[1] == "closed"
    for view in (TableText(show=("standings",)), TableText(notes=True), TableText(columns=("elo",))):
        assert "Elo ±" in rendered("ab", [won], view=view)
    assert "w–d–l" in rendered("ab", [won, game(("b", "a"), "a")]) and "w–d–l" in rendered("ab", [])


def test_games_lost_on_time_are_told_above_one_percent() -> None:
    lost = [game(("a", "b"), "a", number, fault="time" if number <= 2 else "") for number in range(1, 102)]
    assert "games lost on time: b 2 of 101" in notes("ab", lost)
    assert "lost on time" not in notes("ab", lost[1:])


def test_a_program_that_changed_is_told_in_every_later_table() -> None:
    files = {"a": {"a.py": "1"}, "b": {"b.py": "1"}}
    header = Header({"bots": {"a": {}, "b": {}}, "files": files}, {}, {})
    added = {"when": "2026-01-01", "bots": {"c": {"clock": "1s"}}, "files": {"c": {"c.py": "1"}}}
    header = header.after(added)
    assert not header.changed_programs, "a bot that joins has not changed"
    header = header.after({"when": "2026-01-02T03:04:05+00:00", "files": {"a": {"a.py": "2"}}})
    header = header.after({"when": "2026-01-03", "rounds": 7})
    assert header.changed_programs == {"a": "2026-01-02T03:04:05+00:00"}
    assert header.files["a"] == {"a.py": "2"}
    text = notes("ab", round_robin("ab", 2), Facts(changed=header.changed_programs))
    assert "programs changed during the run" in text and "a (2026-01-02T03:04:05+00:00)" in text


def test_groups_that_never_met_are_named() -> None:
    text = notes("abcd", [*round_robin("ab", 3), *round_robin("cd", 3)])
    assert "compare Elo only within a group (each has mean 0): a and b | c and d" in text


def test_a_lopsided_interval_has_both_ends() -> None:
    assert rating_text(Rating(420.4, 210.0, 1010.0)) == "+420 (210…1,010)"
    assert rating_text(Rating(-420.4, -1010.0, -210.0)) == "−420 (−1,010…−210)"
    assert rating_text(Rating(-10.0, -15.0, -5.0)) == "−10 ± 5" and rating_text(Rating(0.0)) == "–"
    assert rating_text(Rating(0.0, -40.0, 50.0)) == "+0 ± 45", "about as far"
    assert rating_text(Rating(0.0, -39.0, 50.0)) == "+0 (−39…50)"
    assert rating_text(Rating(389.0, 108.0, math.inf)) == "at least +108"
    assert rating_text(Rating(-389.0, -math.inf, -108.0)) == "at most −108"
    assert rating_text(Rating(60.0, -math.inf, math.inf)) == "+60"


def test_a_bot_that_won_or_lost_everything_has_an_interval_with_one_end() -> None:
    winners = {("a", "b"): "aa", ("b", "a"): "aa", ("b", "c"): "bc"}
    games = [game(pair, of[number % 2], number) for number in range(1, 11) for pair, of in winners.items()]
    table = rendered("abc", games)
    assert re.search(r"a +1 +100.0 % +sure +at least \+\d+ +20–0–0", table)
    first, *_, last = json.loads(rendered("abc", games, "json"))["standings"]
    assert first["low"] > 0 and first["high"] is first["to_next"]["high"] is None
    assert last["low"] is not None and last["high"] is not None, "it won some games"
    a, *_ = csv.DictReader(io.StringIO(rendered("abc", games, "csv")))
    assert float(a["low"]) == first["low"] and a["high"] == ""
    assert "at most " in rendered("ab", games[:2] * 5, view=TableText(columns=("elo",)))


def test_bots_of_a_decided_test_have_no_intervals_besides_that_of_the_test() -> None:
    games = [game(pair, "a" if number % 3 else "b", number) for number in range(1, 60) for pair in SEATINGS]
    others = (("c", "d"), ("d", "c"))
    games += [game(pair, "cd"[number % 2], number) for number in range(1, 60) for pair in others]
    test = SprtResult("", "a", "b", 0.0, 100.0, 0.05, 0.05, "logistic", (20, 0, 0, 0, 39), 3.0, "H1")
    decided, running = (Facts(tests=(test._replace(accepted=accepted),)) for accepted in ("H1", ""))
    assert re.search(r"a  +.* \+\d+ ± \d+ ", rendered("abcd", games, facts=running))
    assert "no intervals" not in notes("abcd", games, running)
    table = notes("abcd", games, decided)
    assert "no intervals for bots whose sequential test is decided" in " ".join(table.split())
    assert re.search(r"a  +.* –  +\+\d+  ", table) and re.search(r"c  .* [+−]\d+ ± \d+ ", table)
    assert re.search(r"a +b +H1 accepted .* \+99 ± 99", rendered("abcd", games, facts=decided))
    data = json.loads(rendered("abcd", games, "json", facts=decided))
    of = {row["bot"]: row for row in data["standings"]}
    assert all(of[bot]["elo"] and of[bot]["low"] is of[bot]["high"] is None for bot in "ab")
    assert all(of[bot]["low"] < of[bot]["high"] for bot in "cd")
    pair, other = data["pairs"]
    assert (pair["bot"], pair["against"], pair["low"], pair["high"]) == ("a", "b", None, None)
    assert other["low"] is not None and pair["elo"] and pair["nelo_half_width"] is None
    rows = {
        row["bot"]: row for row in csv.DictReader(io.StringIO(rendered("abcd", games, "csv", facts=decided)))
    }
    assert rows["a"]["low"] == rows["a"]["to_next_high"] == "" != rows["c"]["low"]


def test_a_bot_that_won_everything_has_an_interval_that_says_so() -> None:
    best, *_ = standings("abc", [game(pair, "a", n) for n in range(1, 8) for pair in SEATINGS]).rows
    elo, low, high = best.rating
    assert low is not None and high is not None and 0 < low < elo and high - elo > 1.25 * (elo - low)


def test_bots_without_games_are_last() -> None:
    won_by_a = [game(pair, "a") for pair in SEATINGS]
    assert standings("cab", won_by_a).names == ["a", "b", "c"]


def test_equal_bots_share_a_rank_and_those_that_have_not_played_come_last() -> None:
    games = [summary(bots, (1, 1), (0, 0)) for bots in ("ab", "ba", "bc", "cb", "ac", "ca")]
    games += [summary(f"{name}d", (1, 2), (0, 0)) for name in "abc"]
    rows = standings("edcba", games).rows
    assert [(row.rank, row.bot) for row in rows] == [(1, "a"), (1, "b"), (1, "c"), (4, "d"), (5, "e")]
    without = standings("edcba", games, facts=Facts(withdrawn={"b": "late"})).rows
    assert [row.rank for row in without] == [1, 1, 3, 4, None]
    assert {row.rank for row in standings("abc", []).rows} == {1}


def test_a_format_may_have_an_order_of_its_own() -> None:
    places = [(1, "b", {"points": 3.5, "Buchholz": 7.0}), (2, "a", {"points": 2.0, "Buchholz": 1.5})]
    facts = Facts(places={"": places})
    text = rendered("ab", round_robin("ab", 3), facts=facts)
    header, _, first, second = text.splitlines()[:4]
    assert header.split()[:4] == ["#", "bot", "points", "Buchholz"]
    assert first.split()[:4] == ["1", "b", "3.5", "7"] and second.split()[:4] == ["2", "a", "2", "1.5"]
    rows = json.loads(rendered("ab", round_robin("ab", 3), "json", facts=facts))["standings"]
    assert [(row["bot"], row["points"], row["Buchholz"]) for row in rows] == [
        ("b", 3.5, 7.0),
        ("a", 2.0, 1.5),
    ]


def test_tables_of_a_format_are_in_every_form_and_in_parts_that_fit() -> None:
    names = [f"bot-number-{number}" for number in range(30)]
    columns = [RANK, name_column("bot"), *(Column(f"round {number}", str(number)) for number in range(1, 12))]
    grid = Grid(columns, [[str(at), name, *["12:1½"] * 11] for at, name in enumerate(names, 1)])
    by_rounds = FormatTable("rounds", grid, [{"bot": name, "round_1": "12:1½"} for name in names], fixed=2)
    places: list[FormatPlace] = [(at, name, {"points": 1.5}) for at, name in enumerate(names, 1)]
    facts = Facts(places={"": places}, tables={"": [by_rounds]}, stages={"": "round 3 of 7"})
    text = rendered(names, round_robin(names[:2], 2), facts=facts)
    heads = [line.split() for line in text.splitlines() if line.startswith("  #") and "points" not in line]
    assert [word for head in heads for word in head[2:]] == [*map(str, range(1, 12))] and len(heads) == 2
    assert max(map(len, text.splitlines())) <= 80
    value = json.loads(rendered(names, round_robin(names[:2], 2), "json", facts=facts))
    assert value["rounds"] == by_rounds.data and value["pairings"] is None
    assert value["stage"] == "round 3 of 7"
    view = TableText(show=("rounds",))
    rows = list(csv.DictReader(io.StringIO(rendered(names, [], "csv", view=view, facts=facts))))
    assert [row["round_1"] for row in rows] == ["12:1½"] * 30
    assert "| 12:1½ |" in rendered(names, [], "github", view=view, facts=facts)
    with pytest.raises(UsageError, match="no table `rounds`; Swiss tournaments have it"):
        rendered(names, [], view=view)


def test_other_points_are_the_sum_of_every_game_and_leave_the_score() -> None:
    games = [game(("a", "b"), "a"), game(("b", "a"), ""), game(("a", "b"), "b", 2)]
    (row,) = (
        row for row in standings("ab", games, facts=Facts(points=PointScale(3, 1))).rows if row.bot == "a"
    )
    assert (row.tally.points, row.tally.score) == (4.0, 0.5)
    assert PointScale(3, 1, 0.5).of((1, 1, 3, 4), 0) == (1 + 3 + 3) / 3
    assert PointScale(3, 1, 0.5).of((3,), 0) == 0.5 and PointScale(3, 1).of((1,), 0) == 3


# --- Pairs, and the time of moves ----------------------------------------------------------------------


def test_pairs_are_counted_by_the_points_of_a_bot_and_repeats_do_not_count() -> None:
    results = [("a", "a"), ("a", ""), ("a", "b"), ("", ""), ("", "b"), ("b", "b"), ("a", "a")]
    games = [
        game(pair, winner, number)
        for number, winners in enumerate(results, 1)
        for pair, winner in zip(SEATINGS, winners, strict=True)
    ]
    clusters = [number for number in range(len(results)) for _ in SEATINGS]
    assert pentanomial(games, clusters, "ab") == {("a", "b"): [1, 1, 2, 1, 2]}
    assert pentanomial(games, [*clusters[:-2], 0, 0], "ab") == {("a", "b"): [1, 1, 2, 1, 1]}
    assert pentanomial(games[:-1], clusters[:-1], "ab") == {("a", "b"): [1, 1, 2, 1, 1]}, (
        "half a pair is none"
    )
    assert pentanomial(games, clusters, "a") == {}, "only one of the two"


def test_a_crosstable_is_the_same_from_both_sides() -> None:
    games = [summary("abcd", ranks, (0, 0, 0, 0), number) for number, ranks in enumerate(ORDERS, 1)]
    counts = crosstable(games)
    assert len(counts) == 12
    assert all(counts[other, one] == own[::-1] for (one, other), own in counts.items())
    assert all(sum(own) == len(ORDERS) for own in counts.values())


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=200), st.sampled_from([0.5, 0.99]))
def test_quantiles_of_times_are_right_to_three_figures(values: list[int], share: float) -> None:
    times = MoveTimes()
    for value in values:
        times.add(value)
    exact = sorted(values)[-int(-share * len(values) // 1) - 1]
    assert times.quantile(share) == pytest.approx(exact, rel=0.005)
    assert times.longest_us == max(values)


LINE = (
    b'{"kind":"game","bots":["a","b"],"events":[{"chance":"x"},{"seat":1,"move":"m"},{"seat":2,"default":"n"},'
    b'{"seat":1,"left":"time"}],"measured":{"events":[{},{"used_us":5,"over_us":0},'
    b'{"used_us":900,"over_us":7,"stopped_us":3},{"used_us":70,"waited_us":12000}],"seats":[{"cpu_us":11},{}]}}'
)


def test_the_time_of_moves_is_counted_by_bot() -> None:
    times = Times()
    times.add(("a", "b"), LINE)
    times.add(("b", "a"), LINE)
    a, b = times.by_bot["a"], times.by_bot["b"]
    assert (a.moves, a.longest_us, a.over, a.late, a.cpu_us) == (2, 900, 1, 2, 11)
    assert (b.moves, b.quantile(0.5), times.moves, times.stopped) == (2, 5, 6, 2)
    games = round_robin("ab", 2)
    text = rendered("ab", games, view=TableText(show=("times",)), facts=Facts(times=times))
    assert (
        "machine overloaded during 2 of 6 moves; bots were not charged for that time"
        in " ".join(text.split())
        and "900 µs" in text
    )
    assert "longer than the allowance: a in 1 move (at most 12 ms) and b in 1 move (at most" in " ".join(
        text.split()
    )
    value = json.loads(rendered("ab", games, "json", facts=Facts(times=times)))
    assert {row["bot"]: row["times"]["late"] for row in value["standings"]} == {"a": 2, "b": 2}


def test_a_bot_that_ran_out_of_time_before_its_first_move_is_late() -> None:
    times = Times()
    times.by_bot = {"a": MoveTimes(late=3, cpu_us=7000), "b": MoveTimes()}
    grid = standings_grid(standings("ab", []), ["moves", "median", "late", "cpu"], times)
    assert sorted([*row[1:]] for row in grid.rows) == [
        ["a", "–", "–", "3", "7.0 ms"],
        ["b", "–", "–", "–", "–"],
    ]


@pytest.mark.parametrize(
    ("event", "time", "all_timed", "waited"),
    [
        ({"left": "time"}, {"wall_us": 3_000_000, "waited_us": 300_000}, 1, 1),
        ({"left": "time"}, {"wall_us": 3_000_000, "waited_us": 2000}, 1, 0),
        ({"default": "n"}, {"wall_us": 3_000_000, "over_us": 100, "waited_us": 2000}, 1, 0),
        ({"move": "m"}, {"wall_us": 3_000_000, "over_us": 0, "waited_us": 2_000_000}, 1, 0),
        ({"move": "m"}, {"wall_us": 3_000_000, "over_us": 2000, "waited_us": 2000}, 1, 1),
        ({"move": "m"}, {"wall_us": 3_000_000, "over_us": 2001, "waited_us": 2000}, 1, 0),
        ({"move": "m"}, {"wall_us": 3_000_000, "over_us": 2_000_000, "waited_us": 300_000}, 1, 1),
        ({"left": "start"}, {"wall_us": 10_000, "waited_us": 5000, "stopped_us": 3}, 0, 0),
        ({"left": "protocol"}, {"wall_us": 12_000, "waited_us": 6000}, 1, 0),
        ({"left": "resigned"}, {"wall_us": 12_000, "waited_us": 6000}, 1, 0),
        ({"rejected": "x"}, {"wall_us": 12_000, "waited_us": 6000}, 1, 0),
    ],
)
def test_waits_and_delays_are_told_of_moves_only_and_waits_that_mattered(
    event: dict[str, Any], time: dict[str, int], all_timed: int, waited: int
) -> None:
    """A bot that is silent for three seconds is not told of two milliseconds in which it waited."""
    events = [{"seat": 1, **event}]
    measured = {"events": [{"used_us": 1, "taken_us": 0, "over_us": 0, **time}], "seats": [{}]}
    assert timed_moves({"events": events, "measured": measured}) == Counter(
        all=all_timed, stopped=0, waited=waited
    )
    times = Times()
    times.add_game(("a",), {"events": events, "measured": measured})
    assert (times.moves, times.stopped, times.by_bot["a"].waits) == (all_timed, 0, waited)


@pytest.mark.parametrize(
    "part", [b'"seat":2', b'"used_us":900', b'"over_us":0,', b'"seats":', b"{}]}}", b"5,"]
)
def test_damaged_times_are_an_error_of_the_record(part: bytes) -> None:
    assert part in LINE or part == b'"over_us":0,'
    damaged = LINE.replace(part, {b'"seat":2': b'"seat":9', b'"used_us":900': b'"used_us":-9'}.get(part, b""))
    if damaged != LINE:
        with pytest.raises(RecordError, match="not those of a game"):
            Times().add(("a", "b"), damaged)


def test_notes_are_wrapped_and_tables_are_not() -> None:
    assert grids.said(["word " * 30], "simple", 40).count("\n") > 2
    assert grids.said(["word " * 30], "simple", 0).count("\n") == 0


# --- The page ------------------------------------------------------------------------------------------


TABLE = "referee/ratings/TABLE.md"


def test_the_page_has_every_column_and_table() -> None:
    require_listed(TABLE, "column | ", COLUMNS)
    require_listed(TABLE, "`--show` | ", KNOWN)


CASES = {
    # column: (its member of a row of `standings`, the cells of the best bot)
    "ranks": ("ranks", ["1–2"]),
    "ahead": ("superiority", ["likely (92 %)"]),
    "elo": ("elo", ["+63 (−20…190)"]),
    "next": ("to_next", ["+126 (−40…379)"]),
    "los": ("superiority", ["92.3"]),
    "games": ("games", ["12"]),
    "wdl": ("wins", ["8–1–3"]),
    "points": ("points", ["8.5"]),
    "score": ("score", ["70.8 %"]),
    "expected": ("expected", ["8.0"]),
    "seats": ("seats", ["4–1–2", "4–0–1"]),
    "left": ("mean_score", ["0.25"]),
    "faults": ("faults", ["1 time"]),
    "moves": ("moves", ["1"]),
    "median": ("median_us", ["5 µs"]),
    "p99": ("p99_us", ["5 µs"]),
    "max": ("max_us", ["5 µs"]),
    "over": ("over", ["0"]),
    "late": ("late", ["1"]),
    "cpu": ("cpu_us", ["11 µs"]),
}


def test_every_column_has_a_case_and_a_member() -> None:
    times = Times()
    times.add(("a", "b"), LINE)
    late = game(("a", "b"), "b", 7, fault="time")._replace(scores=(3, 0))
    games = [*round_robin("ab", 5), game(("a", "b"), "", 6), late]
    facts = Facts(times=times)
    table = standings("ab", games, facts=facts)
    cells = {name: standings_grid(table, [name], times).rows[0][2:] for name in COLUMNS}
    assert cells == {name: shown for name, (_, shown) in CASES.items()}, "`CASES` in this file"
    known = members(json.loads(rendered("ab", games, "json", facts=facts))["standings"])
    missing = {member for member, _ in CASES.values()} - known
    assert missing == set(), "no such member in referee/ratings/data.py"


def test_the_page_has_every_member() -> None:
    times = Times()
    times.add(("a", "b"), LINE)
    games = [*round_robin("ab", 2, "x"), *round_robin("ab", 2, "y")]
    value = json.loads(rendered("ab", games, "json", facts=Facts(times=times)))
    require_listed(TABLE, "member | ", value)
    described = {words(first)[0]: set(words(what)) for first, what in rows(TABLE, "member | ")}
    for name in ("crosstable", "by_seat", "pairs"):
        require_same(f"{TABLE}, member `{name}`", described[name], value[name][0])
    (section, *_) = value["sections"]
    require_same(f"{TABLE}, member `advantages`", described["advantages"], section["advantages"][0])
    assert set(section) == set(value) - {"table", "notes", "tests", "sections"} | {"section"}
    row = " ".join(what for _, what in rows(TABLE, "a row of `standings` | "))
    require_same(f"{TABLE}, a row of `standings`", words(row), members(value["standings"]))
    rows_of_csv = csv.DictReader(io.StringIO(rendered("ab", games, "csv")))
    assert {"to_next_elo", "seat_1_wins", "wins vs a"} <= set(rows_of_csv.fieldnames or ())


def members(value: object) -> set[str]:
    """The names of all members of a JSON value."""
    if isinstance(value, dict):
        return set(value) | {name for one in value.values() for name in members(one)}
    return {name for one in value for name in members(one)} if isinstance(value, list) else set()


@pytest.mark.parametrize(
    ("difference", "is_clear"),
    [
        (Rating(31.0, 1.0, 61.0), True),
        (Rating(30.0, 0.0, 60.0), False),
        (Rating(30.0, -1.0, 300.0), False),
        (Rating(-31.0, -61.0, -1.0), True),
        (Rating(-30.0, -300.0, 1.0), False),
        (Rating(5.0), False),
    ],
)
def test_two_ranks_differ_where_the_interval_of_their_difference_excludes_0(
    difference: Rating, is_clear: bool
) -> None:
    assert NextInRank(difference, 0.9).is_clear == is_clear


def test_games_that_were_forfeited_count_for_points_and_not_for_ratings() -> None:
    played = [game(("a", "b"), "a", number) for number in range(1, 6)]
    forfeited = [game(("a", "b"), "b", number, fault="out") for number in range(6, 12)]
    whole, before = standings("ab", [*played, *forfeited]), standings("ab", played)
    assert [row.bot for row in whole.rows] == ["a", "b"], "the bot that won all games that were played"
    assert whole.pool.ratings == before.pool.ratings
    assert [row.tally.points for row in whole.rows] == [5, 6]
    assert [row.encounters for row in whole.rows] == [row.encounters for row in before.rows]
    assert "6 games forfeited without being played" in rendered("ab", [*played, *forfeited])
