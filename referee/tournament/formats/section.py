"""A section as its format sees it, and standings, for the formats that have an order of their own. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from referee.core.settings import STANDARD_POINTS, PointScale
from referee.gameplay.events import Ending
from referee.records.header import REPEATS
from referee.records.record import Summary
from referee.tournament.schedule import Encounter, Schedule, Wait, encounter

OutAfter = Callable[[Collection[str]], Collection[str]]
"""Says which bots were out when the last of these games was over, or before another one was, by their ids."""

StoreBatch = Callable[[list[str]], None]
"""Stores a batch of encounters: the id of the first game of each of them."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class SectionState:
    """A section of a tournament: its bots, the results so far, and what became of the bots."""

    games: Mapping[str, Summary]
    """The results by id as they were played, also of games that were annulled later. It is filled while a
    schedule is read: of games that are over, those without a result for good are missing.
    """
    names: Sequence[str] = ()  # the bots
    seats: int = 2  # how many of them play a game
    name: str = ""  # empty where the tournament has only one section
    before: int = 0  # how many rounds others played before its first one, which have the numbers up to this
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    repeats: str = REPEATS[0]  # how games count that are the same as others; one of `REPEATS`
    out: Callable[[], Collection[str]] = tuple
    """Says which bots are out at the moment: one may be taken out while its games are played."""
    out_after: OutAfter = lambda games: ()  # says which bots were out after some games
    batches: Sequence[Sequence[str]] = ()  # the batches of encounters that were stored, of all sections

    # For schedules.
    store: StoreBatch = lambda batch: None  # stores a batch before it is played
    at_once: int = 1  # how many encounters are played at the same time
    never_counts: Callable[[str], bool] = lambda game: False
    """Says of a game, by its id, whether it does not count and never will: it was annulled, or a bot of it is
    out and it is neither played nor forfeited.
    """

    # For standings and tables.
    without_result: Container[str] = ()  # the ids of games that are over without a result for good
    annulled: Collection[str] = ()
    """The ids of games that give no points, but led to the pairings that followed them."""
    last_round: int | None = None
    """The last round that is played, where the time of the run is over and rounds follow from results."""
    shown: Callable[[str], str] = str  # the name of a bot as tables show it
    read: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)
    """What formats read from the results, by format, since to read a schedule may take long."""

    def encounter(self, number: int, bots: Sequence[str], part: int = 0) -> Encounter:
        """The games of some bots in a round of the section; `part` as in `Pairing.of`."""
        return encounter(self.before + number, tuple(bots), part, self.name)

    def read_once(self, form: object, read: Callable[[], _T]) -> _T:
        """What a format reads from the results."""
        if form not in self.read:
            self.read[form] = read()
        found: _T = self.read[form]
        return found

    def is_over(self, game: str) -> bool:
        """Whether a game is over, with a result or for good without one."""
        return game in self.games or game in self.without_result

    def ordered(self, standings: Iterable[Standing]) -> list[str]:
        """The bots of standings in the order of the table."""
        out = self.out()
        return sorted((one.bot for one in standings), key=lambda bot: bot in out)


def not_paired_after(encounters: Iterable[Encounter], section: SectionState) -> frozenset[str]:
    """The bots that are not paired any more after these encounters, which are over: those that were out by
    then, those that alone forfeited a game, and those whose last games were all lost since they did not
    start, as many of them as have a bot given up.
    """
    pairings = [pairing.id for one in encounters for pairing in one.games]
    starts, found = FailedStarts(), {*section.out_after(pairings)}
    for game in (section.games[pairing] for pairing in pairings if pairing in section.games):
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


def counting(encounters: Iterable[Encounter], section: SectionState) -> dict[str, Summary]:
    """The games of some encounters that give points, by id."""
    return {
        game.id: section.games[game.id]
        for one in encounters
        for game in one.games
        if game.id in section.games and game.id not in section.annulled
    }


def read_on(schedule: Schedule, section: SectionState) -> None:
    """Reads a schedule up to the first wait for a game that is not over: one that has no result yet, and is
    not for good without one.
    """
    for step in schedule:
        if isinstance(step, Wait) and not all(map(section.is_over, step.games)):
            return


class FailedStarts:
    """Counts failed starts: after `LIMIT` in a row a bot is not started again, and loses its games at the
    start.
    """

    LIMIT = 3

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()

    def note(self, game: Summary) -> None:
        """Takes a finished game into account."""
        for name, fault in zip(game.bots, game.faults, strict=True):
            self._in_a_row[name] = self._in_a_row[name] + 1 if fault == Ending.START.word else 0

    @property
    def given_up(self) -> frozenset[str]:
        """The bots that are no longer started."""
        return frozenset(name for name, count in self._in_a_row.items() if count >= self.LIMIT)
