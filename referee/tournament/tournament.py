"""A tournament is a schedule less its records: what is still to play is computed from what is on disk.

So continuing is the ordinary way of running.
"""

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
from referee.tournament.task import Began, Finished, Remains, Report, Task, Void
from referee.tournament.workers import Workers, open_workers

WORKER_FAILURES = 3
"""So often in a row all workers may die before a game is begun."""


class Show(Protocol):
    """Who is told how a tournament goes."""

    def began(self, game: str) -> None:
        """A game is on."""

    def finished(self, finished: Finished) -> None:
        """A game counts: it is on the disk."""

    def note(self, line: str) -> None:
        """Something a person should know."""

    def tick(self) -> None:
        """Time passed."""


def total(config: Config) -> int:
    """How many games a tournament has in all."""
    return games_in_all(len(config.entrants), config.game.seats(config.options), config.rounds)


def _tasks(config: Config, plan: Plan, run: OpenRun) -> Iterator[Task]:
    """What is still to play, in its order."""
    for encounter in round_robin(plan.names, plan.seats, config.rounds):
        games = tuple(
            (pairing, run.voids[pairing.id] + 1) for pairing in encounter.games if run.is_open(pairing.id)
        )
        if games:
            yield Task(plan.among(sorted(games[0][0].bots)), games, config.keep)


class Tournament:
    """What is still to play of a run, while it is played."""

    def __init__(self, config: Config, plan: Plan, run: OpenRun, show: Show) -> None:
        self._run = run
        self._show = show
        self._dispatcher = Dispatcher(_tasks(config, plan, run))
        self._messy: set[str] = set()
        """The bots of which processes were left behind; told once."""
        self.timed: Counter[str] = Counter()
        """The moves so far, as `timed_moves` counts them."""

    def play(self, workers: int, pin: bool, stopping: Callable[[], bool]) -> None:
        """Plays until all is done or somebody asks to stop.

        Raises `StorageError` where a game cannot be stored, `EnvironmentLacksError` where no worker lives.
        """
        failures = 0
        while not stopping():
            begun = self._dispatcher.begun
            try:
                staff = open_workers(workers, pin, self._take, stopping)
                if self._play_with(staff, stopping) or stopping():
                    return
            except (BrokenProcessPool, BrokenBarrierError):
                pass  # they died before they were all there
            failures = failures + 1 if self._dispatcher.begun == begun else 0
            if failures == WORKER_FAILURES:
                raise EnvironmentLacksError("the workers die before they begin a game")
            self._show.note("a worker died; what it played is played again")

    def _play_with(self, workers: Workers, stopping: Callable[[], bool]) -> bool:
        """Plays with one set of workers; false where one of them died and they are of no more use."""
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
                        self._take_back([task, *running.values()], stopping(), workers.casualties())
                        return False
                if not running:
                    workers.dismiss()
                    return True
                workers.listen(0 if any(future.done() for future in running) else 0.1)
                self._show.tick()
                done = [future for future in running if future.done()]
                if done:
                    workers.listen(0)  # what they reported last
                for future in done:
                    if isinstance(future.exception(), BrokenProcessPool):
                        self._take_back(running.values(), stopping(), workers.casualties())
                        return False
                    future.result()
                    del running[future]
        finally:
            workers.close()

    def _take_back(self, tasks: Iterable[Task], stopping: bool, casualties: Collection[int]) -> None:
        """The workers that had these are no more. Void are the games of those that died by themselves,
        unless somebody stops the run; the others lose nothing but time.
        """
        self._take(
            self._dispatcher.take_back(
                tasks, lambda worker: not stopping and (worker in casualties or not casualties)
            )
        )

    def _take(self, reports: Sequence[Report]) -> None:
        """Takes down what workers report. A game counts when it is on the disk, so those that are reported
        together are put there together, before any of them is told of.
        """
        if games := [(report.game, report.body) for report in reports if isinstance(report, Finished)]:
            self._run.add_games(games)
        for report in reports:
            match report:
                case Began(game, worker):
                    self._dispatcher.began(game, worker)
                    self._show.began(game)
                case Finished(game, timed=timed, dialogue=dialogue):
                    self._dispatcher.finished(game)
                    self.timed.update(timed)
                    if dialogue:
                        self._run.keep_dialogue(game, dialogue)
                    self._show.finished(report)
                case Remains(bot, found):
                    if bot not in self._messy:
                        self._messy.add(bot)
                        self._show.note(f"bot `{bot}` left behind what was ended: {found}")
                case Void(game, attempt, error):
                    self._run.add_void(game, attempt, error)
                    again = self._run.is_open(game)
                    self._dispatcher.went_void(game, again)
                    self._show.note(
                        f"{game}: the referee itself failed ({shown(error.strip().splitlines()[-1])}), "
                        + ("it is played again" if again else "it stays without a result")
                    )
