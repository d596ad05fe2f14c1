"""The page of a run in play: the games in play as boards, and what is known of the run."""

from __future__ import annotations

from referee.core.text import shown
from referee.pages.environment import board_scripts, board_styles, page, static


def arena_page(name: str) -> str:
    """The page for a run with this name. Its script follows `/arena/events`."""
    return page(
        "arena.html",
        title=shown(name),
        styles=[*board_styles(), static("arena.css")],
        scripts=[*board_scripts(), static("arena_lists.js"), static("arena.js")],
        connects=True,
    )
