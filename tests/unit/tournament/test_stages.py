"""Tournaments in stages: groups, who advances, what is carried over, and what is read from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats import SectionState, format_of, from_header
from referee.tournament.formats.stage import dealt
from referee.tournament.formats.stages import Staged
from referee.tournament.run.progress import facts_of
from tests.unit.simulated import Result, drawn, favourites, play, schedule_of, summary
from tests.unit.simulated_runs import ONE_BY_ONE, SimulatedRun, Simulation, tournament

GROUPS = {"name": "groups", "groups": 2, "advance": 2}
CUP = {"name": "cup", "format": "knockout"}
ALL = {"name": "all", "carry": True}


def staged(bots: str, *stages: Mapping[str, Any], **keys: Any) -> Staged:
    found = tournament(bots, {"stage": [*map(dict, stages)], **keys}).format
    assert isinstance(found, Staged)
    return found


def played(one: Staged, result: Result) -> dict[str, Summary]:
    games = play(schedule_of(one, one.seeding), result)
    return {game: what for game, what in games.items() if what}


def pairs_of_rounds(games: Mapping[str, Summary]) -> list[list[str]]:
    """By round, who met."""
    found: dict[int, dict[str, None]] = {}
    for pairing in map(Pairing.parse, games):
        found.setdefault(pairing.number, {})["".join(sorted(pairing.bots))] = None
    return [sorted(pairs) for pairs in found.values()]


def order(one: Staged, games: Mapping[str, Summary]) -> list[tuple[int, str]]:
    return [(row.rank, row.bot) for row in one.standings(SectionState(games))]


def test_bots_are_dealt_back_and_forth() -> None:
    assert ["".join(group) for group in dealt([*"abcdefgh"], 2)] == ["adeh", "bcfg"]
    assert ["".join(group) for group in dealt([*"abcdefg"], 3)] == ["afg", "be", "cd"]


def test_the_best_of_each_group_advance_and_meet_bots_of_other_groups_first() -> None:
    one = staged("abcdefgh", GROUPS, CUP)
    games = played(one, favourites("abcdefgh"))
    groups, semifinals, final = pairs_of_rounds(games)
    assert groups == sorted(["ad", "ae", "ah", "de", "dh", "eh", "bc", "bf", "bg", "cf", "cg", "fg"])
    assert semifinals == ["ac", "bd"] and final == ["ab"]
    rest = [(3, "d"), (3, "c"), (5, "e"), (5, "f"), (7, "h"), (7, "g")]
    assert order(one, games) == [(1, "a"), (2, "b"), *rest]


def test_with_three_groups_too_nobody_meets_its_own_group_first() -> None:
    games = played(staged("abcdefghi", {**GROUPS, "groups": 3}, CUP), favourites("abcdefghi"))
    group_of = {bot: number for number, group in enumerate(dealt("abcdefghi", 3)) for bot in group}
    first = pairs_of_rounds(games)[1]
    assert len(first) == 2 and all(group_of[pair[0]] != group_of[pair[1]] for pair in first)


def test_rounds_are_numbered_through_all_stages() -> None:
    swiss = {"name": "swiss", "format": "swiss", "rounds": 3, "advance": 4}
    one = staged("abcdefgh", {"name": "first", "rounds": 2, "advance": 6}, swiss, CUP)
    games = played(one, favourites("abcdefgh"))
    numbers = [Pairing.parse(game).number for game in games]
    assert one.rounds == 7 and numbers == sorted(numbers) and set(numbers) == set(range(1, 8))
    for game in games:
        one.check_place(Pairing.parse(game))
    for wrong in ("8:a:b", "1.1:a:b", "6:a:b", "6.3:a:b"):
        with pytest.raises(RecordError):
            one.check_place(Pairing.parse(wrong))


def test_games_between_bots_that_advanced_count_again_if_they_are_carried_over() -> None:
    def result(pairing: Pairing) -> tuple[int, ...] | None:
        return favourites("abcd" if pairing.number == 1 else "bacd")(pairing)

    first = {"name": "first", "advance": 2}
    for carry, expected in ((True, [(1, "a"), (1, "b")]), (False, [(1, "b"), (2, "a")])):
        one = staged("abcd", first, {**ALL, "carry": carry})
        games = played(one, result)
        found = one.standings(SectionState(games))
        assert [(row.rank, row.bot) for row in found[:2]] == expected
        assert found[0].columns["result"] == "2 points"


LEAGUE = {"name": "league", "format": "league", "budget": 79, "advance": 4}
FINAL = {"name": "final", "format": "league", "budget": 9}


@pytest.mark.slow
def test_the_bots_of_a_league_that_advance_are_the_best_by_their_ratings() -> None:
    one = staged("abcdefgh", LEAGUE, {**CUP, "advance": 3}, FINAL)
    batches: list[list[str]] = []
    state = SectionState({}, one.seeding, store=batches.append)
    games = play(lambda found: one.schedule(replace(state, games=found)), favourites("hgfedcba"))
    of_stages = [
        [game for game in map(Pairing.parse, games) if game.number in span.numbers] for span in one.spans
    ]
    assert [*map(len, of_stages)] == [80, 6, 10]
    assert [{bot for game in stage for bot in game.bots} for stage in of_stages] == [
        {*"abcdefgh"},
        {*"efgh"},
        {*"fgh"},
    ]
    for number, with_it in ((1, range(1, 41)), (40, range(1, 41)), (41, range(41, 42)), (43, range(43, 48))):
        assert one.played_with(number) == with_it
    found = {game: what for game, what in games.items() if what}
    results = SectionState(found, batches=batches)
    assert [row.bot for row in one.standings(results)] == [*"hgfe", *"dcba"]
    (stages, *_) = one.tables_of(results)
    first, *_, last = (row for row in stages.data if row["stage"] == "league")
    assert first["result"].endswith(" Elo") and first["advances"]
    assert last["result"].startswith("−") and not last["advances"]


@pytest.mark.slow
def test_a_league_as_a_stage_continues_with_the_batches_that_were_stored() -> None:
    one = staged("abcdefgh", LEAGUE, {**FINAL, "budget": 20})
    stored = [["1:a:b", "1:c:h"], ["9:a:b"], ["41:a:b", "42:c:d"]]
    chosen: list[list[str]] = []
    state = SectionState({}, one.seeding, batches=stored, store=chosen.append)
    games = play(lambda found: one.schedule(replace(state, games=found)), favourites("abcdefgh"))
    assert [*games][:6] == ["1:a:b", "1:b:a", "1:c:h", "1:h:c", "9:a:b", "9:b:a"]
    numbers = [Pairing.parse(game).number for batch in chosen for game in batch]
    assert max(numbers[:37]) <= 40 < min(numbers[37:]) and {"41:a:b", "42:c:d"} <= games.keys()


def test_a_place_that_only_the_seed_decided_is_told() -> None:
    one = staged("abcd", {"name": "first", "advance": 2}, CUP)
    games = played(one, lambda pairing: (1, 1))
    (groups, *_) = one.tables_of(SectionState(games))
    first = [row for row in groups.data if row["stage"] == "first"]
    assert [(row["bot"], row["advances"], row["by_seed"]) for row in first] == [
        ("a", True, True),
        ("b", True, True),
        ("c", False, False),
        ("d", False, False),
    ]


def test_a_bot_that_is_out_does_not_advance() -> None:
    one = staged("abcd", {"name": "first", "advance": 2}, CUP)
    games = played(one, favourites("abcd"))
    assert pairs_of_rounds(games)[1] == ["ab"]
    forfeited = games["1:a:d"]._replace(ranks=(2, 1), faults=("out", ""))
    state = {**{game: what for game, what in games.items() if game[0] == "1"}, "1:a:d": forfeited}
    final = {f"2.1:{bots}": summary(Pairing.parse(f"2.1:{bots}"), (1, 2)) for bots in ("b:c", "c:b")}
    rows = one.standings(SectionState({**state, **final}))
    assert {rows[0].bot, rows[1].bot} == {"b", "c"}


class OneFault(SimulatedRun):
    """Games that the better bot wins, but for one, which `b` loses by a fault."""

    lost = ""

    def __init__(self, header: dict[str, Any], seed: object, strikes: bool) -> None:
        super().__init__(header, seed, strikes=False)
        self._result = favourites("abcdef")

    def finish(self, game: Pairing) -> None:
        is_lost = [game.id == self.lost and bot == "b" for bot in game.bots]
        if any(is_lost):
            self.store_game(game, (*(1 + lost for lost in is_lost),), (*("gone" * lost for lost in is_lost),))
        else:
            super().finish(game)


STAGES_BEFORE_THE_LAST: dict[str, dict[str, Any]] = {
    "round robin": {"advance": 3},
    "groups": {"groups": 2, "advance": 2},
    "three seats": {"advance": 3},
    "swiss": {"format": "swiss", "rounds": 3, "advance": 3},
    "knockout": {"format": "knockout", "advance": 3},
    "league": {"format": "league", "budget": 16, "advance": 3},
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", STAGES_BEFORE_THE_LAST)
def test_a_bot_that_goes_out_in_its_last_game_of_a_stage_does_not_advance(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = {"name": "first", **STAGES_BEFORE_THE_LAST[name]}
    stages = [stage, {"name": "final"}]
    three = {"game": "thetree", "options": {"players": 3}} if name == "three seats" else {}
    bots = "abcd" if name in ("three seats", "league") else "abcdef"
    made = tournament(bots, {"strikes": 1, "stage": stages, **three})
    assert isinstance(made.format, Staged)
    before = made.format.spans[1].before

    def games_of_b(of: SimulatedRun, is_final: bool) -> list[str]:
        games = map(Pairing.parse, of.found)
        return [game.id for game in games if "b" in game.bots and (game.number > before) == is_final]

    whole = Simulation(made, 0, 1, OneFault).play().run
    last, first = games_of_b(whole, False)[-1], games_of_b(whole, True)[0]
    for lost, advances in ((last, False), (first, True)):
        monkeypatch.setattr(OneFault, "lost", lost)
        found = Simulation(made, 0, 1, OneFault).play().run
        assert "b" in found.state.amendments.out and bool(games_of_b(found, True)) == advances
        (table, *_) = facts_of(found.state, found.is_open).tables[""]
        (row,) = (row for row in table.data if (row["stage"], row["bot"]) == ("first", "b"))
        assert row["place"] <= stage["advance"] and row["advances"] == advances
        assert Simulation(made, 0, 1, OneFault).play(Random(lost)).run.found == found.found


@pytest.mark.slow
def test_who_advances_stays_where_a_bot_goes_out_in_another_section(monkeypatch: pytest.MonkeyPatch) -> None:
    bots, keys = ONE_BY_ONE["stages of several games"]
    made = tournament(bots, {**keys, "strikes": 1})
    games_of_b = [game for game in Simulation(made, 0, 1, OneFault).play().run.found if "b" in game]
    for lost in games_of_b[::3]:
        monkeypatch.setattr(OneFault, "lost", lost)
        played = Simulation(made, 0, 3, OneFault).play(Random(lost))
        games = {**played.run.found}
        assert played.play().run.found == games, "what is read from its lines has no other games"


@pytest.mark.slow
@given(seed=st.integers(0, 999), bots=st.integers(6, 16))
def test_every_bot_has_one_place_at_any_time(seed: int, bots: int) -> None:
    names = "abcdefghijklmnop"[:bots]
    swiss = {"name": "swiss", "format": "swiss", "rounds": 2, "advance": 3}
    one = staged(names, GROUPS, swiss, ALL)
    games = played(one, drawn(seed, without_result=0.05))
    amount = one.games_in_all(bots, 2)
    assert len(games) <= amount.games
    for count in (0, len(games) // 3, len(games) // 2, len(games)):
        so_far = dict([*games.items()][:count])
        lost: Container[str] = () if count < len(games) else _All()
        rows = one.standings(SectionState(so_far, without_result=lost))
        assert sorted(row.bot for row in rows) == sorted(names)
        ranks = [row.rank for row in rows]
        assert ranks[0] == 1 and ranks == sorted(ranks)
        assert all(rank <= place for place, rank in enumerate(ranks, 1))


class _All:
    def __contains__(self, game: object) -> bool:
        return True


def test_the_header_has_the_stages() -> None:
    swiss = {"name": "swiss", "format": "swiss", "rounds": 1, "advance": 3, "tiebreaks": ["wins"]}
    one = staged("abcdefgh", GROUPS, swiss, ALL, seeding=["h"])
    header = {"bots": {name: {} for name in "abcdefgh"}, **one.header()}
    assert from_header(header) == one and not one.may_grow(from_header(header))
    other = staged("abcdefgh", {**GROUPS, "advance": 3}, swiss, ALL, seeding=["h"])
    assert other.may_grow(one) == ["the `[[stage]]` tables are not those with which the run began"]
    assert one.may_grow(one, ["x"]) == ["bot `x` is new, but no bot can be added to the format `stages`"]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([GROUPS], '"advance": 2}]`, expected at least 2 `[[stage]]` tables'),
        ([{"advance": 2, "best_of": 3}, CUP], "`stage.1.best_of` only applies to the format `knockout`"),
        ([GROUPS, {**CUP, "advance": 2}], "`stage.2.advance` is `2`, expected it only in stages before"),
        ([GROUPS, {**CUP, "seeding": ["a"]}], "unknown key `stage.2.seeding`"),
        ([{**GROUPS, "format": "swiss", "rounds": 2}, CUP], "`stage.1.groups` is `2`, expected it only in a"),
        ([GROUPS, {**GROUPS, "groups": 1}, CUP], "`stage.2.name` is `groups`, expected a different name"),
        ([{"name": "a", "advance": 2}, {"name": "b", "format": "free"}], "`stage.2.format` is `free`"),
        ([{"name": "a", "format": "league", "advance": 2}, CUP], "`stage.1.budget` is missing, expected a"),
        (
            [{"name": "a", "advance": 2}, {**ALL, "format": "league", "budget": 9}],
            "`stage.2.carry` is `true`, expected it only in a round robin after the first stage",
        ),
        ([{**ALL, "advance": 2}, CUP], "`stage.1.carry` is `true`, expected it only in a round robin after"),
        ([{"name": "first"}, CUP], "`stage.1.advance` is missing, expected a number"),
        ([{**GROUPS, "groups": 5}, CUP], "the stage `groups` has 8 bots, in 5 groups, expected at least 2"),
        ([{**GROUPS, "advance": 5}, CUP], "has 8 bots, in 2 groups, expected at least 5 in each"),
        ([{"name": "first", "advance": 1}, CUP], "the stage `cup` has 1 bot, expected at least 2"),
    ],
)
def test_wrong_stages_are_refused(stages: list[Mapping[str, Any]], message: str) -> None:
    with pytest.raises(UsageError) as error:
        staged("abcdefgh", *stages)
    assert message in str(error.value)


def test_a_format_beside_stages_is_refused() -> None:
    with pytest.raises(UsageError, match="format` is `swiss`, expected the format of each stage in its own"):
        staged("abcdefgh", GROUPS, CUP, format="swiss")
    with pytest.raises(UsageError, match="rounds` only applies to"):
        staged("abcdefgh", GROUPS, CUP, rounds=3)
    with pytest.raises(UsageError, match="`format` is `knockout`, but the game has 4 seats, expected 2, or"):
        staged("abcdefgh", GROUPS, CUP, game="thetree", options={"players": 4})
    with pytest.raises(UsageError, match="`format` is `stages`, but the game has 1 seat, expected 2 or more"):
        staged("abcdefgh", GROUPS, ALL, game="thetree", options={"players": 1})


def test_a_file_without_the_tables_is_refused() -> None:
    main = Fields(tomllib.loads('format = "stages"'), "tournament", UsageError)
    with pytest.raises(UsageError, match=r"expected at least 2 `\[\[stage\]\]` tables"):
        format_of(main, ["a", "b"])
