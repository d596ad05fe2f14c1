"""Ratings over the tournament: fitted again after more and more games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from referee.core.work import Advance, untold
from referee.processes.parallel import in_order
from referee.ratings.pool import FittedPool, Rating, fit
from referee.ratings.tally import clusters, results_of
from referee.records.record import Summary

MAX_FITS = 30  # maximum number of times that the ratings are fitted

MANY_BOTS = 100  # with more bots, a fit takes long

FEW_FITS = 5  # maximum number of times that the ratings of so many are fitted

MAX_BOTS = 500  # with more bots there is no course: a fit takes many seconds

FEWEST_GAMES = 10  # with fewer games there is no course worth drawing


MANY_GAMES = 2000  # with fewer games, the fits take less time than it takes to start other processes for them


@dataclass(frozen=True)
class RatingHistory:
    """Ratings after numbers of games."""

    elo: dict[str, list[tuple[int, float]]]
    """For each bot, the best one first, numbers of games with its Elo after them, from the first fit in which
    it is rated.
    """
    between: list[tuple[int, float, float]]
    """Numbers of games with the ends of the 95 % interval of the first bot after them."""


class _Point(NamedTuple):
    """The ratings after some games."""

    games: int  # how many games these are
    elo: dict[str, float]  # of the bots that are rated
    first: Rating  # of the first bot


def course(
    games: Sequence[Summary],
    names: Sequence[str],
    whole: FittedPool,
    repeats: str,
    workers: int = 0,
    advance: Advance = untold,
) -> RatingHistory | None:
    """The course of the ratings of these bots over all games, in the order in which they ended; None for
    fewer than `FEWEST_GAMES` that are rated. It ends with `whole`, the ratings after all games. Of many
    games, this many processes fit the others, as `in_order` has it.
    """
    rated = results_of(games, clusters(games, repeats).of)
    if len(rated) < FEWEST_GAMES:
        return None

    def point_of(pool: FittedPool, count: int) -> _Point:
        elo = {name: pool.ratings[name].elo for name in names if name in pool.rows}
        return _Point(count, elo, pool.ratings[names[0]])

    def point_after(count: int) -> _Point:
        return point_of(fit(rated[:count], names, with_intervals=names[:1]), count)

    found = RatingHistory({name: [] for name in names}, [])
    bots = len({bot for result in rated for bot in result.bots})
    fits = min(MAX_FITS if bots <= MANY_BOTS else FEW_FITS, len(rated))
    # The longest first, so that the processes end at about the same time.
    counts = [len(rated) * number // fits for number in range(fits - 1, 0, -1)]
    with closing(in_order(point_after, counts, workers if len(rated) >= MANY_GAMES else 0)) as points:
        fitted = [point_of(whole, len(rated))]
        for point in points:
            fitted.append(point)
            advance(len(fitted), fits)
    for count, elo, (_, low, high) in reversed(fitted):
        for name, value in elo.items():
            found.elo[name].append((count, value))
        if low is not None and high is not None and math.isfinite(high - low):
            found.between.append((count, low, high))
    return found
