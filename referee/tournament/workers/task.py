"""Tasks of workers, which are the games of an encounter that are still to be played; the reports about them;
and the interface of a backend, which plays them: this process, worker processes, or a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.core.errors import EnvironmentLacksError, KeptWaitingError, ProcessLostError
from referee.core.pairing import Pairing
from referee.gameplay.api import Failure
from referee.processes.isolation import reaches_referee
from referee.records.record import Summary, parse_json
from referee.tournament.plan import Plan
from referee.tournament.workers.encounter import FORFEITED, NOT_TRIED, OUT, ShowEvent
from referee.wire.dialogue import Tap
from referee.wire.process_wire import Waited


@dataclass(frozen=True, slots=True)
class Task:
    """The games of an encounter that are still to be played."""

    plan: Plan  # the plan with the bots of this encounter only, since it is sent with each task
    games: tuple[tuple[Pairing, int], ...]  # each game with the number of the attempt
    keep: str  # which dialogues are kept: one of `config.KEEP`
    given_up: frozenset[str] = frozenset()  # bots that are not to be started
    forfeiting: frozenset[str] = frozenset()
    """Bots that forfeit these games because games became void, and are not started either."""
    out: frozenset[str] = frozenset()  # bots that are out of the tournament: they forfeit these games too

    @property
    def failures(self) -> dict[str, Failure]:
        """The bots that are not started, with the failure that each of them loses by."""
        return {
            **dict.fromkeys(self.given_up, NOT_TRIED),
            **dict.fromkeys(self.out, OUT),
            **dict.fromkeys(self.forfeiting, FORFEITED),
        }

    @property
    def started(self) -> frozenset[str]:
        """The bots that are started."""
        return frozenset(self.plan.names).difference(self.failures)

    @property
    def able_to_reach(self) -> frozenset[str]:
        """The bots among them that could end or stop the referee's processes on this machine."""
        bots = (entrant.bot for entrant in self.plan.entrants)
        return self.started.intersection(bot.name for bot in bots if reaches_referee(bot))

    def suspects(self, error: Exception) -> frozenset[str]:
        """The bots that may be the cause of an error while these games were played."""
        if isinstance(error, ProcessLostError):
            # Of all bots, the one that a process watched over is the likeliest to have killed it.
            return self.able_to_reach & {error.bot} or self.able_to_reach
        if isinstance(error, KeptWaitingError):
            return frozenset()
        # What the system refuses, any bot may have used up.
        not_a_bug = isinstance(error, EnvironmentLacksError | OSError | MemoryError)
        return self.started if not_a_bug else frozenset()


class Began(NamedTuple):
    """A game began."""

    id: str


class Waiting(NamedTuple):
    """A bot is waited for in a game. Sent now and then; not from machines of a cluster."""

    game: str
    waited: Waited


class Finished(NamedTuple):
    """A game was played to its end."""

    game: Summary
    body: bytes  # its record, as `Journal.extend` takes it
    timed: Counter[str]  # its moves, as `timed_moves` counts them
    bot_totals: Counter[tuple[str, str]]  # what its bots did besides moves, as `bot_totals` counts it
    dialogue: str  # the dialogue between the referee and the bots; empty if it is not kept

    def record(self) -> dict[str, Any]:
        """The record as JSON. This takes time; the usual parts are in `game`."""
        return parse_json(self.body)


class Void(NamedTuple):
    """A game that the referee itself failed at, or that was lost on time for want of a processor."""

    id: str
    attempt: int
    error: str
    suspects: frozenset[str]
    """The bots that may be the cause: of those that were started, the ones that could reach a process of the
    referee if that died or hung, and all if the system refused something to the referee. None if it is a bug
    of the referee, the machine was lost, or a bot got no processor.
    """
    lost: bool = False  # whether the machine was lost that played it, which is held against nobody


class LeftBehind(NamedTuple):
    """A bot left processes behind; they were ended."""

    bot: str
    processes: str  # their names, for people


class IgnoredQuit(NamedTuple):
    """A bot that was not at fault did not exit after `quit`; it was ended."""

    bot: str


class WorkerDied(NamedTuple):
    """A worker died or had to be ended."""

    task: Task | None  # the games that it was playing
    how: str
    suspects: frozenset[str] = frozenset()  # the bots that may be the cause


class TaskLost(NamedTuple):
    """The machine that played a task was lost, with whatever it had not reported by then."""

    task: Task
    how: str
    by_bot: bool  # whether a bot may be the cause: not where all machines were lost at once


class Notice(NamedTuple):
    """Something that the user is told."""

    line: str


Report = Began | Waiting | Finished | Void | LeftBehind | IgnoredQuit | WorkerDied | TaskLost | Notice


class Observer(NamedTuple):
    """An observer of games that are played in this process."""

    show: ShowEvent | None  # called with every event of a game
    taps: Sequence[Tap]  # called with all that bots are sent and send, their stderr included
    patient: bool = False  # whether bots have as long as they take to exit


ReportHandler = Callable[[Sequence[Report]], None]
"""Called with the reports that arrived together, in their order."""


class Backend(ABC):
    """Plays tasks, and passes on the reports about them."""

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Whether a task can be played at once."""

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether a task is being played."""

    @abstractmethod
    def play(self, task: Task) -> None:
        """Starts to play a task; there must be room. Raises `EnvironmentLacksError` where no worker can
        start.
        """

    @abstractmethod
    def take_reports(self, seconds: float) -> None:
        """Takes the reports that have arrived; if there are none, waits up to `seconds` for one."""

    @abstractmethod
    def stop(self) -> None:
        """Asks the workers to stop after the current game."""

    @abstractmethod
    def end_idle_bots(self) -> None:
        """Ends idle bots, when no task remains."""

    @abstractmethod
    def close(self) -> None:
        """Ends all workers and their bots at once."""


BackendFactory = Callable[[ReportHandler, Callable[[], bool]], Backend]
"""Opens a backend. The arguments are called with its reports, and to ask whether the run is to stop."""
