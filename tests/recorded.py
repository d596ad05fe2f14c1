"""The records of games that tests play by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from referee.gameplay.events import Event
from referee.gameplay.terms import Terms, Verdict
from referee.records.record import GameRecord, PlayedOn

HERE = PlayedOn("here", "none", "0")


def record_of(
    terms: Terms, events: Iterable[Event], verdict: Verdict, attempt: int = 1, **measured: Any
) -> GameRecord:
    """The record of a game between bots without isolation, on a machine that is called `here`."""
    measured = {"machine": HERE._asdict(), **measured}
    isolation = ("none",) * len(terms.bots)
    return GameRecord(terms, tuple(events), verdict, measured, terms.game.rules, isolation, attempt)
