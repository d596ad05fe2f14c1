"""`referee report`: makes a page of runs, with their tables, drawings and replays."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.options import game_option, only_one, outside_game, runs_argument, tournament_format_option
from referee.cli.output import AdvanceBar, is_stdout, put_text, say
from referee.core.errors import UsageError
from referee.core.text import counted, shown
from referee.core.this_machine import usable_cores
from referee.core.units import about_size

if TYPE_CHECKING:
    from referee.tournament.run.reading import Runs


@click.command()
@runs_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write the page to; - is stdout. Default: stdout.",
)
@click.option("--folder", is_flag=True, help="Write a folder of pages instead of one file, for many games.")
@click.option("--no-replays", is_flag=True, help="Leave out the replays of the games.")
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Number of processes that read the games; 0 reads them in this process. Default: the number of "
    "usable cores.",
)
@game_option
@tournament_format_option
def report(
    paths: tuple[Path, ...],
    output: Path | None,
    folder: bool,
    no_replays: bool,
    workers: int | None,
    game: str | None,
) -> None:
    """Makes a web page about a run, finished or not; for several runs, one page about all their games.

    RUN is a run's folder or its tournament file. The page has the standings, crosstables, charts of lengths,
    times and ratings, the faults with their dialogues, and a replay of every game. It is a single file that
    needs no network. For many games, --folder writes a folder of pages instead; open its `index.html`. An
    older report in the folder is replaced.

    \b
    Examples:
      referee report results -o report.html
      referee report results -o report --folder
    """
    if folder and is_stdout(output):
        raise UsageError(
            "`--folder` is given without `-o`, expected the folder to write, such as `-o report`"
        )
    only_one({"--folder": folder, "--no-replays": no_replays})
    if is_stdout(output) and sys.stdout.isatty():
        raise UsageError("a web page cannot be shown in a terminal, expected `-o FILE`")
    from referee.tournament.run.reading import read_runs

    count = len(usable_cores()) if workers is None else workers
    # Imported here, since the templates and charts take a while and only reports need them.
    from referee.pages.environment import PAGE_START
    from referee.pages.report.files import folder_of, page_of
    from referee.pages.report.games import NO_RUNS, analyses_of

    pages, html = 0, ""
    with AdvanceBar() as bar:
        runs = read_runs(paths, bar.stage)
        analyses = NO_RUNS
        if not no_replays:
            _check_rules(runs, game)
            analyses = analyses_of(runs, lambda problem: bar.say(f"warning: {problem}"))
        if folder and output is not None:
            pages = folder_of(runs, count, output, bar.stage, analyses)
        else:
            html = page_of(runs, count, not no_replays, bar.stage, analyses)
    if folder and output is not None:
        where = shown(str(output / "index.html"))
        say(f"{counted(len(runs.games), 'game')} in {counted(pages, 'page')}: {where}")
        return
    put_text(output, html, PAGE_START, "a page")
    if not is_stdout(output):
        say(f"{counted(len(runs.games), 'game')}, {about_size(len(html.encode()))}: {shown(str(output))}")


def _check_rules(runs: Runs, game: str | None) -> None:
    given = outside_game(game)
    for run in runs.runs:
        for section in run.header.sections.values():
            try:
                section.available(given if given and given.slug == section.game else None)
            except UsageError as error:
                raise UsageError(f"{error}, or `--no-replays`") from None
