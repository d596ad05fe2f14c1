"""Opening moves by the referee: which ones, how a game begins with them, what records have of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.check.rules import is_chance
from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.seeds import Stream, chance_stream, opening_stream, shared_seed
from referee.core.units import TimeControl
from referee.gameplay.events import Drawn, Moved, Preset
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.openings import (
    NO_OPENINGS,
    OpeningLine,
    Openings,
    check_takes_openings,
    checked_line,
    drawn,
    joined,
)
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import SHARED_CHANCE, Game, State
from referee.processes.program import Program
from referee.records.record import GameRecord, from_json, to_json
from referee.records.replay import replay, verify
from referee.tournament.file.opening_table import openings_of
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.run.opening import differences
from referee.tournament.tournament import Tournament
from referee.viewing.steps import steps_of
from referee.viewing.words import event_text, step_lines
from tests.recorded import record_of
from tests.unit.characters import ENCODABLE
from tests.unit.scripted import Events, ScriptedWire, listening, puppet
from tests.unit.toys import Bid, Take

BLOOMS = GAMES["blooms"]
SMALL = BLOOMS.settle({"size": "3", "target": "1"})
PLAN = Plan(
    BLOOMS,
    SMALL,
    tuple(Entrant(Program(name, ("true",), Path("/")), TimeControl.parse("2s+6s/2s")) for name in "ab"),
    "seed",
    openings=Openings(plies=2),
)
LINES = Openings(lines=(("L:A1",), ("L:C3", "L:A1 D:A2")), sha256="0" * 64)


def game(number: int, bots: str = "ab") -> Pairing:
    return Pairing.of(number, tuple(bots))


# --- Which moves ------------------------------------------------------------------------------------------

DRAWN = {
    "blooms": "L:E6; L:B4 D:A2; L:G4 D:B2; L:C3 D:B5",
    "evengroups": "O:E2; O:B6 W:G6; O:G3 W:I4; O:B4 O:H1",
    "vinetree": "E5 D L; E4 LD UU; C4 LUL UUR; E5 RR UU",
}
"""The openings of a seed. If they change, the records of earlier runs no longer verify."""


@pytest.mark.parametrize("slug", DRAWN)
def test_a_seed_gives_the_same_opening_as_ever(slug: str) -> None:
    of = GAMES[slug]
    assert joined(drawn(of, of.settle({}), 4, opening_stream(b"seed"), b"seed")) == DRAWN[slug]


def test_every_open_game_has_openings() -> None:
    assert set(DRAWN) == {slug for slug, of in GAMES.items() if of.is_open}


def after(of: Game[Any], options: dict[str, Any], line: OpeningLine, shared: bytes = b"") -> State[Any]:
    """The position after a line, with shared chance by its seed."""
    state, rolled = of.start(options), chance_stream(shared)
    for text in line:
        while is_chance(state):
            assert state.to_act() == (SHARED_CHANCE,)
            state = state.chance(state.draw(rolled))
        (seat,) = state.to_act()
        move = state.read(seat, text)
        assert state.write(move) == text
        state = state.play({seat: move})
    return state


@given(st.binary(min_size=1, max_size=4), st.integers(1, 12))
def test_the_game_goes_on_after_a_drawn_opening(seed: bytes, plies: int) -> None:
    line = drawn(BLOOMS, SMALL, plies, Stream(seed), b"")
    assert 0 < len(line) <= plies
    assert after(BLOOMS, dict(SMALL), line).outcome() is None
    of = Take()
    line = drawn(of, of.settle({}), plies, Stream(seed), seed)
    assert 0 < len(line) <= plies
    assert after(of, {"rain": 0}, line, seed).outcome() is None


def test_an_opening_longer_than_all_games_stops_before_their_end() -> None:
    line = drawn(BLOOMS, SMALL, 100, Stream(b"s"), b"")
    assert 4 < len(line) < 20 and after(BLOOMS, dict(SMALL), line).outcome() is None


@pytest.mark.parametrize("rain", [1, 2])
def test_an_opening_stops_before_chance_that_differs_from_game_to_game(rain: int) -> None:
    of = Take()
    options = of.settle({"rain": str(rain)})
    lines = [drawn(of, options, 9, Stream(bytes([n])), bytes([n])) for n in range(50)]
    assert max(map(len, lines)) == rain


def test_both_games_of_a_pair_begin_alike_and_other_encounters_differently() -> None:
    first = PLAN.terms(game(1)).opening
    assert len(first) == 2 and PLAN.terms(game(1, "ba")).opening == first
    others = [PLAN.terms(game(number)).opening for number in range(2, 8)]
    assert len({first, *others}) > 5
    assert replace(PLAN, seed="other").terms(game(1)).opening != first
    assert replace(PLAN, openings=NO_OPENINGS).terms(game(1)).opening == ()


def test_openings_with_a_seed_of_their_own_do_not_depend_on_that_of_the_run() -> None:
    plan = replace(PLAN, openings=Openings(plies=2, seed="fixed"))
    assert plan.terms(game(1)).opening == replace(plan, seed="other").terms(game(1, "ba")).opening
    assert plan.terms(game(1)).opening != PLAN.terms(game(1)).opening


def test_lines_are_taken_round_by_round() -> None:
    plan = replace(PLAN, openings=LINES)
    taken = [plan.terms(game(number, bots)).opening for number in (1, 2, 3) for bots in ("ab", "ba")]
    one, other = LINES.lines
    assert taken == [one, one, other, other, one, one]


def test_the_encounters_of_the_same_bots_in_a_round_take_successive_lines() -> None:
    plan = replace(PLAN, openings=LINES)
    taken = [plan.terms(Pairing.of(2, ("a", "b"), part)).opening for part in (1, 2, 3)]
    one, other = LINES.lines
    assert taken == [other, one, other]


def test_lines_are_drawn_for_each_encounter() -> None:
    plan = replace(PLAN, openings=replace(LINES, order="random"))
    taken = [plan.terms(game(number)).opening for number in range(1, 21)]
    assert taken == [plan.terms(game(number, "ba")).opening for number in range(1, 21)]
    assert set(taken) == set(LINES.lines) and taken[:10] != taken[10:]


@pytest.mark.parametrize("order", ["sequential", "random"])
@pytest.mark.parametrize("seed", [None, "own"])
def test_what_an_encounter_needs_of_a_list_is_its_line(order: str, seed: str | None) -> None:
    openings = replace(LINES, order=order, seed=seed)
    plan = replace(PLAN, openings=openings)
    for number in range(1, 10):
        for bots in ("ab", "ba"):
            part = plan.for_encounter(game(number, bots))
            assert len(part.openings.lines) == 1
            assert part.terms(game(number)) == plan.terms(game(number))


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_games_with_hidden_information_have_no_openings(slug: str) -> None:
    with pytest.raises(UsageError, match=f"`{slug}` deals new hidden information"):
        check_takes_openings(GAMES[slug], GAMES[slug].settle({}))


def test_games_in_which_all_act_at_once_have_no_openings() -> None:
    of = Bid()
    with pytest.raises(UsageError, match="do not begin with a move of a single seat"):
        check_takes_openings(of, of.settle({}))
    check_takes_openings(Take(), Take().settle({}))


# --- How a game begins with them --------------------------------------------------------------------------


def recorded(openings: Openings, *answers: str, others: tuple[str, ...] = ("resign {n}",)) -> GameRecord:
    terms = replace(PLAN, openings=openings).terms(game(2))
    events = Events()
    verdict = play(terms, ScriptedWire(puppet(*answers), puppet(*others)), seeded_dice(terms), events)
    return record_of(terms, events.all, verdict, host="here")


def test_the_bots_learn_of_the_opening_by_the_news_of_their_first_question() -> None:
    one: list[str] = []
    two: list[str] = []
    terms = replace(PLAN, openings=LINES).terms(game(2))
    wire = ScriptedWire(listening(one, puppet("L:E1", "resign {n}")), listening(two, puppet("L:B1")))
    play(terms, wire, seeded_dice(terms), Events())
    ready = one.index("prepare") + 1
    news = ["news move 1 L:C3", "news move 2 L:A1 D:A2"]
    assert one[ready : ready + 3] == [*news, "ask 1 2000 6000"]
    assert two[ready : ready + 4] == [*news, "news move 1 L:E1", "ask 1 2000 6000"]


def test_nobody_is_asked_or_charged_for_the_opening() -> None:
    events = recorded(LINES, "L:E1").events
    assert events[:2] == (Preset(0, "L:C3"), Preset(1, "L:A1 D:A2"))
    moved = events[2]
    assert isinstance(moved, Moved) and moved.seat == 0 and moved.charge.reserve_us == 6_000_000


def test_shared_chance_is_rolled_before_the_opening() -> None:
    of = Take()
    options = of.settle({})
    for n in range(10):
        shared = bytes([n])
        line = drawn(of, options, 2, opening_stream(shared), shared)
        terms = Terms("1:a:b", of, options, ("a", "b"), (of.clock,) * 2, b"own", shared, opening=line)
        events = Events()
        verdict = play(terms, ScriptedWire(puppet(*"111111"), puppet(*"111111")), seeded_dice(terms), events)
        first, *rest = events.all
        assert isinstance(first, Drawn)
        assert rest[: len(line)] == [Preset(at, text) for at, text in enumerate(line)]
        assert verdict.outcome.sentence == "the last stone is taken"
        record = record_of(terms, events.all, verdict)
        replay(record, lambda event, state: None, by_seed=True)


def test_the_opening_is_shown_as_moves_of_the_referee() -> None:
    record = recorded(LINES, "L:E1")
    terms = record.terms
    assert event_text(record.events[1], terms.bots, terms.controls) == (
        "seat 2 b: L:A1 D:A2, an opening move made by the referee"
    )
    steps = steps_of(record)
    for view in (None, 0, 1):
        assert step_lines(steps, 2, view) == ["seat 2 b: L:A1 D:A2, an opening move made by the referee"]


# --- What records have of them ----------------------------------------------------------------------------


@pytest.mark.parametrize("openings", [PLAN.openings, LINES, Openings(plies=3, seed="x")])
@pytest.mark.parametrize("started", [True, False])
def test_a_record_reads_back_and_plays_again_to_itself(openings: Openings, started: bool) -> None:
    answers = ("x", "resign {n}") if started else ()
    made = recorded(openings, *answers)
    if not started:
        terms = made.terms
        events = Events()
        wire = ScriptedWire(lambda lines: [], lambda lines: [])
        verdict = play(terms, wire, seeded_dice(terms), events)
        made = replace(made, events=tuple(events.all), verdict=verdict)
    value = json.loads(json.dumps(to_json(made)))
    assert from_json(value) == made and made.terms.opening
    assert value["events"][0] == {"seat": 1, "opening": made.terms.opening[0]}
    assert value["measured"]["events"][0] == {}
    verify(value, openings)
    verify(value)


def _one_less(events: list[Any], measured: list[Any]) -> None:
    del events[:2], measured[:2]


def _one_more(events: list[Any], measured: list[Any]) -> None:
    events[2] = {"seat": 1, "opening": events[2]["move"]}
    measured[2] = {}


def _later(events: list[Any], measured: list[Any]) -> None:
    events.insert(3, {"seat": 2, "opening": "L:B1"})
    measured.insert(3, {})


def _second(**members: object) -> Callable[[list[Any], list[Any]], None]:
    return lambda events, measured: events[1].update(members)


TOLD = "its opening moves are `{}`, but according to the first line they are `L:C3; L:A1 D:A2`"

FORGERIES: list[tuple[Callable[[list[Any], list[Any]], None], str]] = [
    (_second(opening="L:A1 D:A3"), TOLD.format("L:C3; L:A1 D:A3")),
    (_second(opening="L:C3"), "event 2: C3 is occupied"),
    (_second(opening="x"), "event 2: not a move"),
    (_second(seat=1), "event 2: seat is `0` in the record, but `1` when"),
    (
        _second(opening="D:A2 L:A1"),
        "event 2: text is `D:A2 L:A1` in the record, but `L:A1 D:A2` when",
    ),
    (_one_less, TOLD.format("")),
    (_one_more, TOLD.format("L:C3; L:A1 D:A2; L:E1")),
    (_later, "event 3 is `moved L:E1` in the record, but `preset L:B1` when"),
]


@pytest.mark.parametrize(("forge", "message"), FORGERIES)
def test_a_forged_opening_is_found(forge: Callable[[list[Any], list[Any]], None], message: str) -> None:
    value = json.loads(json.dumps(to_json(recorded(LINES, "L:E1"))))
    forge(value["events"], value["measured"]["events"])
    with pytest.raises(RecordError) as caught:
        verify(value, LINES)
    assert message in str(caught.value)


HARDLY_MOVES = (
    st.none() | st.integers() | st.text(ENCODABLE, max_size=20) | st.text("LD:;ABC123 ", max_size=12)
)


@given(st.sampled_from(["seat", "opening"]), st.integers(0, 3), HARDLY_MOVES)
def test_whatever_stands_in_an_opening_it_is_refused_or_plays(name: str, number: int, new: object) -> None:
    value = json.loads(json.dumps(to_json(recorded(LINES, "L:E1"))))
    value["events"][number][name] = new
    with contextlib.suppress(RecordError):
        verify(value, LINES)
        assert value == to_json(recorded(LINES, "L:E1")), "nothing else has this opening"


def test_an_opening_in_a_run_without_openings_is_found() -> None:
    with pytest.raises(RecordError, match="but according to the first line they are ``"):
        verify(to_json(recorded(LINES, "L:E1")), NO_OPENINGS)


@pytest.mark.parametrize(
    "openings",
    [NO_OPENINGS, Openings(plies=4), Openings(plies=4, seed="s"), LINES, replace(LINES, order="random")],
)
def test_openings_are_read_back_from_the_header(openings: Openings) -> None:
    header = json.loads(json.dumps(replace(PLAN, openings=openings).game_json()))
    assert Openings.of_header(Fields(header, "", RecordError)) == openings
    assert ("openings" in header) == openings.are_given


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (4, "`openings` is `4`, expected an object"),
        ({}, "`openings.order` is missing"),
        ({"plies": 0}, "`openings.plies` is `0`, expected a number from 1 to 100"),
        ({"plies": 4, "lines": []}, "unknown key `openings.lines`"),
        ({"lines": ["x"], "order": "any", "sha256": ""}, "expected one of sequential, random"),
        ({"lines": [], "order": "random", "sha256": ""}, "expected a list of lines of moves"),
        ({"lines": ["a;;b"], "order": "random", "sha256": ""}, "expected a list of lines of moves"),
        ({"lines": ["a"], "order": "random"}, "`openings.sha256` is missing"),
    ],
)
def test_a_header_with_malformed_openings_is_refused(value: object, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        Openings.of_header(Fields({"openings": value}, "", RecordError))
    assert message in str(caught.value)


def test_a_run_is_not_continued_with_other_openings_or_repeats() -> None:
    def tournament(openings: Openings = PLAN.openings, repeats: str = "cluster") -> Tournament:
        return Tournament((replace(PLAN, openings=openings),), RoundRobin(), repeats=repeats)

    header = tournament().header
    assert differences(header, tournament()) == []
    assert differences(header, tournament(NO_OPENINGS)) == ["`openings` is none, but was 2 random plies"]
    assert differences(header, tournament(LINES))[0].startswith("`openings` is 2 lines, sequential")
    counting = tournament(repeats="count")
    assert differences(header, counting) == ["`repeats` is count, but was cluster"]
    assert counting.header.members["repeats"] == "count" and "repeats" not in header.members
    assert differences(counting.header, counting) == []


# --- Files of lines ---------------------------------------------------------------------------------------


def table(folder: Path, **fields: object) -> Openings:
    return openings_of(Fields(fields, "openings", UsageError), folder, BLOOMS, SMALL)


def test_a_file_of_lines(tmp_path: Path) -> None:
    text = "# two lines\n\n  l:a1 ;  l:c3   d:c4\r\nD:B1\n"
    (tmp_path / "lines.txt").write_text(text)
    openings = table(tmp_path, file="lines.txt")
    assert openings.lines == (("L:A1", "L:C3 D:C4"), ("D:B1",)) and openings.order == "sequential"
    assert len(openings.sha256) == 64
    assert table(tmp_path, file="lines.txt", order="random", seed="x").seed == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty, expected one opening per line, its moves separated by `;`"),
        (b"# nothing\n", "is empty, expected one opening per line"),
        (b"L:A1\nL:A1; L:A1\n", "line 2, move 2 `L:A1`: A1 is occupied"),
        (b"L:A1; x\n", "line 1, move 2 `x`: not a move, expected"),
        (b"L:A1;\n", "line 1, move 2 ``: not a move"),
        (b"L:A1; \x1b[2J\n", "line 1, move 2 `\\x1b[2J`: not a move"),
        (b"L:A1 D:A2\n", "line 1, move 1 `L:A1 D:A2`: the first turn of the game places one stone"),
        (
            b"L:A1; L:A2 D:B1; L:C3; L:B2\n",
            "line 1, the game is over after move 4, expected moves that do not",
        ),
        (b"L:A1; L:A2 D:B1; L:C3; L:B2; L:E1\n", "line 1, move 5 `L:E1`: the game is over"),
        (b"\xff\n", "line 1: not UTF-8"),
        (b"#" * (1 << 20) + b"\n", "has more than 1,048,576 bytes, expected a file of openings"),
    ],
)
def test_a_line_that_does_not_fit_is_named(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_bytes(text)
    with pytest.raises(UsageError) as caught:
        table(tmp_path, file="lines.txt")
    assert "lines.txt`" in str(caught.value) and message in str(caught.value)


def test_a_line_has_no_chance() -> None:
    of = Take()
    with pytest.raises(UsageError, match="move 1 `1`: chance or several seats act here"):
        checked_line(of, of.settle({}), "1")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "`openings` has none of `plies`, `file` and `from`, expected exactly one of them"),
        ({"plies": 4, "file": "x"}, "`openings` has `plies` and `file`, expected exactly one of them"),
        ({"plies": 0}, "`openings.plies` is `0`, expected a number from 1 to 100"),
        ({"plies": 101}, "`openings.plies` is `101`, expected a number from 1 to 100"),
        ({"plies": "4"}, '`openings.plies` is `"4"`, expected a number'),
        ({"plys": 4}, "unknown key `openings.plys`, expected `plies`"),
        ({"plies": 4, "order": "random"}, "`openings.order` is `random`, expected none with `plies`"),
        ({"plies": 4, "seed": ""}, "the seed is empty"),
        ({"file": "none.txt"}, "none.txt`: No such file"),
        ({"file": "."}, "it is a folder, expected a regular file"),
        ({"file": ""}, "`openings.file` is ``, expected the path of a file"),
        ({"file": "a\0b"}, "expected the path of a file"),
        ({"file": "x", "order": "any"}, "`openings.order` is `any`, expected one of sequential, random"),
        ({"file": "x", "seed": "s"}, "`openings.seed` is `s`, expected none, or `random` as `order`"),
    ],
)
def test_a_table_that_will_not_do_is_named(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        table(tmp_path, **fields)
    assert message in str(caught.value)


def test_the_shared_seed_of_a_continued_run_gives_its_opening_too() -> None:
    """What remains of an encounter that was begun under another seed has that encounter's opening."""
    shared = shared_seed("before", "1:a:b")
    plan = replace(PLAN, seed="after").for_encounter(game(1), shared)
    assert plan.terms(game(1, "ba")).opening == replace(PLAN, seed="before").terms(game(1)).opening
