"""`referee table`: prints the standings and the crosstable of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from referee.cli.output import count_text, say, show_data, table_width
from referee.core.errors import RecordError
from referee.core.text import shown
from referee.ratings.blocks import BLOCKS
from referee.ratings.columns import COLUMNS, parse_columns
from referee.ratings.standings import Facts
from referee.ratings.table import FORMATS, View, parse_show, rendered
from referee.ratings.times import Times
from referee.records import journal
from referee.records.header import CHANGED, seats_of
from referee.records.record import head_of
from referee.tournament.folder import Run, planned, read_run


@click.command(short_help="Prints the table of a run.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    default="simple",
    metavar="F",
    type=click.Choice(FORMATS),
    help="csv, json, or one of tabulate's: simple (default), github, html, latex, tsv, …",
)
@click.option(
    "--columns",
    metavar="C,…",
    help=f"The columns of the standings: {', '.join(COLUMNS)}, or time for those of times.",
)
@click.option(
    "--show",
    metavar="T,…",
    help=f"The tables: {', '.join(BLOCKS)}. Default: standings,crosstable where it fits.",
)
@click.option("--times", is_flag=True, help="Also the time that moves took, from the whole records.")
@click.option(
    "--width",
    type=click.IntRange(0),
    help="The most characters of a line; 0: any number. Default: those of the terminal, else 80.",
)
def table(
    folders: tuple[Path, ...],
    form: str,
    columns: str | None,
    show: str | None,
    times: bool,
    width: int | None,
) -> None:
    """Prints the table of the run in DIR, finished or not; of several runs, one table of all their games.

    Elo ratings, with 95 % intervals, and the advantages of seats are fitted to all games at once. On stderr
    are the number of games and the head hash, the hash of the last line: `referee verify --head` detects
    with it later whether these records are as they were.
    """
    shown_blocks = parse_show(show) if show else ()
    if times and "times" not in shown_blocks:
        shown_blocks = (*(shown_blocks or ("standings", "crosstable")), "times")
    view = View(
        parse_columns(columns) if columns else (), shown_blocks, table_width() if width is None else width
    )
    runs = [read_run(folder) for folder in folders]
    names = list(dict.fromkeys(name for run in runs for name in run.header["bots"]))
    games = [game for run in runs for game in run.games.values()]
    facts = Facts(
        changed={bot: when for run in runs for bot, when in run.header.get(CHANGED, {}).items()},
        times=_times(runs) if view.needs_times else None,
    )
    show_data(rendered(names, games, form, seats_of(runs[0].header, games), view, facts))
    for run in runs:
        played = list(run.games.values())
        where = f"{shown(str(run.folder))}: " if len(runs) > 1 else ""
        seats = seats_of(run.header, played)
        say(f"{where}{count_text(len(played), planned(run.header, seats))}, head hash {run.last_hash}")


def _times(runs: Sequence[Run]) -> Times:
    """The times of all games of these runs. Raises `RecordError`."""
    times = Times()
    for run in runs:
        for line in journal.read(run.folder):
            if line.torn:
                break
            head = head_of(line.text)
            if head.get("kind") == "game":
                try:
                    times.add(tuple(head["bots"]), line.text)
                except RecordError as error:
                    name = shown(str(run.folder / journal.NAME))
                    raise RecordError(f"line {line.number} of `{name}`: {error}") from None
    return times
