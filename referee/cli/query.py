"""Options that choose games of runs, for `find` and `table`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from referee.cli import completion
from referee.cli.options import group, key_values
from referee.gameplay.events import Ending

if TYPE_CHECKING:
    from referee.tournament.run.finding import GameQuery

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--bot",
        "bots",
        metavar="BOT",
        multiple=True,
        shell_complete=completion.bot_of_run,
        help="Games of this bot; repeat the option for games between several.",
    ),
    click.option(
        "--seat", type=click.IntRange(1), metavar="N", help="With --bot: games that it played in seat N."
    ),
    click.option(
        "--option",
        "options",
        metavar="K=V",
        multiple=True,
        help="Games that were played with this option of the game.",
    ),
    click.option("--section", metavar="NAME", help="Games of one section of the tournament."),
    click.option("--round", type=click.IntRange(1), help="Games of one round."),
    click.option(
        "--fault",
        type=click.Choice(["any", *(ending.word for ending in Ending if ending.is_fault)]),
        help="Games in which a bot had this fault (with --bot: one of those bots).",
    ),
    click.option(
        "--ending",
        type=click.Choice([ending.word for ending in Ending]),
        help="Games that ended in this way.",
    ),
    click.option(
        "--moves", metavar="M, M, …", help="Games that began with these moves, as `replay` shows them."
    ),
    click.option("--longer", metavar="N", type=click.IntRange(0), help="Games of more than N moves."),
    click.option("--shorter", metavar="N", type=click.IntRange(1), help="Games of fewer than N moves."),
    click.option("--machine", metavar="NAME", help="Games that were played on the machine with this name."),
)


def query_options(command: _Command) -> _Command:
    """Gives a command the options that `query_of` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def query_of(given: Mapping[str, Any]) -> GameQuery:
    """The games that the options of a command mean. Raises `UsageError`."""
    from referee.tournament.run.finding import GameQuery

    read = {
        "seat": None if given["seat"] is None else given["seat"] - 1,
        "options": key_values("option", given["options"]),
        "moves": tuple(given["moves"].split(",")) if given["moves"] else (),
    }
    return group(GameQuery, {**given, **read})
