"""Tables of results where more than two sit at a table, or one alone."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from referee.ratings.standings import standings
from referee.ratings.table import rendered
from referee.ratings.tally import Tallies
from referee.records.record import Summary

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
    assert values["standings"][0]["score"] == pytest.approx(2 / 3)
    first = next(csv.DictReader(io.StringIO(rendered("abc", results, "csv", 1))))
    assert (first["bot"], first["wins"], first["score"], first["mean_score"]) == (
        "b",
        "2",
        "0.666667",
        "1.333333",
    )
