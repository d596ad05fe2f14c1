"""Swiss tournaments, with their tie-breaks: in each round, bots with equal points meet. Pure.

The bots are in the order of their points, then of their seeds. A round is paired from the top, by groups of
bots with equal points:

* In a group, the upper half meets the lower half: the first bot meets the first of the lower half, and so on.
* No two bots meet again while it can be avoided; where it cannot, as few pairs as possible do. When all have
  met all, it begins anew.
* Bots that cannot be paired in their group, the lowest ones if that is possible, go on to the next group,
  where they are paired first, with its highest bots. Where the rest could then not be paired without
  meeting again, the whole group is joined to the next.
* Of an odd number of bots, the lowest one that has had the fewest byes has a bye, if the others can be paired
  without meeting again. A bye is worth as many points as an encounter that was won in both games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import ClassVar

from referee.records.record import Summary
from referee.tournament.formats.format import DEFAULT, Amount, Format, SectionState, wrong_seats
from referee.tournament.formats.matching import maximum_matching
from referee.tournament.formats.settings import Settings
from referee.tournament.formats.standing import SectionResults, Standing, points, read_on
from referee.tournament.schedule import Encounter, Schedule, encounter, wait_for

BYE = 2.0
"""The points of a bye: both games of an encounter won."""

Pair = tuple[str, str]


class _Scores:
    """The points, opponents and byes of all bots after some rounds."""

    def __init__(self, seeding: Sequence[str]) -> None:
        self.seeding = tuple(seeding)
        self.points = dict.fromkeys(seeding, 0.0)
        self.against: dict[Pair, float] = {}
        """By a bot and an opponent that it met, the bot's points against it, of all their encounters."""
        self.meetings: Counter[Pair] = Counter()
        """How often a bot met an opponent, by both of them, in both orders."""
        self.byes: Counter[str] = Counter()
        self.rounds: list[tuple[Sequence[Encounter], str | None]] = []
        """The encounters and the bye of each round."""

    def add(self, encounters: Sequence[Encounter], bye: str | None, games: Mapping[str, Summary]) -> None:
        """Adds a round."""
        self.rounds.append((encounters, bye))
        for one in encounters:
            bots = one.games[0].bots
            for bot, other in (bots, bots[::-1]):
                gained = points(one, bot, games)
                self.points[bot] += gained
                self.against[bot, other] = self.against.get((bot, other), 0.0) + gained
                self.meetings[bot, other] += 1
        if bye is not None:
            self.points[bye] += BYE
            self.byes[bye] += 1

    def order(self) -> list[str]:
        """The bots by points, then by seed."""
        return sorted(self.seeding, key=lambda bot: -self.points[bot])

    def met(self) -> dict[str, set[str]]:
        """For each bot, those that it should not meet again if that can be avoided."""
        fewest = min(self.meetings[pair] for pair in combinations(self.seeding, 2))
        met: dict[str, set[str]] = {bot: set() for bot in self.seeding}
        for (bot, other), times in self.meetings.items():
            if times > fewest:
                met[bot].add(other)
        return met


class _Round:
    """Pairs the next round."""

    def __init__(self, scores: _Scores) -> None:
        self._points = scores.points
        self._byes = scores.byes
        self._order = scores.order()
        self._met = scores.met()

    def paired(self) -> tuple[list[Pair], str | None]:
        """The pairs of the round, from the top, and the bot that has a bye."""
        if len(self._order) % 2 == 0:
            return list(self._pairs(self._order)), None
        bye = self._bye()
        return list(self._pairs(_without(self._order, bye))), bye

    def _bye(self) -> str:
        fewest = min(self._byes[bot] for bot in self._order)
        candidates = [bot for bot in reversed(self._order) if self._byes[bot] == fewest]
        repeats: dict[str, int] = {}
        for bot in candidates:
            repeats[bot] = self._left_over(_without(self._order, bot))
            if not repeats[bot]:
                break
        return min(repeats, key=lambda bot: repeats[bot])

    def _left_over(self, bots: Sequence[str]) -> int:
        """Counts how many of these bots are left over when as many as possible meet bots that they have not
        met.
        """
        here = set(bots)
        half = len(bots) // 2
        # By Dirac's theorem, where each has at least half of the others to meet there is a cycle of all.
        if all(len(bots) - 1 - len(self._met[bot] & here) >= half for bot in bots):
            return len(bots) % 2
        place = {bot: number for number, bot in enumerate(bots)}
        neighbours = [[place[other] for other in bots if self._may_meet(bot, other)] for bot in bots]
        return maximum_matching(neighbours).count(-1)

    def _may_meet(self, bot: str, other: str) -> bool:
        return bot != other and other not in self._met[bot]

    def _pairs(self, order: Sequence[str]) -> Iterator[Pair]:
        """Pairs an even number of bots, group by group."""
        group: list[str] = []
        rest = list(order)
        fewest = self._left_over(order)
        for _, equal in groupby(order, key=lambda bot: self._points[bot]):
            bots = list(equal)
            group += bots
            rest = rest[len(bots) :]
            if not rest:
                break
            moving = self._moving_on(group)
            if self._left_over([*moving, *rest]) == fewest:
                yield from self._within(_without(group, *moving))
                group = moving
        yield from self._within(group)

    def _moving_on(self, group: Sequence[str]) -> list[str]:
        """The bots of a group that cannot be paired in it: as few as possible, the lowest ones that leave no
        more behind.
        """
        moving: list[str] = []
        for bot in reversed(group):
            staying = _without(group, *moving)
            over = self._left_over(staying)
            if not over:
                break
            if self._left_over(_without(staying, bot)) < over:
                moving.insert(0, bot)
        return moving

    def _within(self, group: Sequence[str]) -> Iterator[Pair]:
        """Pairs all bots of a group: the highest one meets the first opponent that it prefers and that lets
        the others be paired with as few meeting again as possible.
        """
        bots = list(group)
        while bots:
            fewest = self._left_over(bots)
            for other in self._preferred(bots):
                rest = _without(bots, bots[0], other)
                again = 0 if self._may_meet(bots[0], other) else 2
                if self._left_over(rest) + again == fewest:
                    yield bots[0], other
                    bots = rest
                    break

    def _preferred(self, bots: Sequence[str]) -> list[str]:
        """The opponents that the first of these bots may get, in the order in which they are tried: of those
        with equal points the first of the lower half, those below it, those above it; then all others, from
        the top.
        """
        equal = [bot for bot in bots if self._points[bot] == self._points[bots[0]]]
        half = len(equal) // 2
        return [*equal[max(half, 1) :], *reversed(equal[1:half]), *bots[len(equal) :]]


def _without(bots: Sequence[str], *others: str) -> list[str]:
    return [bot for bot in bots if bot not in others]


@dataclass(frozen=True)
class Swiss(Format):
    """Rounds in which bots with equal points meet."""

    name: ClassVar[str] = "swiss"
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True

    rounds: int = 1
    seeding: tuple[str, ...] = ()
    """All bots, the highest seed first."""

    @classmethod
    def read(cls, settings: Settings) -> Swiss:
        return cls(settings.rounds(default=None), settings.order("seeding"))

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2, or `{DEFAULT}` for other numbers")
        super().check(bots, seats)

    def schedule(self, state: SectionState) -> Schedule:
        """The rounds, each after all results of the one before."""
        return self._schedule(_Scores(self.seeding), state.section, state.games)

    def _schedule(self, scores: _Scores, section: str, games: Mapping[str, Summary]) -> Schedule:
        for number in range(1, self.rounds + 1):
            pairs, bye = _Round(scores).paired()
            encounters = [encounter(number, pair, section=section) for pair in pairs]
            yield from encounters
            yield wait_for(encounters)  # guard: wait-for-round
            scores.add(encounters, bye, games)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(self.rounds * (bots // 2) * seats, True)

    def standings(self, results: SectionResults) -> list[Standing]:
        """The bots by points, Buchholz, Sonneborn-Berger and direct meeting; equal bots by name.

        * Buchholz: the sum of the points of all opponents, for each meeting.
        * Sonneborn-Berger: the sum of the points of each opponent times the own points against it.
        * In both, a bye counts as an opponent that has as many points as the bot itself.
        * Direct meeting: the points against those bots that are equal in all this.
        """
        as_played = _Scores(self.seeding)
        coming = self._schedule(as_played, results.section, results.games)
        read_on(coming, results)
        next(coming, None)  # the results of the current round so far
        counted = _Scores(self.seeding)
        counting = {game: what for game, what in results.games.items() if game not in results.annulled}
        for encounters, bye in as_played.rounds:
            counted.add(encounters, bye, counting)
        return _ranked(counted)


def _ranked(scores: _Scores) -> list[Standing]:
    keys = {
        bot: (scores.points[bot], _buchholz(scores, bot), _sonneborn_berger(scores, bot))
        for bot in scores.seeding
    }
    found: list[Standing] = []
    for key in sorted(set(keys.values()), reverse=True):
        equal = [bot for bot in scores.seeding if keys[bot] == key]
        direct = {bot: sum(scores.against.get((bot, other), 0.0) for other in equal) for bot in equal}
        first = len(found) + 1
        for place, bot in enumerate(sorted(equal, key=lambda bot: (-direct[bot], bot)), first):
            is_level = place > first and direct[bot] == found[-1].columns["direct"]
            columns = dict(zip(("points", "Buchholz", "Sonneborn-Berger"), key, strict=True))
            rank = found[-1].rank if is_level else place
            found.append(Standing(rank, bot, {**columns, "direct": direct[bot], "byes": scores.byes[bot]}))
    return found


def _buchholz(scores: _Scores, bot: str) -> float:
    met = sum(scores.points[other] * times for (one, other), times in scores.meetings.items() if one == bot)
    return met + scores.byes[bot] * scores.points[bot]


def _sonneborn_berger(scores: _Scores, bot: str) -> float:
    met = sum(scores.points[other] * own for (one, other), own in scores.against.items() if one == bot)
    return met + scores.byes[bot] * BYE * scores.points[bot]
