"""Which Dask worker plays a task: one with the most room, or one of the machine that has the encounter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from operator import attrgetter

from referee.cluster.dask_worker import DaskWorker, WorkerStage
from referee.core.seeds import shared_by
from referee.tournament.workers.task import Task

HOMES = 100_000
"""The number of encounters whose machine is remembered: games that are played again come soon."""


class WorkerChooser:
    """Chooses among the workers of a cluster. It counts them once after each look at the cluster, and not for
    each task.
    """

    def __init__(self) -> None:
        self._players: list[DaskWorker] = []
        """The workers that can be given tasks, when that was last counted."""
        self.room = 0
        """How many tasks they can be given."""
        self._homes: OrderedDict[str, str] = OrderedDict()
        """By encounter, the machine that plays it, for the last `HOMES` ones."""
        self._lost_on: dict[str, str] = {}
        """By encounter, the machine on which it was lost last."""

    @property
    def has_players(self) -> bool:
        """Whether there are workers that play."""
        return bool(self._players)

    def count(self, workers: Iterable[DaskWorker]) -> None:
        """Counts which of the workers of a cluster have room."""
        self._players = [worker for worker in workers if worker.stage is WorkerStage.READY]
        self.room = sum(worker.room for worker in self._players)

    def worker_for(self, task: Task) -> DaskWorker | None:
        """The worker that is to play a task; None where it has to wait for room."""
        home, lost_on = self._homes.get(_encounter(task)), self._lost_on.get(_encounter(task))
        ready = self._players
        if home is not None:
            ready = [worker for worker in ready if worker.machine == home] or ready
        if lost_on is not None:
            ready = [worker for worker in ready if worker.machine != lost_on] or ready
        found = min(ready, key=attrgetter("load"), default=None)
        return found if found and found.room > 0 else None

    def given(self, task: Task, worker: DaskWorker) -> None:
        """Notes that a worker was given a task."""
        self.room -= 1
        self._homes[_encounter(task)] = worker.machine
        if len(self._homes) > HOMES:
            self._homes.popitem(last=False)

    def played(self, task: Task) -> None:
        """Notes that a task was played to its end."""
        self._lost_on.pop(_encounter(task), None)

    def lost(self, task: Task, worker: DaskWorker) -> None:
        """Notes that a task was lost with its machine: another machine is to play it, if there is one."""
        self._homes.pop(_encounter(task), None)
        self._lost_on[_encounter(task)] = worker.machine


def _encounter(task: Task) -> str:
    return shared_by(task.games[0][0].id)
