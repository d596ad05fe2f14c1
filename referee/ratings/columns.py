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
from referee.ratings import grids
from referee.ratings.pool import FittedPool, Rating, fit
from referee.ratings.sprt import SprtResult, estimate
from referee.ratings.standings import NextInRank, RankedBot, Standings, StandingsRow, ranked_by_rating
from referee.ratings.tally import Tallies, Tally, results_of
from referee.ratings.times import MoveTimes, Times
from referee.records.record import Summary
from referee.viewing.info import METRIC, METRIC_NAME

LOPSIDED = 1.25  # an interval is shown by its ends where one of them is so many times as far as the other one

NONE = "–"  # what stands where there is no value


class Kind(NamedTuple):
    """A column that can be chosen, besides the rank and the bot, which are always there."""

    heading: str
    cell: Callable[[StandingsRow, MoveTimes], str]
    weight: int = 14  # where the table is too wide, columns with the least go first; of equal ones the last
    left: bool = False
    measured: bool = False  # whether it needs the measurements in the records


SURE, LIKELY = 0.975, 0.8  # likelihoods from which on a bot is surely, or likely, stronger than the next

COLUMNS = {
    "ranks": Kind("ranks", lambda row, _: ranks_text(row.ranks)),
    "ahead": Kind("ahead", lambda row, _: ahead_text(row.next)),
    "elo": Kind("Elo ± 95 %", lambda row, _: rating_text(row.rating) if row.is_rated else NONE, 11),
    "next": Kind("to next", lambda row, _: rating_text(row.next.difference) if row.next else NONE, 8),
    "los": Kind("LOS %", lambda row, _: likelihood_text(row.next.superiority) if row.next else NONE, 5),
    "games": Kind("games", lambda row, _: f"{row.tally.games:,}", 7),
    "wdl": Kind("w–d–l", lambda row, _: counts_text(row.tally.counts), 10),
    "points": Kind("points", lambda row, _: number_text(row.tally.points), 12),
    "score": Kind("score", lambda row, _: score_text(row.tally), 13),
    "expected": Kind("expected", lambda row, _: f"{row.expected:.1f}" if row.is_rated else NONE, 6),
    "seats": Kind("seats", lambda row, _: "", 4),  # a column for each seat
    "left": Kind(
        "mean left", lambda row, _: f"{row.tally.scores / row.tally.games:.2f}" if row.tally.games else NONE
    ),
    "faults": Kind("faults", lambda row, _: faults_text(row.tally), 9, left=True),
    "moves": Kind("moves", lambda _, times: f"{times.moves:,}", 3, measured=True),
    "median": Kind("median", lambda _, times: about(times.quantile(0.5)), measured=True),
    "p99": Kind("99 %", lambda _, times: about(times.quantile(0.99)), measured=True),
    "max": Kind("longest", lambda _, times: about(times.longest_us), measured=True),
    "over": Kind("over", lambda _, times: f"{times.over:,}", 2, measured=True),
    "late": Kind("late", lambda _, times: f"{times.late:,}", measured=True),
    "cpu": Kind("CPU", lambda _, times: about(times.cpu_us), 1, measured=True),
}

MEASURED = tuple(name for name, kind in COLUMNS.items() if kind.measured)

METRIC_COLUMN = f"{METRIC}:"  # how the names of columns begin that have the mean of a number of the bots' own


def kind_of(name: str) -> Kind:
    """The column of this name, which `parse_columns` gave."""
    if not name.startswith(METRIC_COLUMN):
        return COLUMNS[name]
    metric = name.removeprefix(METRIC_COLUMN)
    return Kind(metric, lambda _, times: mean_text(times.metrics.mean(metric)), measured=True)


def is_measured(name: str) -> bool:
    """Whether a column needs the measurements in the records."""
    return name in MEASURED or name.startswith(METRIC_COLUMN)


_DEFAULT = ("ranks", "score", "ahead", "elo", "wdl", "faults")
_OWN_ORDER = ("games", "wdl", "elo", "faults")
_ALONE = ("games", "wdl", "score", "left", "faults")


def parse_columns(text: str) -> tuple[str, ...]:
    """The columns of a text such as `elo,games,time`. Raises `UsageError`."""
    found: list[str] = []
    for word in text.split(","):
        name = word.strip()
        if name.startswith(METRIC_COLUMN) and METRIC_NAME.fullmatch(name.removeprefix(METRIC_COLUMN)):
            found.append(name)
            continue
        if name not in (*COLUMNS, "time"):
            raise UsageError(
                f"there is no column `{shown(name, 40)}`, expected one of {', '.join(COLUMNS)}, time, "
                f"{METRIC_COLUMN}NAME"
            )
        found += [one for one in MEASURED if one != "moves"] if name == "time" else [name]
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
    return _grid(table.rows, table.seats, columns, times)


def _grid(rows: Sequence[StandingsRow], seats: int, columns: Sequence[str], times: Times | None) -> Grid:
    own = list(rows[0].columns) if rows else []
    heads = [Column("rank", "#"), Column("bot", "bot", left=True, shorten=True)]
    # The first says most, and the others are left out before names are shortened, the last first.
    heads += [Column(heading, heading, False, 15 if number else 0) for number, heading in enumerate(own)]
    chosen = [name for name in columns if name not in own]
    for name in chosen:
        heads += _heads(name, seats)
    texts = []
    for row in rows:
        used = times.by_bot.get(row.bot, MoveTimes()) if times else MoveTimes()
        cells = [
            rank_text(row.rank),
            row.bot,
            *(number_text(row.columns.get(heading, NONE)) for heading in own),
        ]
        for name in chosen:
            cells += _cells(name, row, used, seats)
        texts.append(cells)
    return Grid(heads, texts)


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
    kind = kind_of(name)
    if name == "seats":
        what = f" {results_heading(seats)}" if seats <= 2 else ""
        return [Column(name, f"seat {seat}{what}", False, kind.weight) for seat in range(1, seats + 1)]
    return [Column(name, results_heading(seats) if name == "wdl" else kind.heading, kind.left, kind.weight)]


def _cells(name: str, row: StandingsRow, times: MoveTimes, seats: int) -> list[str]:
    if name == "seats":
        return [counts_text(row.tally.by_seat.get(seat, (0, 0, 0))) for seat in range(seats)]
    without_a_move = {"late": times.late, "cpu": times.cpu_us}
    if is_measured(name) and not times.moves and not without_a_move.get(name):
        return [NONE]
    return [kind_of(name).cell(row, times)]


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


def mean_text(mean: float | None) -> str:
    """The mean of numbers, to four figures, and whole numbers to all."""
    if mean is None:
        return NONE
    whole = len(str(abs(int(mean))))
    return true_minus(f"{mean:,.{max(0, 4 - whole)}f}")


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
    width: int,
    order: Sequence[RankedBot] = (),
) -> list[str]:
    """The standings as at most `most` lines (3 at least), narrowed to `width` characters.

    The bots are in the given order, with the first column that it follows from, or else in that of their
    ratings. Those that do not fit are counted on the last line.
    """
    order = order or ranked_by_rating(tallies.by_bot, tallies, pool)
    ranked = order if len(order) < most else order[: max(1, most - 2)]
    rows = [
        StandingsRow(
            rank,
            name,
            tallies[name],
            pool.ratings[name] if pool else Rating(0.0),
            0.0,
            None,
            None,
            0,
            dict([*columns.items()][:1]),
        )
        for rank, name, columns in ranked
    ]
    columns = (*(["elo"] if pool else []), "games", "wdl", "score", "faults")
    grid, _ = grids.fitted(_grid(rows, seats, columns, None), "plain", width)
    more = len(order) - len(ranked)
    return [*grid.drawn("plain").splitlines(), *([f"… and {more:,} more"] if more else [])]
