"""The page of a person who plays, or watches. It shows what the server tells it of the game."""

from __future__ import annotations

from referee.core.text import shown
from referee.pages.environment import board_scripts, board_styles, page, static


def person_page(game: str) -> str:
    """The page for a game with this name. Its script follows `/TOKEN/events` and sends to `/TOKEN/act`."""
    styles = [*board_styles(), static("person.css")]
    scripts = [*board_scripts(), static("clicks.js"), static("person.js")]
    return page("person.html", title=shown(game), styles=styles, scripts=scripts, connects=True)
