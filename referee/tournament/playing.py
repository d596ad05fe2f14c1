"""Plays the games that have no records yet: of a new run, or of one that is continued. What became void is
played again as long as the run says that it is open.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from referee.core.errors import EnvironmentLacksError
from referee.core.seeds import shared_by
from referee.core.settings import CLOSED, PLAYED_US, TimeLimit
from referee.core.text import counted
from referee.gameplay.events import Rejected
from referee.gameplay.hints import NOT_EXITED
from referee.processes.process import GRACE_S
from referee.records.amendments import THEN, Strikes, at_fault
from referee.records.record import REJECTED, Summary, from_json
from referee.tournament.file.file_list import Programs
from referee.tournament.plan import Entrant
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run_state import RunState
from referee.tournament.tournament import Tournament
from referee.tournament.workers.dispatcher import Dispatcher
from referee.tournament.workers.task import (
    BackendFactory,
    Began,
    Finished,
    IgnoredQuit,
    LeftBehind,
    Notice,
    Report,
    Task,
    TaskLost,
    Void,
    Waiting,
    WorkerDied,
)

WORKER_FAILURES = 3  # how often in a row, for each worker, workers may die before the first game of all

LATER_FAILURES = 30
"""How often when games have begun, so that workers can start here: whatever kills them may pass."""

SHARE = 100
"""The time of play is stored when this part of it has passed: so much is lost if the referee is killed."""


class ProgressDisplay(Protocol):
    """Shows the progress of a tournament: what a display has no method for, it does not show."""

    def began(self, game: str) -> None:
        """A game began."""
        return

    def waiting(self, waiting: Waiting) -> None:
        """A bot is waited for in a game."""
        return

    @abstractmethod
    def finished(self, finished: Finished) -> None:
        """A game counts: its record is on disk."""

    @abstractmethod
    def void(self, void: Void, then: str) -> None:
        """A game became void; `then` says what becomes of it."""

    @abstractmethod
    def note(self, line: str) -> None:
        """A line for the user."""

    def rule(self, line: str) -> None:
        """Shows the progress of a stopping rule, such as `LLR +1.23 [−2.94, 2.94]`."""
        return

    def tick(self) -> None:
        """Called regularly, so that a display can be refreshed."""
        return


class StoredChanges(Protocol):
    """A run in which changes are stored."""

    @property
    def state(self) -> RunState:
        """Its state."""

    def add_change(self, change: dict[str, Any]) -> None:
        """Stores a change. Raises `StorageError`."""


class TimeWatch:
    """Closes a run when its time is over: from then on no encounter begins, or no round where rounds follow
    from results. The decision is a line of the run, as is the time of play so far.
    """

    def __init__(
        self,
        limit: TimeLimit,
        run: StoredChanges,
        remaining: Remaining,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        now_us: Callable[[], int] = lambda: time.monotonic_ns() // 1000,
    ) -> None:
        """Counts the time of play from now on. `now` gives the time of day, and `now_us` that of a clock that
        is never set.
        """
        self._limit = limit
        self._run = run
        self._remaining = remaining
        self._now = now
        self._now_us = now_us
        self._before_us = self._stored_us  # the time of play before this process
        self._began_us = now_us()

    @property
    def _stored_us(self) -> int:
        return self._run.state.header.played_us

    @property
    def _played_us(self) -> int:
        return self._before_us + self._now_us() - self._began_us

    def look(self) -> str:
        """Closes the run if its time is over; what to tell the user then, else nothing. Raises
        `StorageError`.
        """
        if self._remaining.closed:
            return ""
        if reached := self._limit.reached(self._now(), self._played_us):
            self._run.add_change({**self._new_time(0), CLOSED: {"by": reached, **self._remaining.begun()}})
            return self._remaining.closed
        if change := self._new_time(self._limit.time_us // SHARE):
            self._run.add_change(change)
        return ""

    def stop(self) -> None:
        """Stores the time of play at the end of a process. Raises `StorageError`."""
        if not self._remaining.closed and (change := self._new_time(0)):
            self._run.add_change(change)

    def _new_time(self, at_least_us: int) -> dict[str, int]:
        """The time of play to be stored, if it is limited and this much has passed since it was."""
        played_us = self._played_us
        is_due = self._limit.time_us and played_us - self._stored_us > at_least_us
        return {PLAYED_US: played_us} if is_due else {}


class FaultCount:
    """How many faults each bot has committed in a run, and who is out for it; nothing is counted where the
    tournament allows all.
    """

    def __init__(self, strikes: Strikes | None, run: OpenRun) -> None:
        """Counts the faults in the games that were played."""
        self._strikes = strikes
        self._run = run
        self._faults: Counter[str] = Counter()
        if strikes:
            for game in (*run.state.games.values(), *run.state.annulled.values()):
                self.add(game)

    def add(self, game: Summary) -> None:
        """Counts the faults in a game that was just stored."""
        if self._strikes:
            self._faults.update(at_fault(game))

    def take_out(self) -> list[str]:
        """Takes out the bots that have too many faults now, also where a run was killed before that was
        stored; a line for the user for each. Raises `StorageError`.
        """
        lines = []
        strikes = self._strikes
        for bot, faults in self._faults.items():
            if strikes and faults >= strikes.faults and bot not in self._run.state.amendments.out:
                reason = counted(faults, "fault")
                self._run.take_out(bot, strikes.games, reason)
                lines.append(f"bot `{bot}` is out of the tournament after {reason}: {THEN[strikes.games]}")
        return lines

    def may_take_out(self, bots: Collection[str], games: int) -> bool:
        """Returns whether one of these bots may be out before the last of this many games."""
        return self._strikes is not None and any(
            self._faults[bot] + games > self._strikes.faults
            for bot in bots
            if bot not in self._run.state.amendments.out
        )


def _tasks(
    tournament: Tournament, run: OpenRun, remaining: Remaining, faults: FaultCount, keep: str
) -> Iterator[Task | None]:
    """The tasks that are still to be played, in their order: encounters, or single games, where one became
    void too often, or may take out a bot. None where there is none until more games are over; whether more
    follow shows then.
    """
    state = run.state
    while True:
        if (encounter := remaining.next()) is None:
            yield None
            continue
        games = [
            (pairing, state.next_attempt(pairing.id))
            for pairing in encounter.games
            if run.is_open(pairing.id)
        ]
        first = games[0][0]
        shared_seed = state.shared_seeds.get(shared_by(first.id))
        plan = tournament.plan(first).for_encounter(first, shared_seed)
        part_of_plan = plan.with_values(dict(encounter.values)) if encounter.values else plan
        if faults.may_take_out(first.bots, len(games)):  # guard: strikes-between-games
            alone = games
        else:
            alone = [game for game in games if state.suspicion.is_undecided(game[0].id)]
        together = [game for game in games if game not in alone]
        for part in ([together] if together else []) + [[game] for game in alone]:
            if run.is_open(part[0][0].id):  # a game before it may have taken out a bot
                out = state.amendments.forfeiting(first.bots)
                yield Task(part_of_plan, tuple(part), keep, out=out)


class FirstRejected(NamedTuple):
    """The first rejected answer of a bot."""

    game: str
    answer: Rejected
    most: int  # with how many of them a bot loses the game


class TournamentPlayer:
    """Plays the remaining games of a run."""

    def __init__(
        self,
        tournament: Tournament,
        run: OpenRun,
        keep: str,
        show: ProgressDisplay,
        programs: Programs,
        workers: int = 1,
    ) -> None:
        """`keep` says which dialogues are kept, one of `config.KEEP`; `programs` are those of the bots, as
        they were when the run was opened; about this many `workers` play at the same time.
        """
        self._workers = workers
        self.remaining = Remaining(
            tournament.matchmaking, run.state, run.is_open, run.add_batch, max(1, workers)
        )
        """What remains to be played, with the state of the stopping rules."""
        self._run = run
        self._show = show
        self._tournament = tournament
        self._programs = programs
        self._faults = FaultCount(tournament.strikes, run)
        tasks = _tasks(tournament, run, self.remaining, self._faults, keep)
        self._dispatcher = Dispatcher(tasks, run.state.suspicion)
        self._closing = TimeWatch(tournament.limit, run, self.remaining)
        self._deaths = 0  # how many workers died in a row before a game began
        self._failures = WORKER_FAILURES  # how many for each worker end the run
        self._is_stopping = False
        self._told = ""  # the last line that was shown about the stopping rules
        self._reported: set[tuple[str, str]] = set()
        """The bots that left something running, with what; each is reported once."""
        self._changed: set[str] = set()
        """The bots whose programs changed while the run was on; each is reported once."""
        self.timed: Counter[str] = Counter()  # counts of moves so far, as `timed_moves` gives them
        self.bot_totals: Counter[tuple[str, str]] = Counter()
        """What bots did besides moves so far, as `bot_totals` counts it."""
        self.first_rejected: dict[str, FirstRejected] = {}
        """By bot, the first of the rejected answers in `bot_totals`."""

    def play(self, open_backend: BackendFactory, stopping: Callable[[], bool]) -> None:
        """Plays on a backend until all games are played or `stopping` is true.

        Raises `StorageError` where a game cannot be stored, `EnvironmentLacksError` where workers keep dying.
        """
        backend = open_backend(self._take, stopping)
        try:
            while True:
                if stopping():
                    self._is_stopping = True
                    backend.stop()
                while not stopping() and backend.has_room and (task := self._next_task()):
                    self._record_changed_programs(task.plan.entrants)
                    backend.play(task)
                if not backend.busy and (stopping() or not self._dispatcher.pauses):
                    break
                backend.take_reports(0.1)
                self._show.tick()
                if self._deaths >= self._failures * self._workers > 0:
                    raise EnvironmentLacksError("the worker processes exit before they start a game")
            backend.end_idle_bots()
        finally:
            backend.close()
        self._closing.stop()
        self._record_changed_programs(self._tournament.entrants)

    def _next_task(self) -> Task | None:
        """The next task, if there is one now; no new encounter where the time of the run is over."""
        if decision := self._closing.look():
            self._show.note(decision)
        task = self._dispatcher.next()
        if (progress := self.remaining.progress) != self._told:
            self._told = progress
            self._show.rule(progress)
        return task

    def _record_changed_programs(self, entrants: Iterable[Entrant]) -> None:
        """Looks whether the programs of some bots changed since the last look; stores and reports it."""
        files = self._programs.changes(entrant.bot for entrant in entrants)
        if files:  # guard: programs
            self._run.add_change({"files": files})
        if new := files.keys() - self._changed:
            self._changed |= new
            self._show.note(f"bots whose program changed during the run: {', '.join(sorted(new))}")

    def _take(self, reports: Sequence[Report]) -> None:
        """Takes reports of workers. A game counts when its record is on disk, so games that are reported
        together are stored together, before any of them is shown.
        """
        if games := [report.body for report in reports if isinstance(report, Finished)]:
            self._run.add_games(games)
        for report in reports:
            match report:
                case Began(game):
                    self._deaths, self._failures = 0, LATER_FAILURES
                    self._dispatcher.began(game)
                    self._show.began(game)
                case Waiting():
                    self._show.waiting(report)
                case Finished():
                    self._take_finished(report)
                case LeftBehind() | IgnoredQuit():
                    self._note_once(report)
                case Void():
                    self._take_void(report)
                case WorkerDied(task, how, suspects):
                    self._deaths += 1
                    self._show.note(f"a worker process {how}")
                    why = "" if self._is_stopping else how
                    for void in self._dispatcher.take_back(task, why, suspects):
                        self._take_void(void)
                case TaskLost():
                    self._take_lost(report)
                case Notice(line):
                    self._show.note(line)

    def _note_once(self, report: LeftBehind | IgnoredQuit) -> None:
        """Reports what was still running of a bot, unless it was reported before."""
        match report:
            case LeftBehind(bot, details):
                what = "left processes running, which were ended:"
            case IgnoredQuit(bot):
                what, details = f"was still running {GRACE_S} s after `quit`, and was ended:", NOT_EXITED
        if (bot, what) not in self._reported:
            self._reported.add((bot, what))
            self._show.note(f"bot `{bot}` {what} {details}")

    def _take_finished(self, finished: Finished) -> None:
        game = finished.game
        self._dispatcher.finished(game)
        self._faults.add(game)
        for line in self._faults.take_out():
            self._show.note(line)
        self.timed.update(finished.timed)
        self.bot_totals.update(finished.bot_totals)
        self._note_rejected(finished)
        if finished.dialogue:
            self._run.keep_dialogue(game, finished.dialogue)
        self._show.finished(finished)

    def _note_rejected(self, finished: Finished) -> None:
        """Keeps the first rejected answer of each bot."""
        rejected = {bot for (bot, what), count in finished.bot_totals.items() if what == REJECTED and count}
        for bot in rejected - self.first_rejected.keys():
            record = from_json(finished.record())  # for each bot at most once
            seat = record.terms.bots.index(bot)
            answer = next(one for one in record.events if isinstance(one, Rejected) and one.seat == seat)
            self.first_rejected[bot] = FirstRejected(record.terms.id, answer, record.terms.rejections)

    def _take_lost(self, lost: TaskLost) -> None:
        """Stores the games that were lost with a machine, and has them played again."""
        again = []
        for void in self._dispatcher.lost(lost):
            if void.suspects:
                self._take_void(void)
                continue
            self._run.add_void(void)
            self._show.void(void, "it is played again")
            again.append(void.id)
        self._dispatcher.play_again(lost.task, again)

    def _take_void(self, void: Void) -> None:
        """Stores a void game, and has it played again or forfeited."""
        game = void.id
        responsible = self._run.add_void(void)
        again = self._run.is_open(game)
        self._dispatcher.went_void(game, again, self._run.pause_s(game))
        if not again:
            then = "it has no result"
        elif self._run.state.suspicion.forfeiting(game):
            then = "it will be forfeited"
        else:
            then = "it is played again"
        self._show.void(void, then)
        for bot in sorted(responsible):
            self._show.note(
                f"bot `{bot}` forfeits its remaining games, because it was in the most games that became void"
            )
