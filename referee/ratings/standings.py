"""The standings of a run: the bots in order, with all figures about each; of the whole and of each section.

Everything here is a function of the set of games: their order does not matter.
Equal bots share a rank, and those that are out have none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from referee.core.pairing import section_of
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.core.text import listed
from referee.ratings.format_tables import FormatTable
from referee.ratings.pool import FittedPool, Rating, Result, fit
from referee.ratings.sprt import SprtResult
from referee.ratings.tally import Clusters, Tallies, Tally, clusters, results_of
from referee.ratings.times import Times
from referee.records.amendments import LeftOut
from referee.records.record import Summary

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


@dataclass(frozen=True)
class Facts:
    """Facts about a run besides its games."""

    changed: Mapping[str, str] = field(default_factory=dict)
    """The bots whose programs changed during the run, with the time of the last change."""
    repeats: str = "cluster"  # what repeated games are taken for, as in `clusters`
    places: Mapping[str, Sequence[FormatPlace]] = field(default_factory=dict)
    """The order of the bots in each section, for formats that have an order of their own."""
    unknown_format: str = ""
    """The name of the format if it is from a file that was not named, so that its order is not known."""
    times: Times | None = None  # the times of moves, where they were read
    left_out: Sequence[LeftOut] = ()  # the bots that the run was last played without
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """The bots that are out of the tournament, which have no rank, with the reason."""
    tests: Sequence[SprtResult] = ()  # the sequential tests of the run as far as they have come
    closed: str = ""  # why no more games begin, where the time of the run is over
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    by_points: bool = False  # whether bots are ordered by points, where the format has no order of its own
    tables: Mapping[str, Sequence[FormatTable]] = field(default_factory=dict)
    """In each section, the tables of the format besides its standings."""
    stages: Mapping[str, str] = field(default_factory=dict)
    """How far each section is, such as `round 3 of 7`; not of those where that says nothing."""
    chosen: tuple[int, int] | None = None
    """How many games were chosen to be counted, and of how many; None where all count. All else that is said
    here is said of the whole run.
    """

    def stopped(self, section: str = "") -> set[str]:
        """The bots of decided sequential tests, of one section or of all."""
        return {
            name
            for test in self.tests
            if test.accepted and section in ("", test.section)
            for name in (test.bot, test.against)
        }

    def of_format(self, section: str) -> dict[str, FormatTable]:
        """The tables of the format in a section, by their names."""
        return {one.name: one for one in self.tables.get(section, ())}


class NextInRank(NamedTuple):
    """A bot compared with the next one in rank."""

    difference: Rating
    superiority: float | None  # the likelihood that it is the stronger of the two, 0 to 1

    @property
    def is_clear(self) -> bool:
        """Whether the 95 % interval of the difference says which of the two is stronger."""
        _, low, high = self.difference
        return low is not None and high is not None and (low > 0 or high < 0)


class StandingsRow(NamedTuple):
    """A row of the standings."""

    rank: int | None  # none for a bot that is out of the tournament
    bot: str
    tally: Tally
    rating: Rating  # its Elo, which says nothing where it has not met any other bot
    expected: float  # the points that the fit expects of it in the games that it played
    ranks: tuple[int, int] | None
    """The first and the last rank that is possible with 95 %; none for a bot without an interval."""
    next: NextInRank | None  # none for the last bot, and where the two cannot be compared
    encounters: int  # its rated encounters that are independent of each other
    columns: Mapping[str, float | str]
    """What its place follows from in a format with an order of its own, by heading."""

    @property
    def is_rated(self) -> bool:
        """Whether it has met any other bot, so that there is an Elo."""
        return self.rating.is_known


@dataclass(frozen=True)
class Standings:
    """The standings of a run or of one section, best first."""

    section: str  # empty for the whole
    bots: Sequence[str]  # in any order
    games: Sequence[Summary]  # in the order of their ids
    clusters: Clusters
    tallies: Tallies
    seats: int  # the number of seats of a game, or the largest where sections differ
    facts: Facts

    @cached_property
    def pool(self) -> FittedPool:
        """The ratings, fitted when they are asked for: what is said of a single game needs none."""
        return fit(self._results, sorted(self.bots)).for_people(self.facts.stopped(self.section))

    @cached_property
    def rows(self) -> Sequence[StandingsRow]:
        """The bots, best first."""
        pool = self.pool
        places = without_withdrawn(self._places(), self.facts.withdrawn)
        independent = _independent(self._results)
        of_group = {name: number for number, group in enumerate(pool.groups) for name in group}
        neighbours = [
            (name, after)
            for (rank, name, _), (rank_after, after, _) in pairwise(places)
            if rank is not None and rank_after is not None and of_group[name] == of_group[after]
        ]
        differences = dict(zip(neighbours, pool.differences(neighbours), strict=True))
        compared = {
            pair[0]: NextInRank(difference, pool.superiority(*pair))
            for pair, difference in differences.items()
        }
        ranked = {name: rank for rank, name, _ in places if rank is not None}
        possible = pool.ranks(ranked)
        if not (self.section in self.facts.places or self.facts.by_points):  # the order may be the right one
            possible = {
                name: (min(first, ranked[name]), max(last, ranked[name]))
                for name, (first, last) in possible.items()
            }
        return [
            StandingsRow(
                rank,
                name,
                self.tallies[name],
                pool.ratings[name],
                pool.expected[name],
                possible.get(name),
                compared.get(name),
                independent.get(name, 0),
                columns,
            )
            for rank, name, columns in places
        ]

    @property
    def own_order(self) -> bool:
        """Whether the order is that of a format, or by points, not that of the ratings."""
        return self.section in self.facts.places or self.facts.by_points or self.seats == 1

    @property
    def names(self) -> list[str]:
        """The bots, best first."""
        return [row.bot for row in self.rows]

    @property
    def title(self) -> str:
        """The games that these are the standings of."""
        played = listed(sorted({game.game for game in self.games}))
        if self.section == played:
            return played
        return f"{self.section or 'all together'}: {played}"

    @cached_property
    def _results(self) -> list[Result]:
        return results_of(self.games, self.clusters.of)

    def _places(self) -> Sequence[FormatPlace]:
        """The places of all bots, of those too that are out of the tournament."""
        if self.section in self.facts.places:
            return self.facts.places[self.section]
        ranked = ranked_by_points if self.facts.by_points else ranked_by_rating
        return ranked(self.bots, self.tallies, self.pool if self.seats > 1 else None)


def standings(
    names: Sequence[str], games: Iterable[Summary], seats: int = 2, facts: Facts | None = None
) -> Standings:
    """The standings of all bots in these games; `seats` is said where there are no games yet."""
    return _standings(names, _by_section(games), seats, facts or Facts(), "")


def with_sections(
    names: Sequence[str], games: Iterable[Summary], seats: int = 2, facts: Facts | None = None
) -> tuple[Standings, list[Standings]]:
    """The standings of the whole, and of each section where there are several.

    Games of bots that play alone have no Elo: they are not in the whole, where there are others.
    """
    facts = facts or Facts()
    by_section = _by_section(games)
    parts = []
    for section, played in by_section.items() if len(by_section) > 1 else ():
        bots = {bot for game in played for bot in game.bots}
        own = [name for name in names if name in bots]
        parts.append(_standings(own, {section: played}, seats, facts, section))
    several = {name: played for name, played in by_section.items() if len(played[0].bots) > 1}
    return _standings(names, several or by_section, seats, facts, ""), parts


def _by_section(games: Iterable[Summary]) -> dict[str, list[Summary]]:
    """The games of each section, both in the order of their names."""
    found: dict[str, list[Summary]] = defaultdict(list)
    for game in sorted(games, key=lambda game: game.id):
        found[section_of(game.id)].append(game)
    return dict(sorted(found.items()))


def _standings(
    names: Sequence[str],
    by_section: Mapping[str, Sequence[Summary]],
    seats: int,
    facts: Facts,
    section: str,
) -> Standings:
    games = [game for played in by_section.values() for game in played]
    seats = max((len(game.bots) for game in games), default=seats)
    found = clusters(games, facts.repeats)
    return Standings(section, names, games, found, Tallies(names, games, facts.points), seats, facts)


def _independent(results: Iterable[Result]) -> dict[str, int]:
    """Counts the clusters of each bot's results."""
    of: dict[str, set[Hashable]] = defaultdict(set)
    for result in results:
        for name in result.bots:
            of[name].add(result.cluster)
    return {name: len(own) for name, own in of.items()}
