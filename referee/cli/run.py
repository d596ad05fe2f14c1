"""`referee run`: plays a tournament, or continues it."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.options import isolation_option, workers_option
from referee.cli.output import amount_text, show_data
from referee.cli.playing import Conduct, conduct
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.core.units import about_size, show_period
from referee.tournament.config import Config, load
from referee.tournament.tournament import tournament_of

RECORD_BYTES = 200
"""About the size of an event in a record, with its times."""


@click.command(short_help="Plays a tournament, or continues it.")
@click.argument("file", metavar="TOML", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the results. Default: NAME-results beside NAME.toml.",
)
@workers_option
@click.option(
    "--dry-run", is_flag=True, help="Print the number of games and estimates of time and disk space."
)
@isolation_option
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault.")
def run(
    file: Path,
    folder: Path | None,
    workers: int | None,
    dry_run: bool,
    isolation: str | None,
    strict: bool,
) -> None:
    """Plays the tournament of a TOML file and prints its table, or continues it where it stopped.

    A finished game counts as soon as it is stored, and is not played again. Ctrl-C stops after the current
    games, a second Ctrl-C stops at once; the same command continues.
    """
    config = load(file)
    folder = folder or config.folder
    count = config.workers if workers is None else workers
    if dry_run:
        show_data(_forecast(config, folder, count))
        return
    conduct(config, Conduct(folder, count, isolation, strict))


def _forecast(config: Config, folder: Path, workers: int) -> str:
    """The number of games, and upper bounds of time and disk space."""
    tournament = tournament_of(config)
    tournament.check()
    lines = []
    longest_us = size = 0
    for plan in tournament.plans:
        amount = config.format.games_in_all(len(plan.names), plan.seats)
        turns = plan.game.longest(plan.options)
        most_us = max(_most_us(entrant.control, -(-turns // plan.seats)) for entrant in plan.entrants)
        longest_us += amount.games * plan.seats * most_us
        size += amount.games * turns * RECORD_BYTES
        lines += [f"{amount_text(amount)} games of {plan.game.slug}, at most {turns} moves a game"]
    seconds = longest_us // 1_000_000 // max(1, workers)
    return "\n".join(
        [
            *lines,
            f"{len(tournament.names)} bots, {workers} workers",
            f"at most {show_period((seconds // 60 + 1) * 60_000_000)} if every bot uses all of its time",
            f"at most about {about_size(size)} in {shown(str(folder))}, and as much again until the run ends",
        ]
    )


def _most_us(control: TimeControl, moves: int) -> int:
    return control.reserve_us + moves * (control.move_us + control.increment_us)
