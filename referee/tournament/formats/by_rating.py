"""The order of a stage by the ratings that its games give, as in a league. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.ratings.clusters import clusters
from referee.ratings.pool import Result, fit
from referee.records.record import Summary
from referee.tournament.formats.standing import Standing

ELO = "Elo"
"""The heading of the column that decides."""

_DIGITS = 3
"""Ratings that differ only after so many digits are equal: rounding errors decide nothing."""


def by_rating(bots: Sequence[str], games: Sequence[Summary], repeats: str) -> list[Standing]:
    """The bots by the ratings that the table of a run of these games would have; equal ones share a rank, and
    are in the order of their names. `repeats` as in `clusters`.
    """
    evidence = [game for game in games if game.is_evidence]
    of = clusters(evidence, repeats).of
    results = [Result(game.bots, game.ranks, cluster) for game, cluster in zip(evidence, of, strict=True)]
    ratings = fit(results, sorted(bots), with_intervals=()).ratings
    elo = {bot: round(ratings[bot].elo, _DIGITS) for bot in bots}
    return [
        Standing(1 + sum(other > elo[bot] for other in elo.values()), bot, {ELO: elo[bot]})
        for bot in sorted(bots, key=lambda bot: (-elo[bot], bot))
    ]
