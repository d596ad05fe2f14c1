"""Explicit pairings: the encounters are listed by the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.tournament.schedule import Encounter, encounter


def explicit(pairings: Sequence[tuple[str, ...]], rounds: int, section: str) -> Iterator[Encounter]:
    """Each encounter once a round, in the order of the list; every rotation of its seats is played."""
    for number in range(1, rounds + 1):
        for bots in pairings:
            yield encounter(number, bots, section=section)
