"""Verifies the lines of a run, each by itself and against those before it. Pure."""

from __future__ import annotations

from typing import Any

from referee.core.errors import RecordError
from referee.games.api import Game
from referee.records.header import check_against, game_of, other_origin, sections_of
from referee.records.heads import Head
from referee.records.journal import JournalLine
from referee.records.replay import ExaminedLine
from referee.records.seeds import SeedVerifier
from referee.tournament.run.run_state import RunState


class RunVerifier:
    """Verifies the lines of a run in their order."""

    def __init__(self, state: RunState, given: Game[Any] | None = None) -> None:
        """`state` is that before the first line. `given` is the game that the user named, which is needed for
        a game from a file.
        """
        self.state = state
        """What the lines so far say."""
        self._given = given
        self._seeds = SeedVerifier({})

    @property
    def unverified_seeds(self) -> int:
        """How many games so far have a seed that has not been revealed, so that only its use is verified."""
        return self._seeds.unverified

    def take(self, line: JournalLine, examined: ExaminedLine) -> None:
        """Verifies the next line. Raises `RecordError`, or `UsageError` where the game is not available."""
        if not examined.value:
            raise RecordError(examined.error)
        match self.state.take(line.text, line.hash):
            case Head():
                if examined.error:
                    raise RecordError(examined.error)
                check_against(self.state.header, examined.value)
                self._seeds.take_game(examined.value)
            case {"kind": "tournament"}:
                self._seeds = SeedVerifier(self.state.header)
                self._check_origins()
            case {"kind": "change"} as change:
                self._seeds.take_change(change)

    def _check_origins(self) -> None:
        """Raises `RecordError` where a game from outside is another one than that which was played."""
        sections = sections_of(self.state.header).values()
        for section in sections:
            is_given = self._given and (len(sections) == 1 or self._given.slug == section["game"])
            if is_given or "origin" in section:
                game = game_of(section, self._given if is_given else None)
                if difference := other_origin(section, game):
                    raise RecordError(difference)
