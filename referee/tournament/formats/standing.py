"""The standings of a tournament as rows, for the formats that have an order of their own. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from referee.games.api import share_beaten
from referee.records.record import Summary
from referee.tournament.schedule import Encounter, Schedule, Wait


@dataclass(frozen=True)
class SectionResults:
    """The results of a section of a tournament as its standings see them."""

    games: Mapping[str, Summary]
    """The results by id as they were played, also of games that were annulled later."""
    section: str = ""
    """The name of the section; empty where the tournament has only one."""
    without_result: Container[str] = ()
    """The ids of games that are over without a result for good."""
    annulled: Collection[str] = ()
    """The ids of games that give no points, but led to the pairings that followed them."""


class Standing(NamedTuple):
    """One bot's place in the standings."""

    rank: int
    """Counted from 1; bots that nothing tells apart but their names share a rank."""
    bot: str
    columns: dict[str, float | str]
    """The values that decide the place, by the headings of their columns, in order."""


def points(encounter: Encounter, bot: str, games: Mapping[str, Summary]) -> float:
    """The points of a bot in an encounter: of two bots a win gives 1, a draw half a point.

    A game that no bot started, or that is over without a result, gives nobody any.
    """
    return sum(
        share_beaten(games[pairing.id].ranks, pairing.bots.index(bot))
        for pairing in encounter.games
        if pairing.id in games and games[pairing.id].rated
    )


def read_on(schedule: Schedule, results: SectionResults) -> None:
    """Reads a schedule up to the first wait for a game that is not over: one that has no result yet, and is
    not for good without one.
    """
    for step in schedule:
        if isinstance(step, Wait) and not all(
            game in results.games or game in results.without_result for game in step.games
        ):
            return
