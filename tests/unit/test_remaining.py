"""What remains of a run is what an undisturbed one would have played, whenever it was stopped.

The games are simulated: results, faults and games without a result follow from a seed and the id of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from referee.core.pairing import Pairing
from referee.records.amendments import Amendments
from referee.records.record import Summary
from referee.tournament.config import config_of
from referee.tournament.open_run import OpenRun
from referee.tournament.remaining import Remaining
from referee.tournament.schedule import Encounter
from referee.tournament.strikes import FaultCount
from referee.tournament.tournament import Tournament, tournament_of
from tests.unit.simulated import drawn, summary

FAULTY = "c"
"""The bot that commits a fault in some of its games, where bots may be taken out."""


class SimulatedRun:
    """A run in memory, as far as `Remaining` and `FaultCount` need one."""

    def __init__(self, seed: object, strikes: bool) -> None:
        self.games: dict[str, Summary] = {}
        self.annulled: dict[str, Summary] = {}
        self.batches: list[list[str]] = []
        self.amendments = Amendments({}, {}, {})
        self.without_result: set[str] = set()
        self._result = drawn(seed, without_result=0.02)
        self._seed = seed
        self._strikes = strikes

    def is_open(self, game: str) -> bool:
        over = game in self.games or game in self.annulled or game in self.without_result
        return not over and not self.amendments.is_dropped(Pairing.parse(game))

    def finish(self, game: Pairing) -> None:
        assert self.is_open(game.id), f"{game.id} is played twice"
        forfeiting = self.amendments.forfeiting(game.bots)
        ranks = self._result(game)
        if forfeiting:
            ranks = tuple(2 if name in forfeiting else 1 for name in game.bots)
            faults = tuple("out" if name in forfeiting else "" for name in game.bots)
            self.games[game.id] = summary(game, ranks)._replace(rated=False, faults=faults)
        elif ranks is None:
            self.without_result.add(game.id)
        else:
            fault = self._strikes and Random(f"{self._seed} fault {game.id}").random() < 0.5
            faults = tuple("gone" if fault and name == FAULTY else "" for name in game.bots)
            self.games[game.id] = summary(game, ranks)._replace(faults=faults)

    def take_out(self, bot: str, games: str, reason: str) -> None:
        self.amendments = self.amendments.with_out(bot, games, reason)
        for name in self.amendments.not_counted(self.games):
            self.annulled[name] = self.games.pop(name)

    @property
    def found(self) -> dict[str, Summary | None]:
        """What was played, by id."""
        return {**self.games, **self.annulled, **dict.fromkeys(self.without_result)}


class Simulation:
    """Plays a simulated run, with so many encounters at the same time."""

    def __init__(self, tournament: Tournament, seed: object, at_once: int) -> None:
        self.run = SimulatedRun(seed, strikes=tournament.strikes is not None)
        self.decision: str | None = None
        self._tournament = tournament
        self._at_once = at_once

    def play(self, random: Random | None = None) -> Simulation:
        """Plays all games: in the order of the schedule, or in any order, and stopped at random moments."""
        while not self._play_some(random):
            pass
        return self

    def _play_some(self, random: Random | None) -> bool:
        """Plays until a random moment; whether nothing remains."""
        run = self.run
        faults = FaultCount(self._tournament.strikes, cast(OpenRun, run))
        faults.take_out()
        remaining = Remaining(self._tournament, run, run.batches.append, self._at_once)
        patience = random.choice((random.randint(0, 5), random.randint(0, 60), 10**9)) if random else 10**9
        at_once = self._at_once if random else 1
        busy: list[list[Pairing]] = []
        while patience:
            while len(busy) < at_once and (found := remaining.next()):
                busy.append(self._open(found))
            if not busy:
                self.decision = remaining.decision
                return True
            games = random.choice(busy) if random else busy[0]
            game = games.pop(0)
            if run.is_open(game.id):  # else a bot is out since the game before it
                run.finish(game)
                if game.id in run.games:
                    faults.add(run.games[game.id])
                patience -= 1
                if not patience and random and random.random() < 0.5:
                    return False  # killed before it is stored who is out
                faults.take_out()
            busy = [games for games in busy if games]
        return False

    def _open(self, encounter: Encounter) -> list[Pairing]:
        return [game for game in encounter.games if self.run.is_open(game.id)]


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


def tournament(bots: str, keys: Mapping[str, Any]) -> Tournament:
    main = {"game": "blooms", "seed": "s", **keys}
    tables: dict[str, Any] = {"tournament": main, "bot": [{"name": name, "cmd": "true"} for name in bots]}
    if "sections" in main:
        tables["game"] = main.pop("sections")
        del main["game"]
    if "options" in main:
        tables["options"] = main.pop("options")
    found = tournament_of(config_of(Path("t.toml"), tables, Path.cwd()))
    found.check()
    return found


def batches(run: SimulatedRun) -> list[list[str]]:
    """The batches of a league, of all sections."""
    return sorted(run.batches)


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
        assert found.run.amendments == whole.run.amendments
        assert found.run.found == whole.run.found
        assert batches(found.run) == batches(whole.run)
        assert found.decision == whole.decision
        taken_out += FAULTY in whole.run.amendments.out
    assert taken_out
