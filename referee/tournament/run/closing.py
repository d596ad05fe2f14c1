"""Closes a run when its time is over: from then on no encounter begins, or no round where rounds follow from
results. The decision is a line of the run, as is the time of play so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol

from referee.core.time_limit import CLOSED, PLAYED_US, TimeLimit
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run_state import RunState

SHARE = 100
"""The time of play is stored when this part of it has passed: so much is lost if the referee is killed."""


class StoredChanges(Protocol):
    """A run in which changes are stored."""

    @property
    def state(self) -> RunState:
        """Its state."""

    def add_change(self, change: dict[str, Any]) -> None:
        """Stores a change. Raises `StorageError`."""


class TimeWatch:
    """Watches the time of a run."""

    def __init__(
        self,
        limit: TimeLimit,
        run: StoredChanges,
        remaining: Remaining,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        now_us: Callable[[], int] = lambda: time.monotonic_ns() // 1000,
    ) -> None:
        """Counts the time of play from now on. `now` gives the time of day, and `now_us` that of a clock that
        is never set.
        """
        self._limit = limit
        self._run = run
        self._remaining = remaining
        self._now = now
        self._now_us = now_us
        self._before_us = self._stored_us
        """The time of play before this process."""
        self._began_us = now_us()

    @property
    def _stored_us(self) -> int:
        stored = self._run.state.header.get(PLAYED_US, 0)
        assert isinstance(stored, int)
        return stored

    @property
    def _played_us(self) -> int:
        return self._before_us + self._now_us() - self._began_us

    def look(self) -> str:
        """Closes the run if its time is over; what to tell the user then, else nothing. Raises
        `StorageError`.
        """
        if self._remaining.closed:
            return ""
        if reached := self._limit.reached(self._now(), self._played_us):
            self._run.add_change({**self._new_time(0), CLOSED: {"by": reached, **self._remaining.begun()}})
            return self._remaining.closed
        if change := self._new_time(self._limit.time_us // SHARE):
            self._run.add_change(change)
        return ""

    def stop(self) -> None:
        """Stores the time of play at the end of a process. Raises `StorageError`."""
        if not self._remaining.closed and (change := self._new_time(0)):
            self._run.add_change(change)

    def _new_time(self, at_least_us: int) -> dict[str, int]:
        """The time of play to be stored, if it is limited and this much has passed since it was."""
        played_us = self._played_us
        is_due = self._limit.time_us and played_us - self._stored_us > at_least_us
        return {PLAYED_US: played_us} if is_due else {}
