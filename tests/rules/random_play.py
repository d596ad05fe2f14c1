"""The options under which every game is tested, for whoever tests all of them alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from referee.check.wires import HouseWire
from referee.core.units import TimeControl
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import Game
from referee.records.record import GameRecord
from tests.recorded import record_of

T = TypeVar("T")

SETTINGS: dict[str, list[dict[str, str]]] = {
    "blooms": [{"size": "3", "target": "4"}, {}],
    "vinetree": [{"size": "3"}, {"size": "5", "bend": "included"}, {"size": "7"}],
    "evengroups": [{"size": "2"}, {"size": "3"}, {}],
    "floral": [
        {"max_turns": "12"},
        {"spells": "sum 3 3-21; sum 3 3-21; sum 3 3-21", "goal": "1"},
        {"goal": "2", "spells": "set 3 {1,2,3,4,5}; seq 3 <= >=; sum 4 9-17", "max_turns": "60"},
    ],
    "thetree": [
        {},
        {"players": "1"},
        {"players": "3", "places": "first"},
        {"players": "4", "deals": "2"},
    ],
}
"""Options under which each game is tested: small ones, so that much comes up in little time."""

CASES = [(slug, given) for slug, settings in SETTINGS.items() if slug in GAMES for given in settings]
NAMES = [f"{slug} {' '.join(f'{k}={v}' for k, v in given.items())}".strip() for slug, given in CASES]


def quick_first(cases: Sequence[T], quick: int) -> list[Any]:
    """Parameters of a test; all but so many of the first are marked `slow`."""
    return [*cases[:quick], *(pytest.param(case, marks=pytest.mark.slow) for case in cases[quick:])]


def random_game(game: Game[Any], seed: bytes, given: dict[str, str] | None = None) -> GameRecord:
    """A record of a game of random moves."""
    options = game.settle(given or {})
    bots = tuple("abcd"[: game.seats(options)])
    terms = Terms("1:" + ":".join(bots), game, options, bots, (TimeControl.parse("1s+9s"),) * len(bots), seed)
    wire = HouseWire(terms)
    verdict = play(terms, wire, seeded_dice(terms), wire.watch)
    return record_of(terms, wire.events, verdict)
