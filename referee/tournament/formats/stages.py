"""Tournaments in stages: each has a format of its own, and its best bots advance to the next one. Pure.

* The bots of a stage are dealt into its groups back and forth: of 8 bots in 2 groups, the first, the fourth,
  the fifth and the eighth make one group.
* The order of the next stage, which its seeding follows, is that of the places: first the winners of all
  groups, then those that were second, and so on. Before a knockout, each of these but the first begins with
  another group where that keeps bots of the same group apart in the first matches.
* Rounds are numbered through all stages: the first round of a stage follows the last one of the stage before.
* A bot that was out in a stage, so that it forfeited a game of it, advances only if too few others are left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any, ClassVar, NamedTuple, TypeVar

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import SECTION_NAME, Pairing
from referee.core.point_scale import STANDARD, PointScale
from referee.core.text import counted, shown
from referee.ratings.format_tables import FormatTable, halves, name_column
from referee.ratings.grids import Column, Grid
from referee.records.record import Summary
from referee.tournament.formats.format import (
    DEFAULT,
    Amount,
    Format,
    SectionState,
    check_settings,
    total,
    wrong_seats,
)
from referee.tournament.formats.knockout import Knockout, first_matches
from referee.tournament.formats.renumbered import LaterGames, later_results, later_schedule
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.formats.settings import Settings
from referee.tournament.formats.standing import SectionResults, Standing, counting, read_on
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tie_breaks import TIE_BREAKS, Scores, ranked
from referee.tournament.schedule import Encounter, Schedule, wait_for

STAGE_FORMATS: dict[str, type[Format]] = {one.name: one for one in (RoundRobin, Swiss, Knockout)}
"""The formats that a stage can have, by name."""

MAX_GROUPS = len(ascii_uppercase)
"""The groups of a stage are called A to Z."""

DEFAULT_TIE_BREAKS = ("direct", "sonneborn-berger", "wins")
"""What bots with equal points in a group of a round robin are ordered by."""

_SEATS = 2

T = TypeVar("T")


@dataclass(frozen=True)
class Stage:
    """A stage as the tournament file describes it."""

    name: str
    form: Format
    """Its seeding is that of the tournament, until it is known which bots play."""
    groups: int = 1
    advance: int = 0
    """How many bots of each group play the next stage; 0 in the last one."""
    carry: bool = False
    """Whether games of the stage before, between bots of the same group, count for points again."""
    tiebreaks: tuple[str, ...] = DEFAULT_TIE_BREAKS
    """Of a round robin: what bots with equal points are ordered by, of `TIE_BREAKS`."""

    @classmethod
    def read(cls, settings: Settings, is_first: bool, is_last: bool) -> Stage:
        """A stage from its table in a tournament file or a header. Raises the error of `settings`."""
        fields = settings.fields
        kind = STAGE_FORMATS[fields.one_of("format", STAGE_FORMATS, DEFAULT)]
        name = fields.text("name", kind.name)
        if not SECTION_NAME.fullmatch(name):
            raise fields.wrong("name", "1 to 64 letters, digits and . _ + -")
        is_round_robin = kind is RoundRobin
        for key, applies, only in (
            ("groups", is_round_robin and not is_last, "a round robin that is not the last stage"),
            ("advance", not is_last, "stages before the last one"),
            ("carry", is_round_robin and not is_first, "a round robin after the first stage"),
        ):
            if fields.has(key) and not applies:
                raise fields.wrong(key, f"it only in {only}")
        words = settings.words("tiebreaks", [*TIE_BREAKS], DEFAULT_TIE_BREAKS) if is_round_robin else ()
        return cls(
            name,
            kind.read(settings),
            fields.number("groups", 1, MAX_GROUPS, default=1),
            0 if is_last else fields.number("advance", 1, 1000),
            fields.flag("carry", False),
            words,
        )

    def json(self) -> dict[str, Any]:
        """The stage as the header of a run has it, without what is the default."""
        of_format = {key: value for key, value in self.form.settings_json().items() if key != "seeding"}
        words = {} if self.tiebreaks in ((), DEFAULT_TIE_BREAKS) else {"tiebreaks": [*self.tiebreaks]}
        return {
            "name": self.name,
            "format": self.form.name,
            **of_format,
            **words,
            **({"groups": self.groups} if self.groups > 1 else {}),
            **({"advance": self.advance} if self.advance else {}),
            **({"carry": True} if self.carry else {}),
        }

    def form_for(self, bots: int) -> Format:
        """Its format for this many bots, whichever they are."""
        return self.form.seeded([*map(str, range(bots))])

    def sizes(self, bots: int) -> list[int]:
        """How many bots each of its groups has, if this many play it."""
        return [len(group) for group in dealt(range(bots), self.groups)]


def dealt(bots: Sequence[T], groups: int) -> list[list[T]]:
    """Deals bots into groups back and forth, so that the groups are of nearly equal strength."""
    found: list[list[T]] = [[] for _ in range(groups)]
    for at, bot in enumerate(bots):
        turn, place = divmod(at, groups)
        found[place if turn % 2 == 0 else groups - 1 - place].append(bot)
    return found


class _Span(NamedTuple):
    """The rounds of a stage."""

    bots: int
    """How many bots play it."""
    before: int
    """How many rounds the stages before have."""
    rounds: int


class _Advancing(NamedTuple):
    """A bot that plays the next stage."""

    bot: str
    group: int
    by_seed: bool
    """Whether it shares its place in the group with a bot that does not advance, and has the higher seed."""


class _Begun:
    """A stage that has begun."""

    def __init__(self, stage: Stage, bots: Sequence[str], before: int, carried: Sequence[Encounter]) -> None:
        """`before` is the number of rounds before it, `carried` has the encounters of the stage before if
        they count again.
        """
        self.stage = stage
        self.groups = dealt(bots, stage.groups)
        self.given: list[Encounter] = []
        """Its encounters so far."""
        self.advancing: list[_Advancing] = []
        """The bots of the next stage, in their order, once it is over."""
        self._bots = bots
        self._before = before
        self._carried = carried

    def schedule(self, section: str, games: Mapping[str, Summary], scale: PointScale) -> Schedule:
        """Its encounters, those of all groups round by round."""
        own = LaterGames(games, self._before)
        for step in later_schedule(self._of_format(section, own, scale), self._before):
            if isinstance(step, Encounter):
                self.given.append(step)
            yield step
        yield wait_for(self.given)  # guard: wait-for-stage

    def _of_format(self, section: str, games: Mapping[str, Summary], scale: PointScale) -> Schedule:
        of_groups = [
            self.stage.form.seeded(group).schedule(SectionState(group, _SEATS, section, games, points=scale))
            for group in self.groups
        ]
        if len(of_groups) == 1:
            return of_groups[0]
        encounters = (one for each in of_groups for one in each if isinstance(one, Encounter))
        return iter(sorted(encounters, key=lambda one: one.games[0].number))

    def standings(self, group: Sequence[str], results: SectionResults) -> list[Standing]:
        """The bots of a group in its order."""
        if not isinstance(self.stage.form, RoundRobin):
            return self.form.standings(later_results(results, self._before)) or []
        scores = Scores(group, results.points)
        played = [one for one in (*self._carried, *self.given) if {*one.games[0].bots} <= {*group}]
        scores.add(played, None, counting(played, results))
        return ranked(scores, self.stage.tiebreaks)

    @property
    def form(self) -> Format:
        """The format as its bots play it, where they are not divided into groups."""
        return self.stage.form.seeded(self._bots)

    def tables(self, results: SectionResults) -> list[FormatTable]:
        """The tables of its format."""
        return self.form.tables_of(later_results(results, self._before)) if self.stage.groups == 1 else []

    def progress(self, results: SectionResults) -> str:
        """How far its format is; empty where the number of games says it all."""
        return self.form.stage_of(later_results(results, self._before)) if self.stage.groups == 1 else ""

    def end(self, results: SectionResults, next_stage: Stage) -> list[str]:
        """The bots of the next stage, in their order, when all games of this one are over."""
        out = {
            bot
            for one in self.given
            for game in one.games
            if game.id in results.games and results.games[game.id].is_forfeited
            for bot, fault in zip(game.bots, results.games[game.id].faults, strict=True)
            if fault
        }
        of_groups = [self._first_of(number, results, out) for number in range(len(self.groups))]
        tiers = [list(tier) for tier in zip(*of_groups, strict=True)]
        self.advancing = tiers[0]
        for tier in tiers[1:]:
            turns = [tier[turn:] + tier[:turn] for turn in range(len(tier))]
            self.advancing += min(turns, key=lambda turn: _met_before(next_stage, [*self.advancing, *turn]))
        return [one.bot for one in self.advancing]

    def _first_of(self, number: int, results: SectionResults, out: set[str]) -> list[_Advancing]:
        """The bots of a group that advance, the best first."""
        standings = sorted(
            self.standings(self.groups[number], results),
            key=lambda one: (one.bot in out, one.rank, self._bots.index(one.bot)),
        )
        advance = self.stage.advance
        left = {one.rank for one in standings[advance:] if one.bot not in out}
        return [_Advancing(one.bot, number, one.rank in left) for one in standings[:advance]]


def _met_before(next_stage: Stage, order: Sequence[_Advancing]) -> int:
    """How many first matches of a knockout are between bots of the same group, if this is the order of its
    first seeds; 0 for other formats.
    """
    if not isinstance(next_stage.form, Knockout):
        return 0
    by_name = {one.bot: one for one in order}
    matches = first_matches([one.bot for one in order])
    return sum(by_name[one].group == by_name[other].group for one, other in matches)


class _Course:
    """A tournament in stages, as far as its results are known."""

    def __init__(self, settings: Stages, scale: PointScale = STANDARD) -> None:
        self.begun: list[_Begun] = []
        self._settings = settings
        self._scale = scale

    def schedule(self, section: str, games: Mapping[str, Summary], last_round: int | None = None) -> Schedule:
        """All encounters, stage by stage; no stage begins after the last round that is played."""
        bots: Sequence[str] = self._settings.seeding
        stages = self._settings.stage
        for number, (stage, span) in enumerate(zip(stages, self._settings.spans, strict=True)):
            if number and last_round is not None and span.before >= last_round:
                return
            carried = self.begun[-1].given if stage.carry else ()
            now = _Begun(stage, bots, span.before, carried)
            self.begun.append(now)
            yield from now.schedule(section, games, self._scale)
            if number + 1 < len(stages):
                over = SectionResults(games, section, _All(), points=self._scale)
                bots = now.end(over, stages[number + 1])


class _All:
    """Contains everything."""

    def __contains__(self, game: object) -> bool:
        return True


@dataclass(frozen=True)
class Stages(Format):
    """Stages, each with a format of its own, from which the best bots advance."""

    name: ClassVar[str] = "stages"
    has_rounds: ClassVar[bool] = False
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True
    recorded_only: ClassVar[tuple[str, ...]] = ("stage",)

    seeding: tuple[str, ...] = ()
    """All bots, the highest seed first."""
    stage: tuple[Stage, ...] = ()
    """At least two; named like the table of the tournament file."""

    @classmethod
    def read(cls, settings: Settings) -> Stages:
        tables = settings.tables("stage")
        if len(tables) < 2:
            raise settings.fields.wrong("format", "it with two or more `[[stage]]` tables")
        found: list[Stage] = []
        for number, table in enumerate(tables):
            _check_keys(table)
            stage = Stage.read(settings.inside(table), number == 0, number == len(tables) - 1)
            if stage.name in {one.name for one in found}:
                raise table.wrong("name", "a different name for each stage")
            found.append(stage)
        return cls(settings.order("seeding"), tuple(found))

    @cached_property
    def spans(self) -> list[_Span]:
        """The rounds of each stage."""
        found: list[_Span] = []
        bots, before = len(self.seeding), 0
        for stage in self.stage:
            most = stage.form_for(max(stage.sizes(bots)))
            found.append(_Span(bots, before, most.rounds))
            before += most.rounds
            bots = stage.groups * stage.advance
        return found

    @property
    def rounds(self) -> int:
        """The rounds of all stages."""
        return self.spans[-1].before + self.spans[-1].rounds

    @property
    def description(self) -> str:
        return ", then ".join(
            f"{one.name} ({_in_groups(one)}{one.form_for(span.bots).description})"
            for one, span in zip(self.stage, self.spans, strict=True)
        )

    def settings_json(self) -> dict[str, Any]:
        return {**super().settings_json(), "stage": [one.json() for one in self.stage]}

    def continuing(self, before: Format) -> Stages:
        if not isinstance(before, Stages) or len(before.stage) != len(self.stage):
            return self
        pairs = zip(self.stage, before.stage, strict=True)
        return replace(
            self, stage=tuple(replace(now, form=now.form.continuing(was.form)) for now, was in pairs)
        )

    def may_grow(self, before: Format, added: Collection[str] = ()) -> list[str]:
        if isinstance(before, Stages) and before.stage != self.stage:
            return ["the `[[stage]]` tables are not those with which the run began"]
        return super().may_grow(before, added)

    def check(self, bots: int, seats: int) -> None:
        if seats != _SEATS:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2, or `{DEFAULT}` for other numbers")
        for stage, span in zip(self.stage, self.spans, strict=True):
            smallest = min(stage.sizes(span.bots))
            least = max(2, stage.advance)
            if smallest < least:
                groups = f", in {stage.groups} groups" if stage.groups > 1 else ""
                where = " in each" if groups else ""
                raise UsageError(
                    f"the stage `{stage.name}` has {counted(span.bots, 'bot')}{groups}, "
                    f"expected at least {least}{where}"
                )
            stage.form_for(smallest).check(smallest, seats)

    def schedule(self, state: SectionState) -> Schedule:
        """All encounters, stage by stage."""
        return _Course(self, state.points).schedule(state.section, state.games)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return total(
            [
                stage.form_for(size).games_in_all(size, seats)
                for stage, span in zip(self.stage, self.spans, strict=True)
                for size in stage.sizes(span.bots)
            ],
            may_stop=False,
        )

    def check_place(self, pairing: Pairing) -> None:
        for stage, span in zip(self.stage, self.spans, strict=True):
            if span.before < pairing.number <= span.before + span.rounds:
                if min(1, stage.form.parts) <= pairing.part <= stage.form.parts:
                    return
                raise RecordError(f"the encounter number of game `{shown(pairing.id)}` is not in this run")
        raise RecordError(f"the round of game `{shown(pairing.id)}` is not in this run")

    def _course(self, results: SectionResults) -> _Course:
        """The tournament as far as it was played."""
        if self not in results.read:
            course = results.read[self] = _Course(self, results.points)
            read_on(course.schedule(results.section, results.games, results.last_round), results)
        course = results.read[self]
        assert isinstance(course, _Course)
        return course

    def _places(self, results: SectionResults, begun: _Begun) -> Iterator[tuple[Standing, str]]:
        """The bots of a stage with their groups, by their places."""
        rows = [
            (row, ascii_uppercase[number])
            for number, group in enumerate(begun.groups)
            for row in begun.standings(group, results)
        ]
        return iter(sorted(rows, key=lambda row: row[0].rank))

    def standings(self, results: SectionResults) -> list[Standing]:
        """The bots by the last stage that they reached, then by their places in it. Those with equal places
        in different groups share a rank.
        """
        found: list[Standing] = []
        for begun in reversed(self._course(results).begun):
            have_rank = {one.bot for one in found}
            of_stage = [row for row in self._places(results, begun) if row[0].bot not in have_rank]
            first, place = len(found) + 1, 0
            for at, (row, group) in enumerate(of_stage):
                if row.rank != place:
                    first, place = len(have_rank) + at + 1, row.rank
                columns: dict[str, float | str] = {"stage": begun.stage.name}
                if any(one.groups > 1 for one in self.stage):
                    columns["group"] = group if begun.stage.groups > 1 else "–"
                found.append(Standing(first, row.bot, {**columns, "place": row.rank, "result": _result(row)}))
        return found

    def tables_of(self, results: SectionResults) -> list[FormatTable]:
        """The places in all stages, and the last table of each kind that the formats of the stages have."""
        found = {"stages": self._stages_table(results)}
        for begun in self._course(results).begun:
            found.update({table.name: table for table in begun.tables(results)})
        return [*found.values()]

    def _stages_table(self, results: SectionResults) -> FormatTable:
        data: list[dict[str, Any]] = []
        for begun in self._course(results).begun:
            advancing = {one.bot: one for one in begun.advancing}
            for row, group in sorted(self._places(results, begun), key=lambda row: row[1]):
                on = advancing.get(row.bot)
                data.append(
                    {
                        "stage": begun.stage.name,
                        "group": group if begun.stage.groups > 1 else None,
                        "place": row.rank,
                        "bot": results.shown(row.bot),
                        "result": _result(row),
                        "advances": bool(on),
                        "by_seed": bool(on and on.by_seed),
                    }
                )
        columns = [Column("stage", "stage", left=True), Column("group", "group"), Column("place", "place")]
        columns += [name_column("bot"), Column("result", "result"), Column("advances", "advances", left=True)]
        rows = [
            [
                row["stage"],
                row["group"] or "–",
                str(row["place"]),
                row["bot"],
                row["result"],
                "by seed" if row["by_seed"] else "yes" * row["advances"],
            ]
            for row in data
        ]
        return FormatTable("stages", Grid(columns, rows), data)

    def stage_of(self, results: SectionResults) -> str:
        """The stage that is played, and how far it is."""
        begun = self._course(results).begun
        progress = begun[-1].progress(results)
        where = f"{begun[-1].stage.name}, stage {len(begun)} of {len(self.stage)}"
        return f"{where}: {progress}" if progress else where


def _in_groups(stage: Stage) -> str:
    return f"{stage.groups} groups, " if stage.groups > 1 else ""


def _result(row: Standing) -> str:
    """What a bot has achieved in a stage: its points, or how far it came in a knockout."""
    reached = row.columns.get("reached")
    return str(reached) if reached else f"{halves(float(row.columns['points']))} points"


def _check_keys(table: Fields) -> None:
    """Raises the error of a table where a key belongs to the format of another stage."""
    found = STAGE_FORMATS[table.one_of("format", STAGE_FORMATS, DEFAULT)]
    check_settings(table, found, STAGE_FORMATS.values(), also=("tiebreaks",) if found is RoundRobin else ())
