"""The interface of what plays the games of a run, wherever they are played."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from referee.tournament.task import Report, Task

Take = Callable[[Sequence[Report]], None]
"""Called with the reports that arrived together, in their order."""


class Workers(ABC):
    """Plays tasks."""

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
        """Has a task played; there must be room. Raises `EnvironmentLacksError` where no worker can start."""

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


WorkersFactory = Callable[[Take, Callable[[], bool]], Workers]
"""Opens workers: called with what takes their reports, and with what says whether the run is to stop."""
