"""One stage of a tournament in stages: as the tournament file describes it, and as it is played. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeVar

from referee.core.pairing import SECTION_NAME, Pairing
from referee.core.text import true_minus
from referee.ratings.format_tables import FormatTable, halves
from referee.ratings.pool import fit
from referee.ratings.tally import clusters, results_of
from referee.records.record import Summary
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.formats.format import DEFAULT, Format, Settings, check_settings
from referee.tournament.formats.knockout import Knockout, first_matches
from referee.tournament.formats.league import League
from referee.tournament.formats.section import SectionState, Standing, counting, not_paired_after
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tie_breaks import TIE_BREAKS, Scores, ranked
from referee.tournament.schedule import Encounter, Schedule, wait_for

STAGE_FORMATS: dict[str, type[Format]] = {one.name: one for one in (RoundRobin, Swiss, Knockout, League)}
"""The formats that a stage can have, by name."""

MAX_GROUPS = len(ascii_uppercase)  # the groups of a stage are called A to Z

DEFAULT_TIE_BREAKS = ("direct", "sonneborn-berger", "wins")
"""What bots with equal points in a group of a round robin are ordered by."""

ELO = "Elo"  # the heading of the column that decides

NO_ELO = "no Elo"  # its value for a bot that never started

_DIGITS = 3  # ratings that differ only after so many digits are equal: rounding errors decide nothing

T = TypeVar("T")


class StageSpan(NamedTuple):
    """The bots and rounds of a stage."""

    bots: int  # how many bots play it
    before: int  # how many rounds the stages before have
    rounds: int

    @property
    def numbers(self) -> range:
        """The numbers of its rounds."""
        return range(self.before + 1, self.before + self.rounds + 1)


@dataclass(frozen=True)
class TournamentStage:
    """A stage as the tournament file describes it."""

    name: str
    form: Format  # its seeding is that of the tournament, until it is known which bots play
    groups: int = 1
    advance: int = 0  # how many bots of each group play the next stage; 0 in the last one
    carry: bool = False
    """Whether games of the stage before, between bots of the same group, count for points again."""
    tiebreaks: tuple[str, ...] = DEFAULT_TIE_BREAKS
    """Of a round robin: what bots with equal points are ordered by, of `TIE_BREAKS`."""

    @classmethod
    def read(cls, settings: Settings, is_first: bool, is_last: bool) -> TournamentStage:
        """A stage from its table in a tournament file or a header. Raises the error of `settings`."""
        fields = settings.fields
        kind = STAGE_FORMATS[fields.one_of("format", STAGE_FORMATS, DEFAULT)]
        check_settings(fields, kind, STAGE_FORMATS.values(), ("tiebreaks",) if kind is RoundRobin else ())
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

    def rounds_for(self, bots: int) -> int:
        """The largest number of a round, counted from 1, if this many bots play it."""
        if isinstance(self.form, League):  # bots meet at most as often as there are encounters
            return -(-self.form.budget // 2)
        return self.form_for(bots).rounds

    @property
    def kind(self) -> str:
        """What its format is called in a sentence."""
        return self.form.name.replace("-", " ")

    def title(self, number: int, bots: int) -> str:
        """Its number and what this many bots play, as a title."""
        name = f", {self.name}" if self.name != self.form.name else ""
        groups = f" in {self.groups} groups" if self.groups > 1 else ""
        return f"Stage {number}{name}: {self.kind} of {bots:,} bots{groups}"

    def description_for(self, bots: int) -> str:
        """What this many bots play, in a few words."""
        groups = f"{self.groups} groups, " if self.groups > 1 else ""
        return f"{self.name} ({groups}{self.form_for(bots).description})"

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


class Advancing(NamedTuple):
    """A bot that plays the next stage."""

    bot: str
    group: int
    by_seed: bool
    """Whether it shares its place in the group with a bot that does not advance, and has the higher seed."""


class StagePlace(NamedTuple):
    """The place of a bot in a stage."""

    standing: Standing
    group: str  # A letter

    @property
    def result(self) -> str:
        """What the bot achieved in the stage: its points, its rating, or how far it came in a knockout."""
        columns = self.standing.columns
        if ELO in columns:
            elo = columns[ELO]
            return elo if isinstance(elo, str) else true_minus(f"{elo:+.0f} Elo")
        if "reached" in columns:
            return str(columns["reached"])
        points = float(columns["points"])
        return f"{halves(points)} point{'' if 0 < points <= 1 else 's'}"


class BegunStage:
    """A stage that has begun."""

    def __init__(
        self,
        stage: TournamentStage,
        bots: Sequence[str],
        span: StageSpan,
        carried: Sequence[Encounter],
        earlier: Collection[str],
    ) -> None:
        """`carried` has the encounters of the stage before if they count again; `earlier` has the ids of all
        games of the stages before.
        """
        self.stage = stage
        self.groups = dealt(bots, stage.groups)
        self.given: list[Encounter] = []  # its encounters so far
        self.advancing: list[Advancing] = []  # the bots of the next stage, in their order, once it is over
        self._bots = bots
        self._span = span
        self._carried = carried
        self._earlier = earlier

    def _section(self, section: SectionState) -> SectionState:
        """The section as the format of the stage sees it: as if there had been no rounds before, but with the
        bots out that were out after the games of these.
        """
        return replace(
            section,
            before=self._span.before,
            out_after=lambda games: section.out_after([*self._earlier, *games]),
            never_counts=lambda game: False,  # who advanced followed from these games
            batches=[
                batch
                for batch in section.batches
                if batch and Pairing.parse(batch[0]).number in self._span.numbers
            ],
            read={},
        )

    def schedule(self, section: SectionState) -> Schedule:
        """Its encounters, those of all groups round by round."""
        for step in self._of_format(self._section(section)):
            if isinstance(step, Encounter):
                self.given.append(step)
            yield step
        yield wait_for(self.given)  # guard: wait-for-stage

    def _of_format(self, section: SectionState) -> Schedule:
        of_groups = [
            self.stage.form.seeded(group).schedule(replace(section, names=group)) for group in self.groups
        ]
        if len(of_groups) == 1:
            return of_groups[0]
        encounters = (one for each in of_groups for one in each if isinstance(one, Encounter))
        return iter(sorted(encounters, key=lambda one: one.games[0].number))

    def standings(self, group: Sequence[str], section: SectionState) -> list[Standing]:
        """The bots of a group in its order."""
        if not isinstance(self.stage.form, RoundRobin | League):
            return self.form.standings(self._section(section)) or []
        played = [one for one in (*self._carried, *self.given) if {*one.games[0].bots} <= {*group}]
        games = counting(played, section)
        # Tie-breaks are by opponents, of which a game of two seats has one.
        if isinstance(self.stage.form, League) or section.seats > 2:
            return by_rating(group, [*games.values()], section.repeats)
        scores = Scores(group, section.points)
        scores.add(played, None, games)
        return ranked(scores, self.stage.tiebreaks)

    def places(self, section: SectionState) -> list[StagePlace]:
        """All its bots, by their places."""
        rows = [
            StagePlace(row, ascii_uppercase[number])
            for number, group in enumerate(self.groups)
            for row in self.standings(group, section)
        ]
        return sorted(rows, key=lambda one: one.standing.rank)

    @property
    def form(self) -> Format:
        """The format as its bots play it, where they are not divided into groups."""
        return self.stage.form.seeded(self._bots)

    def tables(self, section: SectionState) -> list[FormatTable]:
        """The tables of its format."""
        return self.form.tables_of(self._section(section)) if self.stage.groups == 1 else []

    def progress(self, section: SectionState) -> str:
        """How far its format is; empty where the number of games says it all."""
        return self.form.stage_of(self._section(section)) if self.stage.groups == 1 else ""

    @property
    def games(self) -> list[str]:
        """The ids of its games so far."""
        return [game.id for one in self.given for game in one.games]

    def end(self, section: SectionState, next_stage: TournamentStage) -> list[str]:
        """The bots of the next stage, in their order, when all games of this one are over."""
        out = not_paired_after(self.given, section)
        of_groups = [self._first_of(number, section, out) for number in range(len(self.groups))]
        tiers = [list(tier) for tier in zip(*of_groups, strict=True)]
        self.advancing = tiers[0]
        for tier in tiers[1:]:
            turns = [tier[turn:] + tier[:turn] for turn in range(len(tier))]
            self.advancing += min(turns, key=lambda turn: _met_before(next_stage, [*self.advancing, *turn]))
        return [one.bot for one in self.advancing]

    def _first_of(self, number: int, section: SectionState, out: Collection[str]) -> list[Advancing]:
        """The bots of a group that advance, the best first."""
        standings = sorted(
            self.standings(self.groups[number], section),
            key=lambda one: (one.bot in out, one.rank, self._bots.index(one.bot)),
        )
        advance = self.stage.advance
        left = {one.rank for one in standings[advance:] if one.bot not in out}
        return [Advancing(one.bot, number, one.rank in left) for one in standings[:advance]]


def _met_before(next_stage: TournamentStage, order: Sequence[Advancing]) -> int:
    """How many first matches of a knockout are between bots of the same group, if this is the order of its
    first seeds; 0 for other formats.
    """
    if not isinstance(next_stage.form, Knockout):
        return 0
    by_name = {one.bot: one for one in order}
    matches = first_matches([one.bot for one in order])
    return sum(by_name[one].group == by_name[other].group for one, other in matches)


def by_rating(bots: Sequence[str], games: Sequence[Summary], repeats: str) -> list[Standing]:
    """The bots by the ratings that the table of a run of these games would have, then those without; equal
    ones share a rank, and are in the order of their names. `repeats` as in `clusters`.
    """
    pool = fit(results_of(games, clusters(games, repeats).of), sorted(bots), with_intervals=())
    elo = {bot: round(pool.ratings[bot].elo, _DIGITS) for bot in bots if bot in pool.rows}
    by = {bot: elo.get(bot, -inf) for bot in bots}
    return [
        Standing(1 + sum(other > by[bot] for other in by.values()), bot, {ELO: elo.get(bot, NO_ELO)})
        for bot in sorted(bots, key=lambda bot: (-by[bot], bot))
    ]
