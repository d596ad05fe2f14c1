"""What a page shows of its game's analysis: proofs, chances in tens, and the moves that gave much away. Only
for those who know the whole position: the analysis was computed from it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from referee.analysis.calibration import tens
from referee.analysis.store import GameAnalysis
from referee.analysis.turning import CostlyMove, costly_moves, turning_point
from referee.analysis.words import costly_text, position_text
from referee.gameplay.events import Ending
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.steps import Steps

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
        return turning_point(self.analysis, verdict.outcome.ranks.index(1))

    def data(self) -> dict[str, Any]:
        """For the script of a page: by step, what is proved and the chance in percent, both of seat 1, with
        null where nothing is known, what is said of it, and the moves that gave much away.
        """
        costly = {move.step: move for move in costly_moves(self.analysis)}
        return {
            "proofs": [step.proof for step in self.analysis.steps],
            "chances": [None if chance is None else tens(chance) for chance in self.analysis.chances],
            "estimated": self.analysis.estimated,
            "said": [[*filter(None, self._said(step.number, costly))] for step in self.steps.steps],
            "costly": [[move.step, move.seat + 1, bool(move.given)] for move in costly.values()],
        }

    def _said(self, number: int, costly: Mapping[int, CostlyMove]) -> Iterator[str]:
        """What is said of a position and of the move before it; the last position needs no proof."""
        if self.steps.steps[number].state.outcome() is None:
            yield position_text(self.analysis, number, self.steps.terms.bots)
        if number in costly:
            yield costly_text(self.analysis, costly[number])
