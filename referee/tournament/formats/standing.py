"""The standings of a tournament as rows, for the formats that have an order of their own. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from referee.core.settings import STANDARD_POINTS, PointScale
from referee.records.header import REPEATS
from referee.records.record import Summary
from referee.tournament.failed_starts import FailedStarts
from referee.tournament.schedule import Encounter, Schedule, Wait

OutAfter = Callable[[Collection[str]], Collection[str]]
"""Says which bots were out when the last of these games was over, or before another one was, by their ids."""


def nobody(games: Collection[str]) -> Collection[str]:
    """No bots, where none was ever out."""
    return ()


@dataclass(frozen=True)
class SectionResults:
    """The results of a section of a tournament as its standings see them."""

    games: Mapping[str, Summary]
    """The results by id as they were played, also of games that were annulled later."""
    section: str = ""  # the name of the section; empty where the tournament has only one
    without_result: Container[str] = ()  # the ids of games that are over without a result for good
    annulled: Collection[str] = ()
    """The ids of games that give no points, but led to the pairings that followed them."""
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    out: Collection[str] = ()  # the bots that are out of the tournament, which are last in tables
    out_after: OutAfter = nobody  # says which bots were out after some games
    last_round: int | None = None
    """The last round that is played, where the time of the run is over and rounds follow from results."""
    shown: Callable[[str], str] = str  # the name of a bot as tables show it
    seats: int = 2  # how many bots play a game
    batches: Sequence[Sequence[str]] = ()
    """The batches of encounters that leagues have chosen, of all sections."""
    repeats: str = REPEATS[0]  # how games count that are the same as others; one of `REPEATS`
    read: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What formats read from them, by format, since to read a schedule may take long."""

    def is_over(self, game: str) -> bool:
        """Whether a game is over, with a result or for good without one."""
        return game in self.games or game in self.without_result

    def ordered(self, standings: Iterable[Standing]) -> list[str]:
        """The bots of standings in the order of the table."""
        return sorted((one.bot for one in standings), key=lambda bot: bot in self.out)


def not_paired_after(
    encounters: Iterable[Encounter], games: Mapping[str, Summary], out_after: OutAfter
) -> frozenset[str]:
    """The bots that are not paired any more after these encounters, which are over: those that were out by
    then, those that alone forfeited a game, and those whose last games were all lost since they did not
    start, as many of them as have a bot given up.
    """
    pairings = [pairing.id for one in encounters for pairing in one.games]
    starts, found = FailedStarts(), {*out_after(pairings)}
    for game in (games[pairing] for pairing in pairings if pairing in games):
        starts.note(game)
        at_fault = [bot for bot, fault in zip(game.bots, game.faults, strict=True) if fault]
        if game.is_forfeited and len(at_fault) == 1:
            found.update(at_fault)
    return starts.given_up | found


class Standing(NamedTuple):
    """One bot's place in the standings."""

    rank: int  # counted from 1; bots that nothing tells apart but their names share a rank
    bot: str
    columns: dict[str, float | str]
    """The values that decide the place, by the headings of their columns, in order."""


def points(
    encounter: Encounter, bot: str, games: Mapping[str, Summary], scale: PointScale = STANDARD_POINTS
) -> float:
    """The points of a bot in an encounter: of two bots a win gives 1, a draw half a point, unless the scale
    says otherwise.

    A game that no bot started, or that is over without a result, gives nobody any.
    """
    return sum(
        scale.of(games[pairing.id].ranks, pairing.bots.index(bot))
        for pairing in encounter.games
        if pairing.id in games and games[pairing.id].rated
    )


def counting(encounters: Iterable[Encounter], results: SectionResults) -> dict[str, Summary]:
    """The games of some encounters that give points, by id."""
    return {
        game.id: results.games[game.id]
        for one in encounters
        for game in one.games
        if game.id in results.games and game.id not in results.annulled
    }


def read_on(schedule: Schedule, results: SectionResults) -> None:
    """Reads a schedule up to the first wait for a game that is not over: one that has no result yet, and is
    not for good without one.
    """
    for step in schedule:
        if isinstance(step, Wait) and not all(map(results.is_over, step.games)):
            return
