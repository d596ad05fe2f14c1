"""Numbers that bots say of their moves: `info metric NAME VALUE`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_NAMES = 16  # so many names of a bot are kept: the first ones

MOST_MOVES = 400  # so many moves of a game are told apart; the later ones count with the last of them


class MeanNumber(NamedTuple):
    """The mean of some numbers."""

    total: float
    numbers: int  # how many

    @property
    def value(self) -> float:
        """The mean."""
        return self.total / self.numbers


@dataclass(slots=True)
class Metrics:
    """The numbers of one bot, by name and by move: the first move that it makes itself in a game is 1."""

    _sums: dict[str, dict[int, MeanNumber]] = field(default_factory=dict)

    def add(self, number: int, said: Mapping[str, float]) -> None:
        """Adds what the bot said of its move of this number."""
        for name, value in said.items():
            self._add(name, min(number, MOST_MOVES), MeanNumber(value, 1))

    def update(self, other: Metrics) -> None:
        """Adds the numbers of other games."""
        for name, by_move in other._sums.items():
            for number, mean in by_move.items():
                self._add(name, number, mean)

    def _add(self, name: str, number: int, mean: MeanNumber) -> None:
        if name in self._sums or len(self._sums) < MOST_NAMES:
            by_move = self._sums.setdefault(name, {})
            before = by_move.get(number, MeanNumber(0.0, 0))
            by_move[number] = MeanNumber(before.total + mean.total, before.numbers + mean.numbers)

    @property
    def names(self) -> list[str]:
        """The names, in the order in which they came."""
        return [*self._sums]

    def mean(self, name: str) -> float | None:
        """The mean over all moves; None where the bot did not say it."""
        return _mean(self._sums.get(name, {}).values())

    def course(self, name: str) -> list[tuple[int, float]]:
        """The mean at each move, by its number."""
        return [(number, mean.value) for number, mean in sorted(self._sums.get(name, {}).items())]


def _mean(means: Iterable[MeanNumber]) -> float | None:
    found = [*means]
    numbers = sum(mean.numbers for mean in found)
    return sum(mean.total for mean in found) / numbers if numbers else None
