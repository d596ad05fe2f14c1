"""`referee export`: writes the games of runs for other programs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli import completion
from referee.cli.options import runs_argument
from referee.cli.output import say, show_data
from referee.core.text import counted

if TYPE_CHECKING:
    from referee.tournament.run.reading import Runs

AT_ONCE = 1000  # how many games are written at once


@click.command()
@runs_argument
@click.option(
    "--format",
    "form",
    default="pgn",
    show_default=True,
    type=click.Choice(["pgn", "csv", "jsonl"]),
    help="pgn: results for programs that compute ratings; csv: one line per game; jsonl: one JSON object "
    "per game.",
)
@click.option(
    "--game",
    "game_id",
    metavar="ID",
    shell_complete=completion.game_of_run,
    help="Export only this game, by ID or number, as records that `referee verify` accepts.",
)
def export(paths: tuple[Path, ...], form: str, game_id: str | None) -> None:
    """Writes the games of one run or several to stdout; with --game, one complete game.

    RUN is a run's folder or its tournament file. In PGN, seat 1 is White, unrated games have no result, and
    the moves are a comment. BayesElo and Ordo can read it.

    \b
    Examples:
      referee export results > games.pgn
      referee export results --format csv
      referee export results --game 1:greedy:random > game.jsonl
    """
    from referee.tournament.run.exports import csv_of, json_of_heads, pgn_of
    from referee.tournament.run.reading import read_runs

    runs = read_runs(paths)
    if game_id is not None:
        show_data(_alone(runs, game_id).decode().removesuffix("\n"))
        return
    games = [(run, run.shown_games) for run in runs.runs]
    if form == "csv":
        show_data(csv_of(games))
    else:
        texts = pgn_of(games) if form == "pgn" else json_of_heads(games)
        while some := list(islice(texts, AT_ONCE)):
            show_data("\n".join(some))
    say(counted(sum(len(of_run) for _, of_run in games), "game"))


def _alone(runs: Runs, game: str) -> bytes:
    from referee.tournament.run.exports import game_alone
    from referee.tournament.run.reading import game_named

    return game_alone(*game_named(runs.runs, game))
