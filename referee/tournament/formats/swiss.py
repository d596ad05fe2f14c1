"""Swiss tournaments: in each round, bots with equal points meet. Pure.

The bots are in the order of their points, then of their seeds. A round is paired from the top, by groups of
bots with equal points:

* In a group, the upper half meets the lower half: the first bot meets the first of the lower half, and so on.
* No two bots meet again while it can be avoided; where it cannot, as few pairs as possible do. When all have
  met all, it begins anew.
* Bots that cannot be paired in their group, the lowest ones if that is possible, go on to the next group,
  where they are paired first, with its highest bots. Where the rest could then not be paired without
  meeting again, the whole group is joined to the next.
* Of an odd number of bots, the lowest one that has had the fewest byes has a bye, if the others can be paired
  without meeting again. A bye is worth as many points as an encounter that was won in both games, unless the
  tournament says otherwise.
* A bot that is out is paired no more, and has no bye: see `not_paired_after`.
* Of bots with equal points, one that did not float in the same direction in the last round, then in the one
  before, is taken first: down where it goes on to the next group or has a bye, up where it meets a bot from
  above.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any, ClassVar

from referee.core.rows import Column, Grid
from referee.ratings.format_tables import RANK, FormatTable, halves, name_column
from referee.tournament.formats.format import DEFAULT, Amount, Format, Settings, wrong_seats
from referee.tournament.formats.matching import maximum_matching
from referee.tournament.formats.section import SectionState, Standing, counting, not_paired_after, read_on
from referee.tournament.formats.tie_breaks import (
    DEFAULT_TIE_BREAKS,
    DOWN,
    TIE_BREAKS,
    UP,
    Met,
    Scores,
    ranked,
)
from referee.tournament.schedule import Schedule, wait_for

Pair = tuple[str, str]


def _met(scores: Scores, bots: Collection[str]) -> dict[str, set[str]]:
    """For each of these bots, those that it should not meet again if that can be avoided."""
    met: dict[str, set[str]] = {bot: set() for bot in bots}
    meetings = {pair: times for pair, times in scores.meetings.items() if met.keys() >= {*pair}}
    have_all_met = len(meetings) == len(bots) * (len(bots) - 1)
    fewest = min(meetings.values()) if have_all_met else 0
    for (bot, other), times in meetings.items():
        if times > fewest:
            met[bot].add(other)
    return met


def next_round(scores: Scores, not_paired: Collection[str] = ()) -> tuple[list[Pair], str | None]:
    """The pairs of the round that follows, from the top, and the bot that has a bye. At least two bots have
    to be paired.
    """
    return _Round(scores, not_paired).paired()


class _Round:
    def __init__(self, scores: Scores, not_paired: Collection[str]) -> None:
        self._points = scores.points
        self._byes = scores.byes
        self._floats = scores.floats
        self._order = _without(scores.order(), *not_paired)
        self._met = _met(scores, self._order)
        self._most_met = max(map(len, self._met.values()))

    def paired(self) -> tuple[list[Pair], str | None]:
        """The pairs of the round, from the top, and the bot that has a bye."""
        if len(self._order) % 2 == 0:
            return list(self._pairs(self._order)), None
        bye = self._bye()
        return list(self._pairs(_without(self._order, bye))), bye

    def _bye(self) -> str:
        fewest = min(self._byes[bot] for bot in self._order)
        candidates = [bot for bot in self._lowest_first(self._order) if self._byes[bot] == fewest]
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
        half = len(bots) // 2
        # By Dirac's theorem, where each has at least half of the others to meet there is a cycle of all.
        if len(bots) - 1 - self._most_met >= half:  # soon told of a large group
            return len(bots) % 2
        here = set(bots)
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
        """The bots of a group that cannot be paired in it: as few as possible, the first ones to go down that
        leave no more behind.
        """
        moving: list[str] = []
        for bot in self._lowest_first(group):
            staying = _without(group, *moving)
            over = self._left_over(staying)
            if not over:
                break
            if self._left_over(_without(staying, bot)) < over:
                moving.append(bot)
        return [bot for bot in group if bot in moving]

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
        the top, of those with equal points the ones that did not float up before them.
        """
        equal = [bot for bot in bots if self._points[bot] == self._points[bots[0]]]
        half = len(equal) // 2
        others = sorted(bots[len(equal) :], key=lambda bot: (-self._points[bot], self._floated(bot, UP)))
        return [*equal[max(half, 1) :], *reversed(equal[1:half]), *others]

    def _lowest_first(self, bots: Sequence[str]) -> list[str]:
        """The bots in the order in which they are to go down: by points, the fewest first, then those that
        did not float down before the others, then from the lowest.
        """
        from_below = bots[::-1]
        return sorted(from_below, key=lambda bot: (self._points[bot], self._floated(bot, DOWN)))

    def _floated(self, bot: str, direction: int) -> list[bool]:
        """Whether a bot floated in this direction in the last round, and in the one before."""
        return [before == direction for before in reversed(self._floats.get(bot, [])[-2:])]


def _without(bots: Sequence[str], *others: str) -> list[str]:
    return [bot for bot in bots if bot not in others]


@dataclass(frozen=True)
class Swiss(Format):
    """Rounds in which bots with equal points meet."""

    name: ClassVar[str] = "swiss"
    in_titles: ClassVar[bool] = True
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True

    rounds: int = 0  # at least one, which has to be given: so it is in the header of every run
    seeding: tuple[str, ...] = ()  # all bots, the highest seed first
    tiebreaks: tuple[str, ...] = DEFAULT_TIE_BREAKS
    """What bots with equal points are ordered by, of `TIE_BREAKS`."""

    @classmethod
    def read(cls, settings: Settings) -> Swiss:
        tiebreaks = settings.words("tiebreaks", [*TIE_BREAKS], DEFAULT_TIE_BREAKS)
        return cls(settings.rounds(default=None), settings.order("seeding"), tiebreaks)

    def seeded(self, seeding: Sequence[str]) -> Swiss:
        return replace(self, seeding=tuple(seeding))

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2, or `{DEFAULT}` for other numbers")
        super().check(bots, seats)

    def schedule(self, section: SectionState) -> Schedule:
        """The rounds, each after all results of the one before."""
        return self._rounds(Scores(self.seeding, section.points), self.rounds, section)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(self.rounds * (bots // 2) * seats, True)

    def _counted(self, section: SectionState) -> Scores:
        """The points of the games that count, those of the current round included."""
        return section.read_once(self, lambda: self._count(section))

    def _count(self, section: SectionState) -> Scores:
        as_played = Scores(self.seeding, section.points)
        rounds = self.rounds
        if section.last_round is not None:
            rounds = min(rounds, section.last_round - section.before)
        coming = self._rounds(as_played, rounds, section)
        read_on(coming, section)
        next(coming, None)  # the results of the current round so far
        counted = Scores(self.seeding, section.points)
        for encounters, bye in as_played.rounds:
            counted.add(encounters, bye, counting(encounters, section))
        return counted

    def standings(self, section: SectionState) -> list[Standing]:
        """The bots by points and tie-breaks; equal bots by name."""
        return ranked(self._counted(section), self.tiebreaks)

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The cross table by rounds, and the pairings of the last round that is known."""
        scores = self._counted(section)
        order = section.ordered(ranked(scores, self.tiebreaks))
        pairings = [pairings_table(scores, section)] if scores.rounds else []
        return [rounds_table(scores, order, section), *pairings]

    def stage_of(self, section: SectionState) -> str:
        return f"round {len(self._counted(section).rounds)} of {self.rounds}"

    def _rounds(self, scores: Scores, rounds: int, section: SectionState) -> Schedule:
        """The rounds, each after all results of the one before, which are added to the scores; none when
        fewer than two bots can be paired.
        """
        for number in range(1, rounds + 1):
            played = [one for encounters, _ in scores.rounds for one in encounters]
            not_paired = not_paired_after(played, section)
            if len(scores.seeding) - len(not_paired.intersection(scores.seeding)) < 2:
                return
            pairs, bye = next_round(scores, not_paired)
            encounters = [section.encounter(number, pair) for pair in pairs]
            yield from encounters
            yield wait_for(encounters)  # guard: wait-for-round
            scores.add(encounters, bye, section.games)


def rounds_table(scores: Scores, order: Sequence[str], section: SectionState) -> FormatTable:
    """By bot and round, the opponent's number in the table and the points against it: `5:1½`. What follows
    while the encounter is played is `…`; a bot that is not paired any more has `–`.
    """
    numbers = {bot: str(number) for number, bot in enumerate(order, 1)}

    def cell(met: Met | None) -> str:
        if met is None:
            return "–"
        if met.encounter is None:
            return "bye"
        so_far = halves(met.points) if met.points or _is_over(met, section) else ""
        return f"{numbers[met.opponent]}:{so_far}{'' if _is_over(met, section) else '…'}"

    rounds = range(1, len(scores.rounds) + 1)
    columns = [RANK, name_column("bot"), Column("points", "points")]
    columns += [Column(f"round {number}", str(number)) for number in rounds]
    cells = {bot: [cell(met) for _, met in zip_longest(rounds, scores.course[bot])] for bot in order}
    rows = [[numbers[bot], section.shown(bot), halves(scores.points[bot]), *cells[bot]] for bot in order]
    data = [
        {"number": int(numbers[bot]), "bot": section.shown(bot), "points": scores.points[bot]}
        | {f"round_{number}": text for number, text in zip(rounds, cells[bot], strict=True)}
        for bot in order
    ]
    return FormatTable("rounds", Grid(columns, rows), data, fixed=3)


def pairings_table(scores: Scores, section: SectionState) -> FormatTable:
    """The pairings of the last round that is known, which may not have begun, with the points before it."""
    encounters, bye = scores.rounds[-1]
    number = len(scores.rounds)

    def before(bot: str) -> float:
        return sum(met.points for met in scores.course[bot][:-1])

    data: list[dict[str, Any]] = []
    for one, other in [one.games[0].bots for one in encounters] + ([(bye, "")] if bye else []):
        met = scores.course[one][-1]
        data.append(
            {
                "round": number,
                "bot": section.shown(one),
                "bot_before": before(one),
                "against": section.shown(other) if other else None,
                "against_before": before(other) if other else None,
                "points": met.points,
                "against_points": scores.course[other][-1].points if other else None,
                "over": _is_over(met, section),
            }
        )
    columns = [Column("round", "round"), name_column("bot"), Column("before", "before")]
    columns += [Column("result", "result"), name_column("against"), Column("before against", "before")]
    return FormatTable("pairings", Grid(columns, [_pairing(row) for row in data]), data)


def _pairing(row: dict[str, Any]) -> list[str]:
    points, others = halves(row["points"]), row["against_points"]
    if row["against"] is None:
        return [str(row["round"]), row["bot"], halves(row["bot_before"]), points, "bye", ""]
    result = f"{points}–{halves(others)}"
    if not row["over"]:
        result = f"{result} …" if row["points"] or others else "…"
    against = [row["against"], halves(row["against_before"])]
    return [str(row["round"]), row["bot"], halves(row["bot_before"]), result, *against]


def _is_over(met: Met, section: SectionState) -> bool:
    return met.encounter is None or all(section.is_over(game.id) for game in met.encounter.games)
