"""The ratings of the bots over the course of a tournament: fitted again after more and more games."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from referee.core.advance import Advance, untold
from referee.core.pairing import Pairing
from referee.processes.parallel import in_order
from referee.ratings.clusters import clusters
from referee.ratings.pool import Result, fit
from referee.records.record import Summary

MAX_FITS = 30
"""Maximum number of times that the ratings are fitted."""

FEWEST_GAMES = 10
"""With fewer games there is no course worth drawing."""


MANY_GAMES = 2000
"""With fewer games, the fits take less time than it takes to start other processes for them."""


@dataclass(frozen=True)
class RatingHistory:
    """Ratings after numbers of games."""

    elo: dict[str, list[tuple[int, float]]]
    """For each bot, numbers of games with its Elo after them, from the first fit in which it is rated."""
    between: dict[str, list[tuple[int, float, float]]]
    """For each bot, numbers of games with the ends of its 95 % interval after them, where it has one."""


class _Point(NamedTuple):
    """The ratings after some games."""

    games: int
    """How many games these are."""
    elo: dict[str, float]
    """Of the bots that are rated."""
    between: dict[str, tuple[float, float]]
    """The 95 % intervals of the bots that have one."""


def course(
    games: Sequence[Summary], names: Sequence[str], repeats: str, workers: int = 0, advance: Advance = untold
) -> RatingHistory | None:
    """The course of the ratings over these games, in the order in which they ended; None for fewer than
    `FEWEST_GAMES` that are rated. Of many games, this many processes fit the ratings, as `in_order` has it.
    """
    rated = [game for game in games if game.rated and len(game.bots) > 1]
    if len(rated) < FEWEST_GAMES:
        return None
    results = [
        Result(game.bots, game.ranks, cluster, Pairing.parse(game.id).section)
        for game, cluster in zip(rated, clusters(rated, repeats).of, strict=True)
    ]

    def point_after(count: int) -> _Point:
        pool = fit(results[:count], sorted(names))
        ratings = pool.ratings.items()
        return _Point(
            count,
            {name: rating.elo for name, rating in ratings if rating.is_known},
            {
                name: (rating.low, rating.high)
                for name, rating in ratings
                if rating.low is not None and rating.high is not None
            },
        )

    found = RatingHistory({name: [] for name in names}, {name: [] for name in names})
    fits = min(MAX_FITS, len(rated))
    # The longest first, so that the processes end at about the same time.
    counts = [len(rated) * number // fits for number in range(fits, 0, -1)]
    with closing(in_order(point_after, counts, workers if len(rated) >= MANY_GAMES else 0)) as points:
        fitted: list[_Point] = []
        for point in points:
            fitted.append(point)
            advance(len(fitted), fits)
    for count, elo, between in reversed(fitted):
        for name, value in elo.items():
            found.elo[name].append((count, value))
        for name, ends in between.items():
            found.between[name].append((count, *ends))
    return found
