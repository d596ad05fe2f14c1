"""`referee games`: lists the games, or describes one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.output import say, show_data
from referee.core.errors import UsageError
from referee.core.rows import Grid, text_columns
from referee.core.text import shown

if TYPE_CHECKING:
    from referee.games.api import Game


@click.command()
@click.argument("game", required=False, shell_complete=completion.game)
def games(game: str | None) -> None:
    """Lists the games; with GAME, shows a summary of its rules, its options and its notation.

    GAME is a game's slug, or module.py:NAME for a game in a file.

    \b
    Examples:
      referee games
      referee games blooms
    """
    from referee.games import GAMES, all_installed, game_given

    if game is None:
        listed = list(GAMES.values())
        for found in all_installed():
            if isinstance(found, UsageError):
                say(f"warning: {found}")
            else:
                listed.append(found)
        rows = [
            [one.slug, one.name, one.seats_text, "open" if one.is_open else "hidden", one.clock]
            for one in listed
        ]
        show_data(Grid(text_columns("slug", "name", "seats", "information", "clock"), rows).drawn())
        return
    chosen = game_given(game, Path.cwd())
    options = Grid(
        text_columns("option", "values", "default", "meaning"),
        [[one.name, one.values_text, one.default_text, one.meaning] for one in chosen.options],
    )
    show_data(
        f"{chosen.name} (`{chosen.slug}`, rules {chosen.rules})\n\n"
        f"{chosen.summary}\n\n"
        f"Moves: {chosen.notation}\n\n"
        f"{options.drawn() if options.rows else 'No options.'}\n\n"
        f"Default clock: {chosen.clock}\n"
        f"{_source(chosen)}"
    )


def _source(game: Game[Any]) -> str:
    """The page of a game that is built in, or the origin of one that is not."""
    from referee.games import origin_of

    origin = origin_of(game)
    if not origin:
        return f"For authors of bots: `referee docs {game.slug}`"
    return "Origin: " + ", ".join(f"{name} {shown(value)}" for name, value in origin.items())
