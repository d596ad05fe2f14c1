"""Plays a run in a host, and tells the caller of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from referee.api.hosting import Channel
from referee.api.run_messages import STOP, GameStored, RunBegan, RunRequest, Said
from referee.cluster.connecting import checked_address
from referee.core.errors import UsageError
from referee.core.settings import MAX_WORKERS
from referee.records.run_files import TOML
from referee.running import Display, RunInfo, RunOptions, RunReporter, Stop, run_tournament
from referee.tournament.file.config import load, tournament_of
from referee.tournament.workers.task import Finished, Void


def play(request: RunRequest, channel: Channel) -> None:
    """Plays a tournament, or continues it. Raises what `run_tournament` raises."""
    if request.workers is not None and not 0 <= request.workers <= MAX_WORKERS:
        raise UsageError(f"`workers` is {request.workers}, expected a number from 0 to {MAX_WORKERS}")
    is_here = request.workers is not None  # whatever the file says
    if request.file:
        tournament = load(request.file, elsewhere=False if is_here else None)
    else:
        tournament = tournament_of(request.folder / TOML, request.tables, request.base)
    cluster = "" if is_here else tournament.cluster
    if cluster:
        with tournament.file.named():
            checked_address(cluster)
    options = RunOptions(
        request.folder,
        tournament.workers if request.workers is None else request.workers,
        cluster=cluster,
        leaves_out=request.leave_out,
        files=request.files,
    )
    run_tournament(tournament, options, _ChannelReporter(channel))


class _ChannelReporter(RunReporter, Display):
    """Tells the caller what is stored and said, and stops when the caller asks for that."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    # --- What is told before and after the games ---

    def say(self, line: str) -> None:
        self._channel.send(Said(line))

    def display(self, info: RunInfo) -> _ChannelReporter:
        self._channel.send(RunBegan(info.in_all.games, len(info.games)))
        return self

    def stop(self, display: Display) -> AbstractContextManager[Stop]:
        return nullcontext(self)

    @property
    def asked(self) -> str:
        """What asked to stop: the only message of the caller."""
        return STOP if self._channel.has_message else ""

    # --- What is told of the games ---

    def __enter__(self) -> _ChannelReporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def finished(self, finished: Finished) -> None:
        self._channel.send(GameStored(finished.game.id))

    def note(self, line: str) -> None:
        self._channel.send(Said(line))

    def void(self, void: Void, then: str) -> None:
        self._channel.send(Said(f"{void.id}: {void.error.strip().splitlines()[-1]}, {then}"))
