"""What Tab offers: games, bots, the games of a run. It reads little, and tells no errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from referee.core.text import shown

if TYPE_CHECKING:
    from referee.records.record import Summary

MAX_LINES = 1000  # maximum number of lines of a run that are read

MAX_OFFERED = 100  # maximum number of games that are offered

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _silent(complete: _Complete) -> _Complete:
    """Offers nothing where an error happens: a traceback would stand in the line that is being typed."""

    @wraps(complete)
    def silent(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            return complete(context, parameter, typed)
        except Exception:
            return []

    return silent


@_silent
def game(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The games that are built in, or else files, since a game may come from one."""
    from referee.games import GAMES

    slugs = [CompletionItem(slug) for slug in GAMES if slug.startswith(typed)]
    return slugs or [CompletionItem(typed, type="file")]


@_silent
def option(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The options of the game that was named before."""
    from referee.games import game_given

    known = game_given(str(_before(context, "game")), Path.cwd()).options
    return [CompletionItem(f"{option.name}=") for option in known if option.name.startswith(typed)]


@_silent
def bot(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The sample bots for the game that was named before, or else files."""
    from referee.templates import BY_GAME, RANDOM

    slug = str(_before(context, "game"))
    names = dict.fromkeys(f"@{name}" for name in (BY_GAME.get(slug, RANDOM), RANDOM))
    offered = [CompletionItem(name) for name in names if name.startswith(typed)]
    return offered or [CompletionItem(typed, type="file")]


@_silent
def game_of_run(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The games of the run that was named before: numbers, or ids where no number was begun."""
    games = enumerate(_games(context), 1)
    is_number = typed.isdecimal() or not typed
    names = ((str(number) if is_number else game.id, game) for number, game in games)
    fitting = ((name, game) for name, game in names if name.startswith(typed))
    return [
        CompletionItem(name, help=shown(f"{', '.join(game.bots)}: {game.told}"))
        for name, game in islice(fitting, MAX_OFFERED)
    ]


@_silent
def bot_of_run(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The bots of the run that was named before."""
    names = {name for game in _games(context) for name in game.bots}
    return [CompletionItem(name) for name in sorted(names) if name.startswith(typed)]


def _before(context: click.Context, *names: str) -> object:
    """The argument with one of these names, which stands before what is completed; empty if it is missing.

    click leaves the arguments unread where the last option has no value yet.
    """
    given = next(filter(None, map(context.params.get, names)), None) or next(iter(context.args), "")
    return given[0] if isinstance(given, tuple) else given


def _games(context: click.Context) -> list[Summary]:
    """The first games of the run that was named before, with the names to which bots were renamed."""
    from referee.records import journal
    from referee.records.amendments import Amendments, check_amendments
    from referee.records.heads import Head, Heads
    from referee.tournament.run.reading import records_at

    file = records_at(Path(str(_before(context, "path", "paths"))))
    heads = Heads()
    games: list[Summary] = []
    renamed: dict[str, str] = {}
    for line in islice(journal.read(file), MAX_LINES):
        match heads.read(line.text):
            case Head(game, _):
                games.append(game)
            case {"kind": "change", "renamed": dict(names)} as change:
                check_amendments(change, names)
                renamed.update(names)
    shown_name = Amendments(renamed=renamed).shown
    return [game.with_names(shown_name) for game in games]
