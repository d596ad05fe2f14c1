"""`referee new-bot`: makes a folder with a small bot that works, in a language of choice."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli import completion
from referee.cli.output import say, show_data
from referee.core.text import listed
from referee.templates import LANGUAGES

_ALIASES = {
    "py": "python",
    "c++": "cpp",
    "js": "javascript",
    "node": "javascript",
    "rs": "rust",
    "golang": "go",
}


class _LanguageChoice(click.Choice[str]):
    """The languages, by their names and by what else people call them."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = value.lower()
        return super().convert(_ALIASES.get(name, name), param, ctx)


@click.command()
@click.argument("name")
@click.option(
    "--game",
    required=True,
    metavar="GAME",
    shell_complete=completion.game,
    help="The game that the bot plays.",
)
@click.option(
    "--lang",
    type=_LanguageChoice([*LANGUAGES]),
    default="python",
    show_default=True,
    help="The language to write the bot in.",
)
def new_bot(name: str, game: str, lang: str) -> None:
    """Creates the folder NAME with a small working bot as a starting point.

    The folder contains the program, which plays random moves in GAME and has a place for your own idea;
    sample bots as opponents; a tournament file; and a README with the commands to build, check and play it,
    which are also printed. GAME is a game's slug, or module.py:NAME for a game in a file.

    \b
    Examples:
      referee new-bot petal --game blooms
      referee new-bot petal --game blooms --lang c
    """
    from referee.games import game_given
    from referee.templates.new_bot import NewBot, make

    bot = NewBot.of(name, game_given(game, Path.cwd()), game, lang)
    make(bot, Path.cwd())
    steps = "build it, check it and play it" if bot.language.build else "check it and play it"
    say(
        f"created the bot `{name}`: your own idea goes into `choose` in {name}/{bot.language.program}; "
        f"these commands {steps}:\n"
    )
    show_data("\n".join([f"cd {name}", *bot.commands]))
    if bot.missing:
        programs = listed(f"`{program}`" for program in bot.missing)
        say(f"\nnot installed here but needed: {programs}")
