"""Plays the games of a schedule that have no records yet, whether the run is new or continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from referee.core.errors import EnvironmentLacksError
from referee.core.seeds import shared_by
from referee.tournament.config import Config
from referee.tournament.dispatcher import Dispatcher
from referee.tournament.folder import OpenRun
from referee.tournament.hashes import Programs
from referee.tournament.plan import Plan
from referee.tournament.schedule import games_in_all, round_robin
from referee.tournament.task import Began, Died, Finished, LeftBehind, Report, Task, Void
from referee.tournament.workers import open_workers

WORKER_FAILURES = 3
"""How often in a row, for each worker, workers may die before a game begins."""


class Show(Protocol):
    """Shows the progress of a tournament."""

    def began(self, game: str) -> None:
        """A game began."""

    def finished(self, finished: Finished) -> None:
        """A game counts: its record is on disk."""

    def void(self, void: Void, then: str) -> None:
        """A game became void; `then` says what becomes of it."""

    def note(self, line: str) -> None:
        """A line for the user."""

    def rule(self, line: str) -> None:
        """How a stopping rule stands, such as `LLR +1.23 [-2.94, 2.94]`."""

    def tick(self) -> None:
        """Called regularly, so that a display can be refreshed."""


def total(config: Config) -> int:
    """How many games a tournament has in all."""
    return games_in_all(len(config.entrants), config.game.seats(config.options), config.rounds)


def game_ids(config: Config) -> Iterator[str]:
    """The ids of all games of a tournament."""
    names = [entrant.bot.name for entrant in config.entrants]
    for encounter in round_robin(names, config.game.seats(config.options), config.rounds):
        yield from (pairing.id for pairing in encounter.games)


def _tasks(config: Config, plan: Plan, run: OpenRun) -> Iterator[Task]:
    """The tasks that are still to be played, in their order: encounters, and games that became void too often
    each by itself.
    """
    for encounter in round_robin(plan.names, plan.seats, config.rounds):
        games = [
            (pairing, run.voids[pairing.id] + 1) for pairing in encounter.games if run.is_open(pairing.id)
        ]
        if not games:
            continue
        shared_seed = run.shared_seeds.get(shared_by(games[0][0].id))
        part_of_plan = plan.among(sorted(games[0][0].bots), shared_seed)
        alone = [game for game in games if run.suspicion.is_undecided(game[0].id)]
        together = [game for game in games if game not in alone]
        for part in ([together] if together else []) + [[game] for game in alone]:
            yield Task(part_of_plan, tuple(part), config.keep)


class Tournament:
    """Plays the remaining games of a run."""

    def __init__(self, config: Config, plan: Plan, run: OpenRun, show: Show, programs: Programs) -> None:
        """`programs` are those of the plan's bots, as they were when the run was opened."""
        self._run = run
        self._show = show
        self._plan = plan
        self._programs = programs
        self._dispatcher = Dispatcher(_tasks(config, plan, run), run.suspicion)
        self._deaths = 0
        """How many workers died in a row before a game began."""
        self._is_stopping = False
        self._reported: set[str] = set()
        """The bots that left processes behind; each is reported once."""
        self._changed: set[str] = set()
        """The bots whose programs changed while the run was on; each is reported once."""
        self.timed: Counter[str] = Counter()
        """Counts of moves so far, as `timed_moves` gives them."""
        self.off_turn: Counter[tuple[str, str]] = Counter()
        """How long bots were not asked, and computed then, as `off_turn_times` gives it."""

    def play(self, workers: int, pin: bool, stopping: Callable[[], bool]) -> None:
        """Plays until all games are played or `stopping` is true.

        Raises `StorageError` where a game cannot be stored, `EnvironmentLacksError` where workers keep dying.
        """
        crew = open_workers(workers, pin, self._take, stopping)
        try:
            while True:
                if stopping():
                    self._is_stopping = True
                    crew.stop()
                while not stopping() and crew.has_room and (task := self._dispatcher.next()):
                    self._record_changed_programs(task.plan)
                    crew.play(task)
                if not crew.busy:
                    break
                crew.take_reports(0.1)
                self._show.tick()
                if self._deaths >= WORKER_FAILURES * workers > 0:
                    raise EnvironmentLacksError("the worker processes die before they begin a game")
            crew.end_idle_bots()
        finally:
            crew.close()
        self._record_changed_programs(self._plan)

    def _record_changed_programs(self, plan: Plan) -> None:
        """Looks whether the programs of a plan's bots changed since the last look; stores and reports it."""
        files = self._programs.changes(entrant.bot for entrant in plan.entrants)
        if files:  # guard: programs
            self._run.add_change({"files": files})
        if new := files.keys() - self._changed:
            self._changed |= new
            self._show.note(f"bots whose program changed while the run is on: {', '.join(sorted(new))}")

    def _take(self, reports: Sequence[Report]) -> None:
        """Takes reports of workers. A game counts when its record is on disk, so games that are reported
        together are stored together, before any of them is shown.
        """
        if games := [(report.game, report.body) for report in reports if isinstance(report, Finished)]:
            self._run.add_games(games)
        for report in reports:
            match report:
                case Began(game):
                    self._deaths = 0
                    self._dispatcher.began(game)
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
                case Void():
                    self._take_void(report)
                case Died(task, how):
                    self._deaths += 1
                    self._show.note(f"a worker process {how}")
                    for void in self._dispatcher.take_back(task, "" if self._is_stopping else how):
                        self._take_void(void)

    def _take_void(self, void: Void) -> None:
        """Stores a void game, and has it played again or forfeited."""
        game = void.id
        responsible = self._run.add_void(game, void.attempt, void.error, void.suspects)
        again = self._run.is_open(game)
        self._dispatcher.went_void(game, again)
        if not again:
            then = "it has no result"
        elif self._run.suspicion.forfeiting(game):
            then = "it will be forfeited"
        else:
            then = "it is played again"
        self._show.void(void, then)
        for bot in sorted(responsible):
            self._show.note(
                f"bot `{bot}` forfeits its remaining games, since it sat in the most games that became void"
            )
