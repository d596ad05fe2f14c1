"""The standings of a tournament as rows, for the formats that have an order of their own."""

from __future__ import annotations

from typing import NamedTuple


class Standing(NamedTuple):
    """One bot's place in the standings."""

    rank: int
    """Counted from 1; bots that nothing tells apart but their names share a rank."""
    bot: str
    columns: dict[str, float | str]
    """What the place follows from, by the heading of its column, in order."""
