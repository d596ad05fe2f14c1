"""Counts how often bots failed to start in a row, by the games that are over. Pure."""

from __future__ import annotations

from collections import Counter

from referee.gameplay.events import Ending
from referee.records.record import Summary


class FailedStarts:
    """Counts failed starts: after `LIMIT` in a row a bot is not started again, and loses its games at the
    start.
    """

    LIMIT = 3

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()

    def note(self, game: Summary) -> None:
        """Takes a finished game into account."""
        for name, fault in zip(game.bots, game.faults, strict=True):
            self._in_a_row[name] = self._in_a_row[name] + 1 if fault == Ending.START.word else 0

    @property
    def given_up(self) -> frozenset[str]:
        """The bots that are no longer started."""
        return frozenset(name for name, count in self._in_a_row.items() if count >= self.LIMIT)
