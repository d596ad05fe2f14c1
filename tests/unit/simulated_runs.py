"""Runs without processes: simulated games are played as the referee plays those of a tournament."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from referee.core.pairing import Pairing
from referee.core.seeds import shared_by
from referee.records.journal import StoredLine, body_of, chained
from referee.records.record import Summary
from referee.tournament.file.config import tournament_of
from referee.tournament.playing import FaultCount, TimeWatch
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run_state import RunState
from referee.tournament.schedule import Encounter
from referee.tournament.tournament import Tournament
from tests.unit.simulated import drawn

FAULTY = "c"
"""The bot that commits a fault in some of its games, where bots may be taken out."""


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
    "stages": (
        "abcdefghijk",
        {
            "stage": [
                {"name": "groups", "groups": 2, "advance": 3, "rounds": 2},
                {"name": "swiss", "format": "swiss", "rounds": 2, "advance": 4},
                {"name": "all", "advance": 3, "carry": True},
                {"name": "cup", "format": "knockout", "best_of": 3, "third_place": True},
            ],
        },
    ),
    "pairings": (
        "abcd",
        {"format": "pairings", "pairings": [["a", "b"], ["c", "d"]], "rounds": 4, "budget": 13},
    ),
    "league": ("abcdef", {"format": "league", "budget": 150}),
    "stages of three seats": (
        "abcd",
        {
            "game": "thetree",
            "options": {"players": 3},
            "stage": [{"name": "all", "advance": 3}, {"name": "final", "format": "league", "budget": 9}],
        },
    ),
    "stages of several games": (
        "abcde",
        {
            "stage": [
                {"name": "first", "advance": 4, "rounds": 2},
                {"name": "second", "format": "swiss", "rounds": 1, "advance": 3},
                {"name": "final"},
            ],
            "sections": TWO_GAMES,
        },
    ),
    "league of four seats": (
        "abcdef",
        {"game": "thetree", "format": "league", "budget": 120, "options": {"players": 4}},
    ),
    "league of several games": ("abcd", {"format": "league", "budget": 60, "sections": TWO_GAMES}),
    "league as a stage": (
        "abcdefg",
        {
            "stage": [
                {"name": "qualification", "format": "league", "budget": 40, "advance": 5},
                {"name": "cup", "format": "knockout", "best_of": 3, "advance": 4},
                {"name": "final", "format": "league", "budget": 21},
            ],
        },
    ),
}
"""Tournaments whose games are the same whatever the order in which they end."""

TUNING: dict[str, Any] = {
    "budget": 100,
    "ahead": 5,
    "sprt": "-100,100,0.2,0.2",
    "parameter": [
        {"name": "width", "start": 20, "min": 4, "max": 64, "integer": True},
        {"name": "bonus", "start": 0.5, "min": -1, "max": 1},
    ],
}
"""A bot that is tuned."""

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
    "tuning": ("a", TUNING),
}
"""Tournaments that stop: what is being played then may be more with several workers."""

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
"""When simulated runs begin; each game takes a minute."""

CLOSED: dict[str, tuple[str, dict[str, Any]]] = {
    name: (bots, {**keys, "until": (NOON + timedelta(minutes=7)).isoformat()})
    for name, (bots, keys) in ONE_BY_ONE.items()
}
"""Tournaments whose time is over after seven games."""

STRIKES: dict[str, tuple[str, dict[str, Any]]] = {
    f"{name}, {then}": (bots, {**keys, "strikes": {"faults": 2, "games": then}})
    for then in ("forfeit", "keep", "annul")
    for name, (bots, keys) in {**ONE_BY_ONE, **STOPPED}.items()
    if FAULTY in bots
    and name != "balanced"  # a table is no other encounter, and takes a while to find
    and (then == "forfeit" or name.split()[0] not in ("swiss", "knockout", "stages", "league"))
}
"""Tournaments in which bots are taken out: with several workers, when this is depends on their times."""


LONG = ("balanced", "stages of three seats", "league as a stage")
"""Those whose encounters take longest to choose."""


def some_quick(names: Iterable[str]) -> list[Any]:
    """Tournaments as parameters of a test; every third is no slow one, unless it is `LONG`."""
    return [
        pytest.param(name, marks=pytest.mark.slow if number % 3 or name in LONG else [])
        for number, name in enumerate(names)
    ]


class SimulatedRun:
    """A run in memory, as far as `Remaining` and `FaultCount` need one: its lines are those of a run in a
    folder, and its games are drawn.
    """

    def __init__(self, header: dict[str, Any], seed: object, strikes: bool) -> None:
        self.state = RunState()
        self.stored: list[StoredLine] = []
        self._store(header)
        self._without_result: set[str] = set()
        self._result = drawn(seed, without_result=0.02)
        self._seed = seed
        self._strikes = strikes

    def _store(self, value: dict[str, Any]) -> None:
        text, digest = chained(body_of(value), self.state.last_hash)
        self.stored.append(StoredLine(text[:-1], digest))
        self.state.take(text[:-1], digest)

    def is_open(self, game: str) -> bool:
        return game not in self._without_result and self.state.is_open(game)

    def finish(self, game: Pairing) -> None:
        assert self.is_open(game.id), f"{game.id} is played twice"
        forfeiting = self.state.amendments.forfeiting(game.bots)
        ranks = self._result(game)
        if forfeiting:
            ranks = tuple(2 if name in forfeiting else 1 for name in game.bots)
            self.store_game(game, ranks, tuple("out" if name in forfeiting else "" for name in game.bots))
        elif ranks is None:
            self.add_void(game.id, frozenset())
            self._without_result.add(game.id)
        else:
            fault = self._strikes and Random(f"{self._seed} fault {game.id}").random() < 0.5
            self.store_game(
                game, ranks, tuple("gone" if fault and name == FAULTY else "" for name in game.bots)
            )

    def store_game(self, game: Pairing, ranks: tuple[int, ...], faults: tuple[str, ...]) -> None:
        self._store(_record(game, self.state.next_attempt(game.id), ranks, faults))

    def add_void(self, game: str, suspects: frozenset[str], lost: bool = False) -> None:
        self._store(
            {
                "kind": "void",
                "id": game,
                "attempt": self.state.next_attempt(game),
                "suspects": sorted(suspects),
                "lost": lost,
                "error": "died",
            }
        )

    def add_change(self, change: dict[str, Any]) -> None:
        self._store({"kind": "change", "when": "now", **change})

    def add_batch(self, batch: list[str]) -> None:
        self.add_change({"encounters": batch})

    def take_out(self, bot: str, games: str, reason: str) -> None:
        self.add_change({"out": {bot: {"games": games, "reason": reason}}})

    @property
    def found(self) -> dict[str, Summary | None]:
        """What was played, by id."""
        return {**self.state.games, **self.state.annulled, **dict.fromkeys(self._without_result)}


def _record(game: Pairing, attempt: int, ranks: tuple[int, ...], faults: tuple[str, ...]) -> dict[str, Any]:
    """The record of a game, as far as a run reads it; no game repeats another one."""
    return {
        "kind": "game",
        "id": game.id,
        "attempt": attempt,
        "game": "toy",
        "bots": game.bots,
        "shared_seed": hashlib.sha256(shared_by(game.id).encode()).hexdigest(),
        "ranks": ranks,
        "scores": ranks,
        "ending": "rules",
        "sentence": "",
        "rated": not all(faults),
        "faults": faults,
        "isolation": ["none"] * len(faults),
        "events": [game.id],
        "measured": {},
    }


class Simulation:
    """Plays a simulated run, with so many encounters at the same time."""

    def __init__(
        self, tournament: Tournament, seed: object, at_once: int, kind: type[SimulatedRun] = SimulatedRun
    ) -> None:
        self.run = kind(tournament.header.members, seed, tournament.strikes is not None)
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
        remaining = Remaining(
            self._tournament.matchmaking, run.state, run.is_open, run.add_batch, self._at_once
        )
        closing = TimeWatch(self._tournament.limit, run, remaining, self._now)
        patience = random.choice((random.randint(0, 5), random.randint(0, 60), 10**9)) if random else 10**9
        at_once = self._at_once if random else 1
        busy: list[list[Pairing]] = []
        while patience:
            while len(busy) < at_once and (found := self._next(closing, remaining)):
                busy.append(self._open(found))
            if not busy:
                self.decision = remaining.decision
                return True
            games = random.choice(busy) if random else busy[0]
            game = games.pop(0)
            if run.is_open(game.id):  # else a bot is out since the game before it
                run.finish(game)
                if played := run.state.games.get(game.id) or run.state.annulled.get(game.id):
                    faults.add(played)
                patience -= 1
                if not patience and random and random.random() < 0.5:
                    return False  # killed before it is stored who is out
                faults.take_out()
            busy = [games for games in busy if games]
        return False

    def _now(self) -> datetime:
        return NOON + timedelta(minutes=len(self.run.found))

    @staticmethod
    def _next(closing: TimeWatch, remaining: Remaining) -> Encounter | None:
        closing.look()
        return remaining.next()

    def _open(self, encounter: Encounter) -> list[Pairing]:
        return [game for game in encounter.games if self.run.is_open(game.id)]


def tournament(bots: str, keys: Mapping[str, Any]) -> Tournament:
    main = {"game": "blooms", "seed": "s", **keys}
    cmd = "true {width} {bonus}" if "parameter" in main else "true"
    tables: dict[str, Any] = {"tournament": main, "bot": [{"name": name, "cmd": cmd} for name in bots]}
    if "sections" in main:
        tables["game"] = main.pop("sections")
        del main["game"]
    for table in ("stage", "parameter", "options"):
        if table in main:
            tables[table] = main.pop(table)
    found = tournament_of(Path("t.toml"), tables, Path.cwd())
    found.check()
    return found
