"""Where a game turned, which only proofs can say, and its worst moves. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from referee.analysis.store import GameAnalysis
from referee.games.api import Seat

LEAST_DROP = 0.2  # less than this is told of no estimated chance: it may well be an error of the adviser


class CostlyMove(NamedTuple):
    """A move that gave something away."""

    step: int  # the number of the position after it
    seat: Seat
    given: int
    """By how much the proved result became worse: 2 from a win to a loss, 1 from or to a draw; 0 where that
    is not proved.
    """
    drop: float | None  # the estimated chance that it lost; None of a proof
    best: str | None  # the move that would have kept it, as far as one is known


def turning_point(game: GameAnalysis, winner: Seat) -> int | None:
    """The step with which a game that the rules ended turned for its only winner, who is proved to have no
    win in the position before, and a win in all from then on. None where that is not proved.
    """
    win = -1 if winner else 1
    first = len(game.steps)
    while first and game.steps[first - 1].proof == win:
        first -= 1
    is_proved = 0 < first < len(game.steps) and game.steps[first - 1].proof is not None
    return first if is_proved else None


def costly_moves(game: GameAnalysis, most: int = 3) -> list[CostlyMove]:
    """The moves that gave most away, in the order of the game: first those that are proved to, of which the
    last ones count most, then those that are estimated to, by at least `LEAST_DROP`.
    """
    found = []
    for number, (step, after) in enumerate(pairwise(game.steps), 1):
        if step.seat is None:
            continue
        if step.proof is not None and after.proof is not None:
            given = (after.proof - step.proof) * (1 if step.seat else -1)
            if given > 0:
                found.append(CostlyMove(number, step.seat, given, None, step.best))
        elif (drop := game.drops[number - 1] if game.drops else None) and drop >= LEAST_DROP:
            found.append(CostlyMove(number, step.seat, 0, drop, step.best))
    found.sort(key=lambda move: (move.given, move.drop or 0, move.step), reverse=True)
    return sorted(found[:most])
