"""`referee play`: a person plays a game at the keyboard, against bots or other persons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from referee.cli import completion
from referee.cli.options import game_argument, game_options_option, group, isolation_option


@click.command()
@game_argument
@click.argument("players", metavar="[PLAYER]...", nargs=-1, shell_complete=completion.bot)
@click.option("--seat", type=click.IntRange(1), metavar="SEAT", help="Your seat, if no PLAYER is `me`.")
@game_options_option
@click.option(
    "--time",
    "control",
    metavar="TC",
    default="none",
    show_default=True,
    help="The clock of every seat, MOVE[+RESERVE[/STEP]][^INCREMENT], or none.",
)
@click.option("--seed", metavar="TEXT", help="Seed of all random choices. Default: random.")
@click.option("--hint", "hint_text", metavar="BOT", help="The bot that gives hints. Default: a sample bot.")
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the records; the game is added to the games already in it.",
)
@isolation_option
@click.option("--browser", is_flag=True, help="Play in a browser: each person gets a link of their own.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="With --browser, the port to listen on. Default: a free one.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="With --browser, the address to listen on; 0.0.0.0 lets other devices play. Default: 127.0.0.1.",
)
def play(**given: Any) -> None:
    """Plays one game of GAME in which you take part; at the prompt, `help` lists the commands.

    PLAYER is a BOT, [name=]command as for `match`, or `me` for a person at this keyboard, with another name
    as NAME=me. Players are listed in the order of seats. If none of them is `me`, you take the seat given by
    --seat, or the first one, and the bots take the others. If no PLAYER is given, you play against a sample
    bot. Several people share the keyboard; in a game with hidden information, the screen is cleared between
    turns.

    Nothing is stored without -o. A game that is left with `quit` or Ctrl-D is not recorded; Ctrl-C exits with
    3. Without a terminal, moves and commands are read from stdin, one per line.

    \b
    Examples:
      referee play blooms
      referee play blooms --seat 2 './my_bot --fast' -o games
      referee play floral anna=me bob=me --time 60s
      referee play floral anna=me bob=me --browser --host 0.0.0.0
      referee play thetree --option players=1
      printf 'moves\\nhint\\nquit\\n' | referee play evengroups
    """
    from referee.cli.person_game import PlaySettings, play_game

    play_game(group(PlaySettings, given))
