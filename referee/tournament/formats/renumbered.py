"""Games of a part of a tournament as its format knows them: it counts its rounds from 1. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats.format import SectionState
from referee.tournament.formats.standing import OutAfter, SectionResults
from referee.tournament.schedule import Encounter, Schedule, Wait


def later(game: str, by: int) -> str:
    """The id of a game whose round has a number that is higher by this much."""
    pairing = Pairing.parse(game)
    return Pairing.of(pairing.number + by, pairing.bots, pairing.part, pairing.section).id


def later_schedule(schedule: Schedule, by: int) -> Schedule:
    """A schedule whose rounds have numbers that are higher by this much."""
    for step in schedule:
        if isinstance(step, Wait):
            yield Wait(tuple(later(game, by) for game in step.games))
        else:
            yield Encounter(tuple(Pairing.parse(later(game.id, by)) for game in step.games))


def later_out_after(out_after: OutAfter, by: int, earlier: Collection[str]) -> OutAfter:
    """The same for later rounds, whose games follow the earlier ones."""
    return lambda games: out_after([*earlier, *(later(game, by) for game in games)])


def later_state(state: SectionState, rounds: range, earlier: Collection[str]) -> SectionState:
    """A section as the schedule of these of its rounds sees it, as if there had been none before them, but
    with the bots out that were out after the `earlier` games.
    """
    before = rounds.start - 1
    batches = [
        [later(game, -before) for game in batch]
        for batch in state.batches
        if batch and Pairing.parse(batch[0]).number in rounds
    ]
    return replace(
        state,
        games=LaterGames(state.games, before),
        out_after=later_out_after(state.out_after, before, earlier),
        never_counts=lambda game: False,  # who advanced followed from these games
        batches=batches,
        store=lambda batch: state.store([later(game, before) for game in batch]),
    )


class LaterGames(Mapping[str, Summary]):
    """The games of the rounds after the first ones, as if there had been none before them."""

    def __init__(self, games: Mapping[str, Summary], before: int) -> None:
        """`before` is the number of rounds that are left out."""
        self._games = games
        self._before = before

    def __getitem__(self, game: str) -> Summary:
        return self._games[later(game, self._before)]

    def __iter__(self) -> Iterator[str]:
        return _earlier(self._games, self._before)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _OverWithoutResult:
    """The ids of games, among those of later rounds, that are over without a result for good."""

    def __init__(self, results: SectionResults, before: int) -> None:
        self._results = results
        self._before = before

    def __contains__(self, game: object) -> bool:
        return isinstance(game, str) and later(game, self._before) in self._results.without_result


def later_results(results: SectionResults, before: int, earlier: Collection[str]) -> SectionResults:
    """The results of the rounds after the first ones, as if there had been none before them, but with the
    bots out that were out after the `earlier` games.
    """
    return replace(
        results,
        games=LaterGames(results.games, before),
        without_result=_OverWithoutResult(results, before),
        annulled=frozenset(_earlier(results.annulled, before)),
        out_after=later_out_after(results.out_after, before, earlier),
        last_round=None if results.last_round is None else results.last_round - before,
        read={},
    )


def _earlier(games: Collection[str], before: int) -> Iterator[str]:
    """The ids of games of later rounds, with the numbers that these have without the rounds before."""
    return (later(game, -before) for game in games if Pairing.parse(game).number > before)
