"""Formats whose games follow from their settings alone: round robins, gauntlets, lists of encounters, and
free play, of which nothing is scheduled. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import ClassVar

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import counted
from referee.tournament.formats.format import (
    DEFAULT,
    Amount,
    Format,
    Settings,
    game_text,
    list_text,
    wrong_seats,
)
from referee.tournament.formats.section import SectionState
from referee.tournament.schedule import Encounter, Schedule, rotations

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

    def schedule(self, section: SectionState) -> Iterator[Encounter]:
        """Every group of bots once a round, round by round, so that an early stop leaves balanced results;
        the order of the bots in a file changes nothing.
        """
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced  # it needs numpy, as in a league

            yield from balanced(section, self.rounds)
            return
        for number in range(1, self.rounds + 1):
            for bots in combinations(sorted(section.names), section.seats):
                yield section.encounter(number, bots)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced_encounters

            return Amount(balanced_encounters(bots, seats, self.rounds) * seats, True)
        return Amount(self.rounds * comb(bots, seats) * seats, True)

    def check_group(self, pairing: Pairing) -> None:
        if self.tables != BALANCED:
            super().check_group(pairing)


@dataclass(frozen=True)
class Gauntlet(Format):
    """Some bots against all others."""

    name: ClassVar[str] = "gauntlet"
    in_titles: ClassVar[bool] = True

    rounds: int = 1
    against: tuple[str, ...] = ()  # the bots that all others meet

    @classmethod
    def read(cls, settings: Settings) -> Gauntlet:
        return cls(settings.rounds(), settings.bots("against"))

    @property
    def is_open(self) -> bool:
        return True

    def check(self, bots: int, seats: int) -> None:
        if seats == 1:
            raise wrong_seats(f"`format` is `{self.name}`", seats, f"2 or more, or `{DEFAULT}`")
        others = bots - len(self.against)
        if others < seats - 1:
            raise UsageError(
                f"`against` leaves {counted(others, 'other bot')}, expected at least {seats - 1}"
            )
        super().check(bots, seats)

    def schedule(self, section: SectionState) -> Iterator[Encounter]:
        """The encounters, round by round; the bots of an encounter are in the order of their names."""
        others = sorted(set(section.names) - set(self.against))
        for number in range(1, self.rounds + 1):
            for some in combinations(others, section.seats - 1):
                for one in self.against:
                    yield section.encounter(number, tuple(sorted((one, *some))))

    def games_in_all(self, bots: int, seats: int) -> Amount:
        against = len(self.against)
        return Amount(self.rounds * against * comb(bots - against, seats - 1) * seats, True)

    def tested(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Each challenger is compared with each of the bots that all meet."""
        opponents = [name for name in names if name in self.against]
        return [(one, other) for one in names if one not in opponents for other in opponents]

    def check_group(self, pairing: Pairing) -> None:
        if len(self._all_against.intersection(pairing.bots)) != 1:
            raise RecordError(f"{game_text(pairing)} does not have exactly one bot from `against`")
        super().check_group(pairing)

    @cached_property
    def _all_against(self) -> frozenset[str]:
        return frozenset(self.against)


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

    def schedule(self, section: SectionState) -> Iterator[Encounter]:
        """Each encounter once a round, in the order of the list; every rotation of its seats is played, until
        the budget is used up.
        """
        remaining = self.games_in_all(len(section.names), section.seats).games
        for number in range(1, self.rounds + 1):
            for bots in self.pairings:
                games = section.encounter(number, bots).games[:remaining]
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


@dataclass(frozen=True)
class FreePlay(Format):
    """Games that nothing schedules."""

    name: ClassVar[str] = "free"
    is_arranged: ClassVar[bool] = True

    rounds: int = 1

    @classmethod
    def read(cls, settings: Settings) -> FreePlay:
        return cls(settings.rounds())

    @property
    def is_open(self) -> bool:
        return True

    def schedule(self, section: SectionState) -> Schedule:
        """Schedules nothing: each game is arranged when it is played."""
        return iter(())

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(self.rounds, True)

    def check_group(self, pairing: Pairing) -> None:
        """Whoever plays sits where they like."""
