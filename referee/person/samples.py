"""The sample bot that persons play against, and that gives hints, where they name none."""

from __future__ import annotations

from pathlib import Path

import referee
from referee.processes.bot import Bot

FOLDER = Path(referee.__file__).parent / "examples" / "sample_bots"

_BY_GAME = {
    "blooms": "search_bot",
    "vinetree": "vine_bot",
    "evengroups": "even_bot",
    "floral": "deducing_bot",
    "thetree": "tree_bot",
}
_OF_ANY_GAME = "random_bot"
"""It knows no rules: it asks for the legal moves."""


def sample_bot(slug: str, folder: Path) -> Bot:
    """The sample bot for a game, to be run in this folder."""
    name = _BY_GAME.get(slug, _OF_ANY_GAME)
    return Bot.of(name, ("{python}", str(FOLDER / f"{name}.py")), folder)
