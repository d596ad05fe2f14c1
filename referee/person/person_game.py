"""Plays a game with persons by the same loop as every game, and resumes it when moves are taken back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from referee.gameplay.api import Wire
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.games.api import Seat, State
from referee.person.interface import PersonInterface, TakenBack
from referee.person.person_wire import PersonWire
from referee.person.taking_back import ContinuedWire
from referee.processes.bot import Bot
from referee.records.record import GameRecord
from referee.tournament.workers.encounter import Hooks, OnExit, play_encounter
from referee.wire.process_wire import ProcessWire


@dataclass(frozen=True)
class PersonGame:
    """A game in which persons take part, with everybody who plays it."""

    terms: Terms
    bots: Sequence[Bot]  # by seat, persons included
    interface: PersonInterface
    start_us: int
    on_exit: OnExit

    @property
    def persons(self) -> Collection[Seat]:
        """The seats of persons."""
        return [seat for seat, bot in enumerate(self.bots) if bot.is_person]

    def play(self) -> GameRecord:
        """Plays the game to its end. Raises `PersonLeft`."""
        began = datetime.now(UTC)
        before: list[Event] = []
        taken_back = 0
        while True:
            try:
                record = self._play_on(before)
            except TakenBack as back:
                before = self.interface.events[: back.events]
                taken_back += 1
                self.interface.begin_again()
            else:
                return self._with_persons(record, began, taken_back)

    def _play_on(self, before: Sequence[Event]) -> GameRecord:
        """Plays the game from where these events end, with bots that are started for it."""

        def join(terms: Terms, bots: ProcessWire) -> Wire:
            bots.began_ns = self.interface.began_ns
            wire = PersonWire(bots, self.persons, self.interface)
            return ContinuedWire(before, self.interface.events, wire) if before else wire

        def show(terms: Terms, event: Event, state: State[Any]) -> None:
            self.interface.watch(event, state)

        (record,) = play_encounter(
            self.bots, [self.terms], show, start_us=self.start_us, hooks=Hooks(self.on_exit, join=join)
        )
        return record

    def _with_persons(self, record: GameRecord, began: datetime, taken_back: int) -> GameRecord:
        """The record with what is to be known of a game with persons: who they are, how many hints they got,
        how often moves were taken back.
        """
        seats = [dict(seat) for seat in record.measured["seats"]]
        for seat in self.persons:
            hints = self.interface.hints.get(seat, 0)
            seats[seat] = {"person": True, **({"hints": hints} if hints else {})}
        measured = {
            **record.measured,
            "began": began.isoformat(timespec="milliseconds"),
            "seats": seats,
            **({"taken_back": taken_back} if taken_back else {}),
        }
        return replace(record, measured=measured)
