"""What is left of an encounter, played game by game, and what is reported of it."""

from __future__ import annotations

import os
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from referee.core.errors import Stopped, StorageError
from referee.core.pairing import Pairing
from referee.gameplay.terms import Terms
from referee.processes.exit_report import ExitReport
from referee.records.journal import body_of
from referee.records.record import (
    GameRecord,
    Summary,
    faults,
    parse_json,
    summary_of,
    timed_moves,
    to_json,
)
from referee.tournament.encounter import play_encounter, remains
from referee.tournament.kept import KEPT_TABLES, Kept, end
from referee.tournament.plan import Plan
from referee.wire.dialogue import Dialogue

DIALOGUE_CAP = 65_536
"""Characters of a game's dialogue that are kept at its beginning, and again at its end."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is left of an encounter."""

    plan: Plan
    """Of the bots of the encounter alone, since it is sent with each task."""
    games: tuple[tuple[Pairing, int], ...]
    """With the number of the attempt."""
    keep: str
    given_up: frozenset[str] = frozenset()
    """Bots that are not to be started."""


class Began(NamedTuple):
    """A game is on."""

    id: str
    worker: int
    """The process that plays it."""


class Finished(NamedTuple):
    """A game came to its end."""

    game: Summary
    body: bytes
    """Its record, as `Journal.extend` takes it."""
    timed: Counter[str]
    """Its moves, as `timed_moves` counts them."""
    dialogue: str
    """What passed between the referee and its bots, if it is to be kept."""

    def record(self) -> dict[str, Any]:
        """Its record, as JSON has it. This takes time; what everybody needs is in `game`."""
        return parse_json(self.body)


class Void(NamedTuple):
    """The referee itself failed at a game: a fault of ours, not of a bot's."""

    id: str
    attempt: int
    error: str


class Remains(NamedTuple):
    """A bot left something behind; all of it was ended."""

    bot: str
    found: str
    """Its processes, for people."""


Report = Began | Finished | Void | Remains


class Player:
    """Plays tasks, one after the other, and keeps the processes of bots that are to be kept between them."""

    def __init__(self, report: Callable[[Report], None], stopping: Callable[[], bool]) -> None:
        """Each report is made as soon as there is something to report."""
        self._report = report
        self._stopping = stopping
        self._transcript = Transcript()
        self._kept = Kept()

    def play(self, task: Task) -> None:
        """Plays a task's games in their order, and stops between two of them when it is asked to."""
        left = list(task.games)
        while left and not self._stopping():
            try:
                for record in self._games(task, left):
                    self._finish(replace(record, attempt=left.pop(0)[1]), task.keep)
            except (Stopped, StorageError):
                raise  # only where tasks are played in the referee's own process
            except Exception:
                # Nobody's game is lost for it: it is played again, and the next one gets new processes.
                pairing, attempt = left.pop(0)
                self._report(Void(pairing.id, attempt, traceback.format_exc(limit=-8)))
        end(self._kept.beyond(KEPT_TABLES * task.plan.seats), self._on_exit)

    def close(self) -> None:
        """Ends the processes that were kept."""
        end(self._kept.beyond(0), self._on_exit)

    def _games(self, task: Task, left: list[tuple[Pairing, int]]) -> Iterator[GameRecord]:
        entrants = task.plan.entrants
        return play_encounter(
            [entrant.bot for entrant in entrants],
            self._terms(task.plan, [pairing for pairing, _ in left]),
            tap=None if task.keep == "nothing" else self._transcript,
            start_us=task.plan.start_us,
            fresh={entrant.bot.name for entrant in entrants if entrant.processes == "game"},
            given_up=task.given_up,
            on_exit=self._on_exit,
            staying={entrant.bot.name for entrant in entrants if entrant.processes == "worker"},
            kept=self._kept,
        )

    def _terms(self, plan: Plan, pairings: list[Pairing]) -> Iterator[Terms]:
        for pairing in pairings:
            if self._stopping():
                return
            self._transcript.clear()
            self._report(Began(pairing.id, os.getpid()))
            yield plan.terms(pairing)

    def _finish(self, record: GameRecord, keep: str) -> None:
        value = to_json(record)
        wanted = keep == "all" or (keep == "faults" and any(faults(record)))
        dialogue = self._transcript.text() if wanted else ""
        self._report(Finished(summary_of(record), body_of(value), timed_moves(value), dialogue))

    def _on_exit(self, bot: str, exit_report: ExitReport) -> None:
        if found := remains(exit_report):
            self._report(Remains(bot, ", ".join(process for group in found.values() for process in group)))


class Transcript:
    """A tap that keeps the beginning and the end of what passes, as it is: most of it is never read."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self._head: list[tuple[int, str, str, bytes]] = []
        self._tail: deque[tuple[int, str, str, bytes]] = deque()
        self._head_size = self._tail_size = 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what a bot is told or says."""
        passed = (time.monotonic_ns(), name, direction, data)
        if self._head_size + len(data) <= DIALOGUE_CAP:
            self._head.append(passed)
            self._head_size += len(data)
            return
        self._tail.append(passed)
        self._tail_size += len(data)
        while self._tail_size > DIALOGUE_CAP:
            self._tail_size -= len(self._tail.popleft()[3])

    def text(self) -> str:
        """The dialogue, a line a line."""
        lines: list[str] = []
        passed = [*self._head, *self._tail]
        dialogue = Dialogue(lines.append, passed[0][0] if passed else 0)
        for now_ns, name, direction, data in passed:
            dialogue.take(now_ns, name, direction, data)
        return "\n".join(lines)
