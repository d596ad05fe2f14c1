"""The pictures in the pages of the games: a position of a random game of each, as SVG.

`python -m tests.tools.game_pictures` draws them anew; a test compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from referee.check.rules import is_chance
from referee.core.rng import Stream
from referee.games import GAMES
from referee.games.api import State
from referee.viewing.palette import file_style
from referee.viewing.svg import Layout
from tests.command import ROOT

FOLDER = ROOT / "protocol" / "games" / "pictures"

SHOWN = {
    "blooms": (14, b"blooms"),
    "evengroups": (16, b"evengroups"),
    "floral": (14, b"floral"),
    "thetree": (15, b"thetree"),
    "vinetree": (5, b"vinetree"),
}
"""For each game, how many turns were played, and the seed of the game."""


def file_of(slug: str) -> Path:
    """Where the picture of a game is kept."""
    return FOLDER / f"{slug}.svg"


def picture_of(slug: str) -> str:
    """The picture of a game, as the text of an SVG file."""
    turns, seed = SHOWN[slug]
    game = GAMES[slug]
    rng = Stream(seed)
    state: State[Any] = game.start(game.settle({}))
    while turns:
        if is_chance(state):
            state = state.chance(state.draw(rng))
        else:
            state = state.play({seat: state.sample(seat, rng) for seat in state.to_act()})
            turns -= 1
    picture = state.picture(None)
    title = f"{game.name}, a position of a random game"
    return Layout.of([picture]).svg(picture, file_style("light"), title, game.summary, None) + "\n"


def main() -> None:
    """Draws all of them anew."""
    FOLDER.mkdir(exist_ok=True)
    for slug in SHOWN:
        file_of(slug).write_text(picture_of(slug))


if __name__ == "__main__":
    main()
