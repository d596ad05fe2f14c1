"""Prepares a tournament for its backend, for `run` and `match`: this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from referee.cli.output import say
from referee.core.control_groups import usable_memory
from referee.processes import building
from referee.processes.bot import Bot
from referee.processes.building import BuildFailure
from referee.tournament.file.bot_table import BotOrigin
from referee.tournament.file.config import Config
from referee.tournament.run.hashes import Programs
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.opening import Candidate, private_files, with_hidden_files
from referee.tournament.run.readiness import Readiness
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
def on_cluster(config: Config, readiness: Readiness, address: str) -> Iterator[PreparedTournament]:
    """Prepares a tournament to be played on a Dask cluster, whose machines get the files of the bots, and
    build and check them. Raises `UsageError` where too few bots can play, `EnvironmentLacksError` where there
    is no cluster.
    """
    from referee.cluster.backend_factory import cluster_backend
    from referee.cluster.connecting import scheduler_at

    candidate, sent = with_files_to_send(config, readiness)
    with ExitStack() as stack:
        machines, at_once = None, 1
        if candidate.has_games_left:
            scheduler = stack.enter_context(scheduler_at(address))
            at_once = max(1, scheduler.size.slots)
            machines = stack.enter_context(cluster_backend(scheduler.address, sent, candidate, say))
            unfit = machines.unfit_bots()
            for one in unfit:
                _say_output(one.output)
            candidate = readiness.without(candidate, unfit)

        def backend_factory(run: OpenRun) -> BackendFactory:
            assert machines  # it is opened only where games are left
            begin = machines.begin
            return lambda take, stopping: begin(take)

        programs = Programs(sent.hashes_of)
        yield PreparedTournament(replace(candidate, programs=programs), at_once, backend_factory)


def with_files_to_send(config: Config, readiness: Readiness) -> tuple[Candidate, SentFiles]:
    """A tournament that is played on a cluster, without the bots whose files are missing, and the files of
    its bots. Raises `UsageError` where too few bots are left.
    """
    from referee.cluster.bot_files import sent_files

    candidate = readiness.candidate(config)
    bots = [entrant.bot for entrant in candidate.tournament.entrants]
    if candidate.has_games_left:
        for bot in bots:
            bot.check_is_program()
    sent = sent_files(bots, candidate.config.origins, private_files(candidate.config, candidate.folder))
    return readiness.without(candidate, sent.unfit), sent


def _say_output(lines: Iterable[str]) -> None:
    """Says the last lines that a build printed."""
    for line in lines:
        say(f"  {line}")


def build(bot: Bot, origin: BotOrigin, private: Sequence[Path]) -> BuildFailure | None:
    """Builds a bot, which it says; arguments as for `building.build`."""
    say(f"building {bot.name}")
    failure = building.build(bot, origin.build, origin.build_network, private)
    _say_output(failure.output if failure else ())
    return failure
