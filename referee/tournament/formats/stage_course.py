"""The course of a tournament in stages, as far as its results are known: who meets whom, and who advances.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import NamedTuple

from referee.core.text import true_minus
from referee.ratings.format_tables import FormatTable, halves
from referee.tournament.formats.by_rating import ELO, by_rating
from referee.tournament.formats.format import Format, SectionState
from referee.tournament.formats.knockout import Knockout, first_matches
from referee.tournament.formats.league import League
from referee.tournament.formats.renumbered import later_results, later_schedule, later_state
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.formats.stage import StageSpan, TournamentStage, dealt
from referee.tournament.formats.standing import SectionResults, Standing, counting, not_paired_after
from referee.tournament.formats.tie_breaks import Scores, ranked
from referee.tournament.schedule import Encounter, Schedule, wait_for


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
        self._is_by_rating = isinstance(stage.form, League)

    def schedule(self, state: SectionState) -> Schedule:
        """Its encounters, those of all groups round by round."""
        # Tie-breaks are by opponents, of which a game of two seats has one.
        self._is_by_rating |= state.seats > 2
        own = self._of_format(later_state(state, self._span.numbers, self._earlier))
        for step in later_schedule(own, self._span.before):
            if isinstance(step, Encounter):
                self.given.append(step)
            yield step
        yield wait_for(self.given)  # guard: wait-for-stage

    def _of_format(self, state: SectionState) -> Schedule:
        of_groups = [
            self.stage.form.seeded(group).schedule(replace(state, names=group)) for group in self.groups
        ]
        if len(of_groups) == 1:
            return of_groups[0]
        encounters = (one for each in of_groups for one in each if isinstance(one, Encounter))
        return iter(sorted(encounters, key=lambda one: one.games[0].number))

    def standings(self, group: Sequence[str], results: SectionResults) -> list[Standing]:
        """The bots of a group in its order."""
        if not isinstance(self.stage.form, RoundRobin | League):
            return self.form.standings(self._later(results)) or []
        played = [one for one in (*self._carried, *self.given) if {*one.games[0].bots} <= {*group}]
        games = counting(played, results)
        if self._is_by_rating:
            return by_rating(group, [*games.values()], results.repeats)
        scores = Scores(group, results.points)
        scores.add(played, None, games)
        return ranked(scores, self.stage.tiebreaks)

    def places(self, results: SectionResults) -> list[StagePlace]:
        """All its bots, by their places."""
        rows = [
            StagePlace(row, ascii_uppercase[number])
            for number, group in enumerate(self.groups)
            for row in self.standings(group, results)
        ]
        return sorted(rows, key=lambda one: one.standing.rank)

    @property
    def form(self) -> Format:
        """The format as its bots play it, where they are not divided into groups."""
        return self.stage.form.seeded(self._bots)

    def tables(self, results: SectionResults) -> list[FormatTable]:
        """The tables of its format."""
        return self.form.tables_of(self._later(results)) if self.stage.groups == 1 else []

    def progress(self, results: SectionResults) -> str:
        """How far its format is; empty where the number of games says it all."""
        return self.form.stage_of(self._later(results)) if self.stage.groups == 1 else ""

    def _later(self, results: SectionResults) -> SectionResults:
        return later_results(results, self._span.before, self._earlier)

    @property
    def games(self) -> list[str]:
        """The ids of its games so far."""
        return [game.id for one in self.given for game in one.games]

    def end(self, results: SectionResults, next_stage: TournamentStage) -> list[str]:
        """The bots of the next stage, in their order, when all games of this one are over."""
        out = not_paired_after(self.given, results.games, results.out_after)
        of_groups = [self._first_of(number, results, out) for number in range(len(self.groups))]
        tiers = [list(tier) for tier in zip(*of_groups, strict=True)]
        self.advancing = tiers[0]
        for tier in tiers[1:]:
            turns = [tier[turn:] + tier[:turn] for turn in range(len(tier))]
            self.advancing += min(turns, key=lambda turn: _met_before(next_stage, [*self.advancing, *turn]))
        return [one.bot for one in self.advancing]

    def _first_of(self, number: int, results: SectionResults, out: Collection[str]) -> list[Advancing]:
        """The bots of a group that advance, the best first."""
        standings = sorted(
            self.standings(self.groups[number], results),
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


class Course:
    """A tournament in stages, as far as its results are known."""

    def __init__(
        self,
        seeding: Sequence[str],
        stages: Sequence[tuple[TournamentStage, StageSpan]],
    ) -> None:
        self.begun: list[BegunStage] = []
        self._seeding = seeding
        self._stages = stages

    def schedule(self, state: SectionState, last_round: int | None = None) -> Schedule:
        """All encounters, stage by stage; no stage begins after the last round that is played."""
        bots = self._seeding
        for number, (stage, span) in enumerate(self._stages, 1):
            if span.before and last_round is not None and span.before >= last_round:
                return
            carried = self.begun[-1].given if stage.carry else ()
            earlier = [game for one in self.begun for game in one.games]
            now = BegunStage(stage, bots, span, carried, earlier)
            self.begun.append(now)
            yield from now.schedule(state)
            if number < len(self._stages):
                over = SectionResults(
                    state.games,
                    state.section,
                    _All(),
                    points=state.points,
                    out_after=state.out_after,
                    repeats=state.repeats,
                )
                bots = now.end(over, self._stages[number][0])


class _All:
    """Contains everything."""

    def __contains__(self, game: object) -> bool:
        return True
