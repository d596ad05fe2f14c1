"""The messages between the referee and the machines of a Dask cluster."""

from __future__ import annotations

from typing import NamedTuple

from referee.cluster.bot_files import BotFiles
from referee.records.amendments import LeftOut
from referee.tournament.workers.task import Report, Task


class Requirement(NamedTuple):
    """What a run requires of every machine."""

    bots: tuple[BotFiles, ...]
    seats: int
    """Maximum number of seats of a game."""
    pin: bool
    cpu_clocks: bool
    """Whether clocks count processor time."""


class Greet(NamedTuple):
    """Asks a machine what it is, and which of these bots' files it does not have; answered by `Greeting`."""

    bots: tuple[BotFiles, ...]


class Greeting(NamedTuple):
    """A machine's description of itself."""

    name: str
    cpu: str
    version: str
    """The version of the referee there."""
    code: str
    """The hash of the referee's own code there."""
    lacking: tuple[str, ...]
    """The hashes of the files that have to be sent to it."""


class FilePart(NamedTuple):
    """A part of a file; not answered."""

    sha256: str
    offset: int
    data: bytes
    size: int
    """The size of the whole file, in bytes."""


class Prepare(NamedTuple):
    """Tells a machine to get ready to play; answered by `MachineReady`, or by `MachineUnfit`."""

    requirement: Requirement
    label: str
    """What the worker is called in records."""
    slots: int
    """How many games it is to play at a time."""
    slots_of_machine: int
    """How many games all workers of its machine play at a time: the bots share the memory."""
    first_core: int
    """Which of the machine's cores its first game is pinned to."""


class MachineReady(NamedTuple):
    """A machine is ready to play, with the bots that could be prepared there."""

    levels: dict[str, str]
    """By bot, its level of isolation there."""
    files: dict[str, dict[str, str]]
    """By bot, the hashes of the files that its command names, as they are there."""
    remarks: tuple[str, ...]
    """What the user should know of its bots."""
    unfit: tuple[LeftOut, ...] = ()
    """The bots that cannot be prepared there."""


class MachineUnfit(NamedTuple):
    """A machine cannot give what the run requires."""

    why: str


class Play(NamedTuple):
    """Tells a machine to play a task; answered by `PlayedTask`, or by `BotFilesChanged`."""

    task: Task


class PlayedTask(NamedTuple):
    """All reports about a task, from its beginning to its end."""

    reports: tuple[Report, ...]


class BotFilesChanged(NamedTuple):
    """A task was not played, since the files of a bot are not what they were when the machine got ready."""

    bot: str
    what: str


class EndIdleBots(NamedTuple):
    """Tells a machine to end its idle bots; answered by `PlayedTask`."""


class CancelTask(NamedTuple):
    """Tells a machine to stop playing a task, named by its key; not answered."""

    key: str


class StopMachine(NamedTuple):
    """Tells a machine to stop after the current games; not answered."""


MachineOrder = Greet | FilePart | Prepare | Play | EndIdleBots | CancelTask | StopMachine

MachineAnswer = Greeting | MachineReady | MachineUnfit | PlayedTask | BotFilesChanged | None
