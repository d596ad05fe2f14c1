"""The interface of a backend, which plays the games of a run: this process, workers, or a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from referee.tournament.workers.task import Report, Task

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
