"""Schedules: who meets whom. Each id is a function of its own game, so that a new bot renumbers nothing.
Pure.

A schedule is a function of the settings and of the results that it waited for, never of the order in which
games end: so a run that was stopped continues as if it had not been.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from referee.core.pairing import Pairing
from referee.tuning.parameters import Values


class Encounter(NamedTuple):
    """The games of the same bots in one round, one for each seating."""

    games: tuple[Pairing, ...]
    values: tuple[tuple[str, Values], ...] = ()
    """The bots, each with the values of the parameters that it plays with, where these are tuned."""


class Wait(NamedTuple):
    """What comes next in the schedule depends on the results of these games: it is not asked for before all
    of them are over, with a result or for good without one.
    """

    games: tuple[str, ...]  # their ids


Schedule = Iterator[Encounter | Wait]
"""The encounters in the order of play. It reads the results of games that it waited for, and of no others."""


def rotations(bots: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every rotation of the seats: each bot sits in each seat once."""
    return [bots[first:] + bots[:first] for first in range(len(bots))]


def encounter(number: int, bots: tuple[str, ...], part: int = 0, section: str = "") -> Encounter:
    """The games of some bots in a round: every rotation of the seats, which for two is both seatings.

    `part` and `section` as in `Pairing.of`.
    """
    return Encounter(tuple(Pairing.of(number, seats, part, section) for seats in rotations(bots)))


def wait_for(encounters: Iterable[Encounter]) -> Wait:
    """The wait for all games of some encounters."""
    return Wait(tuple(pairing.id for one in encounters for pairing in one.games))
