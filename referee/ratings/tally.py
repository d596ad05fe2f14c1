"""What games count for: points of each bot, results of pairs of bots, and evidence. Pure.

The games of an encounter are a cluster, since they are not independent. Games in which the same bots had the
same seats in the same section, and whose events are the same to the letter, are one piece of evidence however
often they are played: their encounters share a cluster.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from referee.core.pairing import Pairing, section_of
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.gameplay.events import Ending
from referee.ratings.pool import Result
from referee.records.record import FORFEITS, Summary


@dataclass(slots=True)
class Tally:
    """One bot's results."""

    rankings: Counter[tuple[int, tuple[int, ...]]] = field(default_factory=Counter)
    """How many rated games it had by its seat and the ranks of all seats. All other counts follow from these,
    so none depends on the order of the games.
    """
    faults: Counter[str] = field(default_factory=Counter)
    """How often it committed a fault, by the word of the fault."""
    scores: int = 0  # the sum of the scores of its rated games, such as tiles left
    scale: PointScale = STANDARD_POINTS  # how many points a game gives

    @property
    def counts(self) -> tuple[int, int, int]:
        """Losses, draws, wins."""
        losses, draws, wins = (sum(column) for column in zip((0, 0, 0), *self.by_seat.values(), strict=True))
        return losses, draws, wins

    @property
    def by_seat(self) -> dict[int, list[int]]:
        """The losses, draws and wins of each seat."""
        found: dict[int, list[int]] = {}
        for (seat, ranks), count in self.rankings.items():
            found.setdefault(seat, [0, 0, 0])[result(seat, ranks)] += count
        return found

    @property
    def games(self) -> int:
        """How many of its games were rated."""
        return self.rankings.total()

    @property
    def points(self) -> float:
        """The sum of its points by the scale of the tournament. By the standard one a game gives the share of
        opponents that it beat, where a tie counts half: for two seats, wins and half the draws. For a bot
        that plays alone, a win gives 1.
        """
        return _points(self.rankings.items(), self.scale)

    def points_of_seat(self, seat: int) -> float:
        """The sum of its points in one seat, by the standard scale."""
        return _points(item for item in self.rankings.items() if item[0][0] == seat)

    @property
    def score(self) -> float | None:
        """Its points by the standard scale as a share of its games, from 0 to 1; None where it has none."""
        games = self.games
        return _points(self.rankings.items()) / games if games else None

    def add(self, seat: int, game: Summary) -> None:
        """Adds a game that the bot played in this seat."""
        if game.faults[seat]:
            self.faults[game.faults[seat]] += 1
        if game.rated:
            self.rankings[seat, game.ranks] += 1
            self.scores += game.scores[seat]


def _points(
    rankings: Iterable[tuple[tuple[int, tuple[int, ...]], int]], scale: PointScale = STANDARD_POINTS
) -> float:
    """The points of these games, summed in whole numbers by the number of opponents, so without rounding."""
    halves: Counter[int] = Counter()
    for (seat, ranks), count in rankings:
        others = max(1, len(ranks) - 1)
        halves[others] += count * scale.halves(ranks, seat)
    return sum(count / (2 * others) for others, count in sorted(halves.items()))


def result(seat: int, ranks: tuple[int, ...]) -> int:
    """0 for a seat that is not first, 1 for a shared first place, 2 for first place alone."""
    return 0 if ranks[seat] > 1 else 1 if ranks.count(1) > 1 else 2


class Tallies:
    """The results of all bots of a run. Adding a game takes time in proportion to its seats."""

    def __init__(
        self, names: Iterable[str], games: Iterable[Summary] = (), scale: PointScale = STANDARD_POINTS
    ) -> None:
        """Counts the games that there are already; others are added later."""
        self.by_bot = {name: Tally(scale=scale) for name in names}
        self.games = 0  # how many games there were, unrated ones included
        self.unrated = 0  # the games in which no bot started
        for game in games:
            self.add(game)

    def add(self, game: Summary) -> None:
        """Adds a game to the results of its bots."""
        self.games += 1
        self.unrated += not game.rated
        for seat, name in enumerate(game.bots):
            self.by_bot[name].add(seat, game)

    def __getitem__(self, name: str) -> Tally:
        """The results of a bot."""
        return self.by_bot[name]


_NOT_STARTED = {Ending.START.word, *FORFEITS}  # the faults of bots that did not start in a game


class Clusters(NamedTuple):
    """The clusters of a list of games."""

    of: list[int]  # the number of the cluster of each game
    repeats: int  # how many games repeat another one; of three games that are alike, two do


def clusters(games: Sequence[Summary], repeats: str = "cluster") -> Clusters:
    """The clusters of the games; with `repeats="count"`, repeated games are taken as independent."""
    parents = list(range(len(games)))
    # Numbers in place of tuples of texts: there may be millions of games.
    bots: dict[str, int] = defaultdict(itertools.count().__next__)
    places: dict[str, int] = defaultdict(itertools.count().__next__)
    sections: dict[str, int] = defaultdict(itertools.count().__next__)
    first_of_encounter: dict[int, int] = {}
    first_of_seats: dict[int, int] = {}
    first_of_events: dict[tuple[int, str], int] = {}  # of games whose bots had the same seats before
    repeated = 0
    for number, game in enumerate(games):
        place, *names = game.id.split(":")
        seats = sorted([bots[name] for name in names])
        first = first_of_encounter.setdefault(_key(places[place], seats), number)
        if first != number:
            _unite(parents, number, first)
        if not game.digest or game.is_forfeited:
            continue
        key = _key(sections[section_of(place)], [bots[name] for name in game.bots])
        if (first := first_of_seats.setdefault(key, number)) == number:
            continue
        first_of_events.setdefault((key, games[first].digest), first)
        if (first := first_of_events.setdefault((key, game.digest), number)) == number:
            continue
        repeated += 1
        if repeats != "count":
            _unite(parents, number, first)  # guard: repeated-games
    return Clusters([_root(parents, number) for number in range(len(games))], repeated)


def _key(first: int, numbers: Iterable[int]) -> int:
    """A number for a number and others after it, of fewer than 2³² each."""
    for number in numbers:
        first = first << 32 | number
    return first


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = number = parents[parents[number]]
    return number


def _unite(parents: list[int], one: int, other: int) -> None:
    one, other = sorted((_root(parents, one), _root(parents, other)))
    parents[other] = one


def results_of(games: Sequence[Summary], of: Sequence[int]) -> list[Result]:
    """The results from which ratings follow, of games each of which is of a cluster. Bots that never started
    are left out: nothing shows how strong they are.
    """
    started = {
        bot
        for game in games
        for bot, fault in zip(game.bots, game.faults, strict=True)
        if fault not in _NOT_STARTED
    }
    found = []
    for game, cluster in zip(games, of, strict=True):
        bots, ranks = game.bots, game.ranks
        if not started.issuperset(bots):
            seats = [seat for seat, bot in enumerate(bots) if bot in started]
            bots, ranks = tuple(bots[seat] for seat in seats), tuple(ranks[seat] for seat in seats)
        if len(bots) > 1 and game.is_evidence:
            found.append(Result(bots, ranks, cluster, section_of(game.id)))
    return found


Counts = list[int]  # losses, draws, wins; or pairs of games by their points: 0, ½, 1, 1½, 2


def crosstable(games: Iterable[Summary]) -> dict[tuple[str, str], Counts]:
    """The losses, draws and wins of the first bot against the second, for all that met, either way round.

    In a game with more than two seats a bot wins against those that it is placed before.
    """
    counts: dict[tuple[str, str], Counts] = defaultdict(lambda: [0, 0, 0])
    for game in games:
        if not game.rated:
            continue
        for (one, rank), (other, other_rank) in combinations(zip(game.bots, game.ranks, strict=True), 2):
            result = 1 + (rank < other_rank) - (rank > other_rank)
            counts[one, other][result] += 1
            counts[other, one][2 - result] += 1
    return dict(counts)


def pentanomial(
    games: Sequence[Summary], clusters: Sequence[int], bots: Collection[str]
) -> dict[tuple[str, str], Counts]:
    """Counts, for games of two of these bots with two seats, the pairs by the points of the first bot, for
    bots in alphabetical order.

    A pair is the two rated games of an encounter, both played, one in either seating. `clusters` has the
    cluster of each game: a pair in a cluster that has one already is a repeat, and does not count.
    """
    halves: dict[tuple[str, ...], Summary] = {}
    seen: set[tuple[str, str, int]] = set()
    counts: dict[tuple[str, str], Counts] = defaultdict(lambda: [0] * 5)
    for game, cluster in zip(games, clusters, strict=True):
        if len(game.bots) != 2 or not game.is_evidence or any(bot not in bots for bot in game.bots):
            continue
        encounter = Pairing.parse(game.id).encounter
        before = halves.pop(encounter, None)
        if before is None or before.bots == game.bots:
            halves[encounter] = game
            continue
        one, other = sorted(game.bots)
        if (one, other, cluster) in seen:  # guard: repeated-pairs
            continue
        seen.add((one, other, cluster))
        counts[one, other][_halves(before, one) + _halves(game, one)] += 1
    return dict(counts)


def _halves(game: Summary, bot: str) -> int:
    """Twice the points of a bot in a game with two seats."""
    own = game.bots.index(bot)
    return 1 + (game.ranks[own] < game.ranks[1 - own]) - (game.ranks[own] > game.ranks[1 - own])
