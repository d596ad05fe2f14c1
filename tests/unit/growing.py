"""A run that grows line by line, as one that is played by another process."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.core.pairing import Pairing
from referee.gameplay.events import Event, Moved
from referee.gameplay.openings import NO_OPENINGS, Openings
from referee.games import GAMES
from referee.processes.program import Program
from referee.records import journal
from referee.records.record import GameRecord, to_json
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.tournament import Tournament
from tests.tools.synthetic import played

GAME = "blooms"
OPTIONS = {"size": "3", "target": "1"}


class Growing:
    """A run of bots that move at random, in a folder."""

    def __init__(
        self,
        folder: Path,
        game: str = GAME,
        options: dict[str, str] | None = None,
        bots: str = "ab",
        rounds: int = 3,
        hidden_seed: bool = False,
        openings: Openings = NO_OPENINGS,
    ) -> None:
        rules = GAMES[game]
        settled = rules.settle(OPTIONS if options is None else options)
        entrants = tuple(Entrant(Program(name, ("true",), Path("/")), rules.clock) for name in bots)
        self.plan = Plan(
            rules,
            settled,
            entrants,
            "the seed of the run",
            seed_is_hidden=hidden_seed,
            openings=openings,
        )
        self.path = folder / journal.NAME
        self._header = Tournament((self.plan,), RoundRobin(rounds)).header.members
        self._prev = journal.FIRST
        self._dice = random.Random(1)

    def line(self, value: dict[str, Any]) -> bytes:
        """The next line."""
        line, self._prev = journal.chained(journal.body_of(value), self._prev)
        return line

    def append(self, data: bytes) -> None:
        """Writes these bytes at the end of the file."""
        with self.path.open("ab") as file:
            file.write(data)

    def begin(self) -> None:
        """Writes the first line."""
        self.append(self.line(self._header))

    def record(self, game: str) -> GameRecord:
        """A game with this id, played at random."""
        record = played(self.plan.terms(Pairing.parse(game)), self._dice)
        return replace(record, isolation=("none",) * len(record.terms.bots))

    def void(self, game: str, attempt: int) -> None:
        """Writes that an attempt at a game became void, perhaps by one of its bots."""
        suspects = Pairing.parse(game).bots
        line = {"kind": "void", "id": game, "attempt": attempt, "suspects": suspects, "error": "died"}
        self.append(self.line(line))

    def play(self, *games: str) -> None:
        """Writes games with these ids."""
        for game in games:
            self.append(self.line(to_json(self.record(game))))


def with_info(record: GameRecord, info: str) -> GameRecord:
    """The record of a game in which every bot says this with each move."""

    def told(event: Event) -> Event:
        if not isinstance(event, Moved):
            return event
        return Moved(event.seat, event.text, event.charge, event.defaulted, info, event.timing)

    return replace(record, events=tuple(map(told, record.events)))
