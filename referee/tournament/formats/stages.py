"""Tournaments in stages: each has a format of its own, and its best bots advance to the next one. Pure.

* The bots of a stage are dealt into its groups back and forth: of 8 bots in 2 groups, the first, the fourth,
  the fifth and the eighth make one group.
* The order of the next stage, which its seeding follows, is that of the places: first the winners of all
  groups, then those that were second, and so on. Before a knockout, each of these but the first begins with
  another group where that keeps bots of the same group apart in the first matches.
* Rounds are numbered through all stages: the first round of a stage follows the last one of the stage before.
* A league has as many rounds as encounters. It plays them in no order: the number of an encounter is how
  often its bots have met.
* A bot that `not_paired_after` names after the games of a stage advances only if too few others are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.rows import Column, Grid
from referee.core.text import counted, shown
from referee.ratings.format_tables import FormatTable, name_column
from referee.tournament.formats.format import DEFAULT, Amount, Format, Settings, total, wrong_seats
from referee.tournament.formats.league import League
from referee.tournament.formats.section import SectionState, Standing, read_on
from referee.tournament.formats.stage import BegunStage, StageSpan, TournamentStage
from referee.tournament.schedule import Schedule


@dataclass(frozen=True)
class Staged(Format):
    """Stages, each with a format of its own, from which the best bots advance."""

    name: ClassVar[str] = "stages"
    has_rounds: ClassVar[bool] = False
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True
    table: ClassVar[str] = "stage"

    seeding: tuple[str, ...] = ()  # all bots, the highest seed first
    stage: tuple[TournamentStage, ...] = ()  # at least two

    @classmethod
    def read(cls, settings: Settings) -> Staged:
        tables = settings.tables("stage", 2)
        found: list[TournamentStage] = []
        for number, table in enumerate(tables):
            stage = TournamentStage.read(settings.inside(table), number == 0, number == len(tables) - 1)
            if stage.name in {one.name for one in found}:
                raise table.wrong("name", "a different name for each stage")
            found.append(stage)
        return cls(settings.order("seeding"), tuple(found))

    @cached_property
    def spans(self) -> list[StageSpan]:
        """The rounds of each stage."""
        found: list[StageSpan] = []
        bots, before = len(self.seeding), 0
        for stage in self.stage:
            found.append(StageSpan(bots, before, stage.rounds_for(max(stage.sizes(bots)))))
            before += found[-1].rounds
            bots = stage.groups * stage.advance
        return found

    @property
    def rounds(self) -> int:
        """The rounds of all stages."""
        return self.spans[-1].before + self.spans[-1].rounds

    def played_with(self, number: int) -> range:
        for stage, span in zip(self.stage, self.spans, strict=True):
            if isinstance(stage.form, League) and number in span.numbers:
                return span.numbers
        return super().played_with(number)

    @property
    def title(self) -> str:
        return " then ".join(stage.kind for stage in self.stage).capitalize()

    @property
    def description(self) -> str:
        return ", then ".join(
            one.description_for(span.bots) for one, span in zip(self.stage, self.spans, strict=True)
        )

    def check(self, bots: int, seats: int) -> None:
        if seats < 2:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2 or more, or `{DEFAULT}`")
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
            try:
                stage.form_for(smallest).check(smallest, seats)
            except UsageError as error:
                raise UsageError(f"the stage `{stage.name}`: {error}") from None

    def schedule(self, section: SectionState) -> Schedule:
        """All encounters, stage by stage."""
        return self._course([], section)

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
            if pairing.number in span.numbers:
                if min(1, stage.form.parts) <= pairing.part <= stage.form.parts:
                    return
                raise RecordError(f"the encounter number of game `{shown(pairing.id)}` is not in this run")
        raise RecordError(f"the round of game `{shown(pairing.id)}` is not in this run")

    def _course(self, begun: list[BegunStage], section: SectionState) -> Schedule:
        """All encounters; adds each stage that begins to `begun`. None begins after the last round that is
        played.
        """
        bots = self.seeding
        over = replace(section, without_result=_All(), annulled=(), last_round=None, read={})
        for number, (stage, span) in enumerate(zip(self.stage, self.spans, strict=True), 1):
            if span.before and section.last_round is not None and span.before >= section.last_round:
                return
            carried = begun[-1].given if stage.carry else ()
            earlier = [game for one in begun for game in one.games]
            now = BegunStage(stage, bots, span, carried, earlier)
            begun.append(now)
            yield from now.schedule(section)
            if number < len(self.stage):
                bots = tuple(now.end(over, self.stage[number]))

    def _begun(self, section: SectionState) -> list[BegunStage]:
        """The stages that have begun, as far as they were played."""

        def read() -> list[BegunStage]:
            begun: list[BegunStage] = []
            read_on(self._course(begun, section), section)
            return begun

        return section.read_once(self, read)

    def standings(self, section: SectionState) -> list[Standing]:
        """The bots by the last stage that they reached, then by their places in it. Those with equal places
        in different groups share a rank.
        """
        found: list[Standing] = []
        for begun in reversed(self._begun(section)):
            have_rank = {one.bot for one in found}
            of_stage = [one for one in begun.places(section) if one.standing.bot not in have_rank]
            first, place = len(found) + 1, 0
            for at, one in enumerate(of_stage):
                row = one.standing
                if row.rank != place:
                    first, place = len(have_rank) + at + 1, row.rank
                columns: dict[str, float | str] = {"stage": begun.stage.name}
                if any(stage.groups > 1 for stage in self.stage):
                    columns["group"] = one.group if begun.stage.groups > 1 else "–"
                found.append(Standing(first, row.bot, {**columns, "place": row.rank, "result": one.result}))
        return found

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The places in all stages, and the last table of each kind that the formats of the stages have."""
        found = {"stages": self._stages_table(section)}
        for begun in self._begun(section):
            found.update({table.name: table for table in begun.tables(section)})
        return [*found.values()]

    def _stages_table(self, section: SectionState) -> FormatTable:
        data: list[dict[str, Any]] = []
        for begun in self._begun(section):
            advancing = {one.bot: one for one in begun.advancing}
            for one in sorted(begun.places(section), key=lambda one: one.group):
                row, on = one.standing, advancing.get(one.standing.bot)
                data.append(
                    {
                        "stage": begun.stage.name,
                        "group": one.group if begun.stage.groups > 1 else None,
                        "place": row.rank,
                        "bot": section.shown(row.bot),
                        "result": one.result,
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
        titles = [
            stage.title(number, span.bots)
            for number, (stage, span) in enumerate(zip(self.stage, self.spans, strict=True), 1)
        ]
        return FormatTable("stages", Grid(columns, rows), data, title="; ".join(titles))

    def stage_of(self, section: SectionState) -> str:
        """The stage that is played, and how far it is."""
        begun = self._begun(section)
        progress = begun[-1].progress(section)
        where = f"{begun[-1].stage.name}, stage {len(begun)} of {len(self.stage)}"
        return f"{where}: {progress}" if progress else where


class _All:
    def __contains__(self, game: object) -> bool:
        return True
