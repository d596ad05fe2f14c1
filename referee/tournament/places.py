"""The places on this machine where games are played: worker processes, or this process."""

from __future__ import annotations

from referee.core.cores import usable_cores
from referee.tournament.inline import Inline
from referee.tournament.pool import WorkerPool
from referee.tournament.task import Observer
from referee.tournament.workers import WorkersFactory


def on_this_machine(count: int, pin: bool = False, observer: Observer | None = None) -> WorkersFactory:
    """Up to `count` worker processes; with 0, this process plays the tasks, and an observer may look on.

    As long as worker processes are open, this process must start no others that live on.
    """
    if count:
        cores = sorted(usable_cores()) if pin else []
        return lambda take, stopping: WorkerPool(count, cores, take)
    return lambda take, stopping: Inline(take, stopping, observer)
