"""The tables beside the standings: who did what against whom, in which seat, with which faults. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from referee.core.rows import Column, Grid
from referee.core.text import signed, true_minus
from referee.ratings.columns import (
    COLUMNS,
    MEASURED,
    NONE,
    counts_text,
    estimate_text,
    interval_text,
    likelihood_text,
    number_text,
    rank_text,
    rating_text,
    results_heading,
    standings_grid,
)
from referee.ratings.pool import Rating
from referee.ratings.standings import Facts, Standings
from referee.ratings.tally import Counts, crosstable, pentanomial
from referee.ratings.two import Comparison, compare

BLOCKS = {
    "standings": "the bots in order",
    "crosstable": "wins, draws and losses of each pair of bots",
    "los": "likelihood of superiority of each bot over every other bot",
    "seats": "results and advantage of each seat",
    "pairs": "of two seats: pairs of games with the seats swapped, with Elo and normalized Elo",
    "faults": "faults by bot",
    "times": "the time that moves took",
    "sprt": "the sequential tests, and which hypothesis each accepted",
}
"""The tables of a report."""

FIXED = 2  # columns that stand in each part of a table that is printed in parts: the rank and the bot

_FOUND = Column("rank", "#"), Column("bot", "", left=True, shorten=True)


class HeadToHead(NamedTuple):
    """Two bots compared by their pairs of games alone."""

    bot: str
    against: str
    counts: Counts  # the pairs by the points of the bot: 0, ½, 1, 1½, 2
    comparison: Comparison
    superiority: float | None  # the likelihood that the bot is the stronger one, by all games of both


def crosstable_grid(table: Standings) -> Grid:
    """Wins–draws–losses of each pair of bots, from the point of view of the row."""
    counts = crosstable(table.games)
    return _square(
        table.names,
        "wins–draws–losses",
        lambda one, other: counts_text(counts[one, other]) if (one, other) in counts else NONE,
    )


def los_grid(table: Standings) -> Grid:
    """The likelihood that the row's bot is stronger than the column's."""
    place = {name: number for number, name in enumerate(table.names)}
    likelihoods = table.pool.superiorities(table.names)
    return _square(
        table.names,
        "likelihood of superiority, %",
        lambda one, other: likelihood_text(likelihoods[place[one]][place[other]]),
    )


def _square(names: Sequence[str], heading: str, cell: Callable[[str, str], str]) -> Grid:
    """A table with a row and a column for each bot."""
    columns = [_FOUND[0], _FOUND[1]._replace(heading=heading)]
    columns += [Column(name, str(number)) for number, name in enumerate(names, 1)]
    rows = [
        [str(number), one, *("·" if one == other else cell(one, other) for other in names)]
        for number, one in enumerate(names, 1)
    ]
    return Grid(columns, rows)


def seats_grid(table: Standings) -> Grid:
    """The results of each seat of all bots together, and its advantage."""
    columns = [Column("seat", "seat", left=True), Column("games", "games")]
    columns += [Column("wdl", results_heading(table.seats)), Column("score", "score")]
    columns += [Column("advantage", "Elo compared with other seats")]
    rows = []
    for seat, (counts, points, advantage) in enumerate(seat_results(table)):
        games = sum(counts)
        rows.append(
            [
                f"seat {seat + 1}",
                f"{games:,}",
                counts_text(counts),
                f"{100 * points / games:.1f} %" if games else NONE,
                rating_text(advantage) if advantage else NONE,
            ]
        )
    return Grid(columns, rows)


def seat_results(table: Standings) -> list[tuple[Counts, float, Rating | None]]:
    """Lists the losses, draws, wins and points of each seat, and its advantage where there is only one."""
    advantages = list(table.pool.advantages.values())
    found = []
    for seat in range(table.seats):
        counts = [0, 0, 0]
        for row in table.rows:
            for result, count in enumerate(row.tally.by_seat.get(seat, ())):
                counts[result] += count
        points = sum(row.tally.points_of_seat(seat) for row in table.rows)
        ratings = advantages[0] if len(advantages) == 1 else ()
        found.append((counts, points, ratings[seat] if seat < len(ratings) else None))
    return found


def by_seat_grid(table: Standings) -> Grid:
    """The results of each bot in each seat."""
    return standings_grid(table, ["wdl", "seats"], None)


def meetings(table: Standings, best: int | None = None) -> list[HeadToHead]:
    """The pairs of bots that met in pairs of games, in the order of the standings; if a number is given, only
    of so many bots, the best ones.
    """
    names = table.names[:best]
    counts = pentanomial(table.games, table.clusters.of, {*names})
    likelihoods = table.pool.superiorities(names) if counts else []
    found = []
    for (at, one), (after, other) in combinations(enumerate(names), 2):
        of_pair = counts.get((min(one, other), max(one, other)))
        if of_pair:
            own = of_pair if one < other else of_pair[::-1]
            comparison = compare(own)
            if table.pool.is_stopped(one) and table.pool.is_stopped(other):
                comparison = comparison._replace(low=-math.inf, high=math.inf, nelo_half_width=None)
            found.append(HeadToHead(one, other, own, comparison, likelihoods[at][after]))
    return found


def pairs_grid(table: Standings, best: int | None = None) -> Grid:
    """Compares every two bots by their pairs of games; `best` as in `meetings`."""
    heads = [Column("bot", "bot", left=True, shorten=True), Column("against", "against", True, 0, True)]
    heads += [Column("counts", "LL–LD–DD–WD–WW"), Column("elo of pairs", "Elo ± 95 %")]
    heads += [Column("nelo", "nElo ± 95 %", weight=4), Column("los of pairs", "LOS %", weight=3)]
    heads += [Column("drawn", "drawn", weight=2), Column("ratio", "won/lost", weight=1)]
    rows = []
    for bot, against, counts, found, superiority in meetings(table, best):
        rows.append(
            [
                bot,
                against,
                "–".join(map(str, counts)),
                interval_text(found.elo, found.low, found.high),
                _plus_minus(found.nelo, found.nelo_half_width),
                likelihood_text(superiority),
                NONE if found.draw_ratio is None else f"{100 * found.draw_ratio:.1f} %",
                NONE if found.pairs_ratio is None else number_text(found.pairs_ratio),
            ]
        )
    return Grid(heads, rows)


def _plus_minus(value: float | None, half_width: float | None) -> str:
    if value is None:
        return NONE
    return signed(value) + ("" if half_width is None else f" ± {half_width:,.0f}")


def faults_grid(table: Standings) -> Grid:
    """Counts how often each bot committed each fault."""
    words = sorted({word for row in table.rows for word in row.tally.faults})
    heads = [_FOUND[0], _FOUND[1]._replace(heading="faults of"), Column("games", "games")]
    heads += [Column(word, word) for word in (*words, "all")]
    rows = []
    for row in table.rows:
        faults = row.tally.faults
        counts = [*(faults[word] for word in words), faults.total()]
        cells = [f"{count:,}" if count else NONE for count in counts]
        rows.append([rank_text(row.rank), row.bot, f"{row.tally.games:,}", *cells])
    return Grid(heads, rows)


def times_grid(table: Standings, facts: Facts) -> Grid:
    """The times of the moves of each bot."""
    return standings_grid(table, [name for name in COLUMNS if name in MEASURED], facts.times)


def sprt_grid(facts: Facts) -> Grid:
    """The sequential tests, a row each."""
    heads = [Column("section", "game", True, 7)] if any(test.section for test in facts.tests) else []
    heads += [Column("bot", "bot", True, shorten=True), Column("against", "against", True, shorten=True)]
    heads += [
        Column("verdict", "SPRT", True),
        Column("h0", "H0 Elo", weight=4),
        Column("h1", "H1 Elo", weight=4),
    ]
    heads += [
        Column("llr", "LLR"),
        Column("bounds", "bounds", weight=3),
        Column("tested pairs", "pairs", weight=5),
        Column("after test", "Elo after the test", weight=6),
    ]
    rows = []
    for test in facts.tests:
        low, high = test.bounds
        normalized = " (normalized)" if test.model == "normalized" else ""
        rows.append(
            [
                *([test.section] if heads[0].name == "section" else []),
                test.bot,
                test.against,
                test.verdict,
                true_minus(f"{test.elo0:+g}{normalized}"),
                true_minus(f"{test.elo1:+g}{normalized}"),
                true_minus(f"{test.llr:+.2f}"),
                true_minus(f"{low:.2f} to {high:.2f}"),
                f"{sum(test.counts):,}",
                estimate_text(test),
            ]
        )
    return Grid(heads, rows)
