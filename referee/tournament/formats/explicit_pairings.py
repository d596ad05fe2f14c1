"""Explicit pairings: the encounters are listed by the user. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.tournament.formats.format import Amount, Format, SectionState, game_text, wrong_seats
from referee.tournament.formats.settings import Settings, list_text
from referee.tournament.schedule import Encounter, encounter, rotations


@dataclass(frozen=True)
class ExplicitPairings(Format):
    """A list of encounters."""

    name: ClassVar[str] = "pairings"

    rounds: int = 1
    pairings: tuple[tuple[str, ...], ...] = ()  # the bots of each encounter of a round
    budget: int = 0  # how many games are played in all; 0 is no limit

    @classmethod
    def read(cls, settings: Settings) -> ExplicitPairings:
        rounds, budget = settings.rounds(), settings.budget(default=0)
        return cls(rounds, settings.groups("pairings"), budget)

    def check(self, bots: int, seats: int) -> None:
        for group in self.pairings:
            if len(group) != seats:
                has = f"`pairings` has {list_text(group)} in an encounter"
                raise wrong_seats(has, seats, "one bot for each seat")
        super().check(bots, seats)

    def schedule(self, state: SectionState) -> Iterator[Encounter]:
        """Each encounter once a round, in the order of the list; every rotation of its seats is played, until
        the budget is used up.
        """
        remaining = self.games_in_all(len(state.names), state.seats).games
        for number in range(1, self.rounds + 1):
            for bots in self.pairings:
                games = encounter(number, bots, section=state.section).games[:remaining]
                if not games:
                    return
                yield Encounter(games)
                remaining -= len(games)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        games = self.rounds * len(self.pairings) * seats
        return Amount(min(games, self.budget or games), True)

    def check_group(self, pairing: Pairing) -> None:
        if not any(pairing.bots in rotations(group) for group in self.pairings):
            raise RecordError(f"no encounter of `pairings` has the bots of {game_text(pairing)}")
