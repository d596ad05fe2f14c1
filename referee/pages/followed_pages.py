"""The pages that follow games in play: of a run, and of a person who plays or watches."""

from __future__ import annotations

from referee.core.text import shown
from referee.pages.environment import page, static
from referee.viewing.palette import page_style


def arena_page(name: str) -> str:
    """The page for a run with this name: the games in play as boards, and what is known of the run. Its
    script follows `/arena/events`.
    """
    return _following("arena.html", name, ["arena.css"], ["arena_lists.js", "arena.js"])


def person_page(game: str) -> str:
    """The page on which a person plays a game with this name, or watches one. Its script follows
    `/TOKEN/events` and sends to `/TOKEN/act`.
    """
    return _following("person.html", game, ["person.css"], ["clicks.js", "person.js"])


def _following(template: str, title: str, styles: list[str], scripts: list[str]) -> str:
    return page(
        template,
        title=shown(title),
        styles=[page_style(), *map(static, ["game_parts.css", "live_board.css", *styles])],
        scripts=[*map(static, ["game_parts.js", "live_board.js", *scripts])],
        connects=True,
    )
