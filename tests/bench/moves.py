"""Plays games between two instant bots as a tournament does, and measures what each move takes the referee.

It is imported, and also run as a program by `tests.bench.overhead`, with the referee of another checkout. So
it imports nothing of the project but what an earlier referee has too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import referee
from referee.core.units import TimeControl
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.journal import Journal
from referee.records.record import to_json
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.tournament import Tournament
from referee.tournament.workers.encounter import play_encounter
from referee.tournament.workers.worker import Transcript


class Measured(NamedTuple):
    """Microseconds per move."""

    wall: float
    """Without `sync`."""
    cpu: float
    """Of the referee's own process, in user and in system mode; without `sync`."""
    sync: float
    """What the journal waits for the disk."""


class _Clock:
    """The time and the processor time of this process, without those of the syncs."""

    def __init__(self) -> None:
        self._sync_s = self._sync_cpu_s = 0.0

    @contextmanager
    def counting_syncs(self) -> Iterator[None]:
        """While this lasts, the time of each `fsync` is measured."""
        fsync = os.fsync

        def timed(descriptor: int) -> None:
            began_s, cpu_s = time.perf_counter(), time.process_time()
            fsync(descriptor)
            self._sync_s += time.perf_counter() - began_s
            self._sync_cpu_s += time.process_time() - cpu_s

        os.fsync = timed  # type: ignore[assignment]
        try:
            yield
        finally:
            os.fsync = fsync

    def now(self) -> Measured:
        return Measured(
            time.perf_counter() - self._sync_s, time.process_time() - self._sync_cpu_s, self._sync_s
        )


def plan_of(bot: Path, isolation: str = "none") -> Plan:
    """Games of Blooms on side 5 between two bots of the same program."""
    game = GAMES["blooms"]
    bots = [Program(name, (str(bot),), Path("/"), isolation=isolation) for name in "ab"]
    entrants = tuple(Entrant(one, TimeControl.parse("10s")) for one in bots)
    return Plan(game, game.settle({"size": "5", "target": "100"}), entrants, "bench")


def terms_of(plan: Plan, games: int) -> list[Terms]:
    """The first games of a tournament, each with other seeds."""
    return [plan.terms(encounter(number, ("a", "b")).games[0]) for number in range(1, games + 1)]


def measured(bot: Path, games: int, isolation: str = "none") -> Measured:
    """Plays so many games, and one before them that is not counted, since the bots start in it."""
    plan = plan_of(bot, isolation)
    bots = [entrant.bot for entrant in plan.entrants]
    transcript = Transcript()
    clock = _Clock()
    moves = 0
    with tempfile.TemporaryDirectory() as folder, clock.counting_syncs():
        journal = Journal.create(Path(folder) / "run")
        journal.append(Tournament((plan,), RoundRobin()).header.members)
        first, *others = terms_of(plan, games + 1)
        began = ended = clock.now()
        for record in play_encounter(bots, [first, *others], tap=transcript.__call__):
            transcript.clear()
            if record.terms is first:
                began = clock.now()
                continue
            journal.append(to_json(record))
            moves += len(record.events)
            ended = clock.now()
        journal.close()
    return Measured(*((after - before) / moves * 1e6 for before, after in zip(began, ended, strict=True)))


def main() -> None:
    """Measures with the program and the number of games in the arguments. Prints, as JSON, the folder of the
    referee that was measured, and the result.
    """
    program, games = sys.argv[1:]
    checkout = Path(referee.__file__).parent.parent
    print(json.dumps([str(checkout.resolve()), *measured(Path(program), int(games))]))
