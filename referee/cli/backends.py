"""Prepares a tournament for its backend, for `run` and `match`: this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from referee.cli.output import say
from referee.core.control_groups import usable_memory
from referee.processes import building
from referee.processes.bot import Bot
from referee.processes.building import BuildFailure
from referee.tournament.file.bot_table import BotOrigin
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.opening import Candidate, with_hidden_files
from referee.tournament.tournament import Tournament
from referee.tournament.workers.backend import BackendFactory
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Observer

if TYPE_CHECKING:
    from referee.cluster.bot_files import SentFiles


@dataclass(frozen=True)
class PreparedTournament:
    """A tournament that can be played, with its backend."""

    candidate: Candidate
    """Its bots are ready to be started by the backend, or to be sent to its machines."""
    at_once: int
    """How many games are played at a time, at least 1."""
    backend_factory: Callable[[OpenRun], BackendFactory]

    @property
    def tournament(self) -> Tournament:
        """The tournament as it is played."""
        return self.candidate.tournament


def on_this_machine(candidate: Candidate, workers: int, observer: Observer | None) -> PreparedTournament:
    """Prepares a tournament to be played on this machine. Raises `EnvironmentLacksError`."""
    at_once = max(1, workers)
    candidate = with_hidden_files(candidate)
    candidate = replace(candidate, tournament=candidate.tournament.sharing(usable_memory(), at_once))
    pin = candidate.config.pin and hasattr(os, "sched_setaffinity")
    return PreparedTournament(candidate, at_once, lambda run: local_backend(workers, pin, observer))


@contextmanager
def on_cluster(candidate: Candidate, address: str, scale_clocks: bool) -> Iterator[PreparedTournament]:
    """Prepares a tournament to be played on a Dask cluster, whose machines get the files of the bots, and
    build and check them. Raises `UsageError` where files are missing, `EnvironmentLacksError` where there is
    no cluster.
    """
    from referee.cluster.backend_factory import ReferenceMachine, cluster_backend
    from referee.cluster.connecting import scheduler_at
    from referee.tournament.run.hashes import Programs

    sent = files_to_send(candidate)
    pin, tournament = candidate.config.pin, candidate.tournament
    candidate = replace(candidate, programs=Programs(sent.hashes_of))

    def backend_factory(run: OpenRun) -> BackendFactory:
        reference = ReferenceMachine(run.state.calibration, run.set_calibration) if scale_clocks else None
        return cluster_backend(scheduler.address, sent, tournament, pin, reference)

    if not candidate.has_games_left:
        yield PreparedTournament(candidate, 1, backend_factory)  # it is never opened
        return
    with scheduler_at(address) as scheduler:
        yield PreparedTournament(candidate, max(1, scheduler.size.slots), backend_factory)


def files_to_send(candidate: Candidate) -> SentFiles:
    """The files of the bots of a tournament that is played on a cluster. Raises `UsageError`."""
    from referee.cluster.bot_files import sent_files
    from referee.tournament.run.opening import private_files

    bots = [entrant.bot for entrant in candidate.tournament.entrants]
    config = candidate.config
    return sent_files(bots, config.origins, private_files(config, candidate.folder))


def build(bot: Bot, origin: BotOrigin, private: Sequence[Path]) -> BuildFailure | None:
    """Builds a bot, which it says; arguments as for `building.build`."""
    say(f"building {bot.name}")
    failure = building.build(bot, origin.build, origin.build_network, private)
    for line in failure.output if failure else ():
        say(f"  {line}")
    return failure
