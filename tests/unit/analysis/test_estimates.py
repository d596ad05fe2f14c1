"""Estimates: whose they are, what a move lost, and what is said of a game in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.analysis import estimates
from referee.analysis.calibration import Calibration
from referee.analysis.estimates import PLAYOUTS, Adviser, AdviserFailed, played_on
from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis
from referee.analysis.words import game_text, totals_text
from referee.gameplay.clock import Charge
from referee.gameplay.events import Drawn, Ending, Moved, Preset, Retired
from referee.gameplay.terms import Terms
from referee.games import game_named
from referee.games.api import Seat, State
from referee.kit import Quick
from referee.processes.program import Program
from referee.records.record import summary_of
from referee.viewing.steps import steps_of
from tests.unit.records.test_records import record

GAME = record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2"))
STEPS = steps_of(GAME)
STATES = [step.state for step in STEPS.steps]


class FakeGame:
    """An adviser that always wants to play on B3, and says how many turns there were, as if that were good
    for who moves, and five more where it got its way.
    """

    said = "score {score}"

    def __init__(self, terms: Terms, seat: Seat, wire: object) -> None:
        assert terms.rejections == 1 and {*terms.bots} == {"adviser"}
        self._seat = seat

    def ask_at(self, state: State[Any]) -> list[Moved | Retired]:
        news = state.seen(None)
        if not self.said:
            return [Retired(self._seat, Ending.RESIGNED, "", 1)]
        # What the seat that moved last gains is what the one to move lacks.
        score = len(news) - 5 * ("L:B3" in news[-1] if news else 0)
        return [Moved(self._seat, "L:B3", Charge(1, 0, 0, 0), False, self.said.format(score=score))]

    def leave(self) -> None:
        """Nobody plays on."""


@pytest.fixture
def adviser(monkeypatch: pytest.MonkeyPatch) -> Adviser:
    monkeypatch.setattr(estimates, "AskedGame", FakeGame)
    return Adviser(Program.of("adviser", ("true",), Path()))


def test_scores_are_those_of_seat_1_and_losses_those_of_who_moved(adviser: Adviser) -> None:
    found = adviser.estimates(GAME.terms, STATES, [False] * len(STATES))
    assert [said.score for said in found] == [0, -1, 2, -3, None], "the game is over"
    assert {said.best for said in found[:-1]} == {"L:B3"}
    assert [said.loss for said in found] == [None, 5, 5, None, None], "not at first, and not at the end"
    assert not adviser.useless


def test_nobody_is_asked_what_a_move_lost_between_two_proved_positions(adviser: Adviser) -> None:
    found = adviser.estimates(GAME.terms, STATES, [False, True, True, True, True])
    assert [said.loss for said in found] == [None] * 5


def test_a_value_is_a_logit_and_what_is_no_value_is_counted(
    adviser: Adviser, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = adviser.estimates(replace(GAME.terms, bots=("a", "b", "c")), STATES, [False] * len(STATES))
    assert {said.score for said in alone} == {None}, "one number says nothing of three"
    assert not adviser.useless, "it was not asked yet"
    monkeypatch.setattr(FakeGame, "said", "value 0.75 score 9")
    found = adviser.estimates(GAME.terms, STATES, [True] * len(STATES))
    assert [said.score for said in found[:2]] == pytest.approx([1.0986, -1.0986], abs=1e-4)
    monkeypatch.setattr(FakeGame, "said", "value 1.5")
    assert {said.score for said in adviser.estimates(GAME.terms, STATES, [True] * 5)} == {None}
    assert adviser.useless.startswith("what cannot be used 4 times: ")
    monkeypatch.setattr(FakeGame, "said", "")
    with pytest.raises(AdviserFailed, match="resigned"):
        adviser.estimates(GAME.terms, STATES, [True] * len(STATES))


def test_games_are_played_on_by_the_policy_and_end_as_they_do() -> None:
    tree = game_named("thetree")
    states = [tree.start(tree.settle({}))]
    while states[-1].to_act():
        state, rng = states[-1], Quick(len(states))
        seat = state.to_act()[0]
        states.append(
            state.chance(state.draw(rng)) if seat < 0 else state.play({seat: state.sample(seat, rng)})
        )
    policy = tree.policy()
    assert policy
    found = played_on([states[0], *states[-3:]], policy, b"s")
    assert found == played_on([states[0], *states[-3:]], policy, b"s"), "the same seed"
    outcome = states[-1].outcome()
    before = found[2].score
    assert found[0].score is None and found[3].score is None and outcome and before is not None
    assert (before > 0) == (outcome.ranks[0] == 1) and abs(before) <= PLAYOUTS


def test_a_game_in_words_has_what_is_proved_and_what_is_estimated_apart() -> None:
    proofs, chances = [None, None, 1, -1, -1], [0.44, 0.23, None, None, None]
    steps = [AnalysedStep(number % 2, proof, best=f"b{number}") for number, proof in enumerate(proofs)]
    summary = summary_of(GAME)
    method = AnalysisMethod(1, "hash", "@greedy")
    analysis = GameAnalysis("", method, (*steps,), (*chances,), (0.5, *[None] * 4))
    first, *rest = game_text(analysis, summary, STEPS)
    assert first.startswith("1:a:b: b won: ")
    assert rest == [
        "  step 0: a has a chance of about 40 %, estimated by @greedy",
        "  step 1: a has a chance of about 20 %, estimated by @greedy",
        "  step 2: proved: a wins with best play",
        "  step 3: proved: b wins with best play",
        "  it turned at step 3 (a L:C3): before it a had a proved win, after it b wins with best play",
        "  moves that gave most away:",
        "    step 1 (a L:A1): the adviser’s move b0 kept a chance of about 70 %, this one about 20 %, "
        "estimated by @greedy",
        "    step 3 (a L:C3): proved: the move turns a win into a loss, with best play; b2 keeps the win",
    ]
    longer = replace(analysis, steps=(AnalysedStep(0, -1),) * 7 + (AnalysedStep(0, 1),))
    assert game_text(longer, summary, STEPS) == [
        first,
        "  the stored analysis has 8 positions, the game 5: it is not used",
    ]


def test_totals_leave_out_ends_and_count_draws_against_who_was_proved_to_win() -> None:
    won = summary_of(GAME)
    steps = tuple(AnalysedStep(number % 2, proof) for number, proof in enumerate([None, -1, -1, 0, 0]))
    analysis = GameAnalysis("", AnalysisMethod(1), steps, (None,) * 5, (None,) * 5)
    games = {"won": won, "drawn": won._replace(ranks=(1, 1))}
    assert totals_text(games, dict.fromkeys(games, analysis), Calibration(2)) == [
        "2 games analysed; of 8 positions before the end, 6 are proved",
        "the side that was first proved to win with best play went on to win in 1 of 2 games",
        "the turning point is proved in 0 games",
        "chances: none, since there are no estimates",
    ]


def test_a_step_says_whether_the_referee_or_chance_made_it() -> None:
    steps = list(STEPS.steps)
    opening = replace(steps[3], events=(Preset(0, "L:C3"),))
    drawn = replace(steps[3], events=(Drawn("6"),))
    none = GameAnalysis("", AnalysisMethod(1), (AnalysedStep(0, 1),) * 3, (None,) * 5)
    analysis = replace(none, steps=(*none.steps, *(AnalysedStep(0, -1),) * 2))
    for step, told in ((opening, "step 3 (a L:C3, in the opening)"), (drawn, "step 3 (chance)")):
        changed = replace(STEPS, steps=[*steps[:3], step, steps[4]])
        assert any(told in line for line in game_text(analysis, summary_of(GAME), changed)), told
