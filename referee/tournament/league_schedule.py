"""The schedule of a league: its encounters are chosen in batches, and each choice is stored before it is
played.

A batch is chosen when the last but one before it is over, so that there are always games to play. What was
chosen stands in the records: a run that is continued does not choose again, and does not depend on rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.schedule import Encounter, Schedule, encounter, wait_for

StoreBatch = Callable[[list[str]], None]
"""Stores a batch: the id of the first game of each of its encounters."""

MIN_BATCH = 4
"""The fewest encounters of a batch, but for the last one."""


def league_schedule(
    names_now: Callable[[], Sequence[str]],
    seats: int,
    section: str,
    budget: int,
    games: Mapping[str, Summary],
    batches: Sequence[Sequence[str]],
    store: StoreBatch,
    at_once: int,
) -> Schedule:
    """The encounters of `budget` games. `names_now` gives the bots that are in the league at the moment: one
    may be taken out while its games are played.

    `batches` are those that were chosen before, of all sections; `at_once` is how many encounters are played
    at the same time. `games` as in `Format.schedule`.
    """
    from referee.tournament.league import League  # it needs numpy, which takes a tenth of a second

    league = League(seats, section)
    stored = [batch for batch in batches if batch and Pairing.parse(batch[0]).section == section]
    before: list[Encounter] = []
    while league.games < budget:
        if stored:
            batch = [_encounter(Pairing.parse(game)) for game in stored.pop(0)]
        else:
            names = names_now()
            size = max(MIN_BATCH, len(names) // 4, at_once)
            batch = league.choose(names, min(size, -(-(budget - league.games) // seats)))
            if not batch:
                return
            store([chosen.games[0].id for chosen in batch])
        for chosen in batch:
            league.schedule(chosen)
            yield chosen
        yield wait_for(before)
        for played in before:
            league.finish(played, [games[game.id] for game in played.games if game.id in games])
        before = batch


def _encounter(first: Pairing) -> Encounter:
    return encounter(first.number, first.bots, first.part, first.section)
