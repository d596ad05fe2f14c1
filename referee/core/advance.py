"""How far a long computation is, as it tells whoever shows that. Pure."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[int, int], None]
"""Called again and again with how much is done, and how much there is in all."""

Stage = Callable[[str], Advance]  # begins a stage of a computation, given what people are told that it does


def untold(done: int, in_all: int) -> None:
    """An `Advance` that nobody sees."""


def untold_stage(name: str) -> Advance:
    """A `Stage` that nobody sees."""
    return untold
