"""`referee table`: prints the standings and the crosstable of a run."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.output import count_text, say, show_data
from referee.ratings.table import FORMATS, rendered
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

    Elo ratings, with 95 % intervals, and the advantage of seat 1 are fitted to all games at once. On stderr
    are the number of games and the head hash, the hash of the last line: `referee verify --head` detects
    with it later whether these records are as they were.
    """
    run = read_run(folder)
    games = run.shown_games
    seats = max(run.seats.values())
    show_data(rendered(run.names, games, form, seats))
    say(f"{count_text(len(games), run.games_in_all)}, head hash {run.last_hash}")
