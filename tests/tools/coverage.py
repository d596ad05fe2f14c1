"""How often intervals of ratings hold the truth: `python -m tests.tools.coverage [POOLS]`.

Pools of bots whose strengths are known play tournaments of many kinds, by the referee's own schedules and
stopping rules. For each kind are printed, in percent with the standard error of that many pools: how often
the 95 % intervals hold the strengths of the bots, against the mean of the pool; that of the bot that is first
in the table, the leader; the difference of each bot to the next in rank; and the advantages of seats. After
these stand half the width of the leader's interval, and by how much the leader is overrated on average, in
Elo.

`--kinds` selects kinds by parts of their names; pools are drawn by `--seed`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing import Pool as Processes
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, default_rng
from tabulate import tabulate

from referee.ratings.likelihood import Floats
from referee.ratings.pool import Rating, Result, fit
from referee.ratings.two import ELO
from referee.records.record import Summary
from referee.tournament.formats import SectionState
from referee.tournament.formats.fixed import Gauntlet, RoundRobin
from referee.tournament.formats.league import League
from referee.tournament.formats.swiss import Swiss
from referee.tournament.schedule import Encounter, Schedule, encounter
from referee.tournament.stopping import NEVER, Sprt, Stopping, StoppingRule

SEAT_1 = 40.0
"""What seat 1 is worth, in Elo."""

Draw = Callable[[Generator, int], Floats]
"""Draws the strengths of so many bots, in Elo."""


def normal(deviation: float) -> Draw:
    return lambda rng, bots: rng.normal(0, deviation, bots)


def apart(gap: float) -> Draw:
    """All bots this far from the next."""
    return lambda rng, bots: rng.permutation(gap * np.arange(bots))


def with_one(others: Draw, at: float) -> Draw:
    """One bot, the first, that is so far from the mean of the others."""

    def drawn(rng: Generator, bots: int) -> Floats:
        strengths = others(rng, bots)
        strengths[0] = at
        return strengths

    return drawn


def clusters(*centers: float) -> Draw:
    """Clusters with these centers, which are 60 Elo wide."""
    return lambda rng, bots: np.resize(centers, bots) + rng.normal(0, 60, bots)


class Kind(NamedTuple):
    """A kind of tournament."""

    name: str
    bots: int
    draw: Draw
    schedule: str
    """`round robin`, `gauntlet`, which is against the first bot, `swiss`, `league`, or `random`: in each
    round, bots meet in groups that are drawn.
    """
    amount: int
    """Rounds; of a league, games."""
    seats: int = 2
    draws: float = 0.0
    """The share of draws between equals."""
    openings: float = 0.0
    """The standard deviation, in Elo, of what an opening is worth to seat 1 in both games of an encounter."""
    alike: float = 0.0
    """The share of encounters whose games go the same way for the bots; below 0, for the seats."""
    copies: int = 1
    """How often each game is played, with the same result."""
    stop: StoppingRule = NEVER

    @property
    def shown(self) -> float:
        """The share of a difference that results show on average over the openings, by the usual
        approximation of the mean of a logistic function.
        """
        return 1 / math.sqrt(1 + math.pi / 8 * (self.openings / ELO) ** 2)


_200 = normal(200)
_SPRT = StoppingRule(Sprt(0, 40))
KINDS = (
    Kind("round robin 8, 4 rounds", 8, _200, "round robin", 4),
    Kind("round robin 8, 30 % draws", 8, _200, "round robin", 4, draws=0.3),
    Kind("round robin 8, openings", 8, _200, "round robin", 4, openings=80),
    *(Kind(f"8 bots, openings {sd}", 8, _200, "round robin", 4, openings=sd) for sd in (0, 100, 250, 400)),
    *(Kind(f"2 bots, openings {sd}", 2, normal(100), "round robin", 40, openings=sd)
      for sd in (0, 100, 250, 400)),
    Kind("round robin 8, pairs alike", 8, _200, "round robin", 4, alike=0.5),
    Kind("round robin 8, pairs that split, 30 % draws", 8, _200, "round robin", 4, draws=0.3, alike=-0.5),
    Kind("round robin 8, one round copied 10 times", 8, _200, "round robin", 1, copies=10),
    Kind("round robin 3, one round copied 10 times", 3, _200, "round robin", 1, copies=10),
    Kind("round robin 5, 1 round", 5, _200, "round robin", 1),
    Kind("round robin 16, sd 50", 16, normal(50), "round robin", 4),
    Kind("2 bots, 10 pairs", 2, normal(100), "round robin", 10),
    Kind("2 bots, 100 pairs", 2, normal(100), "round robin", 100),
    Kind("2 bots, 100 pairs, 60 % draws", 2, normal(100), "round robin", 100, draws=0.6),
    Kind("gauntlet 1 v 15", 16, _200, "gauntlet", 2),
    Kind("gauntlet +400 v 7", 8, with_one(_200, 400), "gauntlet", 20),
    Kind("gauntlet 1 v 7, sequential tests", 8, _200, "gauntlet", 500, stop=_SPRT),
    Kind("gauntlet 1 v 7, sequential tests, sd 50", 8, normal(50), "gauntlet", 500, stop=_SPRT),
    Kind("2 bots, a sequential test", 2, normal(50), "round robin", 1000, stop=_SPRT),
    Kind("round robin 8, until ± 100", 8, _200, "round robin", 50, stop=StoppingRule(interval=100)),
    Kind("league 8, until ± 150", 8, _200, "league", 1000, stop=StoppingRule(interval=150)),
    Kind("3 seats", 8, _200, "random", 12, seats=3),
    Kind("4 seats", 8, _200, "random", 6, seats=4),
    Kind("4 seats, games of a table alike", 8, _200, "random", 6, seats=4, alike=0.3),
    Kind("league 16, 320 games, sd 100", 16, normal(100), "league", 320),
    Kind("league 16, 320 games, sd 200", 16, _200, "league", 320),
    Kind("league 16, 320 games, sd 400", 16, normal(400), "league", 320),
    Kind("league 16, 320 games, t3", 16, lambda rng, n: 150 * rng.standard_t(3, n), "league", 320),
    Kind("league 16, 1600 games", 16, _200, "league", 1600),
    Kind("league 8, 400 games", 8, _200, "league", 400),
    Kind("league 16, 320 games, openings", 16, _200, "league", 320, openings=80),
    Kind("league 32, 640 games", 32, _200, "league", 640),
    Kind("league 64, 1280 games", 64, _200, "league", 1280),
    Kind("league 12, 3 seats, 360 games", 12, _200, "league", 360, seats=3),
    Kind("swiss 16, 5 rounds", 16, _200, "swiss", 5),
    Kind("swiss 16, 5 rounds, sd 100", 16, normal(100), "swiss", 5),
    Kind("swiss 32, 9 rounds, 30 % draws", 32, _200, "swiss", 9, draws=0.3),
    Kind("ladder 8, 400 apart, 5 rounds", 8, apart(400), "round robin", 5),
    Kind("ladder 8, 400 apart, 50 rounds", 8, apart(400), "round robin", 50),
    Kind("ladder 8, 200 apart, 5 rounds", 8, apart(200), "round robin", 5),
    Kind("ladder 8, 100 apart, 2 rounds", 8, apart(100), "round robin", 2),
    Kind("ladder 6, 800 apart, 20 rounds", 6, apart(800), "round robin", 20),
    Kind("ladder in a league", 8, apart(400), "league", 320),
    Kind("beginner, round robin", 8, with_one(_200, -1200), "round robin", 4),
    Kind("beginner, league", 16, with_one(_200, -1200), "league", 320),
    Kind("two beginners", 10, lambda rng, n: np.append(rng.normal(0, 200, n - 2), [-1200.0] * 2),
         "round robin", 4),
    Kind("star, 900 above", 8, with_one(_200, 900), "round robin", 4),
    Kind("two clusters, round robin", 8, clusters(-350, 350), "round robin", 4),
    Kind("two clusters, league", 16, clusters(-350, 350), "league", 320),
    Kind("three clusters, league", 16, clusters(-500, 0, 500), "league", 320),
    Kind("4 bots, 1 round, sd 100", 4, normal(100), "round robin", 1),
    Kind("4 bots, 1 round, sd 200", 4, _200, "round robin", 1),
    Kind("4 bots, 1 round, sd 400", 4, normal(400), "round robin", 1),
    Kind("4 bots, 66 rounds", 4, _200, "round robin", 66),
    Kind("64 bots, 2 rounds", 64, _200, "random", 2),
    Kind("64 bots, 3 rounds", 64, _200, "random", 3),
    Kind("64 bots, 10 rounds", 64, _200, "random", 10),
    Kind("uniform", 8, lambda rng, n: rng.uniform(-400, 400, n), "round robin", 4),
    Kind("exponential", 8, lambda rng, n: rng.exponential(250, n), "round robin", 4),
    Kind("sd 30", 8, normal(30), "round robin", 4),
    Kind("sd 800", 8, normal(800), "round robin", 4),
)  # fmt: skip


OFTEN = (
    "round robin 8, 4 rounds",
    "round robin 3, one round copied 10 times",
    "league 16, 320 games, sd 100",
    "swiss 16, 5 rounds",
    "ladder 8, 400 apart, 5 rounds",
    "4 seats",
)
"""The kinds that the slow tests play."""


class _Tournament:
    """A tournament that is being played."""

    def __init__(self, kind: Kind, rng: Generator) -> None:
        self.kind = kind
        self.names = [f"bot{number:02}" for number in range(kind.bots)]
        self.strengths = kind.draw(rng, kind.bots)
        self.seats = np.linspace(SEAT_1, -SEAT_1, kind.seats) / 2
        self.results: list[Result] = []
        self._of = dict(zip(self.names, self.strengths.tolist(), strict=True))
        self._rng = rng

    def play(self, games: Encounter) -> list[Summary]:
        kind, rng = self.kind, self._rng
        opening = np.zeros(kind.seats)
        opening[0] = rng.normal(0, kind.openings) if kind.openings else 0.0
        bots = games.games[0].bots
        luck = rng.gumbel(size=kind.seats)
        of_bot = dict(zip(bots, luck, strict=True))
        is_alike = rng.random() < abs(kind.alike)
        found = []
        for game in games.games:
            if is_alike and kind.alike > 0:
                luck = np.array([of_bot[name] for name in game.bots])
            elif game is not games.games[0] and not is_alike:
                luck = rng.gumbel(size=kind.seats)
            strengths = np.array([self._of[name] for name in game.bots])
            ranks = self._ranks(strengths + self.seats + opening, luck)
            self.results += [Result(game.bots, ranks, game.encounter)] * kind.copies
            found.append(
                Summary(game.id, 1, "", game.bots, ranks, ranks, "over", "", True, ("",) * kind.seats)
            )
        return found

    def _ranks(self, strengths: Floats, luck: Floats) -> tuple[int, ...]:
        utility = strengths / ELO + luck
        if self.kind.draws:
            # Of the difference of two Gumbel variables the place in its distribution, from 0 to 1.
            gap = (strengths[0] - strengths[1]) / ELO
            score, place = (1 / (1 + math.exp(-x)) for x in (gap, gap - (utility[0] - utility[1])))
            draws = min(self.kind.draws, 1.8 * min(score, 1 - score))
            if score - draws / 2 <= place < score + draws / 2:
                return (1, 1)
            return (1, 2) if place < score else (2, 1)
        return tuple((np.argsort(np.argsort(-utility)) + 1).tolist())


def _schedule(kind: Kind, state: SectionState, rng: Generator) -> Schedule:
    match kind.schedule:
        case "round robin":
            return RoundRobin(kind.amount).schedule(state)
        case "gauntlet":
            return Gauntlet(kind.amount, (state.names[0],)).schedule(state)
        case "swiss":
            seeding = tuple(rng.permutation(state.names).tolist())
            return Swiss(kind.amount, seeding).schedule(state)
        case "league":
            return League(kind.amount).schedule(state)
        case _:
            return _random(kind, state.names, rng)


def _random(kind: Kind, names: Sequence[str], rng: Generator) -> Schedule:
    for number in range(1, kind.amount + 1):
        order = rng.permutation(names).tolist()
        for at in range(0, len(names) - kind.seats + 1, kind.seats):
            yield encounter(number, tuple(order[at : at + kind.seats]))


def played(kind: Kind, seed: int) -> _Tournament:
    """The tournament of a seed."""
    rng = default_rng([seed, *kind.name.encode()])
    tournament = _Tournament(kind, rng)
    names, games = tournament.names, dict[str, Summary]()
    # Of the two bots of a test the first one is the challenger.
    tested = [(name, names[0]) for name in names[1:]] if kind.stop.sprt else ()
    stopping = Stopping(kind.stop, names, tested)
    for step in _schedule(kind, SectionState(games, names, kind.seats), rng):
        if isinstance(step, Encounter) and not stopping.skips(step):
            found = tournament.play(step)
            games.update((game.id, game) for game in found)
            stopping.add(step, found)
        if stopping.decision:
            break
    return tournament


class Measured(NamedTuple):
    """What the intervals of one pool held."""

    bots: tuple[int, int]
    """How many held the truth, and how many there are."""
    leader: tuple[int, int]
    next: tuple[int, int]
    seats: tuple[int, int]
    half_width: float
    """Of the leader."""
    overrated: float
    """By how much the leader is, in Elo."""


def measure(kind: Kind, seed: int) -> Measured:
    """Plays and rates the tournament of a seed."""
    tournament = played(kind, seed)
    pool = fit(tournament.results, tournament.names)
    strengths = kind.shown * (tournament.strengths - tournament.strengths.mean())
    truth = dict(zip(tournament.names, strengths.tolist(), strict=True))
    order = sorted(truth, key=lambda name: (-pool.ratings[name].elo, name))
    leader = pool.ratings[order[0]]
    seats = kind.shown * tournament.seats * kind.seats / (kind.seats - 1)
    return Measured(
        _held((pool.ratings[name], truth[name]) for name in order),
        _held([(leader, truth[order[0]])]),
        _held((pool.difference(one, after), truth[one] - truth[after]) for one, after in pairwise(order)),
        _held(zip(pool.advantages["", kind.seats], seats, strict=True)),
        leader.half_width or 0.0,
        leader.elo - truth[order[0]],
    )


def _held(found: Iterable[tuple[Rating, float]]) -> tuple[int, int]:
    hits = [
        rating.low <= true <= rating.high
        for rating, true in found
        if rating.low is not None and rating.high is not None
    ]
    return sum(hits), len(hits)


class Share(NamedTuple):
    """A share in percent with its standard error."""

    percent: float
    error: float

    def __str__(self) -> str:
        return f"{self.percent:.1f} ± {self.error:.1f}"


def share(pools: Iterable[Measured], what: str) -> Share:
    """How many of the intervals held the truth. Those of a pool are not independent of each other."""
    hits, counts = np.array([getattr(pool, what) for pool in pools], dtype=np.float64).T
    total = counts.sum()
    held = hits.sum() / total
    # That of a ratio; a pool more that held half of its intervals keeps it from being 0.
    spread = ((hits - held * counts) ** 2).sum() + counts.mean() ** 2 / 4
    return Share(float(100 * held), float(100 * math.sqrt(spread) / total))


def measured(kind: Kind, seeds: Iterable[int]) -> list[Measured]:
    """Many pools."""
    return [measure(kind, seed) for seed in seeds]


def row(kind: Kind, pools: list[Measured]) -> list[str]:
    """The row of the table of a kind."""
    overrated = np.array([pool.overrated for pool in pools])
    error = overrated.std() / math.sqrt(len(pools))
    return [
        kind.name,
        *(str(share(pools, what)) for what in ("bots", "leader", "next", "seats")),
        f"{np.mean([pool.half_width for pool in pools]):.0f}",
        f"{overrated.mean():+.0f} ± {error:.0f}",
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="How often intervals of ratings hold the truth.")
    parser.add_argument("pools", type=int, nargs="?", default=400, help="pools of each kind")
    parser.add_argument("--kinds", nargs="+", default=[""], help="parts of the names of kinds")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first pool")
    parser.add_argument("--processes", type=int, help="instead of one for each core")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.pools)
    rows = []
    with Processes(arguments.processes) as processes:
        for kind in KINDS:
            if any(part in kind.name for part in arguments.kinds):
                pools = list(processes.imap_unordered(partial(_measure_by_name, kind.name), seeds))
                rows.append(row(kind, pools))
                print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"95 % intervals that hold the truth, in percent, of {arguments.pools} pools a kind:")
    headers = ["kind", "bots", "leader", "to next", "seats", "half width", "overrated"]
    print(tabulate(rows, headers, disable_numparse=True))


def _measure_by_name(name: str, seed: int) -> Measured:
    return measure(next(kind for kind in KINDS if kind.name == name), seed)


if __name__ == "__main__":
    main()
