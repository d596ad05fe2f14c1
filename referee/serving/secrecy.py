"""Which games may be looked at during a run: none that tells what is hidden in a game still to come. Pure.

The games of an encounter share chance, so that in a game with hidden information a game that is over can
tell what is hidden in the others. It is kept back until all of them are over. Where all games of a run have
the same start, they share what is hidden in it, and are kept back until the run is over.
"""

from __future__ import annotations

from typing import Any

from referee.core.errors import UsageError
from referee.core.pairing import Pairing
from referee.games.api import Game
from referee.records.header import SectionGame
from referee.tournament.run.progress import is_over
from referee.tournament.run.run import Run
from referee.tournament.run.scheduled import Scheduled


class Secrecy:
    """Decides which games of a run may be looked at now."""

    def __init__(self, run: Run, given: Game[Any] | None) -> None:
        """`given` is the game that the user named. Raises `RecordError`."""
        self._run = run
        self._scheduled = Scheduled(run.header)
        self._is_over = is_over(run)
        self._open = {name for name, section in run.header.sections.items() if _is_open(section, given)}
        """The sections whose games hide nothing."""
        self._started = {name for name, section in run.header.sections.items() if section.openings.start}
        """The sections whose games all have the same start."""

    def may_show(self, game: str) -> bool:
        """Whether a game that is over may be looked at, given by its id."""
        pairing = Pairing.parse(game)
        if self._is_over or pairing.section in self._open:
            return True
        if pairing.section in self._started:  # guard: shared-start
            return False
        return not any(map(self._run.is_open, self._scheduled.sharing(pairing)))  # guard: shared-chance


def _is_open(section: SectionGame, given: Game[Any] | None) -> bool:
    """Whether the game of a section hides nothing; what is not available may hide something."""
    fitting = given if given and given.slug == section.game else None
    try:
        return section.available(fitting).is_open
    except UsageError:
        return False
