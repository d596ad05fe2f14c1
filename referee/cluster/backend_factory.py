"""Opens the backend that plays the games of a run on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex

from referee.cluster.bot_files import SentFiles
from referee.cluster.cluster_backend import ClusterBackend
from referee.cluster.comparing import clock_percent
from referee.cluster.dask_client import DaskClient
from referee.cluster.orders import Requirement
from referee.tournament.tournament import Tournament
from referee.tournament.workers.backend import Backend, BackendFactory, ReportHandler


class ReferenceMachine:
    """The first machine of a run: the clocks of the others are scaled by its speed."""

    def __init__(self, speed: int | None, store: Callable[[int], None]) -> None:
        """`speed` is that of the reference machine, if the run has one; `store` keeps that of the first."""
        self._speed = speed
        self._store = store

    def percent(self, speed: int) -> int:
        """The clocks of a machine of this speed, in percent of the tournament's. Raises
        `EnvironmentLacksError` where it is too slow or too fast to be compared.
        """
        if self._speed is None:
            self._speed = speed
            self._store(speed)
        return clock_percent(self._speed, speed)


def cluster_backend(
    scheduler: str, sent: SentFiles, tournament: Tournament, pin: bool, reference: ReferenceMachine | None
) -> BackendFactory:
    """A backend for the Dask cluster of this scheduler. With a reference, clocks are scaled by it."""
    seats = max(plan.seats for plan in tournament.plans)
    by_cpu = any(entrant.control.by_cpu for plan in tournament.plans for entrant in plan.entrants)
    required = Requirement(sent.bots, seats, pin, by_cpu, calibrates=reference is not None)

    def open_backend(take: ReportHandler, stopping: Callable[[], bool]) -> Backend:
        client = DaskClient(scheduler, token_hex(6))
        return ClusterBackend(client, required, sent, reference.percent if reference else None, take)

    return open_backend
