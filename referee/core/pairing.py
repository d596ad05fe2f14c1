"""The id of a game: the round, and the bots by seat. The only module that knows how an id is written."""

from __future__ import annotations

import re
from typing import NamedTuple

BOT_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9._+-]{1,64}")
"""A bot's name: safe in a game's id, a file name, a table and a shell."""

_ROUND = re.compile(r"[1-9][0-9]{0,17}")


class Pairing(NamedTuple):
    """One game of a run: its id, which is a function of the round and the bots, and the bots by seat."""

    id: str
    """The number of the round and the names by seat, with colons between: `3:greedy:random`."""
    bots: tuple[str, ...]
    """The bots' names, by seat."""

    @classmethod
    def of(cls, number: int, bots: tuple[str, ...]) -> Pairing:
        """The game of a round with these bots in these seats."""
        return cls(":".join((str(number), *bots)), bots)

    @classmethod
    def parse(cls, game_id: str) -> Pairing:
        """The game that an id names. An id from outside is compared with the bots that it comes with."""
        return cls(game_id, tuple(game_id.split(":")[1:]))

    @property
    def round(self) -> str:
        """The number of the round, as text."""
        return self.id.partition(":")[0]

    @property
    def section(self) -> str:
        """The section of the run that the game belongs to; empty where a run has only one."""
        section, slash, _ = self.round.partition("/")
        return section if slash else ""

    @property
    def number(self) -> int:
        """The number of the round; 0 where the id has none that is written as `of` writes it."""
        return int(self.round) if _ROUND.fullmatch(self.round) else 0

    @property
    def encounter(self) -> tuple[str, ...]:
        """What the games of one encounter share: the round, and the bots in any order."""
        return (self.round, *sorted(self.bots))
