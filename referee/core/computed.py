"""Values that are computed at their first use, and then looked up as fast as in a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Computed(dict[K, V]):
    """Values by key. It never forgets one, so it is for what has a limited number of keys."""

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[K], V]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: K) -> V:
        value = self[key] = self._compute(key)
        return value

    def __reduce__(self) -> tuple[type[Computed[K, V]], tuple[Callable[[K], V]]]:
        """Copies and pickles begin empty."""
        return Computed, (self._compute,)
