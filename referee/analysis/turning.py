"""Where a game turned, and its worst moves: from proofs alone, or from chances alone. Pure."""

from __future__ import annotations

from typing import NamedTuple

from referee.analysis.store import GameAnalysis
from referee.games.api import Seat

LEAST_DROP = 0.2  # less than this is told of no estimated chance: it may well be an error of the adviser


class TurningPoint(NamedTuple):
    """The step of a game with which it turned."""

    step: int  # its number, that of the position after it
    is_proved: bool
    """Whether the winner had no proved win in the position before, and a proved win from then on. Else its
    chance rose most here, of what was not lost again.
    """
    before: float | None = None  # the chance of the winner in the position before; None of a proof
    after: float | None = None  # the lowest chance that the winner had from then on


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


def turning_point(game: GameAnalysis, winner: Seat) -> TurningPoint | None:
    """Where a game that the rules ended turned for its only winner: as it is proved, or else as the chances
    say, by at least `LEAST_DROP`, the last of several. None where neither tells.
    """
    proofs = [step.proof if step.proof is None or not winner else -step.proof for step in game.steps]
    first = len(proofs)  # from here on it is proved that the winner wins
    while first and proofs[first - 1] == 1:
        first -= 1
    if 0 < first < len(proofs) and proofs[first - 1] is not None:
        return TurningPoint(first, is_proved=True)
    first = min(first, len(proofs) - 1)  # in the last position the winner has won, proved or not
    chances = [chance if chance is None or not winner else 1 - chance for chance in game.chances[:first]]
    found: TurningPoint | None = None
    lowest = 1.0
    for number in range(len(chances) - 1, 0, -1):
        before, chance = chances[number - 1], chances[number]
        if chance is None or before is None:
            break  # nobody knows whether it was lost again
        lowest = min(lowest, chance)
        gain = lowest - before
        if gain >= LEAST_DROP and (not found or gain > _gain(found)):
            found = TurningPoint(number, False, before, lowest)
    return found


def _gain(point: TurningPoint) -> float:
    return (point.after or 0) - (point.before or 0)


def costly_moves(game: GameAnalysis, most: int = 3) -> list[CostlyMove]:
    """The moves that gave most away, in the order of the game: first those that are proved to, of which the
    last ones count most, then those that are estimated to, by at least `LEAST_DROP`.
    """
    found = []
    for number, (step, after) in enumerate(zip(game.steps, game.steps[1:], strict=False), 1):
        if step.seat is None:
            continue
        if step.proof is not None and after.proof is not None:
            had, has = (-step.proof, -after.proof) if step.seat else (step.proof, after.proof)
            given = had - has
            if given > 0:
                found.append(CostlyMove(number, step.seat, given, None, step.best))
        elif (drop := game.drops[number - 1] if game.drops else None) and drop >= LEAST_DROP:
            found.append(CostlyMove(number, step.seat, 0, drop, step.best))
    found.sort(key=lambda move: (move.given, move.drop or 0, move.step), reverse=True)
    return sorted(found[:most])
