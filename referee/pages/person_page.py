"""The page on which a person plays a game, or watches one. It shows what the server tells it of the game."""

from __future__ import annotations

from referee.core.text import shown
from referee.pages.environment import page, static
from referee.viewing.palette import page_style


def person_page(game: str) -> str:
    """The page for a game with this name. Its script follows `/TOKEN/events` and sends to `/TOKEN/act`."""
    styles = [page_style(), *map(static, ("game_parts.css", "live_board.css", "person.css"))]
    scripts = [*map(static, ("game_parts.js", "live_board.js", "clicks.js", "person.js"))]
    return page("person.html", title=shown(game), styles=styles, scripts=scripts, connects=True)
