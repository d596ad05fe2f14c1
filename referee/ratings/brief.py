"""The standings in short: a line for each of the best bots, within a width and a number of lines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from referee.ratings.clusters import results_of
from referee.ratings.columns import (
    NONE,
    counts_text,
    faults_text,
    number_text,
    rank_text,
    rating_text,
    results_heading,
    score_text,
)
from referee.ratings.placing import RankedBot, ranked_by_rating
from referee.ratings.pool import FittedPool, Rating, fit
from referee.ratings.tally import Tallies, Tally
from referee.records.record import Summary

NAME_WIDTH = 8  # minimum width of the names of bots

FAULTS_WIDTH = 12  # maximum share of the width that faults take from the names


def fitted(
    names: Sequence[str], games: Sequence[Summary], of: Sequence[int], stopped: Collection[str] = ()
) -> FittedPool:
    """The ratings of all bots by these games, each of which is of a cluster; `stopped` as in
    `FittedPool.for_people`.
    """
    return fit(results_of(games, of), sorted(names)).for_people(stopped)


def brief(
    tallies: Tallies,
    pool: FittedPool | None,
    seats: int,
    most: int,
    width: int = 80,
    order: Sequence[RankedBot] = (),
) -> list[str]:
    """The standings as at most `most` lines (3 at least) of at most `width` characters.

    The bots are in the given order, with the first column that it follows from, or else in that of their
    ratings. Those that do not fit are counted on the last line.
    """
    order = order or ranked_by_rating(tallies.by_bot, tallies, pool)
    ranked = order if len(order) < most else order[: max(1, most - 2)]
    best = [name for _, name, _ in ranked]
    own = [*ranked[0][2]][:1] if ranked else []
    headers, cells = _columns(seats, pool is not None)
    headers = [*own, *headers]
    rows = [
        [
            *(number_text(columns.get(heading, NONE)) for heading in own),
            *cells(name, tallies[name], pool.ratings[name] if pool else None),
        ]
        for _, name, columns in ranked
    ]
    *widths, last = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    ranks = ["", *(rank_text(rank) for rank, _, _ in ranked)]
    numbers = max(map(len, ranks))
    rest = numbers + 1 + sum(2 + width for width in widths) + 2 + min(last, FAULTS_WIDTH)
    names = max(NAME_WIDTH, min(max(map(len, best), default=0), width - rest))
    lines = []
    for rank, name, row in zip(ranks, ["bot", *best], [headers, *rows], strict=True):
        *inner, faults = row
        who = f"{rank.rjust(numbers)} {_cut(name, names).ljust(names)}"
        right = [cell.rjust(width) for cell, width in zip(inner, widths, strict=True)]
        lines.append("  ".join([who, *right, faults]))
    if len(best) < len(order):
        lines.append(f"… and {len(order) - len(best):,} more")
    return [_cut(line, width) for line in lines]


_Cells = Callable[[str, Tally, Rating | None], list[str]]


def _columns(seats: int, rated: bool) -> tuple[list[str], _Cells]:
    """The headers after the bot's name, and the function that gives a bot's cells below them."""
    headers = ["Elo ± 95 %"] if rated else []
    headers += ["games", results_heading(seats), "score", "faults"]

    def cells(name: str, found: Tally, rating: Rating | None) -> list[str]:
        return [
            *([rating_text(rating) if rating.is_known else NONE] if rating else []),
            f"{found.games:,}",
            counts_text(found.counts),
            score_text(found),
            faults_text(found),
        ]

    return headers, cells


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
