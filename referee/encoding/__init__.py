"""Encodings for training, by game: moves as numbers and positions as arrays. Needs NumPy alone."""

from __future__ import annotations

from typing import Any

from referee.core.errors import UsageError
from referee.core.text import shown
from referee.encoding.api import Action, Begun, Encoding, ObservationPart
from referee.encoding.floral import FloralEncoding
from referee.encoding.stones import BloomsEncoding, EvenGroupsEncoding
from referee.encoding.thetree import TheTreeEncoding
from referee.encoding.vinetree import VineTreeEncoding
from referee.games.api import Game, Options

__all__ = ["ENCODINGS", "Action", "Begun", "Encoding", "ObservationPart", "encoding_of"]

ENCODINGS: dict[str, type[Encoding[Any]]] = {
    "blooms": BloomsEncoding,
    "vinetree": VineTreeEncoding,
    "evengroups": EvenGroupsEncoding,
    "floral": FloralEncoding,
    "thetree": TheTreeEncoding,
}
"""By the slug of the game. For a game from outside, add its own."""


def encoding_of(game: Game[Any], options: Options) -> Encoding[Any]:
    """The encoding of a game under some options. Raises `UsageError` where the game has none."""
    if game.slug not in ENCODINGS:
        raise UsageError(
            f"the game `{shown(game.slug, 80)}` has no encoding, expected an entry in `ENCODINGS`"
        )
    return ENCODINGS[game.slug](options)
