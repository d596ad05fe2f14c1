"""Reports: what stands in their tables, charts and lists, and which folder a report may replace."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.games import GAMES
from referee.pages.report import files as report_files
from referee.pages.report import rating_history, tables
from referee.pages.report.charts import SCALE_WIDTH, ChartLine, histogram, lines
from referee.pages.report.files import MARK, MARKER
from referee.pages.report.front import ListedGame
from referee.pages.report.games import GameFacts, PlayedReader
from referee.pages.report.pages import Links, games_data
from referee.pages.report.rating_history import FEW_FITS, FEWEST_GAMES, course
from referee.pages.report.tables import (
    STEPS,
    bar,
    elo_scale,
    length_text,
    part,
    scores_matrix,
    shade,
    strip,
    superiority_matrix,
    time_scale,
)
from referee.ratings.pool import Rating
from referee.ratings.standings import Facts, standings
from referee.ratings.times import MoveTimes, Times
from referee.records.record import Summary, json_of, to_json
from tests.recorded import HERE
from tests.rules.random_play import random_game

NAMES = ["ant", "bee", "cat"]


def game(bots: tuple[str, ...], ranks: tuple[int, ...], number: int = 1, section: str = "") -> Summary:
    pairing = Pairing.of(number, bots, section=section)
    scores = (0,) * len(bots)
    sentence = f"seat {ranks.index(1) + 1} won" if 1 in ranks else "nobody won"
    return Summary(
        pairing.id,
        1,
        "blooms",
        bots,
        ranks,
        scores,
        "rules",
        sentence,
        True,
        ("",) * len(bots),
        (),
        pairing.id,
    )


def round_robin(rounds: int = 4, names: list[str] = NAMES) -> list[Summary]:
    """The first in alphabetical order wins, but every fourth game."""
    found: list[Summary] = []
    for number in range(1, rounds + 1):
        for one, other in combinations(names, 2):
            for bots in ((one, other), (other, one)):
                won = (bots[0] == one) != (len(found) % 4 == 3)
                found.append(game(bots, (1, 2) if won else (2, 1), number))
    return found


# --- Tables --------------------------------------------------------------------------------------------


def test_the_ladder_shows_the_scores_or_what_the_format_ranks_by() -> None:
    games = round_robin()

    def columns_of(facts: Facts) -> list[str]:
        ladder = part(standings(NAMES, games, facts=facts), facts, Times(), Counter(), {}).ladder
        assert ladder
        return [column.name for column in ladder.columns]

    assert columns_of(Facts()) == ["rank", "bot", "elo", "score"]
    columns = {"points": 4.0, "Buchholz": 7.0}
    of_format = Facts(places={"": [(number, name, columns) for number, name in enumerate(NAMES, 1)]})
    assert columns_of(of_format) == ["rank", "bot", "points", "elo"]


def test_a_matrix_has_the_score_and_its_shade_and_leads_to_the_pair() -> None:
    table = standings(["ant", "bee"], [game(("ant", "bee"), (1, 2)), game(("bee", "ant"), (1, 1))])
    matrix = scores_matrix(table)
    (ant, (none, cell)), (bee, (other, _)) = matrix.rows
    assert (ant, bee, none, matrix.left_out) == ("ant", "bee", None, 0)
    assert cell and (cell.text, cell.detail, cell.step, cell.bots) == ("75", "1–1–0", 8, ("ant", "bee"))
    assert other and (other.text, other.detail, other.step) == ("25", "0–1–1", 2)


def test_bots_that_did_not_meet_have_no_score_and_no_likelihood() -> None:
    games = [game(("ant", "bee"), (1, 2)), game(("cat", "dog"), (1, 2))]
    table = standings(["ant", "bee", "cat", "dog"], games)
    of = {
        (one, other): cell
        for matrix in (scores_matrix(table), superiority_matrix(table))
        for one, cells in matrix.rows
        for other, cell in zip(matrix.names, cells, strict=True)
    }
    assert of["ant", "bee"] and of["ant", "cat"] is None


@pytest.mark.slow
def test_of_many_bots_the_best_are_in_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_IN_MATRIX", 5)
    names = [f"bot{number:03}" for number in range(8)]
    table = standings(names, [game((names[0], other), (1, 2)) for other in names[1:]])
    matrix = scores_matrix(table)
    assert len(matrix.rows) == len(matrix.names) == 5 and matrix.left_out == 3
    assert matrix.names[0] == names[0]


@pytest.mark.slow
def test_of_many_bots_the_best_are_compared_by_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_IN_MATRIX", 5)
    names = [f"bot{number:03}" for number in range(8)]
    seatings = [bots for other in names[1:] for bots in ((names[0], other), (other, names[0]))]
    table = standings(names, [game(bots, (1, 2) if bots[0] == names[0] else (2, 1)) for bots in seatings])
    found = part(table, Facts(), Times(), Counter({9: len(seatings)}), {})
    assert found.pairs and [row[0] for row in found.pairs.rows] == [names[0]] * 4


def test_shades_are_even_and_the_middle_is_a_draw() -> None:
    assert [shade(share) for share in (0, 0.04, 0.5, 0.96, 1)] == [0, 0, STEPS // 2, STEPS, STEPS]


def test_an_interval_is_drawn_where_its_ends_are() -> None:
    ratings = [Rating(100.0, 50.0, 150.0), Rating(250.0, 120.0, 900.0), Rating(0.0)]
    scale = elo_scale(ratings)
    middle, lopsided, unknown = (bar(rating, scale) for rating in ratings)
    assert middle and (middle.low, middle.middle, middle.high) == tuple(map(scale.at, (50, 100, 150)))
    assert lopsided and tuple(lopsided) == tuple(map(scale.at, (120, 900, 250)))
    assert middle.low >= 0 and lopsided.high <= SCALE_WIDTH and unknown is None
    won, stopped = (bar(Rating(250.0, low, math.inf), scale) for low in (120.0, -math.inf))
    assert won and won.high == SCALE_WIDTH and stopped and stopped.low == stopped.high == stopped.middle
    assert elo_scale([*ratings, Rating(250.0, -math.inf, math.inf)]) == scale


def test_a_distribution_of_times_has_its_quarters_and_the_allowance() -> None:
    times = Times()
    for used_us in (100, 200, 300, 400, 90_000):
        times.by_bot.setdefault("ant", MoveTimes()).add(used_us)
    scale = time_scale(times, {"ant": 1_000_000})
    found = strip(times.by_bot["ant"], scale, 1_000_000)
    assert found and [found.first, found.median, found.third, found.longest, found.allowance] == [
        scale.at(us) for us in (200, 300, 400, 90_000, 1_000_000)
    ]
    assert found.allowance and found.longest < found.allowance < SCALE_WIDTH
    assert strip(MoveTimes(), scale, None) is None


def test_times_of_several_games_are_those_of_all_their_moves() -> None:
    one, other, both = Times(), Times(), Times()
    for times, used in ((one, (10, 30)), (other, (20, 5000)), (both, (10, 30, 20, 5000))):
        for used_us in used:
            times.by_bot.setdefault("ant", MoveTimes()).add(used_us)
            times.moves += 1
    one.update(other)
    assert one.by_bot == both.by_bot and one.moves == both.moves


def test_a_part_of_a_solitaire_has_no_ratings() -> None:
    games = [game((name,), (rank,)) for name, rank in zip(NAMES, (1, 2, 1), strict=True)]
    found = part(standings(NAMES, games, 1), Facts(), Times(), Counter({3: 2, 5: 1}), {})
    assert (found.crosstable, found.superiority, found.seats, found.times) == (None, None, None, None)
    assert not any(found.bars) and not found.elo_ticks
    assert found.length_text == "3 games of 3 to 5 moves: median 3, mean 3.7"


def test_the_tables_of_a_format_show_its_columns_once() -> None:
    places = {"": [(rank, name, {"reached": "final"}) for rank, name in enumerate(NAMES, 1)]}
    found = part(standings(NAMES, round_robin(), 2, Facts(places=places)), Facts(), Times(), Counter(), {})
    assert "reached" in [column.name for column in found.standings.columns]
    assert found.by_seat and "reached" not in [column.name for column in found.by_seat.columns]
    assert all(len(row) == len(found.by_seat.columns) for row in found.by_seat.rows)


def test_lengths_in_words() -> None:
    assert length_text({7: 1}) == "1 game of 7 moves"


# --- The course of the ratings -------------------------------------------------------------------------


@pytest.fixture
def few_fits(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many fits a course of a few bots has at most. Each fit takes long."""
    monkeypatch.setattr(rating_history, "MAX_FITS", 5)
    return 5


def test_the_course_ends_with_the_ratings_of_the_table(few_fits: int) -> None:
    games = round_robin(6)
    table = standings(NAMES, games)
    found = course(games, NAMES, table.pool, "cluster")
    assert found
    for name in NAMES:
        count, elo = found.elo[name][-1]
        assert count == len(games) and elo == pytest.approx(table.pool.ratings[name].elo, abs=0.01)
        assert len(found.elo[name]) <= few_fits < len(games)
        assert [count for count, _ in found.elo[name]] == sorted({count for count, _ in found.elo[name]})
    count, low, high = found.between[-1]
    rating = table.pool.ratings[NAMES[0]]
    assert (low, high) == pytest.approx(rating[1:], abs=0.01)


def test_the_course_has_the_bots_that_are_drawn_and_the_interval_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rating_history, "MANY_BOTS", 2)
    games = round_robin(6)
    table = standings(NAMES, games)
    found = course(games, ["cat", "ant"], table.pool, "cluster")
    assert found and [*found.elo] == ["cat", "ant"]
    assert len(found.elo["cat"]) == FEW_FITS < len(games), "a fit of many bots takes long"
    assert found.elo["cat"][-1][1] == pytest.approx(table.pool.ratings["cat"].elo, abs=0.01)
    assert found.between[-1][1:] == pytest.approx(table.pool.ratings["cat"][1:], abs=0.01)


@pytest.mark.slow
def test_games_that_were_not_played_are_not_in_the_course(few_fits: int) -> None:
    games = round_robin(4)
    forfeited = game(("cat", "ant"), (1, 2), 5)._replace(faults=("", "out"))
    pool = standings(NAMES, games).pool
    assert course([*games, forfeited], NAMES, pool, "cluster") == course(games, NAMES, pool, "cluster")


def test_a_bot_has_a_course_from_its_first_game(few_fits: int) -> None:
    games = [game(("ant", "bee"), (1, 2), number) for number in range(1, FEWEST_GAMES + 1)]
    games = [*games, game(("cat", "bee"), (1, 2))]
    pool = standings(NAMES, games).pool
    found = course(games, NAMES, pool, "cluster")
    assert found and [count for count, _ in found.elo["cat"]] == [FEWEST_GAMES + 1]
    assert course(games[2:], NAMES, pool, "cluster") is None, "too few"


@pytest.mark.slow
def test_the_course_is_the_same_whatever_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_history, "MANY_GAMES", 0)
    told: list[tuple[int, int]] = []
    games = round_robin(6)
    pool = standings(NAMES, games).pool
    found = course(games, NAMES, pool, "cluster", 2, lambda done, in_all: told.append((done, in_all)))
    assert found == course(games, NAMES, pool, "cluster")
    assert told == [(done, told[-1][1]) for done in range(2, told[-1][1] + 1)] and told


# --- Charts --------------------------------------------------------------------------------------------


def test_charts_have_nothing_that_runs_or_loads_and_are_named() -> None:
    hostile = "</title><script>alert(1)</script>"
    drawn = histogram("one", hostile, hostile, {3: 1, 40: 7}, "moves")
    drawn += lines("two", "t", "d", [ChartLine("a", [(1, 2.0), (5, -3.0)])], None, ("games", "Elo"))
    for forbidden in ("<script", "<style", "style=", "href", "http", "<!--", "<?", "<desc class", "url("):
        assert forbidden not in drawn, forbidden
    assert drawn.count('role="img"') == 2
    for key in ("one", "two"):
        assert f'aria-labelledby="{key}-title {key}-desc"' in drawn
        assert f'<title id="{key}-title">' in drawn and f'<desc id="{key}-desc">' in drawn
    assert len(re.findall(r'\bid="([^"]+)"', drawn)) == 4
    assert "&lt;script&gt;alert(1)" in drawn


def test_a_chart_is_the_same_each_time() -> None:
    assert histogram("k", "t", "d", {1: 2}, "moves") == histogram("k", "t", "d", {1: 2}, "moves")


def test_a_histogram_says_what_each_bar_is() -> None:
    assert "<title>3 moves: 2</title>" in histogram("k", "t", "d", {3: 2, 5: 1}, "moves")
    assert "<title>0 to 4 moves: 3</title>" in histogram("k", "t", "d", {1: 1, 3: 2, 120: 1}, "moves")


def test_lines_are_told_apart_and_the_interval_is_none_of_them() -> None:
    points = [(1, 0.0), (9, 10.0)]
    drawn = lines(
        "k",
        "t",
        "d",
        [ChartLine("a", points), ChartLine("b", points)],
        (ChartLine("l", points), ChartLine("h", points)),
        ("x", "y"),
    )
    assert [len(re.findall(f'class="{name}"', drawn)) > 0 for name in ("serie-0", "serie-1", "serie-2")] == [
        True,
        True,
        False,
    ]
    assert 'class="interval"' in drawn and "<title>a: +10 after 9 games</title>" in drawn


# --- The list of games ---------------------------------------------------------------------------------


def test_the_list_has_names_once_and_sentences_with_names() -> None:
    games = [ListedGame(each, 7, deciding=5) for each in round_robin(2)]
    value = games_data(games, 200)
    assert value["bots"] == NAMES and value["sentences"] == ["ant won", "cat won", "bee won"]
    first = value["games"][0]
    assert first == ["1:ant:bee", 0, [0, 1], (1, 2), 0, 0, 7, [], 5]
    assert len(value["games"]) == len(games)
    json.dumps(value)
    unrated = games_data([ListedGame(games[0].game._replace(rated=False), 0)], 200)
    assert unrated["games"][0][9:] == [1], "it counts for nothing"


def test_the_list_has_the_faults_by_seat() -> None:
    faulty = game(("ant", "bee"), (1, 2))._replace(faults=("", "time"))
    value = games_data([ListedGame(faulty, 1)], 0)
    assert (value["faults"], value["games"][0][-2]) == (["time"], [-1, 0])


def test_addresses_of_games() -> None:
    links = Links({"small/1:a+b:c": "games/00001.html", "2:a:b": ""})
    assert links.of("small/1:a+b:c") == "games/00001.html#small/1:a+b:c"
    assert (links.of("2:a:b"), links.of("2:a:b", 7), links.of("3:a:b")) == ("#2:a:b", "#2:a:b@7", "")


# --- Reading -------------------------------------------------------------------------------------------


def line(**changes: object) -> bytes:
    value = {
        "kind": "game",
        "id": "1:a:b",
        "bots": ["a", "b"],
        "ranks": [1, 2],
        "clocks": ["1s", "2s"],
        "faults": ["", ""],
        "events": [{"seat": 1, "opening": "x"}, {"seat": 2, "move": "y"},
                   {"seat": 1, "rejected": "z"}, {"seat": 1, "move": "w"}],
        "measured": {
            "events": [{}, {"used_us": 5, "over_us": 0}, {"used_us": 900}, {"used_us": 7, "over_us": 0}],
            "seats": [{"cpu_us": 3}, {}],
            "began": "2026-01-02T03:04:05.678+00:00",
            "host": "\x1bhost",
            "machine": HERE._asdict(),
        },
        **changes,
    }  # fmt: skip
    return json.dumps(value).encode()


def reader(**kept: str) -> PlayedReader:
    return PlayedReader(lambda name: kept.get(name, name), with_replays=False, with_seats=True)


def test_a_game_is_read_with_its_length_its_times_and_the_names_that_are_shown() -> None:
    played = reader(a="ant")(line())
    assert isinstance(played, GameFacts)
    assert (played.moves, played.clocks, played.replay) == (3, ("1s", "2s"), None)
    assert [slow and tuple(slow) for slow in played.slowest] == [(7, 3, None), (5, 1, None)]
    assert set(played.times.by_bot) == {"ant", "b"} and played.times.by_bot["ant"].cpu_us == 3
    assert (played.began, played.made_by) == ("2026-01-02T03:04", ("", "", "\\x1bhost"))


@pytest.mark.parametrize("with_seats", [True, False])
@pytest.mark.parametrize("slug", ["thetree", "blooms"])
def test_replays_leave_out_what_seats_knew_and_say_so_where_it_differs(slug: str, with_seats: bool) -> None:
    played = random_game(GAMES[slug], b"1")
    record = replace(played, measured={**played.measured, "seats": [{}, {}]})
    found = PlayedReader(str, True, with_seats)(json_of(to_json(record)))
    assert isinstance(found, GameFacts) and found.replay
    data, _, lacks_seats = found.replay
    views = json.loads(zlib.decompress(base64.b64decode(data)))["views"]
    is_left_out = slug == "thetree" and not with_seats
    assert lacks_seats == is_left_out
    assert len(views) == (3 if slug == "thetree" and with_seats else 1)
    assert any("news" in step for step in views[0]["steps"]) == (slug == "thetree" and with_seats)


@pytest.mark.parametrize(
    "damage",
    [
        b"no JSON",
        line(measured={}),
        line(events=[]),
        line(clocks=1),
        line(events=[{}] * 4),
        line(clocks=["1s"]),
        line(clocks=["x", "1s"]),
    ],
)
def test_damage_is_given_back_as_an_error(damage: bytes) -> None:
    assert isinstance(reader()(damage), RecordError)


# --- Files ---------------------------------------------------------------------------------------------


def test_only_a_report_or_nothing_is_replaced(tmp_path: Path) -> None:
    ours, empty, other, link = (tmp_path / name for name in ("ours", "empty", "other", "link"))
    for folder in (ours, empty, other):
        folder.mkdir()
    (ours / MARKER).write_text(MARK)
    (other / MARKER).write_text("Something else.\n")
    link.symlink_to(ours)
    file = tmp_path / "file"
    file.write_text(MARK)
    for path in (ours, empty, tmp_path / "new"):
        report_files.check_place(path)
    for path in (other, link, file, tmp_path):
        with pytest.raises(UsageError, match="is not a report"):
            report_files.check_place(path)


def test_a_report_takes_the_place_of_another_and_nothing_is_left_behind(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "report"
    for folder, text in ((new, "new"), (old, "old")):
        folder.mkdir()
        (folder / "index.html").write_text(text)
    report_files.put_in_place(new, old)
    assert (old / "index.html").read_text() == "new"
    assert list(tmp_path.iterdir()) == [old]
