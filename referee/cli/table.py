"""`referee table`: prints the standings and the crosstable of a run."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.output import show_data
from referee.ratings.table import FORMATS, rendered
from referee.records.header import seats_of
from referee.tournament.folder import read_run


@click.command(short_help="Prints the table of a run.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    default="simple",
    metavar="F",
    type=click.Choice(FORMATS),
    help="csv, json, or one of tabulate's: simple (default), github, html, latex, tsv, …",
)
def table(folder: Path, form: str) -> None:
    """Prints the table of the run in DIR, finished or not.

    Elo ratings, with 95 % intervals, and the advantage of seat 1 are fitted to all games at once.
    """
    run = read_run(folder)
    games = list(run.games.values())
    show_data(rendered(list(run.header["bots"]), games, form, seats_of(run.header, games)))
