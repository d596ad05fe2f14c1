"""What holds for every game, whatever its rules are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from referee.check.rules import INVARIANTS, random_match
from referee.games import GAMES
from referee.games.api import Game, Options
from referee.records.record import from_json, to_json
from referee.records.replay import verify
from tests.rules.random_play import CASES, NAMES
from tests.tools.golden import GOLDEN, file_of, golden


@pytest.fixture(params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[Game[Any], Options]:
    slug, given = request.param
    return GAMES[slug], GAMES[slug].settle(given)


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.__name__)
def test_every_game_keeps_to_what_games_have_to(
    case: tuple[Game[Any], Options], invariant: Callable[[Game[Any], Options], None]
) -> None:
    invariant(*case)


def test_the_record_of_a_game_goes_through_json_and_verifies(case: tuple[Game[Any], Options]) -> None:
    made = random_match(*case, "seed")
    value = json.loads(json.dumps(to_json(made)))
    assert from_json(value) == made
    verify(value)


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_the_golden_games_are_played_as_they_were(slug: str, given: dict[str, str]) -> None:
    """`python -m tests.tools.golden` writes them anew."""
    assert file_of(slug, given).read_text() == golden(slug, given)


def test_every_golden_game_is_one_of_these() -> None:
    assert set(GOLDEN.iterdir()) == {file_of(*case) for case in CASES}
