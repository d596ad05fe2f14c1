"""Round robins: all groups of bots meet, or tables are balanced. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar

from referee.core.pairing import Pairing
from referee.tournament.formats.format import DEFAULT, Amount, Format, SectionState, wrong_seats
from referee.tournament.formats.settings import Settings
from referee.tournament.schedule import Encounter, Schedule, encounter

BALANCED = "balanced"
TABLES = ("all", BALANCED)


@dataclass(frozen=True)
class RoundRobin(Format):
    """All groups of as many bots as the game has seats, or balanced tables."""

    name: ClassVar[str] = DEFAULT

    rounds: int = 1
    tables: str = TABLES[0]  # one of `TABLES`

    @classmethod
    def read(cls, settings: Settings) -> RoundRobin:
        return cls(settings.rounds(), settings.one_of("tables", TABLES))

    @property
    def is_open(self) -> bool:
        return self.tables != BALANCED

    @property
    def kind(self) -> str:
        return "balanced tables" if self.tables == BALANCED else super().kind

    def check(self, bots: int, seats: int) -> None:
        if self.tables == BALANCED and seats < 3:
            raise wrong_seats(f"`tables` is `{BALANCED}`", seats, "3 or more, or `all`")
        super().check(bots, seats)

    def schedule(self, state: SectionState) -> Schedule:
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced  # it needs numpy, as in a league

            return balanced(state.names, state.seats, self.rounds, state.section)
        return round_robin(state.names, state.seats, self.rounds, state.section)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced_encounters

            return Amount(balanced_encounters(bots, seats, self.rounds) * seats, True)
        return Amount(games_in_all(bots, seats, self.rounds), True)

    def check_group(self, pairing: Pairing) -> None:
        if self.tables != BALANCED:
            super().check_group(pairing)


def round_robin(names: Iterable[str], seats: int, rounds: int, section: str = "") -> Iterator[Encounter]:
    """Every group of `seats` bots once a round, round by round, so that an early stop leaves balanced
    results.

    The bots are sorted by name: their order in a file changes nothing.
    """
    for number in range(1, rounds + 1):
        for bots in combinations(sorted(names), seats):
            yield encounter(number, bots, section=section)


def games_in_all(bots: int, seats: int, rounds: int) -> int:
    """Counts the games of `round_robin` for this number of bots, seats and rounds."""
    return rounds * comb(bots, seats) * seats
