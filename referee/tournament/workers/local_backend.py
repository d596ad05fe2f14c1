"""Opens the backends of this machine: worker processes, or this process."""

from __future__ import annotations

from referee.core.cores import usable_cores
from referee.tournament.workers.backend import BackendFactory
from referee.tournament.workers.inline import InlineBackend
from referee.tournament.workers.pool import WorkerPool
from referee.tournament.workers.task import Observer


def local_backend(count: int, pin: bool = False, observer: Observer | None = None) -> BackendFactory:
    """Up to `count` worker processes; with 0, this process plays the tasks, and an observer may look on.

    As long as worker processes are open, this process must start no others that live on.
    """
    if count:
        cores = sorted(usable_cores()) if pin else []
        return lambda take, stopping: WorkerPool(count, cores, take)
    return lambda take, stopping: InlineBackend(take, stopping, observer)
