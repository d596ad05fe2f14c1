"""How often intervals hold the truth: `python -m tests.tools.coverage [SEEDS]`.

Plays leagues of 8 bots whose strengths are known, fits each of them, and counts how many of the 95 %
intervals hold the truth: of the bots, against the pool's mean; of the differences of all pairs of bots; and
of the advantages of seats. Bounds are counted apart. Each kind of league has so many seeds (2,000 if no
number is given), which take turns in how far the strengths lie apart and in how many games a bot plays.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing import Pool as Processes
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, default_rng
from tabulate import tabulate

from referee.ratings.likelihood import Floats, Integers
from referee.ratings.pool import ELO, Rating, Result, fit

BOTS = tuple(f"bot{number}" for number in range(8))

SPREADS = {"sd 100": 100.0, "sd 200": 200.0, "100 apart": None}
"""How strengths are drawn: normally, with this standard deviation in Elo; or all of them 100 Elo apart."""

GAMES = (3, 6, 14, 40, 100, 400)
"""Games a bot, about."""

SEAT_1 = 40.0
"""What seat 1 is worth, in Elo."""


class Kind(NamedTuple):
    """A kind of league."""

    name: str
    seats: int = 2
    draws: float = 0.0
    """The share of draws between equals."""
    alike: float = 0.0
    """The share of encounters whose games go the same way for the bots; below 0, for the seats."""
    copies: int = 1
    """How often each game is played, with the same result."""
    games: tuple[int, ...] = GAMES


KINDS = (
    Kind("no draws"),
    Kind("30 % draws", draws=0.3),
    Kind("games of a pair alike", alike=0.5),
    Kind("pairs that split, 30 % draws", draws=0.3, alike=-0.5),
    Kind("one round copied 10 times", copies=10, games=(14,)),
    Kind("the same with 30 % draws", draws=0.3, copies=10, games=(14,)),
    Kind("4 seats", seats=4),
    Kind("4 seats, games of a table alike", seats=4, alike=0.3),
)


class League(NamedTuple):
    """A league that was played."""

    strengths: Floats
    """The true strengths, in Elo."""
    seats: Floats
    """The true advantages of the seats, in Elo, each against the mean of the rest."""
    results: list[Result]


def play(kind: Kind, seed: int) -> tuple[str, int, League]:
    """The league of a seed, after its spread and its games a bot."""
    rng = default_rng([KINDS.index(kind), seed])
    spread = list(SPREADS)[seed % len(SPREADS)]
    games = kind.games[seed // len(SPREADS) % len(kind.games)]
    width = SPREADS[spread]
    apart = rng.permutation(np.linspace(-350, 350, len(BOTS)))
    strengths = apart if width is None else rng.normal(0, width, len(BOTS))
    seats = np.linspace(SEAT_1, -SEAT_1, kind.seats) / 2
    table = _pairs if kind.seats == 2 else _tables
    rows = list(table(kind, rng, strengths / ELO, seats / ELO, games))
    results = [result for result in rows for _ in range(kind.copies)]
    return spread, games, League(strengths, seats * kind.seats / (kind.seats - 1), results)


def _pairs(kind: Kind, rng: Generator, strengths: Floats, seats: Floats, games: int) -> Iterator[Result]:
    """Encounters of two games with the seats swapped; for an odd number of games, single games."""
    single = games % 2
    encounter = 0
    for number in range(games if single else games // 2):
        order = rng.permutation(len(BOTS)) if single else _circle(number)
        for one, other in order.reshape(-1, 2):
            first, second = rng.random(2)
            if rng.random() < abs(kind.alike):
                second = first if kind.alike > 0 else 1 - first
            yield _game(kind, strengths, seats, one, other, first, encounter)
            if not single:
                yield _game(kind, strengths, seats, other, one, 1 - second, encounter)
            encounter += 1


def _circle(number: int) -> Integers:
    """The bots in a round of a round robin, those who meet next to each other."""
    turning = np.roll(np.arange(1, len(BOTS)), number)
    line = np.concatenate([[0], turning])
    half = len(BOTS) // 2
    return np.column_stack([line[:half], line[half:][::-1]])


def _game(
    kind: Kind, strengths: Floats, seats: Floats, one: int, other: int, chance: float, encounter: int
) -> Result:
    """A game that seat 1 wins where the chance is small and loses where it is great."""
    score = 1 / (1 + np.exp(strengths[other] + seats[1] - strengths[one] - seats[0]))
    draws = min(kind.draws, 1.8 * min(score, 1 - score))
    won, lost = chance < score - draws / 2, chance >= score + draws / 2
    return Result((BOTS[one], BOTS[other]), (1, 2) if won else (2, 1) if lost else (1, 1), encounter)


def _tables(kind: Kind, rng: Generator, strengths: Floats, seats: Floats, games: int) -> Iterator[Result]:
    """Tables of four, each with four games in which the seats rotate."""
    for number in range(max(1, round(games / 4))):
        for table, bots in enumerate(rng.permutation(len(BOTS)).reshape(-1, 4)):
            common = rng.gumbel(size=4)
            for turn in range(4):
                luck = common if rng.random() < kind.alike else rng.gumbel(size=4)
                order, luck = np.roll(bots, turn), np.roll(luck, turn)
                ranks = np.argsort(np.argsort(-(strengths[order] + seats + luck))) + 1
                yield Result(tuple(BOTS[bot] for bot in order), tuple(ranks.tolist()), (number, table))


def measure(kind: Kind, seed: int) -> Counter[tuple[str, str, object, bool]]:
    """How many intervals held the truth and how many did not: by what, by spread and by games a bot."""
    spread, games, league = play(kind, seed)
    pool = fit(league.results, BOTS)
    truth = dict(zip(BOTS, league.strengths, strict=True))
    found: Counter[tuple[str, str, object, bool]] = Counter()

    def count(what: str, rating: Rating, true: float) -> None:
        if rating.bound:
            held = true >= rating.elo if rating.bound == ">" else true <= rating.elo
            found["bounds", spread, games, held] += 1
        elif rating.half_width is not None:
            found[what, spread, games, abs(true - rating.elo) <= rating.half_width] += 1

    for group in pool.groups:
        mean = np.mean([truth[name] for name in group])
        for place, name in enumerate(group):
            count("bots", pool.ratings[name], truth[name] - mean)
            for other in group[:place]:
                if not pool.difference(name, other).bound:
                    count("differences", pool.difference(name, other), truth[name] - truth[other])
    for rating, true in zip(pool.advantages["", kind.seats], league.seats, strict=True):
        count("seats", rating, true)
    return found


def measured(kind: Kind, seeds: Iterable[int]) -> Counter[tuple[str, str, object, bool]]:
    """The same, of many seeds together."""
    total: Counter[tuple[str, str, object, bool]] = Counter()
    for seed in seeds:
        total.update(measure(kind, seed))
    return total


def share(found: Counter[tuple[str, str, object, bool]], what: str, *keys: object) -> float | None:
    """The share of intervals that held the truth, in percent: of all, or of one spread or number of games."""
    held = {
        side: sum(count for (of, *key, hit), count in found.items()
                  if of == what and hit == side and set(keys) <= set(key))
        for side in (True, False)
    }  # fmt: skip
    return 100 * held[True] / sum(held.values()) if any(held.values()) else None


def main() -> None:
    """Prints the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rows = []
    with Processes() as processes:
        for kind in KINDS:
            parts = processes.starmap(measured, [(kind, range(part, seeds, 16)) for part in range(16)])
            found = sum(parts, Counter())
            rows.append(
                [kind.name, *(share(found, what) for what in ("bots", "differences", "seats", "bounds"))]
                + [share(found, "bots", games) for games in GAMES]
                + [share(found, "bots", spread) for spread in SPREADS]
            )
            print(kind.name, file=sys.stderr)
    headers = ["league", "bots", "differences", "seats", "bounds"]
    headers += [f"{games} games" for games in GAMES] + list(SPREADS)
    print(f"95 % intervals that hold the truth, in percent, of {seeds} seeds each; behind `bounds`, of bots:")
    print(tabulate(rows, headers, floatfmt=".1f"))


if __name__ == "__main__":
    main()
