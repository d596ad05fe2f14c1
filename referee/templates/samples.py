"""The sample bots that are installed: for each game one that plays with some sense, and one for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from referee.processes.bot import Bot
from referee.templates.languages import HERE

SAMPLE_BOTS = HERE.parent / "examples" / "sample_bots"

BY_GAME: Mapping[str, str] = {
    "blooms": "greedy",
    "vinetree": "vine",
    "evengroups": "even",
    "floral": "deducing",
    "thetree": "tree",
}
"""For each game, the name of a sample bot that plays it with some sense."""

RANDOM = "random"
"""The name of the sample bot that plays every game: it asks for the legal moves."""


def file_of(name: str) -> str:
    """The file of the sample bot with this name, in the folder of all."""
    return f"{name}_bot.py"


def sample_bot(slug: str, folder: Path) -> Bot:
    """The sample bot for a game, to be run in this folder."""
    path = SAMPLE_BOTS / file_of(BY_GAME.get(slug, RANDOM))
    return Bot.of(path.stem, ("{python}", str(path)), folder)
