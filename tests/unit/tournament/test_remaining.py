"""What remains of a run is what an undisturbed one would have played, whenever it was stopped.

The games are simulated: results, faults and games without a result follow from a seed and the id of the game.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from referee.core.pairing import Pairing
from referee.core.settings import CLOSED as CLOSED_MEMBER
from referee.core.settings import UNLIMITED
from referee.tournament.run.progress import facts_of
from referee.tournament.run.remaining import nothing_remains
from referee.tournament.schedule import encounter
from referee.tournament.tournament import Tournament
from tests.unit.simulated import drawn
from tests.unit.simulated_runs import (
    CLOSED,
    FAULTY,
    ONE_BY_ONE,
    STOPPED,
    STRIKES,
    SimulatedRun,
    Simulation,
    some_quick,
    tournament,
)


def batches(run: SimulatedRun) -> list[list[str]]:
    """The batches of a league, of all sections."""
    return sorted(run.state.batches)


@pytest.mark.parametrize("name", some_quick(ONE_BY_ONE))
def test_every_format_has_the_same_games_however_often_it_is_stopped(name: str) -> None:
    made = tournament(*ONE_BY_ONE[name])
    for seed in range(2):
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
    for seed in range(2):
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


@pytest.mark.parametrize("name", some_quick(CLOSED))
def test_a_run_whose_time_is_over_plays_what_has_begun_and_continues_with_a_later_end(name: str) -> None:
    made = tournament(*CLOSED[name])
    unlimited = replace(made, limit=UNLIMITED)
    for seed in range(1):
        every = Simulation(unlimited, seed, 1).play().run.found
        whole = Simulation(made, seed, 1).play()
        stopped = Simulation(made, seed, 1).play(Random(seed))
        assert stopped.run.found == whole.run.found and len(every) > len(whole.run.found) >= 7
        assert "no more games begin" in str(whole.decision) and stopped.decision == whole.decision
        for found in (whole, Simulation(made, seed, 3).play(Random(seed))):
            if made.format.pairs_by_round:
                last = found.run.state.header.members[CLOSED_MEMBER]["rounds"]
                begun = {
                    game for game in map(Pairing.parse, every) if game.number <= last.get(game.section, 0)
                }
                assert {game.id for game in begun} >= found.run.found.keys()
            if not (made.format.pairs_by_round and len(made.format.played_with(1)) == 1):
                assert len(found.run.found) <= 7 + 3 * max(made.matchmaking.seats.values())
                games = map(Pairing.parse, found.run.found)
                encounters = [encounter(one.number, one.bots, one.part, one.section).games for one in games]
                assert found.run.found.keys() >= {one.id for games in encounters for one in games}
        assert continued(made, whole).run.found == whole.run.found, "by the same command"
        whole.run.add_change({"until": None})
        assert continued(unlimited, whole).run.found == every


def test_a_game_of_a_league_is_open_until_the_next_stage_is_played() -> None:
    made = tournament(*ONE_BY_ONE["league as a stage"])
    run = SimulatedRun(made.header.members, "s", strikes=False)
    run.add_void("1:a:b", frozenset())
    run.store_game(Pairing.parse("3:a:c"), (1, 2), ("", ""))
    assert run.state.is_open("1:a:b")
    run.store_game(Pairing.parse("21.1:c:d"), (1, 2), ("", ""))
    assert not run.state.is_open("1:a:b")


@pytest.mark.slow
def test_the_places_of_stages_are_read_from_the_batches_that_were_stored() -> None:
    run = Simulation(tournament(*ONE_BY_ONE["league as a stage"]), 1, 5).play(Random(1)).run
    facts = facts_of(run.state, run.is_open)
    assert facts.stages == {"": "final, stage 3 of 3"}
    stages = [str(columns["stage"]) for _, _, columns in facts.places[""]]
    assert stages == ["final"] * 4 + ["cup"] + ["qualification"] * 2


def continued(made: Tournament, before: Simulation) -> Simulation:
    """A simulated run that is continued to its end."""
    found = Simulation(made, 0, 1)
    found.run = before.run
    return found.play()


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", some_quick(STRIKES))
def test_bots_are_taken_out_at_the_same_moment_however_often_a_run_is_stopped(name: str) -> None:
    made = tournament(*STRIKES[name])
    taken_out = 0
    for seed in range(2):
        whole = Simulation(made, seed, 1).play()
        found = Simulation(made, seed, 1).play(Random(seed))
        assert found.run.state.amendments == whole.run.state.amendments
        assert found.run.found == whole.run.found
        assert batches(found.run) == batches(whole.run)
        assert found.decision == whole.decision
        taken_out += FAULTY in whole.run.state.amendments.out
    assert taken_out


class Interrupted(SimulatedRun):
    """A run that is stopped after 20 games, and has no games without a result."""

    def __init__(self, header: dict[str, Any], seed: object, strikes: bool) -> None:
        super().__init__(header, seed, strikes)
        self._result = drawn(seed)

    def finish(self, game: Pairing) -> None:
        super().finish(game)
        if len(self.found) == 20:
            raise KeyboardInterrupt


@pytest.mark.parametrize("change", ["annulled", "annul", "keep"])
def test_games_that_never_count_do_not_use_up_the_budget_of_a_league(change: str) -> None:
    made = tournament("abcdef", {"format": "league", "budget": 40})
    begun = Simulation(made, 0, 1, Interrupted)
    with pytest.raises(KeyboardInterrupt):
        begun.play()
    run = begun.run if change == "keep" else continued(made, begun).run
    chosen = [Pairing.parse(game) for batch in run.state.batches for game in batch]
    games = [game.id for first in chosen for game in encounter(first.number, first.bots).games]
    if change == "annulled":
        run.add_change({"annulled": dict.fromkeys(games[:10], "power cut")})
    else:
        run.take_out("c", change, "its author asked for it")
    never = [game for game in games if run.state.never_counts(game)]
    assert never and not nothing_remains(run.state)
    assert len(continued(made, begun).run.state.games) == 40
    assert nothing_remains(run.state)
    assert not {*never} & run.state.games.keys()
