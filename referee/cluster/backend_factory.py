"""Opens the backend that prepares bots on a Dask cluster and plays the games of a run there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex

from referee.cluster.bot_files import SentFiles
from referee.cluster.cluster_backend import ClusterBackend
from referee.cluster.comparing import clock_percent
from referee.cluster.dask_client import DaskClient
from referee.cluster.orders import Requirement
from referee.tournament.run.opening import Candidate
from referee.tournament.workers.task import Notice, Report


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


@contextmanager
def cluster_backend(
    scheduler: str, sent: SentFiles, candidate: Candidate, calibrates: bool, say: Callable[[str], None]
) -> Iterator[ClusterBackend]:
    """A backend for the Dask cluster of this scheduler, whose machines prepare the bots at once. Until the
    run begins, `say` is called with lines for the user. Machines say how fast they are if it `calibrates`.
    """
    plans = candidate.tournament.plans
    playing = {entrant.bot.name for entrant in candidate.tournament.entrants} - {*candidate.out}
    required = Requirement(
        tuple(files for files in sent.bots if files.bot.name in playing),
        max(plan.seats for plan in plans),
        candidate.config.pin,
        any(entrant.control.by_cpu for plan in plans for entrant in plan.entrants),
        calibrates,
    )

    def take(reports: Sequence[Report]) -> None:
        for report in reports:
            if isinstance(report, Notice):
                say(report.line)

    backend = ClusterBackend(DaskClient(scheduler, token_hex(6)), required, sent, take)
    try:
        yield backend
    finally:
        backend.close()
