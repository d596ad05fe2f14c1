"""Tuning: the values that each game is played with follow from the results, whenever a run is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.ratings.format_tables import FormatTable
from referee.tournament.formats import count_text
from referee.tournament.playing import TimeWatch
from referee.tournament.run.opening import additions, differences
from referee.tournament.run.progress import facts_of
from referee.tournament.run.remaining import Remaining
from referee.tournament.schedule import Encounter
from referee.tournament.tournament import Tournament
from referee.tuning.parameters import Values
from tests.unit.simulated_runs import TUNING, SimulatedRun, Simulation, tournament

PLAYED: dict[str, dict[str, Values]] = {}
"""The values of each game that was given out in a simulation, by bot."""


class Noting(Simulation):
    """A simulation that notes the values of every encounter."""

    @staticmethod
    def _next(closing: TimeWatch, remaining: Remaining) -> Encounter | None:
        found = Simulation._next(closing, remaining)
        if found:
            for game in found.games:
                values = dict(found.values)
                before = PLAYED.setdefault(game.id, values)
                assert before == values, f"{game.id} is played again with other values"
        return found


@pytest.mark.slow
def test_the_values_are_the_same_however_many_play_and_wherever_a_run_is_killed() -> None:
    made = tournament("a", TUNING)
    PLAYED.clear()
    whole = Noting(made, 1, 1).play()
    expected = dict(PLAYED)
    assert len({values["a-plus"] for values in PLAYED.values() if "a-plus" in values}) > 40
    for seed in range(6):
        found = Noting(made, 1, 1 + 2 * seed).play(Random(seed))
        assert (
            facts_of(found.run.state, found.run.is_open).tables
            == facts_of(whole.run.state, whole.run.is_open).tables
        )
        assert found.decision == whole.decision
    assert {game: PLAYED[game] for game in expected} == expected


def played(
    made: Tournament, results: Mapping[str, tuple[int, ...]], faults: Mapping[str, tuple[str, ...]]
) -> tuple[SimulatedRun, dict[str, FormatTable]]:
    """The tables of a run in which one side wins by rule, and some games ended by faults."""
    run = SimulatedRun(made.header.members, "s", strikes=False)
    remaining = Remaining(made.matchmaking, run.state)
    while found := remaining.next():
        for game in found.games:
            run.store_game(
                game, results.get(game.bots[0], (1, 1)), faults.get(f"{game.number} {game.bots[0]}", ("", ""))
            )
    facts = facts_of(run.state, run.state.is_open)
    return run, {table.name: table for table in facts.tables[""]}


def test_a_run_ends_with_the_values_found_their_course_and_what_failed_with_which() -> None:
    made = tournament("a", {**TUNING, "test_budget": 10, "sprt": "0,20"})
    won = {"a-plus": (1, 2), "a-minus": (2, 1), "a-tuned": (1, 2), "a-start": (2, 1)}
    failed = {"3 a-plus": ("", "gone"), "7 a-minus": ("gone", ""), "9 a-plus": ("gone", "gone")}
    run, tables = played(made, won, failed)
    assert len(run.state.games) == 110
    values = tables["parameters"].data
    assert [row["parameter"] for row in values] == ["width", "bonus"]
    assert [row["start"] for row in values] == [20, 0.5]
    assert tables["parameters"].grid.columns[2].heading == "tuned"
    course = tables["course"].data
    assert course[0]["pairs"] == 0 and course[-1]["pairs"] == 50
    assert [row["value"] for row in course[-2:]] == [row["value"] for row in values] != [20, 0.5]
    (width, bonus) = tables["failures"].data
    assert (width["fault"], width["games"], width["parameter"]) == ("gone", 3, "width")
    assert 4 <= width["from"] <= width["to"] <= 64 and -1 <= bonus["from"] <= bonus["to"] <= 1
    places = facts_of(run.state, run.state.is_open).places[""]
    assert [(rank, bot) for rank, bot, _ in places] == [
        (1, "a-tuned"),
        (2, "a-start"),
        (3, "a-plus"),
        (4, "a-minus"),
    ]


def test_nothing_is_tested_where_the_values_are_those_of_the_start() -> None:
    run, tables = played(tournament("a", TUNING), {}, {})
    assert len(run.state.games) == 100
    assert [row["value"] for row in tables["parameters"].data] == [20, 0.5]
    assert "failures" not in tables


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"budget": 102}, "`budget` is 102, but was 100"),
        ({"ahead": 6}, "`ahead` is 6, but was 5"),
        ({"parameter": TUNING["parameter"][::-1]}, "the `[[parameter]]` tables are not those"),
    ],
)
def test_a_run_is_not_continued_with_what_would_change_its_values(keys: dict[str, Any], error: str) -> None:
    before, now = tournament("a", TUNING).format, tournament("a", {**TUNING, **keys}).format
    (wrong,) = now.may_grow(before)
    assert wrong.startswith(error)
    assert before.may_grow(before) == []


def test_the_results_of_another_format_are_told_apart() -> None:
    tuning, other = tournament("a", TUNING).format, tournament("ab", {}).format
    assert "`format` is tuning, but was round-robin" in tuning.may_grow(other)
    assert "`format` is round-robin, but was tuning" in other.may_grow(tuning)


def test_a_run_whose_test_is_undecided_goes_on_with_a_larger_one() -> None:
    form = {"sprt": "0,20"}
    short, whole = (tournament("a", {**TUNING, **form, **keys}) for keys in ({"test_budget": 10}, {}))
    run, _ = played(short, {"a-plus": (1, 2)}, {})
    assert len(run.state.games) == 110
    assert differences(run.state.header, whole) == []
    run.add_change(additions(run.state.header, whole, {}))
    assert Remaining(whole.matchmaking, run.state).next() is not None
    assert run.state.format == whole.format, "also with the default"
    (wrong,) = differences(run.state.header, short)
    assert wrong == "`test_budget` is 10, but was 20000, expected at least 20000"


@pytest.mark.parametrize(
    "bots",
    [(), ("a-tuned",), ("b", "c"), ("a-start", "a-tuned", "a-plus", "a-minus"), ("w", "x", "y", "z")],
)
def test_a_header_with_other_bots_is_refused(bots: tuple[str, ...]) -> None:
    members = tournament("a", TUNING).header.members
    bot = members["bots"]["a-plus"]
    with pytest.raises(
        RecordError, match=r"`bots` is .*, expected a bot in the roles tuned, start, plus, minus"
    ):
        SimulatedRun({**members, "bots": dict.fromkeys(bots, bot)}, "s", strikes=False)


def test_games_are_in_the_part_of_the_run_that_they_belong_to() -> None:
    form = tournament("a", TUNING).format
    form.check_place(Pairing.parse("50:a-plus:a-minus"))
    form.check_place(Pairing.parse("51:a-start:a-tuned"))
    for game in ("51:a-plus:a-minus", "50:a-tuned:a-start", "1:a-plus:a-tuned"):
        with pytest.raises(RecordError, match="do not meet in this round"):
            form.check_place(Pairing.parse(game))


@pytest.mark.parametrize(
    ("played", "text"),
    [
        (0, "0 of 100 games, then at most 10 of the closing test"),
        (99, "99 of 100 games, then at most 10 of the closing test"),
        (100, "100 games, 0 of at most 10 of the closing test"),
        (104, "100 games, 4 of at most 10 of the closing test"),
        (110, "110 games"),
    ],
)
def test_the_games_that_find_values_are_counted_before_those_of_the_test(played: int, text: str) -> None:
    assert count_text(played, tournament("a", {**TUNING, "test_budget": 10}).games_in_all) == text


def test_more_workers_than_pairs_at_a_time_are_told() -> None:
    form = tournament("a", TUNING).format
    assert form.remarks_on_workers(5) == []
    (remark,) = form.remarks_on_workers(6)
    assert remark.startswith("warning: only 5 of 6 workers play") and "`ahead` is 5" in remark


def test_a_game_for_one_or_three_is_not_tuned() -> None:
    with pytest.raises(UsageError, match=r"there are `\[\[parameter\]\]` tables, but the game has 3 seats"):
        tournament("a", {**TUNING, "game": "thetree", "options": {"players": 3}})
