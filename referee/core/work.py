"""How far long work is, and how much of the time repeated work may take. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int], None]
"""Called again and again with how much is done, and how much there is in all."""

Stage = Callable[[str], Advance]  # begins a stage of a computation, given what people are told that it does


def untold(done: int, in_all: int) -> None:
    """An `Advance` that nobody sees."""


def untold_stage(name: str) -> Advance:
    """A `Stage` that nobody sees."""
    return untold


class DutyCycle:
    """Decides when a task is due again, so that it takes at most this share of the time."""

    def __init__(
        self,
        clock: Callable[[], float],
        share: float,
        least_s: float = 0.0,
        used: Callable[[], float] | None = None,
    ) -> None:
        """`clock` gives seconds; at least `least_s` seconds pass between two beginnings. `used` gives the
        seconds that the task has taken so far where these are not those of the clock, as with processor time.
        """
        self._clock = clock
        self._used = used or clock
        self.share = share  # the maximum share of the time. A change takes effect the next time.
        self._least_s = least_s
        self.used_s = 0.0  # what the task has taken in all
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
        began_s, began_used_s = self._clock(), self._used()
        try:
            yield
        finally:
            used_s = self._used() - began_used_s
            self.used_s += used_s
            self._due_s = began_s + max(self._least_s, used_s / self.share)
