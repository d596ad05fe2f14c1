"""Calls of the referee's functions as bytes, which a Dask cluster passes on unread and a Dask worker makes.

Dask reads the function of a task in the scheduler, and in the Dask worker before the task begins: one of them
that has no referee installed would break there, the worker again and again. Bytes are passed on, and only the
task fails.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

made = pickle.loads
"""Makes a call from its bytes, and returns its result."""


def as_bytes(function: Callable[..., object], *arguments: object) -> bytes:
    """A call of a function of a module."""
    return pickle.dumps(_Call(function, arguments), pickle.HIGHEST_PROTOCOL)


class _Call:
    """A call that is made when it is unpickled, and replaced by its result."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Returns the call that unpickling makes."""
        return self._call
