"""The games, by slug. Five fit in a dict."""

from __future__ import annotations

from typing import Any

from referee.core.errors import UsageError
from referee.core.text import shown
from referee.games.api import Game
from referee.games.blooms import Blooms
from referee.games.evengroups import EvenGroups
from referee.games.floral import FloralExtract
from referee.games.thetree import TheTree
from referee.games.vinetree import VineTree

GAMES: dict[str, Game[Any]] = {
    game.slug: game for game in (Blooms(), VineTree(), EvenGroups(), FloralExtract(), TheTree())
}


def game_named(slug: str) -> Game[Any]:
    """The game with this slug. Raises `UsageError`."""
    try:
        return GAMES[slug]
    except KeyError:
        raise UsageError(f"no game `{shown(slug, 80)}`, expected one of {', '.join(GAMES)}") from None
