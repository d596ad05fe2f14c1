"""Formats of tournaments: their schedules, how they continue, and what they are read from."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats import FORMATS, Format, check_bots, format_of, from_header
from referee.tournament.formats.fixed import ExplicitPairings, Gauntlet, RoundRobin
from referee.tournament.formats.knockout import Knockout
from referee.tournament.formats.league import League
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tuning import ROLES
from referee.tournament.schedule import Schedule, rotations
from referee.tournament.stopping import Sprt, StoppingRule, stopping_rule_of
from tests.command import ROOT
from tests.page_tables import rows, words
from tests.unit.simulated import drawn, play, play_disturbed, schedule_of

FOLDER = Path(ROOT) / "referee" / "tournament"
NAMES = "abcdefghijklmnopqrstuvwxyz"


def names_of(count: int) -> list[str]:
    return [NAMES[number % 26] + NAMES[number // 26] for number in range(count)]


def settings(text: str, names: str = "abcd", left_out: str = "") -> Format:
    return format_of(Fields(tomllib.loads(text), "tournament", UsageError), tuple(names), tuple(left_out))


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Format, list[str], int]:
    """A format, its bots, and the number of seats."""
    seats = draw(st.sampled_from((2, 2, 2, 3, 4)))
    names = names_of(draw(st.integers(seats, 13 if seats == 2 else 7)))
    names = draw(st.permutations(names))
    rounds = draw(st.integers(1, 4))
    kinds = ["round-robin", "gauntlet", "pairings"]
    kinds += ["swiss", "knockout"] if seats == 2 else ["balanced"]
    kind = draw(st.sampled_from(kinds))
    if kind == "swiss":
        return Swiss(draw(st.integers(1, 9)), tuple(names)), names, seats
    if kind == "knockout":
        best_of = draw(st.sampled_from((1, 3, 5)))
        return Knockout(best_of, tuple(names), draw(st.booleans())), names, seats
    if kind == "gauntlet":
        most = len(names) - seats + 1
        return Gauntlet(rounds, tuple(names[: draw(st.integers(1, most))])), names, seats
    if kind == "pairings":
        groups = [draw(st.permutations(group)) for group in combinations(names, seats)]
        some = draw(
            st.lists(st.sampled_from(groups), min_size=1, max_size=5, unique_by=lambda g: frozenset(g))
        )
        return ExplicitPairings(rounds, tuple(tuple(group) for group in some)), names, seats
    if kind == "balanced":
        return RoundRobin(rounds, kind), names, seats
    return RoundRobin(min(rounds, 2)), names, seats


def checked(one: Format, names: list[str], seats: int) -> Callable[[Mapping[str, Summary]], Schedule]:
    one.check(len(names), seats)
    return schedule_of(one, names, seats, "s")


@given(tournaments(), st.integers())
def test_every_format_plays_whole_encounters_of_different_bots_under_ids_of_its_own(
    tournament: tuple[Format, list[str], int], seed: int
) -> None:
    one, names, seats = tournament
    games = play(checked(*tournament), drawn(seed, without_result=0.05))
    encounters: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for game in games:
        pairing = Pairing.parse(game)
        assert pairing.section == "s" and len(set(pairing.bots)) == seats
        assert Pairing.of(pairing.number, pairing.bots, pairing.part, "s") == pairing
        one.check_place(pairing)
        check_bots(pairing, set(names))
        one.check_group(pairing)
        encounters.setdefault(pairing.encounter, set()).add(pairing.bots)
    for played in encounters.values():
        assert played == set(rotations(min(played)))
    amount = one.games_in_all(len(names), seats)
    assert len(games) == amount.games or (len(games) < amount.games and not amount.is_exact)


@given(tournaments(), st.integers(), st.randoms(use_true_random=False))
def test_a_run_that_is_stopped_and_continued_has_the_games_of_one_that_is_not(
    tournament: tuple[Format, list[str], int], seed: int, random: Random
) -> None:
    schedule = checked(*tournament)
    result = drawn(seed, without_result=0.05)
    assert play_disturbed(schedule, result, random) == play(schedule, result)


@pytest.mark.slow
@given(tournaments(), st.integers())
def test_more_rounds_and_bots_leave_the_earlier_games_as_they_are(
    tournament: tuple[Format, list[str], int], seed: int
) -> None:
    one, names, seats = tournament
    before = play(checked(*tournament), drawn(seed))
    if isinstance(one, Knockout):
        return
    header = {**one.header(), "rounds": one.rounds + 2, "bots": dict.fromkeys(names)}
    more = from_header(header)
    assert more.may_grow(one) == [] and one.may_grow(more)
    assert before.items() <= play(checked(more, names, seats), drawn(seed)).items()
    if not more.may_grow(one, ["zz"]):
        assert before.items() <= play(checked(more, [*names, "zz"], seats), drawn(seed)).items()
    else:
        assert isinstance(one, Swiss | ExplicitPairings) or one == RoundRobin(one.rounds, "balanced")


@given(tournaments())
def test_a_header_has_all_that_a_schedule_follows_from(tournament: tuple[Format, list[str], int]) -> None:
    one, names, _ = tournament
    header = {**one.header(), "bots": {name: {} for name in names}}
    assert from_header(json.loads(json.dumps(header))) == one
    assert one != RoundRobin(one.rounds) or one.header() == {"rounds": one.rounds}


@pytest.mark.parametrize(
    ("text", "names", "seats", "games"),
    [
        ("", "cab", 2, "a:b b:a a:c c:a b:c c:b"),
        ("", "cba", 3, "a:b:c b:c:a c:a:b"),
        ("", "ba", 1, "a b"),
        ('format = "gauntlet"\nagainst = ["c", "a"]', "abcd", 2, "b:c c:b a:b b:a c:d d:c a:d d:a"),
        (
            'format = "gauntlet"\nagainst = ["a"]',
            "abcd",
            3,
            "a:b:c b:c:a c:a:b a:b:d b:d:a d:a:b a:c:d c:d:a d:a:c",
        ),
        ('format = "pairings"\npairings = [["b", "a"], ["c", "d"]]', "abcd", 2, "b:a a:b c:d d:c"),
    ],
)
def test_where_all_games_follow_from_the_settings_each_round_has_the_same(
    text: str, names: str, seats: int, games: str
) -> None:
    one = settings(f"rounds = 2\n{text}", names)
    found = list(play(checked(one, list(names), seats), drawn(1)))
    assert found == [f"s/{number}:{game}" for number in (1, 2) for game in games.split()]


def test_bots_that_are_left_out_on_a_machine_may_be_named() -> None:
    text = 'format = "pairings"\npairings = [["b", "a"], ["c", "d"]]'
    assert settings(text, "abc", "d") == ExplicitPairings(pairings=(("b", "a"),))
    assert settings('format = "gauntlet"\nagainst = ["a", "d"]', "abc", "d") == Gauntlet(against=("a",))
    seeded = settings('format = "swiss"\nrounds = 1\nseeding = ["d", "c"]', "abc", "d")
    assert seeded == Swiss(1, tuple("cab"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('format = "cup"', "`tournament.format` is `cup`, expected one of round-robin, gauntlet, "),
        (
            'against = ["a"]',
            "`tournament.against` only applies to the format `gauntlet`, but `tournament.format` is ",
        ),
        ('format = "swiss"', "`tournament.rounds` is missing, expected a number"),
        (
            'format = "knockout"\nrounds = 3',
            "`tournament.rounds` only applies to the formats `round-robin`, `gauntlet`, ",
        ),
        ('format = "knockout"\nbest_of = 2', "`tournament.best_of` is `2`, expected an odd number"),
        (
            'format = "knockout"\nseeding = ["a", "x"]',
            "`tournament.seeding` names `x`, which is not a bot, expected",
        ),
        (
            'format = "swiss"\nrounds = 1\nseeding = ["a", "a"]',
            "`tournament.seeding` names `a` twice, expected",
        ),
        ('format = "gauntlet"', "`tournament.against` is missing, expected a list"),
        (
            'format = "gauntlet"\nagainst = []',
            "`tournament.against` has no bot that plays, expected at least",
        ),
        ('format = "gauntlet"\nagainst = "a"', '`tournament.against` is `"a"`, expected a list'),
        (
            'format = "pairings"\npairings = ["a"]',
            '`tournament.pairings` is `["a"]`, expected a list of lists of bots',
        ),
        ('format = "pairings"\npairings = [["a", "a"]]', "`tournament.pairings` names `a` twice, expected"),
        (
            'format = "pairings"\npairings = [["a", "b"], ["b", "a"]]',
            "`tournament.pairings` has `b`, `a` twice, expected it once",
        ),
        ('format = "pairings"\npairings = []', "`tournament.pairings` has no encounter that can be played"),
        ('tables = "even"', "`tournament.tables` is `even`, expected one of all, balanced"),
        ('format = "league"', "`tournament.budget` is missing, expected a number"),
    ],
)
def test_wrong_settings_are_refused_with_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(text)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "bots", "seats", "message"),
    [
        (
            Swiss(seeding=("a",)),
            4,
            3,
            "`format` is `swiss`, but the game has 3 seats, expected 2, or",
        ),
        (Knockout(), 4, 1, "`format` is `knockout`, but the game has 1 seat, expected 2, or"),
        (
            Gauntlet(against=("a",)),
            4,
            1,
            "`format` is `gauntlet`, but the game has 1 seat, expected",
        ),
        (Gauntlet(against=("a", "b")), 2, 2, "`against` leaves 0 other bots, expected at least 1"),
        (
            RoundRobin(tables="balanced"),
            4,
            2,
            "`tables` is `balanced`, but the game has 2 seats, expected 3 or more",
        ),
        (
            ExplicitPairings(pairings=(("a", "b"),)),
            4,
            3,
            "`pairings` has `a`, `b` in an encounter, but the",
        ),
        (RoundRobin(), 2, 3, "there are 2 bots, expected at least 3, the number of seats of the game"),
    ],
)
def test_a_format_that_the_game_cannot_be_played_in_is_refused(
    one: Format, bots: int, seats: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        one.check(bots, seats)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("one", "game", "message"),
    [
        (RoundRobin(), "2:a:b", "the round of game `2:a:b` is not in this run"),
        (RoundRobin(), "0:a:b", "the round of"),
        (RoundRobin(), "1.1:a:b", "the encounter number of"),
        (Knockout(3, tuple("abcd")), "1:a:b", "the encounter number of"),
        (Knockout(3, tuple("abcd")), "1.7:a:b", "the encounter number of"),
        (RoundRobin(), "1:a:x", "a bot of"),
        (RoundRobin(), "1", "a bot of"),
        (RoundRobin(tables="balanced"), "1", "a bot of"),
        (RoundRobin(), "1:a:a", "a bot has more than one seat in"),
        (RoundRobin(), "1:a:c:b", "the bots of game `1:a:c:b` never meet in these seats"),
        (Gauntlet(against=("a", "b")), "1:a:b", "game `1:a:b` does not have exactly one bot from"),
        (Gauntlet(against=("a", "b")), "1:c:d", "game `1:c:d` does not have exactly one bot from"),
        (ExplicitPairings(pairings=(("a", "b"),)), "1:a:c", "no encounter of `pairings` has the bots of"),
        (
            ExplicitPairings(pairings=(("a", "b", "c"),)),
            "1:a:c:b",
            "no encounter of `pairings` has the bots of",
        ),
    ],
)
def test_a_game_that_cannot_be_in_the_schedule_does_not_belong_to_the_run(
    one: Format, game: str, message: str
) -> None:
    pairing = Pairing.parse(game)
    with pytest.raises(RecordError) as caught:
        one.check_place(pairing)
        check_bots(pairing, {*"abcd"})
        one.check_group(pairing)
    assert str(caught.value).startswith(message)


def test_what_changed_since_a_run_began_is_named() -> None:
    swiss = Swiss(3, ("a", "b"))
    assert Swiss(3, ("b", "a")).may_grow(swiss) == ["`seeding` is b, a, but was a, b"]
    assert Swiss(2, ("a", "b")).may_grow(swiss) == ["`rounds` is 2, but was 3, expected at least 3"]
    assert RoundRobin().may_grow(swiss) == [
        "`format` is round-robin, but was swiss",
        "`seeding` is not given, but was a, b",
    ]
    cup = Knockout(3, ("a", "b"))
    assert Knockout(1, ("a", "b"), third_place=True).may_grow(cup) == [
        "`best_of` is 1, but was 3",
        "`third_place` is true, but was false",
    ]
    assert League(10).may_grow(League(20)) == ["`budget` is 10, but was 20, expected at least 20"]
    assert RoundRobin(tables="balanced").may_grow(RoundRobin(tables="balanced"), ["x"]) == [
        "bot `x` is new, but no bot can be added to balanced tables"
    ]


def test_the_page_has_every_format_with_its_keys() -> None:
    table = rows("referee/tournament/FORMATS.md", "`format` | for what | keys | may be added later")
    assert {first.strip('`"'): set(words(keys)) for first, _, keys, _ in table} == {
        name: set(one.setting_names()) for name, one in FORMATS.items()
    }


def test_the_samples_of_the_page_and_of_the_tournaments_are_read() -> None:
    page = (FOLDER / "FORMATS.md").read_text()
    samples = [
        tomllib.loads(text) for text in re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    ]
    names = ["a", "b", "c", "d", "mine", "old"]
    tables = [Fields(file["tournament"], "tournament", UsageError) for file in samples]
    read = [
        format_of(table, names, tables=Fields(file, "", UsageError))
        for table, file in zip(tables, samples, strict=True)
    ]
    assert any(stopping_rule_of(table) == StoppingRule(Sprt(0, 10), 20) for table in tables)
    assert {one.name for one in read} == set(FORMATS) - {"free", "tuning"}, "these have pages of their own"
    for path in (ROOT / "tournaments").glob("*.toml"):
        file = tomllib.loads(path.read_text())
        names = [*ROLES] if "parameter" in file else [bot["name"] for bot in file["bot"]]
        main = Fields(file["tournament"], "tournament", UsageError)
        one = format_of(main, names, tables=Fields(file, "", UsageError))
        one.check(len(names), int(file.get("options", {}).get("players", 2)))
        read.append(one)
    others = {one.name for one in read[len(samples) :]}
    assert {"gauntlet", "swiss", "knockout", "stages", "league", "tuning"} <= others
