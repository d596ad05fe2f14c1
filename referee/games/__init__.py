"""The games, by slug: five that are built in, and those from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.named_code import located, names_file
from referee.core.text import nearest, shown
from referee.games import outside
from referee.games.api import Game
from referee.games.blooms import Blooms
from referee.games.evengroups import EvenGroups
from referee.games.floral import FloralExtract
from referee.games.thetree import TheTree
from referee.games.vinetree import VineTree

GAMES: dict[str, Game[Any]] = {
    game.slug: game for game in (Blooms(), VineTree(), EvenGroups(), FloralExtract(), TheTree())
}
"""The built-in games, by slug."""

_from_outside: dict[str, outside.Outside] = {}  # the games from outside that were loaded so far, by slug


def game_named(slug: str) -> Game[Any]:
    """The game with this slug: built in, loaded before by `game_given`, or installed. Raises `UsageError`."""
    if slug in GAMES:
        return GAMES[slug]
    if slug in _from_outside:
        return _from_outside[slug].game
    return _installed(slug)


def game_given(text: str, folder: Path) -> Game[Any]:
    """The game that a user named, by its slug or as `module.py:NAME`, the file relative to a folder.

    Raises `UsageError`.
    """
    if not names_file(text):
        return game_named(text)
    game = _take(outside.from_file(text, folder))
    # Bots are separate processes, and some of them use the referee's engines.
    os.environ[outside.VARIABLE] = located(text, folder)
    return game


def all_installed() -> Iterator[Game[Any] | UsageError]:
    """The games of installed packages; in place of one that cannot be loaded, the error."""
    for slug in outside.offered():
        try:
            yield _installed(slug)
        except UsageError as error:
            yield error


def origin_of(game: Game[Any]) -> dict[str, str]:
    """The origin of a game as it stands in records; empty for a built-in game."""
    found = _from_outside.get(game.slug)
    return dict(found.origin) if found and found.game is game else {}


def _installed(slug: str) -> Game[Any]:
    if found := outside.installed(slug):
        return _take(found)
    if slug.endswith(".py") and " " not in slug:
        raise UsageError(
            f"unknown game `{shown(slug, 80)}`, expected `module.py:NAME`, with the game's name in that file"
        )
    close = nearest(slug, [*GAMES, *outside.offered()])
    others = f"one of {', '.join(GAMES)}, a game from an installed package, or `module.py:NAME`"
    raise UsageError(
        f"unknown game `{shown(slug, 80)}`, expected {f'`{shown(close, 80)}`' if close else others}"
    )


def _take(found: outside.Outside) -> Game[Any]:
    slug = found.game.slug
    if slug in GAMES:
        raise UsageError(f"the slug `{slug}` belongs to a built-in game, expected another slug")
    _from_outside[slug] = found
    return found.game
