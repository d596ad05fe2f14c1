"""The page that replays one game."""

from __future__ import annotations

from referee.pages.environment import page
from referee.records.record import GameRecord
from referee.viewing.characters import picture_text
from referee.viewing.steps import View, steps_of
from referee.viewing.words import result


def replay_page(record: GameRecord, view: View = None) -> str:
    """The page of a game as HTML; with a seat, it holds only what that seat knew."""
    steps = steps_of(record)
    return page(
        "replay.html",
        title=record.terms.id,
        result=result(record.terms, record.verdict),
        position=picture_text(steps.steps[-1].state.picture(view)),
    )
