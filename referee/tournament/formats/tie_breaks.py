"""Tie-breaks of Swiss tournaments: points, then tie-breaks of one's choice. Pure.

Each meeting with an opponent counts by itself. A bye counts as an opponent that has as many points as the bot
itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from referee.core.settings import STANDARD_POINTS, PointScale
from referee.records.record import Summary
from referee.tournament.formats.section import Standing, points
from referee.tournament.schedule import Encounter

UP, DOWN = 1, -1  # how a bot floats that meets one with more, or with fewer points


class Met(NamedTuple):
    """What a bot did in a round."""

    opponent: str  # empty for a bye
    points: float
    wins: int  # how many games it won
    encounter: Encounter | None  # none for a bye


class Scores:
    """The points, opponents and byes of all bots after some rounds."""

    def __init__(self, seeding: Sequence[str], scale: PointScale = STANDARD_POINTS) -> None:
        self.seeding = tuple(seeding)
        self.points = dict.fromkeys(seeding, 0.0)
        self.course: dict[str, list[Met]] = {bot: [] for bot in seeding}
        """What each bot did, round by round; shorter for one that was not paired any more."""
        self.meetings: Counter[tuple[str, str]] = Counter()
        """How often a bot met an opponent, by both of them, in both orders."""
        self.byes: Counter[str] = Counter()
        self.rounds: list[tuple[Sequence[Encounter], str | None]] = []
        """The encounters and the bye of each round."""
        self.floats: dict[str, list[int]] = {bot: [] for bot in seeding}
        """For each round, `UP` where a bot met one with more points, `DOWN` where it met one with fewer, or
        had a bye, else 0.
        """
        self._scale = scale

    def add(self, encounters: Sequence[Encounter], bye: str | None, games: Mapping[str, Summary]) -> None:
        """Adds a round."""
        self.rounds.append((encounters, bye))
        for one in encounters:
            bots = one.games[0].bots
            before = [self.points[bot] for bot in bots]
            for bot, less, more in zip(bots, before, before[::-1], strict=True):
                self.floats[bot].append(UP * (more > less) or DOWN * (more < less))
            for bot, other in (bots, bots[::-1]):
                gained = points(one, bot, games, self._scale)
                self.points[bot] += gained
                self.course[bot].append(Met(other, gained, _wins(one, bot, games), one))
                self.meetings[bot, other] += 1
        if bye is not None:
            self.points[bye] += self._scale.bye
            self.course[bye].append(Met("", self._scale.bye, 0, None))
            self.byes[bye] += 1
            self.floats[bye].append(DOWN)

    def order(self) -> list[str]:
        """The bots by points, then by seed."""
        return sorted(self.seeding, key=lambda bot: -self.points[bot])

    def of_opponents(self, bot: str) -> list[float]:
        """The points of all opponents that a bot met."""
        return [self.points[met.opponent or bot] for met in self.course[bot]]


def _wins(one: Encounter, bot: str, games: Mapping[str, Summary]) -> int:
    played = (games[pairing.id] for pairing in one.games if pairing.id in games)
    return sum(game.rated and game.ranks[game.bots.index(bot)] < max(game.ranks) for game in played)


def _buchholz(scores: Scores, bot: str) -> float:
    return sum(scores.of_opponents(bot))


def _cut(scores: Scores, bot: str) -> float:
    return sum(sorted(scores.of_opponents(bot))[1:])


def _median(scores: Scores, bot: str) -> float:
    return sum(sorted(scores.of_opponents(bot))[1:-1])


def _sonneborn_berger(scores: Scores, bot: str) -> float:
    return sum(scores.points[met.opponent or bot] * met.points for met in scores.course[bot])


def _progressive(scores: Scores, bot: str) -> float:
    return sum(accumulate(met.points for met in scores.course[bot]))


class TieBreak(NamedTuple):
    """A number by which bots with equal points are ordered, the largest first."""

    heading: str  # the heading of its column
    value: Callable[[Scores, str], float] | None
    """None for the points against those that are still level, which depends on who they are."""


TIE_BREAKS = {
    "buchholz": TieBreak("Buchholz", _buchholz),
    "buchholz-cut-1": TieBreak("Buchholz cut 1", _cut),
    "median-buchholz": TieBreak("median Buchholz", _median),
    "sonneborn-berger": TieBreak("Sonneborn-Berger", _sonneborn_berger),
    "direct": TieBreak("direct", None),
    "wins": TieBreak("wins", lambda scores, bot: sum(met.wins for met in scores.course[bot])),
    "progressive": TieBreak("progressive", _progressive),
}
"""The tie-breaks by the words of a tournament file."""

DEFAULT_TIE_BREAKS = ("buchholz", "sonneborn-berger", "direct")


def ranked(scores: Scores, tie_breaks: Sequence[str]) -> list[Standing]:
    """The bots by points and these tie-breaks in their order; bots that are level in all share a rank, and
    are in the order of their names.
    """
    columns: dict[str, dict[str, float | str]] = {
        bot: {"points": scores.points[bot]} for bot in scores.seeding
    }
    groups = _divided(sorted(scores.seeding), scores.points)
    for word in tie_breaks:
        heading, value = TIE_BREAKS[word]
        divided = []
        for level in groups:
            values = {bot: value(scores, bot) if value else _direct(scores, bot, level) for bot in level}
            for bot in level:
                columns[bot][heading] = values[bot]
            divided += _divided(level, values)
        groups = divided
    found: list[Standing] = []
    for level in groups:
        rank = len(found) + 1
        found += [Standing(rank, bot, {**columns[bot], "byes": scores.byes[bot]}) for bot in level]
    return found


def _direct(scores: Scores, bot: str, level: Sequence[str]) -> float:
    return sum(met.points for met in scores.course[bot] if met.opponent in level)


def _divided(bots: Sequence[str], values: Mapping[str, float]) -> list[list[str]]:
    """The bots in groups of those that have the same value, the largest first."""
    return [
        [bot for bot in bots if values[bot] == value]
        for value in sorted({values[bot] for bot in bots}, reverse=True)
    ]
