"""Limits the share of time that a repeated task takes: the longer it took, the later it is due again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class DutyCycle:
    """Decides when a task is due again, so that it takes at most this share of the time."""

    def __init__(self, clock: Callable[[], float], share: float, least_s: float = 0.0) -> None:
        """`clock` gives seconds; at least `least_s` seconds pass between two beginnings."""
        self._clock = clock
        self.share = share  # the maximum share of the time. A change takes effect the next time.
        self._least_s = least_s
        self._due_s = clock()

    @property
    def is_due(self) -> bool:
        """Whether the task is due."""
        return self._clock() >= self._due_s

    @property
    def wait_s(self) -> float:
        """The seconds until the task is due."""
        return max(0.0, self._due_s - self._clock())

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Measures the task, which is done inside."""
        began_s = self._clock()
        try:
            yield
        finally:
            ended_s = self._clock()
            self._due_s = max(began_s + self._least_s, ended_s + (ended_s - began_s) * (1 / self.share - 1))
