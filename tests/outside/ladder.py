"""A ladder of challenges, as a format from outside.

The bots stand below each other. In rounds with odd numbers the second bot challenges the first, the fourth
the third and so on; in the other rounds the third challenges the second, the fifth the fourth and so on. A
challenger with more points than the bot above takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from referee.core.errors import UsageError
from referee.tournament.formats import Amount, Format, SectionState, Settings, Standing
from referee.tournament.formats.section import points, read_on
from referee.tournament.schedule import Schedule, wait_for


@dataclass(frozen=True)
class Ladder(Format):
    name: ClassVar[str] = "ladder"
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True

    rounds: int = 1
    ranking: tuple[str, ...] = ()
    """All bots, from the top down."""

    @classmethod
    def read(cls, settings: Settings) -> Ladder:
        return cls(settings.rounds(), settings.order("ranking"))

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise UsageError(f"a ladder is for games with 2 seats, and this one has {seats}")
        super().check(bots, seats)

    def schedule(self, section: SectionState) -> Schedule:
        return self._played([*self.ranking], section)

    def _played(self, order: list[str], section: SectionState) -> Schedule:
        """The challenges; `order` is changed by their results."""
        for number in range(1, self.rounds + 1):
            places = range((number - 1) % 2, len(order) - 1, 2)
            challenges = [section.encounter(number, (order[i], order[i + 1])) for i in places]
            yield from challenges
            yield wait_for(challenges)
            for i, played in zip(places, challenges, strict=True):
                above, below = order[i], order[i + 1]
                if points(played, below, section.games) > points(played, above, section.games):
                    order[i], order[i + 1] = below, above

    def games_in_all(self, bots: int, seats: int) -> Amount:
        in_odd, in_even = bots // 2, (bots - 1) // 2
        rounds, odd = divmod(self.rounds, 2)
        return Amount((rounds * (in_odd + in_even) + odd * in_odd) * seats, True)

    def standings(self, section: SectionState) -> list[Standing]:
        order = [*self.ranking]
        read_on(self._played(order, section), section)
        began = {bot: place for place, bot in enumerate(self.ranking, 1)}
        return [Standing(place, bot, {"began": began[bot]}) for place, bot in enumerate(order, 1)]
