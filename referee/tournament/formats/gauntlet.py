"""Gauntlets: some bots against all others. Pure.

In each round, each of the others meets each of those bots once, which do not meet each other. For more than
two seats, every group with exactly one of those bots meets.
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
from referee.tournament.formats.format import DEFAULT, Amount, Format, SectionState, game_text, wrong_seats
from referee.tournament.formats.settings import Settings
from referee.tournament.schedule import Encounter, encounter


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

    def schedule(self, state: SectionState) -> Iterator[Encounter]:
        """The encounters, round by round; the bots of an encounter are in the order of their names."""
        others = sorted(set(state.names) - set(self.against))
        for number in range(1, self.rounds + 1):
            for some in combinations(others, state.seats - 1):
                for one in self.against:
                    yield encounter(number, tuple(sorted((one, *some))), section=state.section)

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
