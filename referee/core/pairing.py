"""The id of a game: the round, and the bots by seat. The only module that knows how an id is written."""

from __future__ import annotations

import re
from typing import NamedTuple

BOT_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9._+-]{1,64}")
"""A bot's name: safe in a game's id, a file name, a table and a shell."""

SECTION_NAME = BOT_NAME  # the name of a section of a tournament, which is safe in the same places

_ROUND = re.compile(r"([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,17}))?")


def section_of(game_id: str) -> str:
    """The section of a game, as `Pairing.section`."""
    return game_id.partition(":")[0].rpartition("/")[0]


class Pairing(NamedTuple):
    """One game of a run: its id, which is a function of the section, the round and the bots, and the bots by
    seat.
    """

    id: str
    """The number of the round and the names by seat, with colons between: `3:greedy:random`. Where the same
    bots meet several times in a round, the number of the encounter follows that of the round: `2.3:a:b`. The
    name of the section stands before all that, if there is more than one: `small/3:greedy:random`.
    """
    bots: tuple[str, ...]  # the bots' names, by seat

    @classmethod
    def of(cls, number: int, bots: tuple[str, ...], part: int = 0, section: str = "") -> Pairing:
        """The game of a round with these bots in these seats; `part` counts from 1 the encounters of the same
        bots in the round, 0 if there is only one.
        """
        number_text = f"{number}.{part}" if part else str(number)
        prefix = f"{section}/" if section else ""
        return cls(":".join((prefix + number_text, *bots)), bots)

    @classmethod
    def parse(cls, game_id: str) -> Pairing:
        """The game that an id names. An id from outside is compared with the bots that it comes with."""
        return cls(game_id, tuple(game_id.split(":")[1:]))

    @property
    def section(self) -> str:
        """The name of the section; empty where the tournament has only one."""
        return section_of(self.id)

    @property
    def round(self) -> str:
        """The number of the round, as text, with that of the encounter where there are several."""
        return self.place.rpartition("/")[2]

    @property
    def number(self) -> int:
        """The number of the round; 0 where the id has none that is written as `of` writes it."""
        found = _ROUND.fullmatch(self.round)
        return int(found[1]) if found else 0

    @property
    def part(self) -> int:
        """The number of the encounter of the same bots in the round; 0 where there is only one."""
        found = _ROUND.fullmatch(self.round)
        return int(found[2]) if found and found[2] else 0

    @property
    def encounter(self) -> tuple[str, ...]:
        """What the games of one encounter share: the section and the round, and the bots in any order."""
        return (self.place, *sorted(self.bots))

    @property
    def place(self) -> str:
        """The section and the round, as they stand in the id."""
        return self.id.partition(":")[0]
