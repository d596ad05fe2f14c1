"""Leagues: encounters are chosen by what they tell, in batches that are stored before they are played. Pure.

A batch is chosen when the last but one before it is over, so that there are always games to play. What was
chosen stands in the records: a run that is continued does not choose again, and does not depend on rounding.
Games that were annulled later do not use up the budget, and what they told is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from referee.core.pairing import Pairing
from referee.tournament.formats.format import DEFAULT, MAX_ROUNDS, Amount, Format, Settings, wrong_seats
from referee.tournament.formats.section import SectionState
from referee.tournament.schedule import Encounter, Schedule, encounter, wait_for

MIN_BATCH = 4  # minimum number of encounters of a batch, except for the last one


@dataclass(frozen=True)
class League(Format):
    """A pool of bots that join and leave. The number of rounds is only the largest that its ids may have."""

    name: ClassVar[str] = "league"
    in_titles: ClassVar[bool] = True
    has_rounds: ClassVar[bool] = False
    follows_results: ClassVar[bool] = True

    budget: int = 0  # how many games are played that count

    @classmethod
    def read(cls, settings: Settings) -> League:
        return cls(settings.budget())

    @property
    def rounds(self) -> int:
        return MAX_ROUNDS

    @property
    def is_open(self) -> bool:
        return True

    def check(self, bots: int, seats: int) -> None:
        if seats == 1:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2 or more, or `{DEFAULT}`")
        super().check(bots, seats)

    def schedule(self, section: SectionState) -> Schedule:
        """The encounters of the batches that were chosen before, and of further ones."""
        from referee.tournament.formats.league_choice import LeagueState  # it needs numpy

        league = LeagueState(section)
        stored = [
            batch for batch in section.batches if batch and Pairing.parse(batch[0]).section == section.name
        ]
        before: list[Encounter] = []
        counted = 0
        while counted < self.budget:
            if stored:
                batch = [_encounter(Pairing.parse(game)) for game in stored.pop(0)]
            else:
                out = section.out()
                names = [name for name in section.names if name not in out]
                size = max(MIN_BATCH, len(names) // 4, section.at_once)
                batch = league.choose(names, min(size, -(-(self.budget - counted) // section.seats)))
                if not batch:
                    return
                section.store([chosen.games[0].id for chosen in batch])
            for chosen in batch:
                league.schedule(chosen)
                counted += sum(not section.never_counts(game.id) for game in chosen.games)
                yield chosen
            yield wait_for(before)
            for played in before:
                results = [
                    section.games[game.id]
                    for game in played.games
                    if game.id in section.games and not section.never_counts(game.id)
                ]
                league.finish(played, results)
            before = batch

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(self.budget, True)


def _encounter(first: Pairing) -> Encounter:
    return encounter(first.number, first.bots, first.part, first.section)
