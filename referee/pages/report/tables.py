"""Figures for the template: tables, matrices, and values on common scales. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from referee.core.rows import Grid
from referee.core.text import counted, signed
from referee.core.units import about
from referee.pages.report.charts import Scale
from referee.ratings.blocks import by_seat_grid, faults_grid, pairs_grid, seats_grid, sprt_grid, times_grid
from referee.ratings.columns import counts_text, default_columns, likelihood_text, standings_grid
from referee.ratings.notes import circumstances, findings, meanings
from referee.ratings.pool import Rating
from referee.ratings.standings import Facts, Standings
from referee.ratings.tally import crosstable
from referee.ratings.times import MoveTimes, Times

MAX_IN_MATRIX = 64  # maximum number of bots that are compared with each other, two by two: the best ones

NO_GAMES = "no games yet"

LADDER = 10  # so many bots stand in the ladder of ratings, whose other rows are in the standings

_TITLES = {"rounds": "Rounds: the opponent’s number, and the points against it"}
"""Of tables of formats whose name does not say what is in them."""

STEPS = 10  # the shades of a matrix, from 0 to this number


class Bar(NamedTuple):
    """An interval on a scale: where it begins and ends, and where the estimate is."""

    low: float
    high: float
    middle: float


class Strip(NamedTuple):
    """A distribution on a scale."""

    low: float  # one of a hundred lies below
    first: float  # A quarter lies below
    median: float
    third: float  # A quarter lies above
    high: float  # one of a hundred lies above
    longest: float
    allowance: float | None  # the allowance for a move; None where there is none, or several


class Tick(NamedTuple):
    """A labelled value of a scale."""

    at: float
    text: str


class Cell(NamedTuple):
    """A cell of a matrix."""

    text: str
    detail: str  # what stands below the text, or is said in its place where there are many bots
    step: int  # the shade
    bots: tuple[str, str]


class Matrix(NamedTuple):
    """What bots did against each other: a row and a column for each."""

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]
    left_out: int  # how many more bots there are


@dataclass(frozen=True)
class ReportPart:
    """The tables and drawings of the whole tournament, or of one of its sections."""

    key: str  # tells it apart on the page
    section: str  # the name of the section; empty for the whole
    title: str
    standings: Grid
    faults: Grid | None
    pairs: Grid | None
    lengths: Mapping[int, int]  # how many games have this many moves
    length_text: str
    endings: Sequence[tuple[str, int]]  # how many games ended how, the most frequent first
    notes: Sequence[str]
    ladder: Grid | None  # the first rows of the standings with the ratings alone; None where there are none
    bars: Sequence[Bar | None]  # by row of the standings, the interval of the rating
    strips: Sequence[Strip | None]  # by row of the standings, the times of the bot's moves
    elo_ticks: Sequence[Tick] = ()
    zero: float = 0  # where 0 is on the scale of the ratings
    crosstable: Matrix | None = None
    superiority: Matrix | None = None
    seats: Grid | None = None
    by_seat: Grid | None = None
    times: Grid | None = None
    of_format: Sequence[tuple[str, Grid]] = ()
    """The tables that the format has besides its standings, and the sequential tests, with their titles."""
    time_ticks: Sequence[Tick] = ()


def part(
    table: Standings,
    facts: Facts,
    times: Times,
    lengths: Counter[int],
    allowances: Mapping[str, int | None],
) -> ReportPart:
    """The part of a report that shows these standings; `times` are those of their games, and `allowances`
    what each bot has for a move.
    """
    columns = default_columns(table)
    without = [None] * len(table.rows)
    found = ReportPart(
        key=f"of-{table.section}" if table.section else "standings",
        section=table.section,
        title=table.title or NO_GAMES,
        standings=standings_grid(table, columns, None),
        faults=faults_grid(table) if any(row.tally.faults for row in table.rows) else None,
        pairs=_filled(pairs_grid(table, MAX_IN_MATRIX)),
        lengths=dict(lengths),
        length_text=length_text(lengths) if lengths else "",
        endings=Counter(game.ending for game in table.games).most_common(),
        notes=[*findings(table, facts), *meanings(table, columns), *circumstances(table)],
        ladder=None,
        bars=without,
        strips=without,
        of_format=[
            *([("Sequential tests", sprt_grid(facts))] if facts.tests and not table.section else []),
            *(
                (one.title or _TITLES.get(name, name.capitalize()), one.grid)
                for name, one in facts.of_format(table.section).items()
                if name not in ("pairings", "course")
            ),
        ],
    )
    if table.seats > 1 and any(row.is_rated for row in table.rows):
        found = _with_comparisons(found, table)
    if any(of_bot.moves for of_bot in times.by_bot.values()):
        found = _with_times(found, table, times, allowances)
    return found


def _with_comparisons(part: ReportPart, table: Standings) -> ReportPart:
    """The part with what bots have that play against each other."""
    scale = elo_scale([row.rating for row in table.rows])
    return replace(
        part,
        ladder=_ladder(table),
        bars=[bar(row.rating, scale) if row.is_rated else None for row in table.rows],
        elo_ticks=[Tick(scale.at(value), signed(value) if value else "0") for value in scale.ticks],
        zero=scale.at(0),
        crosstable=scores_matrix(table),
        superiority=superiority_matrix(table),
        seats=seats_grid(table),
        by_seat=_plain(by_seat_grid(table), table),
    )


def _ladder(table: Standings) -> Grid:
    """The best bots with their ratings, and with their scores, or in a format with an order of its own with
    what their places follow from first.
    """
    decisive = next(iter(table.rows[0].columns), "score")
    columns = {"rank", "bot", "elo", decisive}
    grid = standings_grid(table, ("elo", "score"), None)
    return _chosen(grid._replace(rows=grid.rows[:LADDER]), columns.__contains__)


def _with_times(
    part: ReportPart, table: Standings, times: Times, allowances: Mapping[str, int | None]
) -> ReportPart:
    """The part with the times of moves."""
    scale = time_scale(times, allowances)
    return replace(
        part,
        times=_plain(times_grid(table, Facts(times=times)), table),
        strips=[strip(times.by_bot.get(row.bot), scale, allowances.get(row.bot)) for row in table.rows],
        time_ticks=[Tick(scale.at(value), about(round(value))) for value in scale.ticks],
    )


def _plain(grid: Grid, table: Standings) -> Grid:
    """A table without the columns of a format with an order of its own, which the standings have."""
    own = set(table.rows[0].columns) if table.rows else set()
    return _chosen(grid, lambda name: name not in own)


def _chosen(grid: Grid, is_chosen: Callable[[str], bool]) -> Grid:
    kept = [number for number, column in enumerate(grid.columns) if is_chosen(column.name)]
    return Grid(
        [grid.columns[number] for number in kept], [[row[number] for number in kept] for row in grid.rows]
    )


def _filled(grid: Grid) -> Grid | None:
    return grid if grid.rows else None


def elo_scale(ratings: Sequence[Rating]) -> Scale:
    """The scale that all intervals of ratings, and 0, lie on."""
    values = (value for rating in ratings for value in rating)
    return Scale.over([0.0, *(value for value in values if value is not None and math.isfinite(value))])


def bar(rating: Rating, scale: Scale) -> Bar | None:
    """The interval of a rating on a scale, of which nothing is left if it has no end; None where nothing is
    known.
    """
    elo, low, high = rating
    if low is None or high is None:
        return None
    if (low, high) == (-math.inf, math.inf):
        low = high = elo
    return Bar(scale.at(low), scale.at(high), scale.at(elo))


def time_scale(times: Times, allowances: Mapping[str, int | None]) -> Scale:
    """The scale of the times of moves, and of what the bots have for one."""
    ends = [us for us in allowances.values() if us]
    for found in times.by_bot.values():
        if found.moves:
            ends += [found.quantile(0.01), found.longest_us]
    return Scale.over(ends, is_logarithmic=True)


def strip(times: MoveTimes | None, scale: Scale | None, allowance: int | None) -> Strip | None:
    """The distribution of a bot's times on a scale; None where it has none."""
    if times is None or scale is None or not times.moves:
        return None
    low, first, median, third, high = (
        scale.at(times.quantile(share)) for share in (0.01, 0.25, 0.5, 0.75, 0.99)
    )
    return Strip(
        low,
        first,
        median,
        third,
        high,
        scale.at(times.longest_us),
        scale.at(allowance) if allowance else None,
    )


def length_text(lengths: Mapping[int, int]) -> str:
    """Describes how long games are."""
    games = sum(lengths.values())
    ordered = sorted(lengths)
    mean = sum(moves * count for moves, count in lengths.items()) / games
    middle, passed = ordered[-1], 0
    for moves in ordered:
        passed += lengths[moves]
        if 2 * passed >= games:
            middle = moves
            break
    if len(ordered) == 1:
        return f"{counted(games, 'game')} of {counted(middle, 'move')}"
    return (
        f"{counted(games, 'game')} of {ordered[0]:,} to {ordered[-1]:,} moves: median {middle:,}, "
        f"mean {mean:,.1f}"
    )


def scores_matrix(table: Standings) -> Matrix:
    """The score of each bot against each other, in percent, with wins, draws and losses."""
    counts = crosstable(table.games)

    def cell(one: str, other: str) -> Cell | None:
        if (one, other) not in counts:
            return None
        losses, draws, wins = counts[one, other]
        score = (wins + draws / 2) / (losses + draws + wins)
        return Cell(f"{100 * score:.0f}", counts_text((losses, draws, wins)), shade(score), (one, other))

    return _matrix(table.names, cell)


def superiority_matrix(table: Standings) -> Matrix:
    """The likelihood, in percent, that each bot is stronger than each other."""
    best = table.names[:MAX_IN_MATRIX]
    place = {name: number for number, name in enumerate(best)}
    likelihoods = table.pool.superiorities(best)

    def cell(one: str, other: str) -> Cell | None:
        likelihood = likelihoods[place[one]][place[other]]
        if likelihood is None:
            return None
        return Cell(likelihood_text(likelihood), "", shade(likelihood), (one, other))

    return _matrix(table.names, cell)


def _matrix(names: Sequence[str], cell: Callable[[str, str], Cell | None]) -> Matrix:
    best = names[:MAX_IN_MATRIX]
    rows = [(one, [None if one == other else cell(one, other) for other in best]) for one in best]
    return Matrix(best, rows, len(names) - len(best))


def shade(share: float) -> int:
    """The shade of a share from 0 to 1."""
    return round(STEPS * share)
