"""`referee games`: what can be played."""

from __future__ import annotations

import click
from tabulate import tabulate

from referee.cli.output import show_data
from referee.games import GAMES, game_named


@click.command(short_help="Lists the games, or tells of one.")
@click.argument("slug", required=False)
def games(slug: str | None) -> None:
    """Lists the games; with SLUG, tells one game's rules in short, its options and its notation."""
    if slug is None:
        rows = []
        for game in GAMES.values():
            rows.append(
                [game.slug, game.name, game.seats_text, "open" if game.is_open else "hidden", str(game.clock)]
            )
        show_data(tabulate(rows, ["slug", "name", "seats", "information", "clock"], disable_numparse=True))
        return
    game = game_named(slug)
    options = [
        [option.name, option.values_text, option.default_text, option.meaning] for option in game.options
    ]
    show_data(
        f"{game.name} (`{game.slug}`, rules {game.rules})\n\n"
        f"{game.summary}\n\n"
        f"Moves: {game.notation}\n\n"
        f"{tabulate(options, ['option', 'values', 'default', 'meaning'], disable_numparse=True)}\n\n"
        f"The game's own clock: {game.clock}\n"
        f"For authors of bots: protocol/games/{game.slug}.md"
    )
