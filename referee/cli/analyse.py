"""`referee analyse`: tells what is proved and what is estimated of the games of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import game_option, outside_game, run_argument
from referee.cli.output import AdvanceBar, show_data
from referee.core.pairing import section_of
from referee.core.this_machine import usable_cores

if TYPE_CHECKING:
    from referee.analysis.store import RunAnalysis
    from referee.tournament.run.run import StoredRun


@click.command()
@run_argument
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=completion.game_of_run)
@click.option(
    "--proof",
    metavar="N",
    type=click.IntRange(0, 100_000_000),
    default=2500,
    show_default=True,
    help="Look at N positions to prove one; 0 proves nothing.",
)
@click.option(
    "--by",
    metavar="CMD",
    help="The adviser: a bot that writes `info value X` or `info score X`. Default: a sample bot for Blooms.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Number of processes that prove; 0 does it in this process. Default: the number of usable cores.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the analysis of each game as JSON.")
@game_option
def analyse(path: Path, ids: tuple[str, ...], as_json: bool, game: str | None, **given: Any) -> None:
    """Tells what is proved of games, what is estimated, where they turned, and which moves gave much away.

    RUN is a run's folder or its tournament file, ID a game's id or number; without one, all games are
    analysed, and totals printed. What is found is stored in `analysis.jsonl` in the run's folder, where pages
    and `diagnose` find it; it can be deleted at any time.

    \b
    Examples:
      referee analyse results
      referee analyse results 7
      referee analyse results --by './mine --deep'
    """
    from referee.analysis.analysing import analyse as analysed_games
    from referee.tournament.run.reading import game_named, run_folder
    from referee.tournament.run.run import read_run

    outside_game(game)
    if given["workers"] is None:
        given["workers"] = len(usable_cores())
    with AdvanceBar() as bar:
        run = read_run(run_folder(path), bar.stage("reading the results"))
        games = [game_named([run], id_)[1] for id_ in ids] or [*run.games]
        found = analysed_games(run, games, **given, tell=bar.say, advance=bar.stage("analysing"))
        for problem in found.problems:
            bar.say(problem)
    if as_json:
        from referee.analysis.words import game_data

        shown_games = {one.id: one for one in run.shown_games}
        show_data(
            json.dumps([game_data(found.games[id_], shown_games[id_]) for id_ in games if id_ in found.games])
        )
    elif ids:
        _show_games(run, found, games)
    else:
        _show_totals(run, found)


def _show_games(run: StoredRun, found: RunAnalysis, games: list[str]) -> None:
    from referee.analysis.words import game_text
    from referee.records.record import from_json, parse_json
    from referee.tournament.run.run import game_lines
    from referee.viewing.steps import steps_of

    shown_games = {one.id: one for one in run.shown_games}
    for line in game_lines(run, games):
        if analysis := found.games.get(line.game.id):
            record = from_json(parse_json(line.text)).with_names(run.amendments.shown)
            show_data("\n".join(game_text(analysis, shown_games[line.game.id], steps_of(record))))


def _show_totals(run: StoredRun, found: RunAnalysis) -> None:
    from referee.analysis.words import totals_text

    for section, fitted in found.calibrations.items():
        games = {id_: one for id_, one in found.games.items() if section_of(id_) == section}
        where = f"{section}: " if section else ""
        for line in totals_text(run.games, games, fitted):
            show_data(f"{where}{line}")
