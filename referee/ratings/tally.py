"""The results of each bot, counted game by game as the games come in. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.core.settings import STANDARD_POINTS, PointScale
from referee.records.record import Summary


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
