"""The games of an encounter that are still to be played: how a worker plays and reports them."""

from __future__ import annotations

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from referee.core.errors import EnvironmentLacksError, KeptWaitingError, ProcessLostError, StorageError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.gameplay.api import Failure
from referee.gameplay.terms import Terms
from referee.processes.exit_report import ExitReport
from referee.processes.isolation import reaches_referee
from referee.records.journal import body_of
from referee.records.played_on import BY_REFEREE, MAX_LABEL
from referee.records.record import (
    GameRecord,
    Summary,
    bot_totals,
    parse_json,
    summary_of,
    timed_moves,
    to_json,
)
from referee.tournament.plan import Plan
from referee.tournament.workers.encounter import (
    FORFEITED,
    NOT_TRIED,
    OUT,
    Hooks,
    ProcessUse,
    ShowEvent,
    names_left,
    play_encounter,
)
from referee.tournament.workers.idle import IDLE_PER_SEAT, IdleBots, end_and_report
from referee.wire.dialogue import STDERR, Dialogue, Tap
from referee.wire.process_wire import Waited

DIALOGUE_CAP = 65_536
"""Characters of a game's dialogue that are kept from its beginning, and as many from its end."""


@dataclass(frozen=True, slots=True)
class Task:
    """The games of an encounter that are still to be played."""

    plan: Plan  # the plan with the bots of this encounter only, since it is sent with each task
    games: tuple[tuple[Pairing, int], ...]  # each game with the number of the attempt
    keep: str  # which dialogues are kept: one of `config.KEEP`
    given_up: frozenset[str] = frozenset()  # bots that are not to be started
    forfeiting: frozenset[str] = frozenset()
    """Bots that forfeit these games because games became void, and are not started either."""
    out: frozenset[str] = frozenset()  # bots that are out of the tournament: they forfeit these games too

    @property
    def failures(self) -> dict[str, Failure]:
        """The bots that are not started, with the failure that each of them loses by."""
        return {
            **dict.fromkeys(self.given_up, NOT_TRIED),
            **dict.fromkeys(self.out, OUT),
            **dict.fromkeys(self.forfeiting, FORFEITED),
        }

    @property
    def started(self) -> frozenset[str]:
        """The bots that are started."""
        return frozenset(self.plan.names).difference(self.failures)

    @property
    def able_to_reach(self) -> frozenset[str]:
        """The bots among them that could end or stop the referee's processes on this machine."""
        bots = (entrant.bot for entrant in self.plan.entrants)
        return self.started.intersection(bot.name for bot in bots if reaches_referee(bot))

    def suspects(self, error: Exception) -> frozenset[str]:
        """The bots that may be the cause of an error while these games were played."""
        if isinstance(error, ProcessLostError):
            # Of all bots, the one that a process watched over is the likeliest to have killed it.
            return self.able_to_reach & {error.bot} or self.able_to_reach
        if isinstance(error, KeptWaitingError):
            return frozenset()
        # What the system refuses, any bot may have used up.
        not_a_bug = isinstance(error, EnvironmentLacksError | OSError | MemoryError)
        return self.started if not_a_bug else frozenset()


class Began(NamedTuple):
    """A game began."""

    id: str


class Waiting(NamedTuple):
    """A bot is waited for in a game. Sent now and then; not from machines of a cluster."""

    game: str
    waited: Waited


class Finished(NamedTuple):
    """A game was played to its end."""

    game: Summary
    body: bytes  # its record, as `Journal.extend` takes it
    timed: Counter[str]  # its moves, as `timed_moves` counts them
    bot_totals: Counter[tuple[str, str]]  # what its bots did besides moves, as `bot_totals` counts it
    dialogue: str  # the dialogue between the referee and the bots; empty if it is not kept

    def record(self) -> dict[str, Any]:
        """The record as JSON. This takes time; the usual parts are in `game`."""
        return parse_json(self.body)


class Void(NamedTuple):
    """A game that the referee itself failed at, or that was lost on time for want of a processor."""

    id: str
    attempt: int
    error: str
    suspects: frozenset[str]
    """The bots that may be the cause: of those that were started, the ones that could reach a process of the
    referee if that died or hung, and all if the system refused something to the referee. None if it is a bug
    of the referee, the machine was lost, or a bot got no processor.
    """
    lost: bool = False  # whether the machine was lost that played it, which is held against nobody


class LeftBehind(NamedTuple):
    """A bot left processes behind; they were ended."""

    bot: str
    processes: str  # their names, for people


class IgnoredQuit(NamedTuple):
    """A bot that was not at fault did not exit after `quit`; it was ended."""

    bot: str


class WorkerDied(NamedTuple):
    """A worker died or had to be ended."""

    task: Task | None  # the games that it was playing
    how: str
    suspects: frozenset[str] = frozenset()  # the bots that may be the cause


class TaskLost(NamedTuple):
    """The machine that played a task was lost, with whatever it had not reported by then."""

    task: Task
    how: str
    by_bot: bool  # whether a bot may be the cause: not where all machines were lost at once


class Notice(NamedTuple):
    """Something that the user is told."""

    line: str


Report = Began | Waiting | Finished | Void | LeftBehind | IgnoredQuit | WorkerDied | TaskLost | Notice


class Observer(NamedTuple):
    """An observer of games that are played in this process."""

    show: ShowEvent | None  # called with every event of a game
    taps: Sequence[Tap]  # called with all that bots are sent and send, their stderr included
    patient: bool = False  # whether bots have as long as they take to exit


class Player:
    """Plays tasks one after the other, and keeps bot processes between them where that is configured."""

    def __init__(
        self,
        report: Callable[[Report], None],
        stopping: Callable[[], bool],
        report_alive: Callable[[Waiting | None], None] = lambda waiting: None,
        observer: Observer | None = None,
        worker: str = BY_REFEREE,
    ) -> None:
        """`report` is called at once for each report, `report_alive` now and then during a game, and
        `stopping` between games. `worker` is the name of this worker in records.
        """
        self._observer = observer
        self._report = report
        self._stopping = stopping
        self._report_alive = report_alive
        self._game = ""  # the id of the game that is played
        self._worker = shown(worker, MAX_LABEL)[:MAX_LABEL]
        self._transcript = Transcript()
        self._idle = IdleBots()

    def play(self, task: Task) -> None:
        """Plays a task's games in their order; stops between two games when asked to."""
        left = list(task.games)
        while left and not self._stopping():
            try:
                for record in self._games(task, left):
                    self._finish(replace(record, attempt=left.pop(0)[1]), task.keep)
            except StorageError:
                raise  # only where tasks are played in the referee's own process
            except Exception as error:
                # No bot loses by it: the game is played again, and the next one gets new processes.
                pairing, attempt = left.pop(0)
                known = isinstance(error, EnvironmentLacksError)
                what = str(error) if known else traceback.format_exc(limit=-8)
                self._report(Void(pairing.id, attempt, what, task.suspects(error)))
        end_and_report(self._idle.pop_beyond(IDLE_PER_SEAT * task.plan.seats), self._on_exit)

    def close(self) -> None:
        """Ends the idle processes."""
        end_and_report(self._idle.pop_beyond(0), self._on_exit)

    def _games(self, task: Task, left: list[tuple[Pairing, int]]) -> Iterator[GameRecord]:
        entrants = task.plan.entrants
        return play_encounter(
            [entrant.bot for entrant in entrants],
            self._terms(task.plan, [pairing for pairing, _ in left]),
            self._observer.show if self._observer else None,
            self._tap(task.keep),
            task.plan.start_us,
            ProcessUse(
                fresh={entrant.bot.name for entrant in entrants if entrant.processes == "game"},
                reused={entrant.bot.name for entrant in entrants if entrant.processes == "worker"},
                idle=self._idle,
                failures=task.failures,
                patient=self._observer is not None and self._observer.patient,
            ),
            Hooks(self._on_exit, self._on_wait),
        )

    def _tap(self, keep: str) -> Tap | None:
        taps = [*self._observer.taps] if self._observer else []
        if keep != "nothing":
            taps.append(self._transcript.__call__)  # of all that passes: a method is called twice as fast
        if len(taps) < 2:
            return taps[0] if taps else None

        def tap(name: str, direction: str, data: bytes) -> None:
            for each in taps:
                each(name, direction, data)

        return tap

    def _terms(self, plan: Plan, pairings: list[Pairing]) -> Iterator[Terms]:
        for pairing in pairings:
            if self._stopping():
                return
            self._transcript.clear()
            self._game = pairing.id
            self._report(Began(self._game))
            yield plan.terms(pairing)

    def _finish(self, record: GameRecord, keep: str) -> None:
        value = to_json(record)
        value["measured"]["machine"] = {**record.measured["machine"], "worker": self._worker}
        wanted = keep == "all" or (keep == "faults" and any(record.faults))
        dialogue = self._transcript.text() if wanted else ""
        self._report(
            Finished(summary_of(record), body_of(value), timed_moves(value), bot_totals(value), dialogue)
        )

    def _on_wait(self, waited: Waited | None) -> None:
        self._report_alive(Waiting(self._game, waited) if waited else None)

    def _on_exit(self, bot: str, exit_report: ExitReport) -> None:
        if names := names_left(exit_report):
            self._report(LeftBehind(bot, names))
        if exit_report.ignored_quit:
            self._report(IgnoredQuit(bot))


class Transcript:
    """A tap that keeps the first and last bytes of a dialogue, unformatted: most of it is never read."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets the dialogue so far."""
        self._head: list[tuple[int, str, str, bytes]] = []
        self._tail: deque[tuple[int, str, str, bytes]] = deque()
        self._head_room, self._tail_size = DIALOGUE_CAP, 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes bytes that were sent to a bot or came from it; its stderr is in the record."""
        if direction == STDERR:
            return
        chunk = (time.monotonic_ns(), name, direction, data)
        room = self._head_room = self._head_room - len(data)
        if room >= 0:
            self._head.append(chunk)
            return
        self._tail.append(chunk)
        self._tail_size += len(data)
        while self._tail_size > DIALOGUE_CAP:
            self._tail_size -= len(self._tail.popleft()[3])

    def text(self) -> str:
        """The dialogue as lines of text."""
        lines: list[str] = []
        chunks = [*self._head, *self._tail]
        dialogue = Dialogue(lines.append, chunks[0][0] if chunks else 0)
        for now_ns, name, direction, data in chunks:
            dialogue.take(now_ns, name, direction, data)
        dialogue.close(chunks[-1][0] if chunks else 0)
        return "\n".join(lines)
