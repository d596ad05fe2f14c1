"""What remains of a run is what an undisturbed one would have played, whenever it was stopped.

The games are simulated: results, faults and games without a result follow from a seed and the id of the game.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from tests.unit.simulated_runs import FAULTY, SimulatedRun, Simulation, tournament

TWO_GAMES = [
    {"name": "small", "game": "blooms", "options": {"size": 3}},
    {"name": "large", "game": "blooms", "options": {"size": 4}},
]

ONE_BY_ONE: dict[str, tuple[str, dict[str, Any]]] = {
    "round robin": ("abcd", {"rounds": 3}),
    "several games": ("abcd", {"rounds": 2, "sections": TWO_GAMES}),
    "four seats": ("abcdef", {"game": "thetree", "rounds": 1, "options": {"players": 4}}),
    "balanced": (
        "abcdefg",
        {"game": "thetree", "rounds": 2, "tables": "balanced", "options": {"players": 4}},
    ),
    "gauntlet": ("abcde", {"format": "gauntlet", "against": ["a", "b"], "rounds": 2}),
    "swiss": ("abcdefg", {"format": "swiss", "rounds": 4}),
    "swiss of several games": ("abcde", {"format": "swiss", "rounds": 3, "sections": TWO_GAMES}),
    "knockout": ("abcdefghijkl", {"format": "knockout", "best_of": 3, "third_place": True}),
    "pairings": (
        "abcd",
        {"format": "pairings", "pairings": [["a", "b"], ["c", "d"]], "rounds": 4, "budget": 13},
    ),
    "league": ("abcdef", {"format": "league", "budget": 150}),
    "league of several games": ("abcd", {"format": "league", "budget": 60, "sections": TWO_GAMES}),
    "league of four seats": (
        "abcdef",
        {"game": "thetree", "format": "league", "budget": 120, "options": {"players": 4}},
    ),
}
"""Tournaments whose games are the same whatever the order in which they end."""

STOPPED: dict[str, tuple[str, dict[str, Any]]] = {
    "sprt": ("ab", {"rounds": 200, "sprt": "-100,100,0.2,0.2"}),
    "sprt of several games": ("ab", {"rounds": 100, "sprt": "-100,100,0.2,0.2", "sections": TWO_GAMES}),
    "gauntlet with sprt": (
        "abcd",
        {"format": "gauntlet", "against": ["a"], "rounds": 100, "sprt": "-100,100,0.2,0.2"},
    ),
    "interval": ("abc", {"rounds": 100, "stop": {"interval": 150}}),
    "gauntlet with an interval": (
        "abc",
        {"format": "gauntlet", "against": ["a"], "rounds": 100, "stop": {"interval": 200}},
    ),
    "league with an interval": ("abc", {"format": "league", "budget": 400, "stop": {"interval": 170}}),
}
"""Tournaments that stop: what is being played then may be more with several workers."""

STRIKES: dict[str, tuple[str, dict[str, Any]]] = {
    f"{name}, {then}": (bots, {**keys, "strikes": {"faults": 2, "games": then}})
    for then in ("forfeit", "keep", "annul")
    for name, (bots, keys) in {**ONE_BY_ONE, **STOPPED}.items()
    if FAULTY in bots
    and name != "balanced"  # a table is no other encounter, and takes a while to find
    and (then == "forfeit" or name.split()[0] not in ("swiss", "knockout", "league"))
}
"""Tournaments in which bots are taken out: with several workers, when this is depends on their times."""


def batches(run: SimulatedRun) -> list[list[str]]:
    """The batches of a league, of all sections."""
    return sorted(run.state.batches)


def some_quick(names: Iterable[str]) -> list[Any]:
    """Parameters of a test, of which every third is no slow one."""
    return [
        pytest.param(name, marks=pytest.mark.slow if number % 3 else []) for number, name in enumerate(names)
    ]


@pytest.mark.promise(
    "FORMATS", "A format has the same games however often the run is stopped.", case="league of several games"
)
@pytest.mark.parametrize("name", some_quick(ONE_BY_ONE))
def test_every_format_has_the_same_games_however_often_it_is_stopped(name: str) -> None:
    made = tournament(*ONE_BY_ONE[name])
    for seed in range(4):
        at_once = 1 + seed % 5
        whole = Simulation(made, seed, at_once).play()
        found = Simulation(made, seed, at_once).play(Random(seed))
        assert found.run.found == whole.run.found
        assert batches(found.run) == batches(whole.run)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", STOPPED)
def test_stopping_rules_decide_the_same_however_often_a_run_is_stopped(name: str) -> None:
    made = tournament(*STOPPED[name])
    decided = 0
    for seed in range(4):
        at_once = 1 + seed % 3
        whole = Simulation(made, seed, at_once).play()
        found = Simulation(made, seed, at_once).play(Random(seed))
        assert found.decision == whole.decision
        decided += whole.decision is not None
        assert found.run.found.items() >= whole.run.found.items()
        if at_once == 1:
            assert found.run.found == whole.run.found
            assert batches(found.run) == batches(whole.run)
    assert decided


@pytest.mark.quick_cases(5)
@pytest.mark.promise(
    "TOURNAMENT",
    "Bots are taken out at the same moment however often a run is stopped.",
    case="swiss, forfeit",
)
@pytest.mark.parametrize("name", some_quick(STRIKES))
def test_bots_are_taken_out_at_the_same_moment_however_often_a_run_is_stopped(name: str) -> None:
    made = tournament(*STRIKES[name])
    taken_out = 0
    for seed in range(4):
        whole = Simulation(made, seed, 1).play()
        found = Simulation(made, seed, 1).play(Random(seed))
        assert found.run.state.amendments == whole.run.state.amendments
        assert found.run.found == whole.run.found
        assert batches(found.run) == batches(whole.run)
        assert found.decision == whole.decision
        taken_out += FAULTY in whole.run.state.amendments.out
    assert taken_out
