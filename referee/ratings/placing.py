"""The order of bots by rating or points; equal ones share a rank, and bots that are out have none. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from referee.ratings.pool import FittedPool
from referee.ratings.tally import Tallies

FormatPlace = tuple[int, str, Mapping[str, float | str]]
"""A bot's place in the order of a format: the rank, the bot, and what the place follows from, by heading."""

RankedBot = tuple[int | None, str, Mapping[str, float | str]]
"""The same; None is the rank of a bot that is out of the tournament."""


def ranked_by_rating(names: Collection[str], tallies: Tallies, pool: FittedPool | None) -> list[FormatPlace]:
    """The bots, best first: by their ratings, or where there are none, as for bots that play alone, by the
    share of games won and then by the mean score, such as tiles left, of which less is better. Bots that have
    not played are last, after those without a rating. Those that only their names tell apart share a rank.
    """

    def key(name: str) -> tuple[bool, bool, float, float]:
        tally = tallies[name]
        if pool or not tally.games:
            is_rated = pool is not None and name in pool.rows
            return not tally.games, not is_rated, -round(pool.ratings[name].elo, 6) if pool else 0.0, 0.0
        return False, False, -(tally.score or 0.0), tally.scores / tally.games

    found: list[FormatPlace] = []
    before = None
    for name in sorted(names, key=lambda name: (key(name), name)):
        rank = found[-1][0] if found and key(name) == before else len(found) + 1
        found.append((rank, name, {}))
        before = key(name)
    return found


def ranked_by_points(names: Collection[str], tallies: Tallies, pool: FittedPool | None) -> list[FormatPlace]:
    """The bots by their points; those with equal points as `ranked_by_rating` has them."""
    rated = ranked_by_rating(names, tallies, pool)
    found: list[FormatPlace] = []
    before = None
    for place, name, _ in sorted(rated, key=lambda one: (-tallies[one[1]].points, one[0])):
        key = tallies[name].points, place
        rank = found[-1][0] if key == before else len(found) + 1
        found.append((rank, name, {"points": key[0]}))
        before = key
    return found


def without_withdrawn(places: Sequence[FormatPlace], withdrawn: Collection[str]) -> list[RankedBot]:
    """The places with those that are out of the tournament at the end; who was behind them moves up."""
    gone = [rank for rank, name, _ in places if name in withdrawn]
    return [
        *(
            (rank - sum(other < rank for other in gone), name, columns)
            for rank, name, columns in places
            if name not in withdrawn
        ),
        *((None, name, columns) for _, name, columns in places if name in withdrawn),
    ]
