"""The standings as text: the columns that they can have; and in short, a line for each bot. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from referee.core.errors import UsageError
from referee.core.rows import Column, Grid
from referee.core.settings import STANDARD_POINTS
from referee.core.text import shown, signed, true_minus
from referee.core.units import about
from referee.ratings.pool import FittedPool, Rating, fit
from referee.ratings.sprt import SprtResult, estimate
from referee.ratings.standings import NextInRank, RankedBot, Standings, StandingsRow, ranked_by_rating
from referee.ratings.tally import Tallies, Tally, results_of
from referee.ratings.times import MoveTimes, Times
from referee.records.record import Summary

LOPSIDED = 1.25  # an interval is shown by its ends where one of them is so many times as far as the other one

NONE = "–"  # what stands where there is no value


class Kind(NamedTuple):
    """A column that can be chosen, besides the rank and the bot, which are always there."""

    heading: str
    help: str
    cell: Callable[[StandingsRow, MoveTimes], str]
    left: bool = False


SURE, LIKELY = 0.975, 0.8  # likelihoods from which on a bot is surely, or likely, stronger than the next

COLUMNS = {
    "ranks": Kind("ranks", "possible ranks", lambda row, _: ranks_text(row.ranks)),
    "ahead": Kind(
        "ahead", "how sure it is that the bot is stronger than the next", lambda row, _: ahead_text(row.next)
    ),
    "elo": Kind(
        "Elo ± 95 %",
        "Elo with its 95 % interval",
        lambda row, _: rating_text(row.rating) if row.is_rated else NONE,
    ),
    "next": Kind(
        "to next",
        "Elo difference to the next in rank, with its 95 % interval",
        lambda row, _: rating_text(row.next.difference) if row.next else NONE,
    ),
    "los": Kind(
        "LOS %",
        "likelihood that the bot is stronger than the next in rank",
        lambda row, _: likelihood_text(row.next.superiority) if row.next else NONE,
    ),
    "games": Kind("games", "games that count", lambda row, _: f"{row.tally.games:,}"),
    "wdl": Kind("w–d–l", "wins, draws, losses", lambda row, _: counts_text(row.tally.counts)),
    "points": Kind("points", "sum of points", lambda row, _: number_text(row.tally.points)),
    "score": Kind("score", "points in % of the games", lambda row, _: score_text(row.tally)),
    "expected": Kind(
        "expected",
        "points that the ratings predict",
        lambda row, _: f"{row.expected:.1f}" if row.is_rated else NONE,
    ),
    "seats": Kind("seats", "wins, draws, losses by seat: a column for each seat", lambda row, _: ""),
    "left": Kind(
        "mean left",
        "mean score per game where bots play alone, such as tiles left",
        lambda row, _: f"{row.tally.scores / row.tally.games:.2f}" if row.tally.games else NONE,
    ),
    "faults": Kind("faults", "faults by kind", lambda row, _: faults_text(row.tally), left=True),
    "moves": Kind("moves", "moves", lambda _, times: f"{times.moves:,}"),
    "median": Kind("median", "median time of a move", lambda _, times: about(times.quantile(0.5))),
    "p99": Kind(
        "99 %", "time that 99 % of the moves did not exceed", lambda _, times: about(times.quantile(0.99))
    ),
    "max": Kind("longest", "longest time for a move", lambda _, times: about(times.longest_us)),
    "over": Kind("over", "moves beyond their allowance", lambda _, times: f"{times.over:,}"),
    "late": Kind("late", "number of times the bot ran out of time", lambda _, times: f"{times.late:,}"),
    "cpu": Kind("CPU", "processor time of all games", lambda _, times: about(times.cpu_us)),
}

TIMES = ("median", "p99", "max", "over", "late", "cpu")  # the columns that `time` is short for

MEASURED = (*TIMES, "moves")  # the columns that need the measurements in the records

_DEFAULT = ("ranks", "score", "ahead", "elo", "wdl", "faults")
_OWN_ORDER = ("games", "wdl", "elo", "faults")
_ALONE = ("games", "wdl", "score", "left", "faults")

_FIRST_OUT = (
    "cpu",
    "over",
    "moves",
    "seats",
    "los",
    "expected",
    "games",
    "next",
    "faults",
    "wdl",
    "elo",
    "points",
    "score",
)
"""Columns that are left out where the table is too wide, in this order; then the others from the right."""


def parse_columns(text: str) -> tuple[str, ...]:
    """The columns of a text such as `elo,games,time`. Raises `UsageError`."""
    found: list[str] = []
    for word in text.split(","):
        name = word.strip()
        if name not in (*COLUMNS, "time"):
            raise UsageError(
                f"there is no column `{shown(name, 40)}`, expected one of {', '.join(COLUMNS)}, time"
            )
        found += TIMES if name == "time" else [name]
    return tuple(dict.fromkeys(found))


def default_columns(table: Standings) -> tuple[str, ...]:
    """The columns that are shown where none were chosen; not of ranks and leads where none are known."""
    found = _ALONE if table.seats == 1 else _OWN_ORDER if table.own_order else _DEFAULT
    dropped = {
        name
        for name in ("ranks", "ahead")
        if all(COLUMNS[name].cell(row, MoveTimes()) == NONE for row in table.rows)
    }
    has_points = any(row.tally.scale != STANDARD_POINTS for row in table.rows)
    return (
        *(["points"] if has_points else []),
        *(name for name in found if name not in dropped and not (has_points and name == "score")),
    )


def standings_grid(table: Standings, columns: Sequence[str], times: Times | None) -> Grid:
    """The standings with these columns; those of a format with an order of its own come first."""
    own = list(table.rows[0].columns) if table.rows else []
    heads = [Column("rank", "#"), Column("bot", "bot", left=True, shorten=True)]
    # The first says most, and the others are left out before names are shortened, the last first.
    last = len(_FIRST_OUT) + 2
    heads += [Column(heading, heading, False, last if number else 0) for number, heading in enumerate(own)]
    chosen = [name for name in columns if name not in own]
    for name in chosen:
        heads += _heads(name, table.seats)
    rows = []
    for row in table.rows:
        used = times.by_bot.get(row.bot, MoveTimes()) if times else MoveTimes()
        cells = [
            rank_text(row.rank),
            row.bot,
            *(number_text(row.columns.get(heading, NONE)) for heading in own),
        ]
        for name in chosen:
            cells += _cells(name, row, used, table.seats)
        rows.append(cells)
    return Grid(heads, rows)


def rank_text(rank: int | None) -> str:
    """The rank of a bot; a dash where it is out of the tournament."""
    return NONE if rank is None else str(rank)


def ranks_text(ranks: tuple[int, int] | None) -> str:
    """The possible ranks of a bot: the first and the last, or the only one."""
    if ranks is None:
        return NONE
    first, last = ranks
    return f"{first}–{last}" if first < last else str(first)


def ahead_text(found: NextInRank | None) -> str:
    """How sure it is that a bot is stronger than the next, in words."""
    if found is None or found.superiority is None or found.difference.is_open:
        return NONE
    likely = found.superiority
    if likely >= SURE:
        return "sure"
    if likely >= LIKELY or likely <= 1 - LIKELY:
        return f"{'likely' if likely > 0.5 else 'unlikely'} ({100 * likely:.0f} %)"
    return "open"


def results_heading(seats: int) -> str:
    """The heading over wins, draws and losses in games with this many seats."""
    return "w–d–l" if seats <= 2 else "1st–tied–rest"


def _heads(name: str, seats: int) -> list[Column]:
    kind = COLUMNS[name]
    weight = _FIRST_OUT.index(name) + 1 if name in _FIRST_OUT else len(_FIRST_OUT) + 1
    if name == "seats":
        what = f" {results_heading(seats)}" if seats <= 2 else ""
        return [Column(name, f"seat {seat}{what}", False, weight) for seat in range(1, seats + 1)]
    return [Column(name, results_heading(seats) if name == "wdl" else kind.heading, kind.left, weight)]


def _cells(name: str, row: StandingsRow, times: MoveTimes, seats: int) -> list[str]:
    if name == "seats":
        return [counts_text(row.tally.by_seat.get(seat, (0, 0, 0))) for seat in range(seats)]
    without_a_move = {"late": times.late, "cpu": times.cpu_us}
    if name in MEASURED and not times.moves and not without_a_move.get(name):
        return [NONE]
    return [COLUMNS[name].cell(row, times)]


def rating_text(rating: Rating) -> str:
    """An Elo with its interval."""
    return interval_text(*rating)


def interval_text(elo: float | None, low: float | None, high: float | None) -> str:
    """An Elo with half of its interval, or with both ends where they are not about as far from it; where the
    interval has only one end, this alone.
    """
    ends = [
        f"{words} {signed(end)}"
        for words, end in (("at least", low), ("at most", high))
        if end is not None and math.isfinite(end)
    ]
    if len(ends) == 1:
        return ends[0]
    if elo is None or low is None or high is None:
        return NONE
    if not ends:
        return signed(elo)
    if max(elo - low, high - elo) > LOPSIDED * min(elo - low, high - elo):
        return true_minus(f"{signed(elo)} ({round(low):,d}…{round(high):,d})")
    return f"{signed(elo)} ± {(high - low) / 2:,.0f}"


def range_text(rating: Rating) -> str:
    """The interval of a rating in words."""
    _, low, high = rating
    if low is None or high is None or math.isinf(low) or math.isinf(high):
        return f"{rating_text(rating)} Elo"
    return f"between {signed(low)} and {signed(high)} Elo"


def estimate_text(test: SprtResult) -> str:
    """The difference after a sequential test, with its interval."""
    return interval_text(*(estimate(test) or (None, None, None)))


def test_text(test: SprtResult) -> str:
    """A sequential test in a sentence, with the difference after it."""
    text = estimate_text(test)
    return str(test) if text == NONE else f"{test}; corrected for the test: {text} Elo"


def likelihood_text(likelihood: float | None) -> str:
    """A likelihood in percent; never a certainty."""
    if likelihood is None:
        return NONE
    return f"{min(max(100 * likelihood, 0.1), 99.9):.1f}"


def counts_text(counts: Sequence[int]) -> str:
    """Losses, draws and wins as they are read: wins first."""
    losses, draws, wins = counts
    return f"{wins:,}–{draws:,}–{losses:,}"


def score_text(tally: Tally) -> str:
    """The points of a bot in percent of its games."""
    return NONE if tally.score is None else f"{100 * tally.score:.1f} %"


def faults_text(tally: Tally) -> str:
    """The faults of a bot."""
    return ", ".join(f"{count:,} {word}" for word, count in sorted(tally.faults.items())) or NONE


def number_text(value: float | str) -> str:
    """A number without needless zeros: whole numbers and halves are exact."""
    return value if isinstance(value, str) else f"{value:,.2f}".rstrip("0").rstrip(".")


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
