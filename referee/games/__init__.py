"""The games, by slug: five that are built in, and those from a file or from an installed package.

Code from outside runs only if the user named its file, on the command line or in a tournament file, or
installed the package. The origin of a game in a record is only compared, never run: a record is untrusted.
"""

from __future__ import annotations

import copyreg
import os
import re
import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.core.errors import UsageError
from referee.core.named_code import Source, error_text, located, names_file, source_of
from referee.core.text import nearest, shown
from referee.core.units import TimeControl
from referee.games.api import Game

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class BuiltIn(MutableMapping[str, Game[Any]]):
    """Games by slug, each of which is imported when it is asked for: a process that plays one game starts
    faster.
    """

    def __init__(self, classes: dict[str, str]) -> None:
        self._games: dict[str, Game[Any] | str] = {**classes}

    def __getitem__(self, slug: str) -> Game[Any]:
        game = self._games[slug]
        if isinstance(game, str):
            game = self._games[slug] = getattr(import_module(f"referee.games.{slug}"), game)()
        return game

    def __setitem__(self, slug: str, game: Game[Any]) -> None:
        self._games[slug] = game

    def __delitem__(self, slug: str) -> None:
        del self._games[slug]

    def __contains__(self, slug: object) -> bool:
        return slug in self._games

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)


GAMES = BuiltIn(
    {
        "blooms": "Blooms",
        "vinetree": "VineTree",
        "evengroups": "EvenGroups",
        "floral": "FloralExtract",
        "thetree": "TheTree",
    }
)

GROUP = "referee.games"  # the group of entry points under which installed packages offer games, named by slug

VARIABLE = "REFEREE_GAME"
"""The environment variable that tells bots the file of their game, as `/a/folder/module.py:NAME`."""

_SLUG = re.compile(r"[a-z][a-z0-9_-]{0,39}")

_MEMBERS: dict[str, type] = {
    "slug": str,
    "name": str,
    "rules": int,
    "is_open": bool,
    "seats_text": str,
    "options": tuple,
    "clock": TimeControl,
    "summary": str,
    "notation": str,
}
"""The class variables that a game must have, with their types."""

_sources: dict[str, Source] = {}  # the source of each loaded file, by module name

_Outside = tuple[Game[Any], dict[str, str]]
"""A game with its origin as records have it: `file` and `sha256`, or `distribution`, `version`, `module`."""

_from_outside: dict[str, _Outside] = {}  # the games from outside that were loaded so far, by slug


def option_names() -> set[str]:
    """The names of the options of all built-in games."""
    return {option.name for game in GAMES.values() for option in game.options}


def game_named(slug: str) -> Game[Any]:
    """The game with this slug: built in, loaded before by `game_given`, or installed. Raises `UsageError`."""
    if slug in GAMES:
        return GAMES[slug]
    if slug in _from_outside:
        return _from_outside[slug][0]
    return _installed(slug)


def game_given(text: str, folder: Path) -> Game[Any]:
    """The game that a user named, by its slug or as `module.py:NAME`, the file relative to a folder.

    Raises `UsageError`.
    """
    if not names_file(text):
        return game_named(text)
    game = _take(_from_file(text, folder))
    # Bots are separate processes, and some of them use the referee's engines.
    os.environ[VARIABLE] = located(text, folder)
    return game


def all_installed() -> Iterator[Game[Any] | UsageError]:
    """The games of installed packages; in place of one that cannot be loaded, the error."""
    for slug in _offered():
        try:
            yield _installed(slug)
        except UsageError as error:
            yield error


def origin_of(game: Game[Any]) -> dict[str, str]:
    """The origin of a game as it stands in records; empty for a built-in game."""
    loaded, origin = _from_outside.get(game.slug, (None, {}))
    return dict(origin) if loaded is game else {}


def _installed(slug: str) -> Game[Any]:
    if found := _offered_as(slug):
        return _take(found)
    if slug.endswith(".py") and " " not in slug:
        raise UsageError(
            f"unknown game `{shown(slug, 80)}`, expected `module.py:NAME`, with the game's name in that file"
        )
    close = nearest(slug, [*GAMES, *_offered()])
    others = f"one of {', '.join(GAMES)}, a game from an installed package, or `module.py:NAME`"
    raise UsageError(
        f"unknown game `{shown(slug, 80)}`, expected {f'`{shown(close, 80)}`' if close else others}"
    )


def _take(found: _Outside) -> Game[Any]:
    game, _ = found
    if (slug := game.slug) in GAMES:
        raise UsageError(f"the slug `{slug}` belongs to a built-in game, expected another slug")
    _from_outside[slug] = found
    return game


def _from_file(text: str, folder: Path) -> _Outside:
    """The game `module.py:NAME`, the file relative to a folder. Raises `UsageError`."""
    source = source_of(text, folder, "game")
    game = _checked(source.value(), text)
    if type(game).__module__ == source.module:
        _sources[source.module] = source
        copyreg.pickle(type(game), _reduced)
    return game, {"file": text, "sha256": source.sha256}


def _offered_as(slug: str) -> _Outside | None:
    """The game that an installed package offers under a slug. Raises `UsageError`."""
    found = list(_entry_points(slug)) if _SLUG.fullmatch(slug) else []
    if len(found) > 1:
        offering = ", ".join(shown(point.dist.name, 80) for point in found if point.dist)
        raise UsageError(f"several packages offer a game `{slug}`, expected only one: {offering}")
    return _from_package(found[0]) if found else None


def _offered() -> list[str]:
    """The slugs under which installed packages offer games."""
    return sorted({point.name for point in _entry_points()})


def _entry_points(slug: str | None = None) -> Iterator[EntryPoint]:
    # Imported where it is needed: most commands play a game that is built in.
    from importlib.metadata import entry_points

    yield from entry_points(group=GROUP) if slug is None else entry_points(group=GROUP, name=slug)


def _from_package(point: EntryPoint) -> _Outside:
    try:
        value = point.load()
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot load the game `{shown(point.value)}`: {error_text(error)}") from None
    game = _checked(value, point.value)
    if game.slug != point.name:
        raise UsageError(
            f"the package's game `{point.name}` has the slug `{game.slug}`, expected `{point.name}`"
        )
    assert point.dist  # it was found in one
    origin = {"distribution": point.dist.name, "version": point.dist.version, "module": point.value}
    return game, origin


def _checked(value: Any, where: str) -> Game[Any]:
    """The value if it is a game with all class variables. Raises `UsageError`."""
    if not isinstance(value, Game):
        instance = f"{value.__name__}()" if isinstance(value, type) else "an instance of a subclass of `Game`"
        raise UsageError(f"`{shown(where)}` is not a `Game`, expected {instance}")
    for name, kind in _MEMBERS.items():
        if not isinstance(getattr(value, name, None), kind):
            raise UsageError(
                f"the game `{shown(where)}` has no `{name}`, expected one of type `{kind.__name__}`"
            )
    if not _SLUG.fullmatch(value.slug):
        raise UsageError(
            f"the game `{shown(where)}` has an invalid `slug`, expected one that matches `{_SLUG.pattern}`"
        )
    value.settle({})  # its number of seats is checked there
    return value


def _reduced(game: Game[Any]) -> tuple[Any, tuple[Source]]:
    """Pickles a game from a file with the bytes of the file, so that workers play the hashed code."""
    module = type(game).__module__
    name = next(name for name, value in vars(sys.modules[module]).items() if value is game)
    return Source.value, (_sources[module]._replace(name=name),)
