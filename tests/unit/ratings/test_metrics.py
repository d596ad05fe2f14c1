"""Numbers of the bots' own: their means, and how many are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.core.errors import UsageError
from referee.ratings.columns import parse_columns, standings_grid
from referee.ratings.metrics import MOST_MOVES, MOST_NAMES, Metrics
from referee.ratings.standings import Facts, standings
from referee.ratings.table import TableText, rendered
from referee.ratings.times import Times
from tests.unit.ratings.test_tables import round_robin


def said(*infos: str) -> dict[str, Any]:
    """A game in which seat 1 moves each time, and says this."""
    time = {"used_us": 5, "over_us": 0}
    return {
        "events": [{"seat": 1, "move": "x"} for _ in infos],
        "measured": {"seats": [{}, {}], "events": [{**time, "info": info} for info in infos]},
    }


def test_means_over_games_and_by_own_move() -> None:
    times = Times()
    times.add_game(("a", "b"), said("metric cuts 1 metric hits 3", "depth 2", "metric cuts 4"))
    other = Times()
    other.add_game(("a", "b"), said("metric cuts 2"))
    times.update(other)
    metrics = times.by_bot["a"].metrics
    assert metrics.names == ["cuts", "hits"]
    assert metrics.course("cuts") == [(1, 1.5), (3, 4.0)]
    assert metrics.mean("cuts") == pytest.approx(7 / 3) and metrics.mean("none") is None
    assert times.by_bot["b"].metrics.names == []
    table = standings("ab", round_robin("ab", 2))
    assert {row[1]: row[2] for row in standings_grid(table, ["metric:cuts"], times).rows} == {
        "a": "2.333",
        "b": "–",
    }
    found = json.loads(rendered("ab", round_robin("ab", 2), "json", facts=Facts(times=times)))
    assert {row["bot"]: row["metrics"] for row in found["standings"]} == {
        "a": {"cuts": 2.333333, "hits": 3.0},
        "b": {},
    }


def test_so_many_names_and_moves_are_kept() -> None:
    metrics = Metrics()
    for number in range(MOST_NAMES + 5):
        metrics.add(number + 1, {f"n{number}": 1.0})
    for number in (MOST_MOVES, MOST_MOVES + 1, 10**9):
        metrics.add(number, {"n0": 4.0})
    assert metrics.names == [f"n{number}" for number in range(MOST_NAMES)]
    assert metrics.course("n0") == [(1, 1.0), (MOST_MOVES, 4.0)]


def test_a_column_is_named_and_needs_the_records() -> None:
    assert parse_columns("elo, metric:a.b") == ("elo", "metric:a.b")
    assert TableText(columns=("metric:a.b",)).needs_times and not TableText(columns=("elo",)).needs_times
    with pytest.raises(UsageError, match=r"expected one of .*, metric:NAME"):
        parse_columns("metric:")
