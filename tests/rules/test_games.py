"""What holds for every game, whatever its rules are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from referee.check.rules import (
    INVARIANTS,
    imagined_positions_are_as_random_as_true_ones,
    imagined_positions_vary,
    is_chance,
    random_game,
    random_match,
)
from referee.core.errors import GameOptionError
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import Game, Options, State
from referee.games.floral.picture import SHELF
from referee.games.picture import Mark, Paint, Plane
from referee.games.twoseat import TwoSeatGame
from referee.records.record import from_json, to_json
from referee.records.replay import verify
from tests.recorded import HERE
from tests.rules.random_play import CASES, NAMES, SETTINGS
from tests.tools.golden import GOLDEN, file_of, golden

QUICK = [next(case for case in CASES if case[0] == slug) for slug in GAMES]
"""A setting of each game."""


@pytest.fixture(
    params=[
        pytest.param(case, id=name, marks=[] if case in QUICK else pytest.mark.slow)
        for case, name in zip(CASES, NAMES, strict=True)
    ]
)
def case(request: pytest.FixtureRequest) -> tuple[Game[Any], Options]:
    slug, given = request.param
    return GAMES[slug], GAMES[slug].settle(given)


SLOW = (imagined_positions_vary, imagined_positions_are_as_random_as_true_ones)
"""Invariants that are tried with the first and the last setting of a game."""

PAIRS = [
    pytest.param(
        case,
        invariant,
        id=f"{name}-{invariant.__name__}",
        marks=[] if case == QUICK[0] and invariant is not SLOW[1] else [pytest.mark.slow],
    )
    for case, name in zip(CASES, NAMES, strict=True)
    for invariant in INVARIANTS
    if invariant not in SLOW or case[1] in (SETTINGS[case[0]][0], SETTINGS[case[0]][-1])
]


@pytest.mark.parametrize(("case", "invariant"), PAIRS, indirect=["case"])
def test_every_game_keeps_to_what_games_have_to(
    case: tuple[Game[Any], Options], invariant: Callable[[Game[Any], Options], None]
) -> None:
    invariant(*case)


@pytest.mark.parametrize("blanks", [" ", "  ", " " * 9])
def test_blanks_between_the_parts_of_a_move_are_forgiven(
    case: tuple[Game[Any], Options], blanks: str
) -> None:
    game, options = case
    rng = Stream(b"blanks")
    for state in islice(random_game(game, options, "blanks"), 20):
        for seat in () if is_chance(state) else state.to_act():
            move = state.sample(seat, rng)
            text = state.write(move)
            wide = text.replace(" ", blanks)
            for spelled in (blanks + text, text + blanks, blanks + wide + blanks):
                assert state.read(seat, spelled) == move
                assert state.write(state.read(seat, spelled)) == text


@pytest.mark.parametrize(
    ("slug", "given"), [case for case in CASES if isinstance(GAMES[case[0]], TwoSeatGame)]
)
def test_nothing_is_assigned_to_a_position_of_a_two_seat_game_after_it_was_made(
    slug: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = GAMES[slug]
    options = game.settle(given)

    def set_once(state: State[Any], name: str, value: object) -> None:
        caller = sys._getframe(1)
        assert caller.f_code.co_name == "__init__" and caller.f_locals["self"] is state, name
        object.__setattr__(state, name, value)

    monkeypatch.setattr(type(game.start(options)), "__setattr__", set_once)
    rng = Stream(b"assigned")
    for state in random_game(game, options, "assigned"):
        assert not hasattr(state, "__dict__")
        if state.outcome() is None:
            (seat,) = state.to_act()
            move = state.sample(seat, rng)
            assert state.any_legal(seat) and state.read(seat, state.write(move)) == move
            assert next(state.legal(seat)) and state.count(seat) != 0 and state.pick(seat, [0])
            assert state.drop([seat]).outcome()
        assert state.picture(None) and (state.seen(seat) or not state.seen(None))


def test_marks_have_titles_and_are_told_apart_without_colours(case: tuple[Game[Any], Options]) -> None:
    """What is drawn on a board has a title, and marks of different paints differ in symbol or caption."""
    game, options = case
    paints: dict[tuple[int, str, str], Paint] = {}
    for state in islice(random_game(game, options, "marks"), 60):
        for view in (None, *range(game.seats(options))):
            for number, panel in enumerate(state.picture(view)):
                for mark in panel.ground + panel.marks if isinstance(panel, Plane) else ():
                    if not isinstance(mark, Mark) or mark.symbol:
                        assert mark.title or (isinstance(mark, Mark) and mark.symbol is SHELF)
                    if isinstance(mark, Mark) and mark.symbol and "own" in repr(mark.symbol):
                        look = number, mark.symbol.name, mark.caption
                        assert paints.setdefault(look, mark.paint) == mark.paint
    assert paints or game.slug == "thetree", "the tiles of The Tree all have the same paint"


def test_every_legal_move_is_sampled(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    rng = Stream(b"sampled")
    few = (
        (state, seat, legal)
        for state in random_game(game, options, "sampled")
        for seat in (() if is_chance(state) else state.to_act())
        if 1 < len(legal := list(islice(state.legal(seat), 81))) <= 80
    )
    for state, seat, legal in [next(few), *islice(few, 3)]:
        assert {state.sample(seat, rng) for _ in range(60 * len(legal))} == set(legal)


@pytest.mark.parametrize(
    ("slug", "move", "scores"),
    [
        ("blooms", "L:D4", ((0, 0),) * 3),
        ("evengroups", "O:E5", ((0, 1),) * 3),
        ("vinetree", "E5 R U", ((0, 1), (1, 0), (0, 0))),
    ],
)
def test_a_seat_that_leaves_a_game_of_two_loses(
    slug: str, move: str, scores: Sequence[tuple[int, int]]
) -> None:
    start = GAMES[slug].start(GAMES[slug].settle({}))
    state = start.play({0: start.read(0, move)})
    for left, ranks, points in zip(([0], [1], [0, 1]), ((2, 1), (1, 2), (1, 1)), scores, strict=True):
        after = state.drop(left)
        outcome = after.outcome()
        assert outcome and (outcome.ranks, outcome.scores) == (ranks, points)
        assert after.to_act() == () and after.seen(0) == state.seen(0) and state.outcome() is None


SETTLED: dict[str, dict[str, dict[str, int | str]]] = {
    "blooms": {
        "": {"size": 4, "target": 15},
        "size=5": {"size": 5, "target": 20},
        "size=6": {"size": 6, "target": 25},
        "size=7": {"size": 7, "target": 30},
        "size=3 target=100": {"size": 3, "target": 100},
    },
    "vinetree": {
        "": {"size": 9, "bend": "excluded"},
        "size=13 bend=included": {"size": 13, "bend": "included"},
    },
    "evengroups": {"": {"size": 5}},
    "floral": {"": {"spells": "", "goal": 4, "max_turns": 200}},
    "thetree": {
        "": {"players": 2, "deals": 10, "places": "all"},
        "players=1": {"players": 1, "deals": 1, "places": "all"},
        "players=4 deals=1 places=first": {"players": 4, "deals": 1, "places": "first"},
    },
}
"""By game, options that are given, and all of them."""

REFUSED = {
    "blooms": "size=2 size=9 size=４ target=0 target=101 siez=4",
    "vinetree": "size= size=1 size=2 size=4 size=12 size=15 size=09 size=+9 size=９ "
    "size=9.0 bend=Excluded bends=included",
    "evengroups": "size=1 size=9 size=５ target=3",
    "floral": "goal=0 goal=6 max_turns=0 max_turns=1001 goals=4",
    "thetree": "players=0 players=5 players=02x deals=0 deals=-1 players=1,deals=2 "
    "places=last places=First tiles=9",
}
"""By game, options that are not possible."""


def given_in(text: str, separator: str) -> dict[str, str]:
    return dict(part.split("=") for part in text.split(separator) if part)


@pytest.mark.parametrize("slug", GAMES)
def test_options(slug: str) -> None:
    for given, settled in SETTLED[slug].items():
        assert GAMES[slug].settle(given_in(given, " ")) == settled
        assert GAMES[slug].seats(settled) == settled.get("players", 2)
    for given in REFUSED[slug].split(" "):
        with pytest.raises(GameOptionError):
            GAMES[slug].settle(given_in(given, ","))


def altered(news: tuple[str, ...], rng: Stream) -> list[str]:
    """News with a line less, with two lines swapped, or with another character in a line."""
    lines = list(news)
    at = rng.below(len(lines) - 1)
    match rng.below(3):
        case 0:
            del lines[at]
        case 1:
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        case _:
            place = rng.below(len(lines[at]))
            lines[at] = lines[at][:place] + rng.choice("0123 ABST-") + lines[at][place + 1 :]
    return lines


def test_altered_news_is_refused_or_agreed_with(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    rng = Stream(b"altered")
    refused = 0
    states = [state for state in random_game(game, options, "altered") if len(state.seen(0)) > 1]
    for _ in range(0 if game.is_open else 25):
        seat = rng.below(game.seats(options))
        lines = altered(rng.choice(states).seen(seat), rng)
        try:
            assert game.imagine(options, seat, lines, rng).seen(seat) == tuple(lines)
        except ValueError:
            refused += 1
    assert game.is_open or refused > 15


def test_the_record_of_a_game_goes_through_json_and_verifies(case: tuple[Game[Any], Options]) -> None:
    made = replace(random_match(*case, "seed"), measured={"machine": HERE._asdict()})
    value = json.loads(json.dumps(to_json(made)))
    assert from_json(value) == made
    verify(value)


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_the_golden_games_are_played_as_they_were(slug: str, given: dict[str, str]) -> None:
    """`python -m tests.tools.golden` writes them anew."""
    assert file_of(slug, given).read_text() == golden(slug, given)


def test_every_golden_game_is_one_of_these() -> None:
    assert set(GOLDEN.iterdir()) == {file_of(*case) for case in CASES}
