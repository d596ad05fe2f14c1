"""Opens the backend that prepares bots on a Dask cluster and plays the games of a run there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex

from referee.cluster.bot_files import SentFiles
from referee.cluster.cluster_backend import ClusterBackend
from referee.cluster.dask_client import DaskClient
from referee.cluster.orders import Requirement
from referee.tournament.run.opening import Candidate
from referee.tournament.workers.task import Notice, Report


@contextmanager
def cluster_backend(
    scheduler: str, sent: SentFiles, candidate: Candidate, say: Callable[[str], None]
) -> Iterator[ClusterBackend]:
    """A backend for the Dask cluster of this scheduler, whose machines prepare the bots at once. Until the
    run begins, `say` is called with lines for the user.
    """
    plans = candidate.tournament.plans
    playing = {entrant.bot.name for entrant in candidate.tournament.entrants} - {*candidate.out}
    required = Requirement(
        tuple(files for files in sent.bots if files.bot.name in playing),
        max(plan.seats for plan in plans),
        candidate.config.pin,
        any(entrant.control.by_cpu for plan in plans for entrant in plan.entrants),
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
