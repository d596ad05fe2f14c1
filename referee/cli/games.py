"""`referee games`: lists the games, or describes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from referee.cli.output import say, show_data
from referee.core.errors import UsageError
from referee.core.text import shown
from referee.games import GAMES, all_installed, game_given, origin_of
from referee.games.api import Game


@click.command()
@click.argument("name", metavar="[GAME]", required=False)
def games(name: str | None) -> None:
    """Lists the games; with GAME, shows a summary of its rules, its options and its notation.

    GAME is a game's slug, or module.py:NAME for a game in a file.
    """
    if name is None:
        listed = list(GAMES.values())
        for found in all_installed():
            if isinstance(found, UsageError):
                say(f"warning: {found}")
            else:
                listed.append(found)
        rows = []
        for game in listed:
            rows.append(
                [game.slug, game.name, game.seats_text, "open" if game.is_open else "hidden", str(game.clock)]
            )
        show_data(tabulate(rows, ["slug", "name", "seats", "information", "clock"], disable_numparse=True))
        return
    game = game_given(name, Path.cwd())
    options = [
        [option.name, option.values_text, option.default_text, option.meaning] for option in game.options
    ]
    show_data(
        f"{game.name} (`{game.slug}`, rules {game.rules})\n\n"
        f"{game.summary}\n\n"
        f"Moves: {game.notation}\n\n"
        f"{tabulate(options, ['option', 'values', 'default', 'meaning'], disable_numparse=True)}\n\n"
        f"Default clock: {game.clock}\n"
        f"{_source(game)}"
    )


def _source(game: Game[Any]) -> str:
    """The page of a game that is built in, or the origin of one that is not."""
    origin = origin_of(game)
    if not origin:
        return f"For authors of bots: protocol/games/{game.slug}.md"
    return "Origin: " + ", ".join(f"{name} {shown(value)}" for name, value in origin.items())
