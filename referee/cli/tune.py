"""`referee tune`: finds better values for the parameters of a bot, and tests them."""

from __future__ import annotations

from typing import Any

import click

from referee.cli.options import group
from referee.cli.run import RunWords, play, run_options


@click.command()
@run_options
def tune(**given: Any) -> None:
    """Finds better values for the parameters of a bot, or continues to, and tests them against the start.

    The TOML file is a tournament file with one bot and `[[parameter]]` tables (`referee docs tuning`). First
    the bot plays pairs of games with two sets of values each, then a sequential test decides whether the
    values found are better. Prints them, and the bot with them. Ctrl-C stops after the games in progress; the
    same command continues.

    \b
    Examples:
      referee tune mine.toml
      referee tune mine.toml --dry-run
      referee tune mine.toml --workers 4 -o tuning --serve
    """
    play(group(RunWords, given), tunes=True)
