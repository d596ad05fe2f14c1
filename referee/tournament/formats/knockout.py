"""Knockouts: of two bots that meet, one goes on to the next stage. Pure.

* The bots stand in the bracket by their seeds so that the two highest can meet in the final only. Where their
  number is no power of two, the highest seeds have a bye in the first stage.
* A series is the best of an odd number of encounters, counted in points of games. It ends as soon as one bot
  can no longer draw level. When it is level after the last encounter, the next one that is not level decides
  it, of at most as many again; then the higher seed goes on.
* A stage is played in waves: the first encounters of all its series, then the second ones of those series
  that are not decided, and so on.
* The losers of the semifinals may play for the third place, in the stage of the final.
* A bot that is out forfeits the series that it plays, and whoever would meet it in the next stage has a bye:
  see `not_paired_after`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from referee.core.rows import Column, Grid
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.core.text import counted
from referee.ratings.format_tables import DECIDED_BY_SEED, LAST_SERIES, FormatTable, halves, name_column
from referee.records.record import Summary
from referee.tournament.formats.format import DEFAULT, Amount, Format, Settings, wrong_seats
from referee.tournament.formats.section import SectionState, Standing, not_paired_after, points, read_on
from referee.tournament.schedule import Encounter, Schedule, wait_for

_LOST_TO = "lost to"  # the heading of the column with the bot that beat this one

MAX_OF_SERIES = 999

_Pair = tuple[str, str]

MAX_STAGES = 4  # of a larger bracket the last stages are drawn; its data has all

THIRD_PLACE = "third place"

BY_SEED = "*"  # what marks the points of a bot that goes on by its seed


class SeriesScore(NamedTuple):
    """A series as far as it was played, or a bye."""

    stage: int  # counted from 1
    place: int  # its place in the stage, from the top, counted from 0; −1 of the match for the third place
    bots: tuple[str, str]  # in the order of the bracket; one of a bye is empty
    points: tuple[float, float]
    games: int  # how many games were played
    winner: str  # empty while it is not decided

    @property
    def decided_by(self) -> str | None:
        """What decided it: points, the seed or a bye."""
        if not all(self.bots):
            return "bye"
        if not self.winner:
            return None
        return "seed" if self.points[0] == self.points[1] else "points"

    def points_text(self, at: int) -> str:
        """The points of one of the bots, marked where they did not decide."""
        if not all(self.bots):
            return "bye" if self.bots[at] else ""
        if not self.games:
            return ""
        by_seed = self.decided_by == "seed" and self.winner == self.bots[at]
        return f"{halves(self.points[at])}{BY_SEED * by_seed}"


class _Series:
    def __init__(self, higher: str, lower: str, best_of: int, scale: PointScale) -> None:
        """`higher` is the bot with the higher seed."""
        self.bots = (higher, lower)
        self._best_of = best_of
        self._scale = scale
        self._encounters = 0
        self._points = [0.0, 0.0]  # the points of the higher seed, and of the lower
        self.given: list[Encounter] = []  # its encounters so far, the last of which may not be over

    @property
    def is_decided(self) -> bool:
        games_left = 2 * max(self._best_of - self._encounters, 0)
        most = games_left * (self._scale.win - self._scale.loss)
        higher, lower = self._points
        return abs(higher - lower) > most or self._encounters == 2 * self._best_of

    @property
    def winner_and_loser(self) -> tuple[str, str]:
        """The bot that goes on and the one that is out, when that is decided."""
        higher, lower = self.bots
        return (higher, lower) if self._points[0] >= self._points[1] else (lower, higher)

    def score(self, bot: str) -> str:
        """The points of one of the bots and of the other; where they are level, what decided."""
        own, other = self._points if bot == self.bots[0] else self._points[::-1]
        return f"{own:g}–{other:g}{DECIDED_BY_SEED if self.is_decided and own == other else ''}"

    def so_far(self, stage: int, place: int, bots: _Pair, games: Mapping[str, Summary]) -> SeriesScore:
        """The series with the results of encounters that are not over; `bots` in the order of the bracket."""
        one, other = (sum(points(each, bot, games, self._scale) for each in self.given) for bot in bots)
        played = sum(pairing.id in games for each in self.given for pairing in each.games)
        winner = self.winner_and_loser[0] if self.is_decided else ""
        return SeriesScore(stage, place, bots, (one, other), played, winner)

    def add(self, one: Encounter, games: Mapping[str, Summary]) -> None:
        higher, lower = self.bots
        self._encounters += 1
        self._points[0] += points(one, higher, games, self._scale)
        self._points[1] += points(one, lower, games, self._scale)


class _Course:
    """A knockout, as far as its results are known."""

    def __init__(self, settings: Knockout, scale: PointScale = STANDARD_POINTS) -> None:
        self.seeding = settings.seeding
        self._best_of = settings.best_of
        self._third_place = settings.third_place
        self._scale = scale
        self.passed = dict.fromkeys(self.seeding, 0)
        """How many stages each bot has passed; the winner has passed all."""
        self.lost_to: dict[str, str] = {}
        """By bot that is out, the one that it lost to, the match for the third place left aside."""
        self.third: tuple[str, ...] = ()  # the winner and the loser of the match for the third place
        self.stages: list[list[tuple[_Pair, _Series | None]]] = []
        """By stage that has begun, the bots that meet with their series; None for a bye."""
        self.third_series: _Series | None = None  # the match for the third place
        self.last_series: dict[str, _Series] = {}  # the series that each bot played last

    def schedule(self, section: SectionState) -> Schedule:
        """All encounters, stage by stage and wave by wave."""
        places = _bracket(self.seeding)
        losers: list[str] = []
        given: list[Encounter] = []
        for number in range(1, _stages(self.seeding) + 1):
            not_paired = not_paired_after(given, section)
            places = ["" if bot in not_paired else bot for bot in places]
            losers = [bot for bot in losers if bot not in not_paired]
            matches = list(zip(places[::2], places[1::2], strict=True))
            self.stages.append([(match, self._series(match) if all(match) else None) for match in matches])
            series = [one for _, one in self.stages[-1] if one]
            has_third = self._third_place and len(matches) == 1 and len(losers) == 2
            third = [self._series(losers)] if has_third else []
            self.third_series = third[0] if third else None
            self.last_series.update((bot, one) for one in (*series, *third) for bot in one.bots)
            yield from _waves(number, [*series, *third], section)
            given += [begun for one in (*series, *third) for begun in one.given]
            self.third = third[0].winner_and_loser if third else ()
            self.lost_to.update((loser, winner) for winner, loser in (one.winner_and_loser for one in series))
            losers = [loser for match in matches for loser in match if loser in self.lost_to]
            places = [next((bot for bot in match if bot not in ("", *losers)), "") for match in matches]
            for bot in filter(None, places):
                self.passed[bot] += 1

    def so_far(self, games: Mapping[str, Summary]) -> list[SeriesScore]:
        """All series of the stages that have begun, and byes."""
        found = []
        for number, stage in enumerate(self.stages, 1):
            for place, (bots, one) in enumerate(stage):
                bye = SeriesScore(number, place, bots, (0.0, 0.0), 0, "".join(bots))
                found.append(one.so_far(number, place, bots, games) if one else bye)
        if self.third_series:
            found.append(self.third_series.so_far(len(self.stages), -1, self.third_series.bots, games))
        return found

    def _series(self, bots: Sequence[str]) -> _Series:
        higher, lower = sorted(bots, key=self.seeding.index)
        return _Series(higher, lower, self._best_of, self._scale)


def first_matches(seeding: Sequence[str]) -> list[_Pair]:
    """The bots that meet in the first stage; those with a bye are left out."""
    places = _bracket(seeding)
    return [pair for pair in zip(places[::2], places[1::2], strict=True) if all(pair)]


def _bracket(seeding: Sequence[str]) -> list[str]:
    """The bots in the order of the bracket: neighbours meet, then the winners of neighbours. An empty name is
    a bye.
    """
    seeds = [0]
    while len(seeds) < len(seeding):
        last = 2 * len(seeds) - 1
        seeds = [one for seed in seeds for one in (seed, last - seed)]
    return [seeding[seed] if seed < len(seeding) else "" for seed in seeds]


def _waves(number: int, series: Sequence[_Series], section: SectionState) -> Schedule:
    """The encounters of all series of a stage."""
    part = 0
    while still := [one for one in series if not one.is_decided]:
        part += 1
        encounters = [section.encounter(number, one.bots, part) for one in still]
        for one, begun in zip(still, encounters, strict=True):
            one.given.append(begun)
        yield from encounters
        yield wait_for(encounters)  # guard: wait-for-wave
        for one, played in zip(still, encounters, strict=True):
            one.add(played, section.games)


@dataclass(frozen=True)
class Knockout(Format):
    """Stages from which the winners of series go on."""

    name: ClassVar[str] = "knockout"
    in_titles: ClassVar[bool] = True
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True
    bot_columns: ClassVar[Collection[str]] = (_LOST_TO,)
    no_course: ClassVar[str] = (
        "In a knockout most bots play only a few games, too few to show how ratings developed."
    )

    best_of: int = 1  # how many encounters a series has, an odd number
    seeding: tuple[str, ...] = ()  # all bots, the highest seed first
    third_place: bool = False  # whether the losers of the semifinals meet

    @classmethod
    def read(cls, settings: Settings) -> Knockout:
        seeding = settings.order("seeding")
        best_of = settings.fields.number("best_of", 1, MAX_OF_SERIES, default=1)
        if best_of % 2 == 0:
            raise settings.fields.wrong("best_of", "an odd number")
        return cls(best_of, seeding, settings.fields.flag("third_place", False))

    @property
    def rounds(self) -> int:
        """How many stages it has."""
        return max(_stages(self.seeding), 1)

    @property
    def parts(self) -> int:
        return 2 * self.best_of

    @property
    def description(self) -> str:
        series = f", best of {self.best_of}" if self.best_of > 1 else ""
        return f"{self.name}{series}, {counted(self.rounds, 'stage')}"

    def seeded(self, seeding: Sequence[str]) -> Knockout:
        return replace(self, seeding=tuple(seeding))

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2, or `{DEFAULT}` for other numbers")
        super().check(bots, seats)

    def schedule(self, section: SectionState) -> Schedule:
        """All encounters, stage by stage and wave by wave."""
        return _Course(self, section.points).schedule(section)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        """At most so many: where all series are level to the end."""
        series = bots - 1 + (self.third_place and bots > 3)
        return Amount(series * 2 * self.best_of * seats, False)

    def _course(self, section: SectionState) -> _Course:
        def course() -> _Course:
            played = _Course(self, section.points)
            read_on(played.schedule(section), section)
            return played

        return section.read_once(self, course)

    def standings(self, section: SectionState) -> list[Standing]:
        """The bots by the stage that they reached, then by the match for the third place. Bots that are level
        share a rank, and are in the order of their seeds.
        """
        played = self._course(section)

        def level(bot: str) -> tuple[int, bool]:
            return played.passed[bot], bot in played.third[:1]

        found: list[Standing] = []
        for bot in sorted(self.seeding, key=level, reverse=True):
            is_level = bool(found) and level(found[-1].bot) == level(bot)
            rank = found[-1].rank if is_level else len(found) + 1
            left = _stages(self.seeding) - played.passed[bot]
            reached = stage_name(left) if left else "winner"
            series = played.last_series.get(bot)
            columns: dict[str, float | str] = {
                "reached": reached,
                _LOST_TO: played.lost_to.get(bot, "–"),
                LAST_SERIES: series.score(bot) if series else "–",
            }
            found.append(Standing(rank, bot, columns))
        return found

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The bracket, and the series of the current stage."""
        played = self._course(section)
        series, stages = played.so_far(section.games), _stages(self.seeding)
        if not series:
            return []
        return [make(series, stages, section.shown) for make in (bracket_table, stage_table)]

    def stage_of(self, section: SectionState) -> str:
        """The stage that is played, or the winner."""
        played = self._course(section)
        stages = _stages(self.seeding)
        winner = [bot for bot in self.seeding if played.passed[bot] == stages]
        if not winner:
            return stage_name(stages - len(played.stages) + 1)
        series = played.last_series.get(winner[0])
        how = DECIDED_BY_SEED if series and series.score(winner[0]).endswith(DECIDED_BY_SEED) else ""
        return f"won by {section.shown(winner[0])}{how}"


def _stages(seeding: Sequence[str]) -> int:
    return (len(seeding) - 1).bit_length()


def stage_name(left: int) -> str:
    """The name of a stage, by how many stages are left with it."""
    return {1: "final", 2: "semifinals", 3: "quarterfinals"}.get(left, f"last {2**left}")


def _named(left: int) -> tuple[str, str]:
    """The name of a stage, and the one over its column, not longer than a name may be shortened to."""
    return stage_name(left), f"top {2**left}" if left > 1 else stage_name(left)


def bracket_table(series: Sequence[SeriesScore], stages: int, shown: Callable[[str], str]) -> FormatTable:
    """All series: as text, a column for each stage, in which neighbours meet; the winner between them goes on
    to the next column.
    """
    first = max(1, stages - MAX_STAGES + 1)
    rows = [[""] * (2 * (stages - first + 1) + 1) for _ in range(2 ** (stages - first + 1))]
    columns = [
        column
        for number in range(first, stages + 1)
        for name, heading in [_named(stages - number + 1)]
        for column in (name_column(heading, name), Column(f"points of {name}", ""))
    ]
    for one in series:
        if one.stage < first:
            continue
        level, at = one.stage - first, 2 * (one.stage - first)
        if one.place < 0:
            rows += [[""] * len(rows[0]) for _ in range(3)]
            rows[-3][at] = f"{THIRD_PLACE}:"
            top = len(rows) - 2
        else:
            top = (2 * one.place + 1) * 2**level - 1
        for number, bot in enumerate(one.bots):
            rows[top + number][at : at + 2] = [shown(bot) if bot else "", one.points_text(number)]
        if one.stage == stages and one.place >= 0 and one.winner:
            rows[top][-1] = shown(one.winner)
    if any(one.decided_by == "seed" and one.stage >= first for one in series):
        rows.append([f"{BY_SEED} seed", *[""] * (len(rows[0]) - 1)])
    columns.append(name_column("winner"))
    return FormatTable("bracket", Grid(columns, rows), [_data(one, stages, shown) for one in series])


def stage_table(series: Sequence[SeriesScore], stages: int, shown: Callable[[str], str]) -> FormatTable:
    """The series of the stage that is played now."""
    now = [one for one in series if one.stage == series[-1].stage and all(one.bots)]
    columns = [Column("stage", "stage", left=True), name_column("bot"), Column("result", "result")]
    columns += [name_column("against")]
    rows = []
    for one in now:
        result = "–".join(map(halves, one.points)) if one.games else ""
        rows.append(
            [
                _stage_of(one, stages),
                shown(one.bots[0]),
                result + ("" if one.winner else " …" if result else "…"),
                shown(one.bots[1]),
            ]
        )
    return FormatTable("pairings", Grid(columns, rows), [_data(one, stages, shown) for one in now])


def _stage_of(one: SeriesScore, stages: int) -> str:
    return THIRD_PLACE if one.place < 0 else stage_name(stages - one.stage + 1)


def _data(one: SeriesScore, stages: int, shown: Callable[[str], str]) -> dict[str, Any]:
    bot, against = (shown(name) if name else None for name in one.bots)
    return {
        "stage": _stage_of(one, stages),
        "bot": bot,
        "against": against,
        "points": one.points[0],
        "against_points": one.points[1],
        "winner": shown(one.winner) if one.winner else None,
        "decided_by": one.decided_by,
    }
