"""The formats of tournaments: their settings, and the schedule and the standings that follow from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats.standing import Standing
from referee.tournament.schedule import Schedule

FORMATS = ("round-robin", "gauntlet", "swiss", "knockout", "league", "pairings")

KEYS = ("format", "rounds", "tables", "against", "seeding", "best_of", "third_place", "pairings", "budget")
"""The keys of a tournament file that belong to the format."""


class Amount(NamedTuple):
    """How many games a tournament has."""

    games: int
    exact: bool
    """False where it depends on the results; `games` is then the most that it can be."""


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a tournament with its settings; those that do not belong to the format have their
    defaults.
    """

    name: str = "round-robin"
    """One of `FORMATS`."""
    rounds: int = 1
    """How many rounds are played: of a knockout, its stages. A league has no rounds: the number is only the
    largest that its ids may have.
    """
    tables: str = "all"
    """Of a round robin: `all` groups of bots meet, or tables are `balanced`."""
    against: tuple[str, ...] = ()
    """Of a gauntlet: the bots that all others meet."""
    seeding: tuple[str, ...] = ()
    """Of a Swiss tournament and a knockout: all bots, the highest seed first."""
    best_of: int = 1
    """Of a knockout: how many encounters a series has, an odd number."""
    third_place: bool = False
    """Of a knockout: whether the losers of the semifinals meet."""
    pairings: tuple[tuple[str, ...], ...] = ()
    """Of explicit pairings: the bots of each encounter of a round."""
    budget: int = 0
    """Of a league: how many games are played in all."""

    def check(self, bots: int, seats: int) -> None:
        """Raises `UsageError` where so many bots cannot play a game of so many seats in this format."""
        raise NotImplementedError

    def schedule(
        self, names: Sequence[str], seats: int, section: str, games: Mapping[str, Summary]
    ) -> Schedule:
        """The schedule of a game of so many seats between these bots.

        `games` has the results by id, and is filled while the schedule is read: of games that are over, those
        without a result for good are missing.
        """
        raise NotImplementedError

    def standings(
        self, names: Sequence[str], section: str, games: Mapping[str, Summary]
    ) -> list[Standing] | None:
        """The standings after these games, best first; None for the formats that are ordered by rating."""
        raise NotImplementedError

    def games_in_all(self, bots: int, seats: int) -> Amount:
        """How many games the schedule has for this number of bots and seats."""
        raise NotImplementedError

    def check_scheduled(self, pairing: Pairing, names: Collection[str]) -> None:
        """Raises `RecordError` where a game cannot be in the schedule of these bots."""
        raise NotImplementedError

    def may_grow(self, before: Format, added: Collection[str] = ()) -> list[str]:
        """What must not have changed since a run began, as messages; empty where the run may continue.

        `added` are the bots that were not there before.
        """
        raise NotImplementedError

    def header(self) -> dict[str, Any]:
        """The members for the header of a run, and for a line that changes it, besides `rounds`: none for a
        round robin of all groups.
        """
        raise NotImplementedError


def format_of(fields: Fields, names: Sequence[str], left_out: Collection[str] = ()) -> Format:
    """The format from the table `[tournament]` of a tournament file, for bots with these names, in the order
    of the file; bots that are `left_out` on this machine may be named, and are ignored.

    Raises the error of `fields`.
    """
    raise NotImplementedError


def from_header(header: Mapping[str, Any]) -> Format:
    """The format of a run from its header, which has the members of `Format.header` and `rounds`.

    Raises `RecordError`.
    """
    raise NotImplementedError
