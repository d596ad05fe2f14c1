"""A Dask worker, as the referee sees it: how far it is, what it plays, and how much room it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import count

from referee.cluster.cluster_client import Member
from referee.cluster.orders import FilePart, Greeting, MachineReady
from referee.records.amendments import LeftOut
from referee.tournament.workers.task import Task


class WorkerStage(Enum):
    """How far a Dask worker's preparation is."""

    GREETED = "it was asked for a report"
    SENT = "it is receiving files"
    PREPARING = "it is preparing the bots"
    PREPARED = "it has prepared the bots, but the run has not begun"
    READY = "it is playing"
    STALE = "it has to prepare the bots again after its games in progress"


@dataclass
class DaskWorker:
    """A Dask worker, as the referee sees it."""

    address: str
    member: Member
    heard_s: float
    """When the scheduler was last seen to have heard of it."""
    stage: WorkerStage = WorkerStage.GREETED
    order: str = ""
    """The key of the order that it is to answer before it can play."""
    due_s: float = 0.0
    """When this has to be answered."""
    greeting: Greeting | None = None
    parts: Iterator[FilePart] = field(default_factory=lambda: iter(()))
    unsent: dict[str, str] = field(default_factory=dict)
    """By hash, why a file that it lacks cannot be sent."""
    prepared: MachineReady | None = None
    """What it answered when it had prepared the bots."""
    unfit: tuple[LeftOut, ...] = ()
    """The bots that it could not prepare."""
    playing: dict[str, Task] = field(default_factory=dict)
    """The tasks that it was given, by key."""
    playing_until_s: dict[str, float] = field(default_factory=dict)
    """The deadlines after which tasks count as lost, by key."""
    failures: int = 0
    """How often in a row it failed to play; what it was given at the same time fails together."""
    unready: int = 0
    """How often in a row it failed to get ready."""
    has_played: bool = False
    """Whether it has played a task to its end."""
    first_core: int | None = None
    """Which of its machine's cores its first game is pinned to; the others follow. None before it is known.
    """

    def wait(self, seconds: float) -> None:
        """Gives it more time for all that it is to do."""
        self.due_s += seconds
        for key in self.playing_until_s:
            self.playing_until_s[key] += seconds

    @property
    def name(self) -> str:
        """Its label in messages and records."""
        return f"{self.greeting.name} ({self.address})" if self.greeting else self.address

    @property
    def machine(self) -> str:
        """What stands for its machine."""
        return f"{self.member.host} {self.greeting.name}" if self.greeting else self.address

    @property
    def room(self) -> int:
        """How many more tasks it can be given."""
        return self.member.slots - len(self.playing) if self.stage is WorkerStage.READY else 0

    @property
    def load(self) -> float:
        """How many tasks it has for each game that it can play at a time."""
        return len(self.playing) / self.member.slots


def first_core(worker: DaskWorker, there: Iterable[DaskWorker]) -> int:
    """The first of some cores in a row that no other worker of its machine has."""
    if worker.first_core is not None:
        return worker.first_core
    taken = {
        other.first_core + number
        for other in there
        if other.first_core is not None
        for number in range(other.member.slots)
    }
    return next(first for first in count() if taken.isdisjoint(range(first, first + worker.member.slots)))
