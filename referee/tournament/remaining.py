"""The encounters of a tournament that are still to be played, in their order. *Pure.*"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, MutableMapping

from referee.records.record import Summary
from referee.tournament.agenda import Agenda
from referee.tournament.schedule import Encounter
from referee.tournament.tournament import Tournament


class Remaining:
    """What remains of a run, while its games are played."""

    def __init__(
        self,
        tournament: Tournament,
        games: MutableMapping[str, Summary],
        annulled: MutableMapping[str, Summary],
        is_open: Callable[[str], bool],
    ) -> None:
        """`games` are those that count, which grow meanwhile; the `annulled` ones led to what followed them.
        `is_open` says of an id whether the game is still to be played.
        """
        self._agenda = Agenda(tournament.schedules(ChainMap(games, annulled)), lambda game: not is_open(game))
        self._is_open = is_open

    def next(self) -> Encounter | None:
        """The next encounter with open games; None if there is none, or none until more games are over."""
        while found := self._agenda.next():
            if any(self._is_open(game.id) for game in found.games):
                return found
        return None
