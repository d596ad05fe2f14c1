"""Plays the games of a schedule that have no records yet, whether the run is new or continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from threading import BrokenBarrierError
from typing import Protocol

from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.tournament.config import Config
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.folder import OpenRun
from referee.tournament.plan import Plan
from referee.tournament.schedule import games_in_all, round_robin
from referee.tournament.task import Began, Finished, LeftBehind, Report, Task, Void
from referee.tournament.workers import Workers, open_workers

WORKER_FAILURES = 3
"""How often in a row all workers may die before a game begins."""


class Show(Protocol):
    """Shows the progress of a tournament."""

    def began(self, game: str) -> None:
        """A game began."""

    def finished(self, finished: Finished) -> None:
        """A game counts: its record is on disk."""

    def note(self, line: str) -> None:
        """A line for the user."""

    def tick(self) -> None:
        """Called regularly, so that a display can be refreshed."""


def total(config: Config) -> int:
    """How many games a tournament has in all."""
    return games_in_all(len(config.entrants), config.game.seats(config.options), config.rounds)


def _tasks(config: Config, plan: Plan, run: OpenRun) -> Iterator[Task]:
    """The tasks that are still to be played, in their order."""
    for encounter in round_robin(plan.names, plan.seats, config.rounds):
        games = tuple(
            (pairing, run.voids[pairing.id] + 1) for pairing in encounter.games if run.is_open(pairing.id)
        )
        if games:
            yield Task(plan.among(sorted(games[0][0].bots)), games, config.keep)


class Tournament:
    """Plays the remaining games of a run."""

    def __init__(self, config: Config, plan: Plan, run: OpenRun, show: Show) -> None:
        self._run = run
        self._show = show
        self._dispatcher = Dispatcher(_tasks(config, plan, run))
        self._reported: set[str] = set()
        """The bots that left processes behind; each is reported once."""
        self.timed: Counter[str] = Counter()
        """Counts of moves so far, as `timed_moves` gives them."""
        self.off_turn: Counter[tuple[str, str]] = Counter()
        """How long bots were not asked, and computed then, as `off_turn_times` gives it."""

    def play(self, workers: int, pin: bool, stopping: Callable[[], bool]) -> None:
        """Plays until all games are played or `stopping` is true.

        Raises `StorageError` where a game cannot be stored, `EnvironmentLacksError` where workers keep dying.
        """
        failures = 0
        while not stopping():
            begun = self._dispatcher.begun
            try:
                pool = open_workers(workers, pin, self._take, stopping)
                if self._play_with(pool, stopping) or stopping():
                    return
            except (BrokenProcessPool, BrokenBarrierError):
                pass  # some died before all had started
            failures = failures + 1 if self._dispatcher.begun == begun else 0
            if failures == WORKER_FAILURES:
                raise EnvironmentLacksError("the worker processes die before they begin a game")
            self._show.note("a worker process died; its games are played again")

    def _play_with(self, workers: Workers, stopping: Callable[[], bool]) -> bool:
        """Plays with one pool of workers. False where one of them died, which breaks the pool."""
        running: dict[Future[None], Task] = {}
        try:
            while True:
                if stopping():
                    workers.stop()
                    running = {future: task for future, task in running.items() if not future.cancel()}
                while not stopping() and len(running) < workers.room and (task := self._dispatcher.next()):
                    try:
                        running[workers.submit(task)] = task
                    except BrokenProcessPool:
                        self._take_back(
                            [task, *running.values()], stopping(), workers.close_and_find_crashed()
                        )
                        return False
                if not running:
                    workers.end_idle_bots()
                    return True
                workers.take_reports(0 if any(future.done() for future in running) else 0.1)
                self._show.tick()
                done = [future for future in running if future.done()]
                if done:
                    workers.take_reports(0)  # their last reports
                for future in done:
                    if isinstance(future.exception(), BrokenProcessPool):
                        self._take_back(running.values(), stopping(), workers.close_and_find_crashed())
                        return False
                    future.result()
                    del running[future]
        finally:
            workers.close()

    def _take_back(self, tasks: Iterable[Task], stopping: bool, crashed: Collection[int]) -> None:
        """Takes back the tasks of workers that have ended. Games of crashed workers are void, unless the run
        is being stopped; all others are just played again.
        """
        self._take(
            self._dispatcher.take_back(
                tasks, lambda worker: not stopping and (worker in crashed or not crashed)
            )
        )

    def _take(self, reports: Sequence[Report]) -> None:
        """Takes reports of workers. A game counts when its record is on disk, so games that are reported
        together are stored together, before any of them is shown.
        """
        if games := [(report.game, report.body) for report in reports if isinstance(report, Finished)]:
            self._run.add_games(games)
        for report in reports:
            match report:
                case Began(game, worker):
                    self._dispatcher.began(game, worker)
                    self._show.began(game)
                case Finished(game, timed=timed, off_turn=off_turn, dialogue=dialogue):
                    self._dispatcher.finished(game)
                    self.timed.update(timed)
                    self.off_turn.update(off_turn)
                    if dialogue:
                        self._run.keep_dialogue(game, dialogue)
                    self._show.finished(report)
                case LeftBehind(bot, processes):
                    if bot not in self._reported:
                        self._reported.add(bot)
                        self._show.note(f"bot `{bot}` left processes behind, which were ended: {processes}")
                case Void(game, attempt, error):
                    self._run.add_void(game, attempt, error)
                    again = self._run.is_open(game)
                    self._dispatcher.went_void(game, again)
                    self._show.note(
                        f"{game}: the referee itself failed ({shown(error.strip().splitlines()[-1])}), "
                        + ("it is played again" if again else "it has no result")
                    )
