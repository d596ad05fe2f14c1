"""Plays tasks in this process, immediately: for watching games, for debugging, and for tests."""

from __future__ import annotations

import time
from collections.abc import Callable

from referee.tournament.workers.backend import Backend, ReportHandler
from referee.tournament.workers.task import Observer, Player, Task


class InlineBackend(Backend):
    """Plays tasks in this process."""

    has_room = True
    busy = False

    def __init__(self, take: ReportHandler, stopping: Callable[[], bool], observer: Observer | None) -> None:
        self._player = Player(lambda report: take([report]), stopping, observer=observer)

    def play(self, task: Task) -> None:
        """Plays the task."""
        self._player.play(task)

    def take_reports(self, seconds: float) -> None:
        """Waits; reports have already been taken."""
        time.sleep(seconds)

    def stop(self) -> None:
        """Does nothing: the player asks `stopping` itself."""

    def end_idle_bots(self) -> None:
        """Ends idle bots."""
        self._player.close()

    def close(self) -> None:
        """Ends idle bots: no others can be running."""
        self._player.close()
