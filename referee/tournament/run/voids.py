"""Which bots are responsible for void games. Pure.

A bot can make a game void by ending or stopping the processes of the referee that play it, and nothing shows
which of the bots that were there did so. What shows is who was there each time. Of a game that became void
twice, the bot that sat in the most void games is held responsible: it forfeits this game and all of its
further games. While several bots sat in as many, the game waits until all others are played; if they still
did then, all of these forfeit this game. Void games in which a bot sat that is held responsible do not count
against others.

All of this follows from the recorded void games in their order, so a run that is continued decides the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.pairing import Pairing

VOIDS = 2  # how often a game with suspects may become void before it is not played again but forfeited

ATTEMPTS = 5
"""How often a game that becomes void without suspects is played before it is left without a result."""

PAUSES_S = (0.0, 0.5, 2.0, 8.0)
"""Seconds before each further attempt at such a game: what ends processes may go on for a while."""


class VoidGame(NamedTuple):
    """An attempt at a game that became void."""

    id: str
    bots: frozenset[str]  # the bots that may be the cause
    lost: bool = False
    """Whether it became void since the machine was lost that played it; then there are no `bots`."""
    attempt: int = 1


def void_of(value: dict[str, Any]) -> VoidGame:
    """The attempt that a line describes. Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
    return VoidGame(
        fields.text("id"),
        frozenset(fields.texts("suspects")),
        fields.flag("lost", default=False),
        fields.number("attempt", 1),
    )


class Suspicion:
    """The games that became void, and the bots that are held responsible."""

    def __init__(self, voids: Iterable[VoidGame] = ()) -> None:
        """`voids`: the games that became void, in their order."""
        self._unexplained: list[VoidGame] = []  # the void games for which no bot is held responsible
        self._responsible: set[str] = set()
        for void in voids:
            self.note(void)

    def note(self, void: VoidGame) -> frozenset[str]:
        """Takes a void game into account. Returns the bots that are held responsible since."""
        before = frozenset(self._responsible)
        if not void.bots & before:
            self._unexplained.append(void)
        while responsible := self._next_responsible():
            self._responsible |= responsible
            self._unexplained = [void for void in self._unexplained if not void.bots & responsible]
        return frozenset(self._responsible - before)

    def _next_responsible(self) -> frozenset[str]:
        """The next bot that is held responsible; none if there is no game of which that can be said."""
        for game in {void.id: None for void in self._unexplained}:
            if self.is_undecided(game) and len(suspects := self._suspects(game)) == 1:
                return suspects
        return frozenset()

    def responsible(self, bots: Iterable[str]) -> frozenset[str]:
        """Returns which of these bots forfeit all their games."""
        return frozenset(self._responsible.intersection(bots))

    def is_undecided(self, game: str) -> bool:
        """Whether a game became void too often to be played again, and no bot is held responsible for it."""
        return sum(void.id == game for void in self._unexplained) >= VOIDS  # guard: bought-void

    def forfeiting(self, game: str) -> frozenset[str]:
        """The bots that forfeit a game when there are no others to wait for; none if it is to be played."""
        responsible = self.responsible(_bots(game))
        return responsible | self._suspects(game) if self.is_undecided(game) else responsible

    def _suspects(self, game: str) -> frozenset[str]:
        """The bots of a game that sat in the most void games."""
        seen = Counter(bot for void in self._unexplained for bot in void.bots)
        bots = _bots(game) - self._responsible
        most = max((seen[bot] for bot in bots), default=0)
        return frozenset(bot for bot in bots if seen[bot] == most)


def _bots(game: str) -> frozenset[str]:
    return frozenset(Pairing.parse(game).bots)
