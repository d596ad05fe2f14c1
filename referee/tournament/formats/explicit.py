"""Explicit pairings: the encounters are listed by the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.tournament.schedule import Encounter, encounter


def explicit(
    pairings: Sequence[tuple[str, ...]], rounds: int, section: str, budget: int = 0
) -> Iterator[Encounter]:
    """Each encounter once a round, in the order of the list; every rotation of its seats is played, until
    there are `budget` games, if that is not 0.
    """
    remaining = budget or rounds * sum(map(len, pairings))
    for number in range(1, rounds + 1):
        for bots in pairings:
            games = encounter(number, bots, section=section).games[:remaining]
            if not games:
                return
            yield Encounter(games)
            remaining -= len(games)
