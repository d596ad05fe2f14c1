"""Reads the schedule of a run from its header: which games belong to it, and how many there are."""

from __future__ import annotations

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.settings import TIME_KEYS
from referee.core.text import shown
from referee.records.header import Header
from referee.tournament.formats import Amount, known_format, total
from referee.tournament.schedule import rotations
from referee.tournament.stopping import KEYS as STOPPING_KEYS

_MOST = 10_000  # how many groups of bots are remembered; then it starts anew


class Scheduled:
    """The schedule of a run as far as its header tells. A changed header needs a new one."""

    def __init__(self, header: Header) -> None:
        """Raises `RecordError` where the header has no format that this referee knows."""
        self._names: frozenset[str] = frozenset(header.bots)
        self._sections = header.sections
        self.format = known_format(header.members)  # none for a format from a file that was not named
        # Most games share their round with games before them, and many have the bots of games before them.
        self._section_of: dict[str, str] = {}  # by place, of those that were checked
        self._groups: set[tuple[str, ...]] = set()
        self._may_stop = any(key in header.members for key in (*STOPPING_KEYS, *TIME_KEYS))

    def check(self, pairing: Pairing) -> str:
        """The section of a game. Raises `RecordError` where the game cannot be in the schedule."""
        section = self._section_of.get(place := pairing.place)
        if section is None:
            self._check_place(pairing)
            section = self._section_of[place] = pairing.section
        if pairing.bots not in self._groups:
            self._check_bots(pairing)
            if len(self._groups) >= _MOST:
                self._groups.clear()
            self._groups.add(pairing.bots)
        return section

    def _check_place(self, pairing: Pairing) -> None:
        where = f"game `{shown(pairing.id)}`"
        if pairing.section not in self._sections:
            raise RecordError(f"the section of {where} is not in this run")
        if not pairing.number:
            raise RecordError(f"the round of {where} is not in this run")
        if self.format:
            self.format.check_place(pairing)

    def _check_bots(self, pairing: Pairing) -> None:
        if not self._names.issuperset(pairing.bots):
            raise RecordError(f"a bot of game `{shown(pairing.id)}` is not in this run")
        if len(set(pairing.bots)) != len(pairing.bots):
            raise RecordError(f"a bot has more than one seat in game `{shown(pairing.id)}`")
        if self.format:
            self.format.check_bots(pairing, self._names)

    def sharing(self, pairing: Pairing) -> list[str]:
        """The ids of the games in the schedule that share chance with a game, see `core.seeds.shared_by`: all
        seatings of its encounter, or all bots that play alone in its round.
        """
        seatings = rotations(pairing.bots) if len(pairing.bots) > 1 else [(name,) for name in self._names]
        found = [Pairing.of(pairing.number, bots, pairing.part, pairing.section) for bots in seatings]
        return [other.id for other in found if self._has(other)]

    def _has(self, pairing: Pairing) -> bool:
        try:
            self.check(pairing)
        except RecordError:
            return False
        return True

    def games_in_all(self, seats: dict[str, int]) -> Amount | None:
        """Counts the games of the run, for sections with these numbers of seats; None where the format is
        not known.
        """
        if self.format is None:
            return None
        amounts = [self.format.games_in_all(len(self._names), seats[name]) for name in self._sections]
        return total(amounts, may_stop=self._may_stop)
