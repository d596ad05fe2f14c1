"""A league against a round robin: `python -m tests.bench.league [--leagues N] [--bots N ...]`.

Pools of bots with known strengths, normal with a standard deviation of 250 Elo, play by chance: the expected
points are those of the difference in Elo, and three in ten games of equal bots are drawn. The pools are drawn
so that the best nine are at least 20 Elo apart from each other: no number of games that anybody plays ranks
bots that are equal.

Printed is the number of games after which the ranking of the top 8 is right in 95 % of the pools (and in half
of them): the eight best bots by rating are those of the truth, in its order, and as a set. Each pool is
played as round robins, round by round, and as a league, in batches that are chosen one batch ahead of the
results, as a run does it. Both are rated as in the table of a run, only without advantages of seats, which
make no difference here; and games are independent, so that there is nothing to estimate of encounters.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

from referee.ratings.dispersion import dispersion
from referee.ratings.likelihood import Floats, GroupedGames, Integers, Likelihood
from referee.ratings.posterior import posterior
from referee.records.record import Summary
from referee.tournament.formats.league_choice import LeagueState
from referee.tournament.schedule import Encounter

TOP = 8
DEVIATION_ELO = 250
MIN_GAP_ELO = 20
DRAWS = 0.6
"""The share of draws of what the weaker bot is expected to get."""

SHARES = (0.5, 0.95)

RANKS = (1, 2), (1, 1), (2, 1)
"""Of a win, a draw and a loss."""


class Right(NamedTuple):
    """Whether the top is right after so many games."""

    order: bool
    set: bool


class Pool:
    """Bots with known strengths, the best first, and what they have played."""

    def __init__(self, bots: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        elo = np.zeros(bots)
        while np.diff(-elo[: TOP + 1]).min() < MIN_GAP_ELO:
            elo = np.sort(rng.normal(0, DEVIATION_ELO, bots))[::-1]
        expected = 1 / (1 + 10 ** ((elo - elo[:, None]) / 400))
        drawn = DRAWS * np.minimum(expected, 1 - expected)
        self.chances = np.stack([expected - drawn / 2, drawn, 1 - expected - drawn / 2], axis=-1)
        """Of a win, a draw and a loss, by the place of the bot and that of its opponent."""
        self.rng = np.random.default_rng((seed, bots))
        self.results: Integers = np.zeros((bots, bots, 3), np.int64)
        """How many wins, draws and losses of the better bot there were, by place of both bots."""

    @property
    def bots(self) -> int:
        return len(self.results)

    def right(self) -> Right:
        """Whether the ratings after the games so far have the right bots at the top."""
        # Of bots that are equal, the weaker ones come first, so that nothing is right by chance.
        top = np.argsort(self._strengths(), kind="stable")[::-1][:TOP]
        return Right(bool((top == range(TOP)).all()), set(map(int, top)) == set(range(TOP)))

    def play_round_robin(self, rounds: int) -> None:
        """So many rounds, of two games for each two bots."""
        one, other = np.triu_indices(self.bots, 1)
        self.results[one, other] += self.rng.multinomial(2 * rounds, self.chances[one, other])

    def play(self, one: int, other: int) -> tuple[int, int]:
        """A game of two bots, as ranks."""
        won, drawn, _ = self.chances[one, other]
        luck = self.rng.random()
        result = 0 if luck < won else 1 if luck < won + drawn else 2
        place = (one, other, result) if one < other else (other, one, 2 - result)
        self.results[place] += 1
        return RANKS[result]

    def _strengths(self) -> Floats:
        """The strengths as the table of a run has them."""
        games: list[GroupedGames] = []
        for result, ranks in enumerate(RANKS):
            pairs = np.argwhere(self.results[..., result])
            rows = pairs.repeat(self.results[..., result][tuple(pairs.T)], axis=0)
            first = sum(len(batch.bots) for batch in games)
            clusters = np.arange(first, first + len(rows))
            if len(rows):
                games.append(GroupedGames(rows, (), ranks, np.ones(len(rows)), clusters))
        return posterior(Likelihood.of(games, self.bots, self.bots), partial(dispersion, games)).point


def round_robin(bots: int, seed: int, grid: Sequence[int]) -> list[Right]:
    """What is right after so many games of round robins, which are whole rounds."""
    pool = Pool(bots, seed)
    found: list[Right] = []
    for games, before in zip(grid, (0, *grid), strict=False):
        pool.play_round_robin((games - before) // (bots * (bots - 1)))
        found.append(pool.right())
    return found


def league(bots: int, seed: int, grid: Sequence[int]) -> list[Right]:
    """What is right after so many games of a league."""
    pool, state = Pool(bots, seed), LeagueState()
    found: list[Right] = []
    # The league goes by names where all else is equal, which are not to tell the strength.
    names = [f"bot{number:03}" for number in np.random.default_rng(seed).permutation(bots)]
    place = {name: number for number, name in enumerate(names)}
    waiting: list[Sequence[Encounter]] = []
    while len(found) < len(grid):
        chosen = state.choose(names, bots // 2)
        for one in chosen:
            state.schedule(one)
        waiting.append(chosen)
        for one in waiting.pop(0) if len(waiting) > 1 else ():
            games = []
            for pairing in one.games:
                ranks = pool.play(*(place[name] for name in pairing.bots))
                games.append(
                    Summary(pairing.id, 1, "", pairing.bots, ranks, ranks, "rules", "", True, ("", ""))
                )
            state.finish(one, games)
        while len(found) < len(grid) and pool.results.sum() >= grid[len(found)]:
            found.append(pool.right())
    return found


def needed(rows: Sequence[Sequence[Right]], grid: Sequence[int], share: float, by: str) -> int | None:
    """After how many games the top is right in such a share of the pools, then and at the next point of the
    grid; None where the grid ends before.
    """
    enough = [
        np.mean([getattr(row[point], by) for row in rows]) >= share - 1e-9 for point in range(len(grid))
    ]
    for games, here, after in zip(grid, enough, enough[1:], strict=False):
        if here and after:
            return games
    return None


def grid_to(most: int, step: int) -> list[int]:
    """Multiples of a number of games, each about a tenth larger than the one before."""
    multiples = {round(1.1**power) for power in range(200)}
    return sorted(step * multiple for multiple in multiples if step * multiple <= most)


def main() -> None:
    parser = argparse.ArgumentParser(description="A league against a round robin.")
    parser.add_argument("--leagues", type=int, default=100, help="pools of each size")
    parser.add_argument("--bots", type=int, nargs="+", default=[16, 64], help="sizes of pools")
    parser.add_argument("--most", type=int, default=20_000, help="games of a league")
    arguments = parser.parse_args()
    rows = []
    for bots in arguments.bots:
        grids = grid_to(20 * arguments.most, bots * (bots - 1)), grid_to(arguments.most, 100)
        played = [
            [kind(bots, seed, grid) for seed in range(arguments.leagues)]
            for kind, grid in zip((round_robin, league), grids, strict=True)
        ]
        for by in Right._fields:
            for share in SHARES:
                robin, chosen = (
                    needed(found, grid, share, by) for found, grid in zip(played, grids, strict=True)
                )
                ratio = f"{robin / chosen:.1f}" if robin and chosen else "–"
                rows.append([bots, by, f"{100 * share:.0f} %", robin or "more", chosen or "more", ratio])
    headers = ["bots", f"top {TOP} right", "of pools", "round robin", "league", "ratio"]
    print(tabulate(rows, headers))


if __name__ == "__main__":
    main()
