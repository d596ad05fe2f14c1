"""What a page shows of its game's analysis: proofs, chances in tens, and the moves that gave much away. Only
for those who know the whole position: the analysis was computed from it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from referee.analysis.calibration import tens
from referee.analysis.store import GameAnalysis
from referee.analysis.turning import CostlyMove, costly_moves, turning_point
from referee.core.text import shown
from referee.gameplay.events import Ending
from referee.games.api import Seat
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.steps import Steps

_RESULTS = {1: "win", 0: "draw", -1: "loss"}

Analyses = Mapping[str, GameAnalysis]
"""The analyses of the games of a run, by id."""

NO_ANALYSES: Analyses = {}


class ShownAnalysis(NamedTuple):
    """The analysis of a game between two, step by step."""

    steps: Steps
    analysis: GameAnalysis

    @classmethod
    def of(cls, steps: Steps, analysis: GameAnalysis | None, known: ViewKnowledge) -> ShownAnalysis | None:
        """The analysis as a view may see it; None where there is none that fits, or where the view does not
        know the whole position.
        """
        if not known.is_full:  # guard: analysis-of-others
            return None
        if analysis is None or len(steps.terms.bots) != 2 or len(analysis.steps) != len(steps.steps):
            return None
        return cls(steps, analysis)

    @property
    def proved_turn(self) -> int | None:
        """The step with which the game turned, where that is proved."""
        verdict = self.steps.verdict
        if not verdict or verdict.ending is not Ending.RULES or verdict.outcome.ranks.count(1) != 1:
            return None
        found = turning_point(self.analysis, verdict.outcome.ranks.index(1))
        return found.step if found and found.is_proved else None

    def data(self) -> dict[str, Any]:
        """For the script of a page: by step, what is proved and the chance in percent, both of seat 1, with
        null where nothing is known, what is said of it, and the moves that gave much away.
        """
        costly = {move.step: move for move in costly_moves(self.analysis)}
        return {
            "proofs": [step.proof for step in self.analysis.steps],
            "chances": [None if chance is None else tens(chance) for chance in self._chances],
            "estimated": self.analysis.estimated,
            "said": [
                [*self._said(number), *([self._told(costly[number])] if number in costly else [])]
                for number in range(len(self.analysis.steps))
            ],
            "costly": [[move.step, move.seat + 1, bool(move.given)] for move in costly.values()],
        }

    @property
    def _chances(self) -> tuple[float | None, ...]:
        return self.analysis.chances or (None,) * len(self.analysis.steps)

    def _name(self, seat: Seat) -> str:
        return shown(self.steps.terms.bots[seat], 80)

    def _said(self, number: int) -> Iterator[str]:
        """What is said of a position; nothing of the last one, which needs no proof."""
        proof, chance = self.analysis.steps[number].proof, self._chances[number]
        if self.steps.steps[number].state.outcome() is not None:
            return
        if proof == 0:
            yield "proved: a draw with best play"
        elif proof is not None:
            yield f"proved: {self._name(0 if proof > 0 else 1)} wins with best play"
        elif chance is not None:
            yield f"{self._name(0)} has a chance of about {tens(chance)} %, {self.analysis.estimated}"

    def _told(self, move: CostlyMove) -> str:
        """What a move gave away."""
        best = shown(move.best, 100) if move.best else ""
        steps, sign = self.analysis.steps, -1 if move.seat else 1
        if move.given:
            before, after = (sign * (step.proof or 0) for step in steps[move.step - 1 : move.step + 1])
            kept_by = f"; {best} keeps the {_RESULTS[before]}" if best else ""
            turned = f"turns a {_RESULTS[before]} into a {_RESULTS[after]}"
            return f"proved: the move {turned}, with best play{kept_by}"
        chance, drop = self._chances[move.step], move.drop or 0.0
        by = self.analysis.estimated
        if chance is None:
            lower = f"a chance about {tens(drop)} points lower than after {best}, the adviser’s move"
            return f"{lower}, {by}"
        played = 1 - chance if move.seat else chance
        kept, left = tens(played + drop), tens(played)
        return f"the adviser’s move {best} kept a chance of about {kept} %, this one about {left} %, {by}"
