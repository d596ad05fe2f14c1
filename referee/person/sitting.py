"""Plays one game in which persons take part, through the same loop as every game, and again from an earlier
move where moves are taken back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from referee.gameplay.api import Wire
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.games.api import Seat, State
from referee.person.desk import PersonDesk, TakenBack
from referee.person.table_wire import TableWire
from referee.person.taking_back import ContinuedWire
from referee.processes.bot import Bot
from referee.records.record import GameRecord
from referee.tournament.encounter import Hooks, play_encounter
from referee.tournament.idle import OnExit
from referee.wire.process_wire import ProcessWire


@dataclass(frozen=True)
class Sitting:
    """One game, with those who play it."""

    terms: Terms
    bots: Sequence[Bot]
    """By seat, persons included."""
    desk: PersonDesk
    start_us: int
    on_exit: OnExit

    @property
    def persons(self) -> Collection[Seat]:
        """The seats of persons."""
        return [seat for seat, bot in enumerate(self.bots) if bot.is_person]

    def play(self) -> GameRecord:
        """Plays the game to its end. Raises `Left`."""
        began = datetime.now(UTC)
        before: list[Event] = []
        taken_back = 0
        while True:
            try:
                record = self._play_on(before)
            except TakenBack as back:
                before = self.desk.events[: back.events]
                taken_back += 1
                self.desk.begin_again()
            else:
                return self._with_persons(record, began, taken_back)

    def _play_on(self, before: Sequence[Event]) -> GameRecord:
        """Plays the game from where these events end, with bots that are started for it."""

        def join(terms: Terms, bots: ProcessWire) -> Wire:
            bots.began_ns = self.desk.began_ns
            wire = TableWire(bots, self.persons, self.desk)
            return ContinuedWire(before, self.desk.events, wire) if before else wire

        def show(terms: Terms, event: Event, state: State[Any]) -> None:
            self.desk.watch(event, state)

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
            hints = self.desk.hints.get(seat, 0)
            seats[seat] = {"person": True, **({"hints": hints} if hints else {})}
        measured = {
            **record.measured,
            "began": began.isoformat(timespec="milliseconds"),
            "seats": seats,
            **({"taken_back": taken_back} if taken_back else {}),
        }
        return replace(record, measured=measured)
