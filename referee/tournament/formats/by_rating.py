"""The order of a stage by the ratings that its games give, as in a league. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from referee.ratings.clusters import clusters, results_of
from referee.ratings.pool import fit
from referee.records.record import Summary
from referee.tournament.formats.standing import Standing

ELO = "Elo"  # the heading of the column that decides

NO_ELO = "no Elo"  # its value for a bot that never started

_DIGITS = 3  # ratings that differ only after so many digits are equal: rounding errors decide nothing


def by_rating(bots: Sequence[str], games: Sequence[Summary], repeats: str) -> list[Standing]:
    """The bots by the ratings that the table of a run of these games would have, then those without; equal
    ones share a rank, and are in the order of their names. `repeats` as in `clusters`.
    """
    pool = fit(results_of(games, clusters(games, repeats).of), sorted(bots), with_intervals=())
    elo = {bot: round(pool.ratings[bot].elo, _DIGITS) for bot in bots if bot in pool.rows}
    by = {bot: elo.get(bot, -inf) for bot in bots}
    return [
        Standing(1 + sum(other > by[bot] for other in by.values()), bot, {ELO: elo.get(bot, NO_ELO)})
        for bot in sorted(bots, key=lambda bot: (-by[bot], bot))
    ]
