"""Wrong claims of bots about their moves: lines of play that are not legal, and certain wins that were lost.
Nobody is punished for it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from referee.gameplay.events import Moved, Retired
from referee.games.api import Seat
from referee.viewing.info import read_info, refused_move
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.steps import Steps

ILLEGAL_LINE = "pv"

LOST_WIN = "value"


class WrongClaim(NamedTuple):
    """Something that a bot said of a move, and that was wrong."""

    step: int  # that of the move
    seat: Seat
    key: str  # `ILLEGAL_LINE` or `LOST_WIN`
    why: str = ""  # of a line of play, the move that is not legal, and the reason

    @property
    def words(self) -> str:
        """What was wrong, in words."""
        if self.key == LOST_WIN:
            return "the `value` is 1, a certain win, but it lost"
        return f"the `pv` is not legal, {self.why}"


def wrong_claims(steps: Steps, known: ViewKnowledge) -> list[WrongClaim]:
    """What bots said that was wrong, as far as a view knows it, in the order of the moves."""
    return [claim for step in steps.steps for claim in wrong_claims_at(steps, step.number, known)]


def wrong_claims_at(steps: Steps, number: int, known: ViewKnowledge) -> Iterator[WrongClaim]:
    """What bots said that was wrong in one step, as far as a view knows it. Lines of play are checked in
    games with open information only: elsewhere the reason may be hidden from the view.
    """
    for event in known.events(steps.steps[number].events):
        if not isinstance(event, Moved) or not event.info:
            continue
        info = read_info(event.info)
        line = dict(info.said).get("pv", "") if known.is_open else ""
        if line and (why := refused_move(steps.steps[number - 1].state, line)):
            yield WrongClaim(number, event.seat, ILLEGAL_LINE, why)
        if info.value == 1 and event.seat in _losers(steps):
            yield WrongClaim(number, event.seat, LOST_WIN)


def _losers(steps: Steps) -> set[Seat]:
    """The seats that lost, without those that a fault of their own may have kept from winning."""
    at_fault = {
        event.seat for event in steps.record.events if isinstance(event, Retired) and event.ending.is_fault
    }
    ranks = steps.verdict.outcome.ranks if steps.verdict else ()
    return {seat for seat, rank in enumerate(ranks) if rank > 1} - at_fault


def first_claims(claims: Iterable[WrongClaim]) -> Iterator[tuple[WrongClaim, int]]:
    """The first of each kind of a seat, with how many there are."""
    found: dict[tuple[Seat, str], list[WrongClaim]] = {}
    for claim in claims:
        found.setdefault((claim.seat, claim.key), []).append(claim)
    yield from ((same[0], len(same)) for same in found.values())
