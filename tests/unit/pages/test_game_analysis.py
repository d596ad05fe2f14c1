"""The analysis of a game on its page: in which words, and for whom."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis
from referee.games import GAMES
from referee.pages.game_analysis import ShownAnalysis
from referee.pages.game_data import game_data
from referee.pages.replay_page import replay_page
from referee.pages.report.games import deciding_of
from referee.viewing.steps import Steps, steps_of
from tests.rules.random_play import random_game
from tests.unit.viewing.test_deciding import CAPTURED
from tests.unit.viewing.test_steps import recorded

STEPS = steps_of(CAPTURED)
"""Seat 2, `b`, captures a stone, and so wins, in step 4."""


def analysis(*steps: AnalysedStep, adviser: str = "@greedy", **has: Any) -> GameAnalysis:
    none = (None,) * len(steps)
    method = AnalysisMethod(9, "0123456789abcdef", adviser)
    return replace(GameAnalysis("", method, steps, none, none), **has)


GIVEN = analysis(
    AnalysedStep(0),
    AnalysedStep(1, best="L:B5 D:C4", loss=2.0),
    AnalysedStep(0, proof=1, best="L:B2"),
    AnalysedStep(1, proof=-1),
    AnalysedStep(None, proof=-1),
    chances=(None, 0.32, None, None, None),
    drops=(None, 0.41, None, None, None),
)


def shown_of(steps: Steps, given: GameAnalysis | None) -> dict[str, Any] | None:
    (view,) = game_data(steps, [None], analysis=given).value["views"]
    found: dict[str, Any] | None = view.get("analysis")
    return found


def test_a_page_has_proofs_chances_in_tens_and_what_moves_gave_away() -> None:
    found = shown_of(STEPS, GIVEN)
    assert found == {
        "proofs": [None, None, 1, -1, -1],
        "chances": [None, 30, None, None, None],
        "estimated": "estimated by @greedy",
        "said": [
            [],
            ["a has a chance of about 30 %, estimated by @greedy"],
            [
                "proved: a wins with best play",
                "a chance about 40 points lower than after L:B5 D:C4, the adviser’s move, estimated by "
                "@greedy",
            ],
            [
                "proved: b wins with best play",
                "proved: the move turns a win into a loss, with best play; L:B2 keeps the win",
            ],
            [],
        ],
        "costly": [[2, 2, False], [3, 1, True]],
    }


def test_the_move_of_the_adviser_is_named_with_what_it_kept() -> None:
    steps = list(GIVEN.steps)
    steps[2] = AnalysedStep(0)
    given = replace(GIVEN, steps=tuple(steps), chances=(None, 0.32, 0.71, None, None))
    named = given.method._replace(name="./mine --deep --and-a-very-long-list-of-words")
    found = shown_of(STEPS, replace(given, method=named))
    assert found and found["said"][2] == [
        "a has a chance of about 70 %, estimated by ./mine --deep --and-a-very-long-list-of-…",
        "the adviser’s move L:B5 D:C4 kept a chance of about 70 %, this one about 30 %, estimated "
        "by ./mine --deep --and-a-very-long-list-of-…",
    ]


def test_the_proved_move_decides_before_what_bots_say() -> None:
    (view,) = game_data(STEPS, analysis=GIVEN).value["views"]
    assert view["deciding"] == {
        "step": 3,
        "words": "proved: b wins with best play from here on, and not from the position before",
    }
    unproved = analysis(*(AnalysedStep(number % 2) for number in range(5)))
    plain = game_data(STEPS).value
    (view,) = game_data(STEPS, analysis=unproved).value["views"]
    assert view["deciding"] == plain["views"][0]["deciding"], "as without an analysis"
    assert "analysis" not in plain["views"][0], "nothing else is on a page without"


def test_nothing_is_proved_of_a_game_that_a_fault_ended() -> None:
    late = steps_of(recorded(GAMES["blooms"], ("L:A1", None), ("L:A2",)))
    last = len(late.steps) - 1
    proofs = [1] * last + [-1]
    given = analysis(*(AnalysedStep(None, proof) for proof in proofs))
    found = ShownAnalysis.of(late, given, late.known_by(None))
    assert found and found.proved_turn is None


@pytest.mark.parametrize(
    "given",
    [None, replace(GIVEN, steps=GIVEN.steps[:-1]), replace(GIVEN, steps=(*GIVEN.steps, AnalysedStep()))],
)
def test_an_analysis_that_does_not_fit_is_not_shown(given: GameAnalysis | None) -> None:
    assert game_data(STEPS, analysis=given).value == game_data(STEPS).value


def test_whatever_stands_in_the_file_is_text() -> None:
    steps = [replace_best(step, "<b>\x1b[31m") for step in GIVEN.steps]
    found = shown_of(STEPS, analysis(*steps, adviser="\x07<i>", drops=GIVEN.drops, chances=GIVEN.chances))
    assert found and "\x1b" not in json.dumps(found, ensure_ascii=False) and "\x07" not in found["estimated"]


def replace_best(step: AnalysedStep, best: str) -> AnalysedStep:
    return step._replace(best=best)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["thetree", "floral"])
def test_a_seat_of_a_game_with_hidden_information_has_none_of_it(slug: str) -> None:
    """It was computed from what all seats held."""
    steps = steps_of(
        random_game(GAMES[slug], b"0", {"deals": "1"} if slug == "thetree" else {"max_turns": "6"})
    )
    count = len(steps.steps)
    given = analysis(
        *(AnalysedStep(number % 2, None, 1.0, best="secret", loss=1.0) for number in range(count)),
        chances=(0.4,) * count,
        drops=(0.4,) * count,
    )
    whole, *seats = game_data(steps, analysis=given).value["views"]
    assert "analysis" in whole and len(seats) == 2
    without = game_data(steps).value["views"][1:]
    assert seats == without
    page = replay_page(steps, 1, analyses={steps.terms.id: given})
    assert page == replay_page(steps, 1)
    assert replay_page(steps, analyses={steps.terms.id: given}) != replay_page(steps)


def test_a_report_has_the_deciding_move_that_is_proved() -> None:
    proved, as_played = deciding_of(STEPS, GIVEN), deciding_of(STEPS, None)
    assert proved and as_played and (proved.step, as_played.step) == (3, 4)
