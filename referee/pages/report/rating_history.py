"""The ratings of the bots over the course of a tournament: fitted again after more and more games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.core.pairing import Pairing
from referee.ratings.clusters import clusters
from referee.ratings.pool import Result, fit
from referee.ratings.standings import is_known
from referee.records.record import Summary

MAX_FITS = 30
"""Maximum number of times that the ratings are fitted."""

FEWEST_GAMES = 10
"""With fewer games there is no course worth drawing."""


@dataclass(frozen=True)
class RatingHistory:
    """Ratings after numbers of games."""

    elo: dict[str, list[tuple[int, float]]]
    """For each bot, numbers of games with its Elo after them, from the first fit in which it is rated."""
    between: dict[str, list[tuple[int, float, float]]]
    """For each bot, numbers of games with the ends of its 95 % interval after them, where it has one."""


def course(games: Sequence[Summary], names: Sequence[str], repeats: str) -> RatingHistory | None:
    """The course of the ratings over these games, in the order in which they ended; None for fewer than
    `FEWEST_GAMES` that are rated.
    """
    rated = [game for game in games if game.rated and len(game.bots) > 1]
    if len(rated) < FEWEST_GAMES:
        return None
    results = [
        Result(game.bots, game.ranks, cluster, Pairing.parse(game.id).section)
        for game, cluster in zip(rated, clusters(rated, repeats).of, strict=True)
    ]
    found = RatingHistory({name: [] for name in names}, {name: [] for name in names})
    fits = min(MAX_FITS, len(rated))
    for number in range(1, fits + 1):
        count = len(rated) * number // fits
        pool = fit(results[:count], sorted(names))
        for name in names:
            rating = pool.ratings[name]
            if is_known(rating):
                found.elo[name].append((count, pool.fitted[name]))
            if rating.half_width is not None:
                ends = rating.elo - rating.half_width, rating.elo + rating.half_width
                found.between[name].append((count, *ends))
    return found
