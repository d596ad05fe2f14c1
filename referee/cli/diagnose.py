"""`referee diagnose`: what is peculiar to a bot in the games of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from referee.cli import completion
from referee.cli.options import game_option, outside_game, run_argument
from referee.cli.output import AdvanceBar, put_text, show_data
from referee.core.errors import UsageError


@click.command()
@run_argument
@click.argument("bot", shell_complete=completion.bot_of_run)
@click.option("--section", metavar="NAME", help="Only games of this section of the tournament.")
@click.option(
    "--against", metavar="BOT", shell_complete=completion.bot_of_run, help="Only games against this bot."
)
@click.option(
    "--since",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    help="Only games from number N on, as `replay` lists them.",
)
@click.option(
    "--suite",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the positions in which it gave something away for `referee suite`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as JSON.")
@game_option
def diagnose(
    path: Path, bot: str, suite: Path | None, as_json: bool, game: str | None, **chosen: Any
) -> None:
    """Tells what happens to a bot more often than to its opponents, or in some of its games than in others.

    RUN is the run's folder or its tournament file. Something is told only if it happened ten times at least,
    and would happen by chance in fewer than one of a hundred runs. What `referee analyse` has stored of these
    games is used.

    \b
    Examples:
      referee diagnose results mine
      referee diagnose results mine --against greedy --since 200
      referee diagnose results mine --suite lost.toml
    """
    from referee.analysis.diagnosing import diagnosed
    from referee.analysis.suite import SUITE_START, suite_text
    from referee.tournament.run.reading import run_folder
    from referee.tournament.run.run import read_run

    outside_game(game)
    with AdvanceBar() as bar:
        run = read_run(run_folder(path), bar.stage("reading the results"))
        found = diagnosed(run, bot, **chosen, advance=bar.stage("reading the games"), tell=bar.say)
    if suite:
        if not found.given_away:
            raise UsageError(
                f"no position is known in which `{bot}` gave something away, expected some that `referee "
                "analyse` has found"
            )
        played = run.header.section_of(found.given_away[0]["name"].rpartition("@")[0])
        text = suite_text(played.game, played.options, found.given_away)
        put_text(suite, text, SUITE_START, "a suite")
    show_data(json.dumps(found.data, indent=2) if as_json else found.text)
