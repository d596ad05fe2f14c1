"""Free play: games of persons, one a round, each arranged when it is played. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from referee.core.pairing import Pairing
from referee.tournament.formats.format import Amount, Format, SectionState
from referee.tournament.formats.settings import Settings
from referee.tournament.schedule import Schedule


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

    def schedule(self, state: SectionState) -> Schedule:
        """Schedules nothing: each game is arranged when it is played."""
        return iter(())

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(self.rounds, True)

    def check_group(self, pairing: Pairing) -> None:
        """Whoever plays sits where they like."""
