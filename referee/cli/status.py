"""`referee status`: how far a run is, also while it is on."""

from __future__ import annotations

import json
from pathlib import Path

import click

from referee.cli.options import run_argument, tournament_format_option
from referee.cli.output import show_data, table_width


@click.command()
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@tournament_format_option
def status(path: Path, as_json: bool) -> None:
    """Shows the progress of a run, without disturbing it: games, rate, remaining time, standings, faults.

    RUN is the run's folder or its tournament file. Games in progress are not shown.

    \b
    Examples:
      referee status results
      referee status results --json
    """
    from referee.tournament.run.reading import run_folder
    from referee.tournament.run.status import status_of

    found = status_of(run_folder(path))
    show_data(json.dumps(found.data, indent=2) if as_json else found.text(table_width()))
