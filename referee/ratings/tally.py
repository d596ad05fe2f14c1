"""The results of each bot, counted game by game as the games come in. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.games.api import share_beaten
from referee.records.record import Summary


@dataclass(slots=True)
class Tally:
    """One bot's results."""

    by_seat: dict[int, list[int]] = field(default_factory=dict)
    """By seat, its losses, draws and wins."""
    faults: Counter[str] = field(default_factory=Counter)
    """How often it committed a fault, by the word of the fault."""
    scores: int = 0
    """The sum of the scores of its rated games, such as tiles left."""
    _halves: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Twice the opponents that it beat, by its seat and the number of opponents in a game: whole numbers, so
    that the sum does not depend on the order of the games.
    """

    @property
    def counts(self) -> tuple[int, int, int]:
        """Losses, draws, wins."""
        losses = draws = wins = 0
        for one in self.by_seat.values():
            losses, draws, wins = losses + one[0], draws + one[1], wins + one[2]
        return losses, draws, wins

    @property
    def games(self) -> int:
        """How many of its games were rated."""
        return sum(map(sum, self.by_seat.values()))

    @property
    def points(self) -> float:
        """The sum of its points. A game gives the share of opponents that it beat, where a tie counts half:
        for two seats, wins and half the draws. For a bot that plays alone, a win gives 1.
        """
        halves: Counter[int] = Counter()
        for (_, others), count in self._halves.items():
            halves[others] += count
        return sum(count / (2 * others) for others, count in sorted(halves.items()))

    def points_of_seat(self, seat: int) -> float:
        """The sum of its points in one seat."""
        return sum(halves / (2 * others) for (own, others), halves in self._halves.items() if own == seat)

    @property
    def score(self) -> float | None:
        """Its points as a share of its games, from 0 to 1; None where it has none."""
        games = self.games
        return self.points / games if games else None

    def add(self, seat: int, game: Summary) -> None:
        """Adds a game that the bot played in this seat."""
        if game.faults[seat]:
            self.faults[game.faults[seat]] += 1
        if not game.rated:
            return
        self.by_seat.setdefault(seat, [0, 0, 0])[result(seat, game)] += 1
        others = max(1, len(game.ranks) - 1)
        self._halves[seat, others] += round(2 * others * share_beaten(game.ranks, seat))
        self.scores += game.scores[seat]


class Tallies:
    """The results of all bots of a run. Adding a game takes time in proportion to its seats."""

    def __init__(self, names: Iterable[str], games: Iterable[Summary] = ()) -> None:
        """Counts the games that there are already; others are added later."""
        self.by_bot = {name: Tally() for name in names}
        self.games = 0
        """How many games there were, unrated ones included."""
        self.unrated = 0
        """The games in which no bot started."""
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


def result(seat: int, game: Summary) -> int:
    """0 for a seat that is not first, 1 for a shared first place, 2 for first place alone."""
    return 0 if game.ranks[seat] > 1 else 1 if game.ranks.count(1) > 1 else 2
