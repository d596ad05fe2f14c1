"""`referee table`: prints the standings and the crosstable of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from referee.cli.options import form_option, notes_option, runs_argument, tournament_format_option
from referee.cli.output import say, show_data, table_width
from referee.cli.query import query_of, query_options
from referee.core.text import shown


@click.command()
@runs_argument
@query_options
@form_option
@click.option(
    "--columns",
    metavar="C,…",
    help="The columns of the standings: ranks, ahead, elo, next, los, games, wdl, points, score, expected, "
    "seats, left, faults, moves, median, p99, max, over, late, cpu, or `time` for all columns about time; "
    "`metric:NAME` for the mean of a number that bots say of their moves.",
)
@click.option(
    "--show",
    metavar="T,…",
    help="The tables: standings, crosstable, los, seats, pairs, faults, times, sprt, rounds, pairings, "
    "bracket, stages, parameters, course, failures. Default: standings,crosstable; with two bots "
    "standings,seats; for a Swiss tournament standings,rounds; for a knockout standings,bracket; for a "
    "tournament in stages standings,stages and those of its formats; for tuning standings,parameters.",
)
@notes_option
@click.option("--times", is_flag=True, help="Also show how long moves took; this reads all records.")
@click.option(
    "--width",
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of characters per line; 0 for no limit. Default: the width of the terminal, "
    "or 80 without one.",
)
@tournament_format_option
def table(**given: Any) -> None:
    """Prints the table of a run, finished or not; for several runs, one table of all their games.

    RUN is a run's folder or its tournament file. The options that `find` has too choose the games that count;
    a note says how many do. Elo ratings, with 95 % intervals, and the advantages of
    seats are fitted to all games at once. The number of games and the head hash, which is the hash of the
    last line, are printed on stderr; with this hash, `referee verify --head` can later detect whether the
    records were changed.

    \b
    Examples:
      referee table results
      referee table results --show standings,los,pairs --times
      referee table here there --format csv
      referee table results --bot greedy --seat 2 --longer 20
    """
    from referee.ratings.columns import parse_columns
    from referee.ratings.table import TableText, parse_show, rendered
    from referee.tournament.formats import count_text
    from referee.tournament.run.finding import GameQuery, only_found
    from referee.tournament.run.reading import read_runs, times_of
    from referee.tournament.run.remaining import games_in_all

    width, query = given["width"], query_of(given)
    view = TableText(
        parse_columns(given["columns"]) if given["columns"] else (),
        parse_show(given["show"]) if given["show"] else (),
        table_width() if width is None else width,
        given["times"],
        given["notes"],
    )
    found = read_runs(given["paths"])
    if query != GameQuery():
        found = only_found(found, query)
    facts = replace(found.facts, times=times_of(found) if view.needs_times else None)
    show_data(rendered(found.names, found.games, given["form"], found.seats, view, facts))
    for run in found.runs:
        where = f"{shown(str(run.folder))}: " if len(found.runs) > 1 else ""
        say(f"{where}{count_text(len(run.games), games_in_all(run))}, head hash {run.last_hash}")
