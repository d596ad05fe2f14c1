"""A recorded game as steps to be looked at, and as data."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from referee.cli.replay_screen import Browser
from referee.core.units import TimeControl
from referee.gameplay.events import Drawn, Ending, Moved, Rejected, Retired
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import Game
from referee.games.picture import Mark
from referee.pages.game_data import game_data
from referee.pages.replay_page import replay_page
from referee.records.record import GameRecord
from referee.viewing.characters import picture_text
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.states import game_states
from referee.viewing.steps import Steps, steps_of
from tests.command import ROOT
from tests.page_tables import require_listed, rows, words
from tests.recorded import record_of
from tests.rules.random_play import random_game
from tests.unit.scripted import Events, ScriptedWire, puppet
from tests.unit.toys import Bid, Take


def recorded(game: Game[Any], *bots: tuple[str | None, ...], **options: str) -> GameRecord:
    controls = (TimeControl.parse("2s+6s/2s"),) * len(bots)
    names = tuple("abcd"[: len(bots)])
    terms = Terms("1:" + ":".join(names), game, game.settle(options), names, controls, b"seed")
    events = Events()
    verdict = play(terms, ScriptedWire(*(puppet(*bot) for bot in bots)), seeded_dice(terms), events)
    return record_of(terms, events.all, verdict)


def kinds(steps: Steps) -> list[list[type]]:
    return [[type(event) for event in step.events] for step in steps.steps]


def test_a_turn_of_several_seats_is_one_step_with_its_rejected_answers_and_chance_is_another() -> None:
    steps = steps_of(recorded(Bid(), ("1", "x", "2"), ("3", "3", "4")))
    assert kinds(steps) == [[], [Drawn], [Moved, Moved], [Drawn], [Rejected, Moved, Rejected, Moved]]
    assert [step.number for step in steps.steps] == [0, 1, 2, 3, 4]
    assert steps.verdict and not steps.damage and steps.steps[-1].state.outcome()


def test_rejected_answers_before_the_first_move_belong_to_its_step() -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("D:Z9", "L:A1", "resign {n}"), ("L:A2",)))
    assert kinds(steps) == [[], [Rejected, Moved], [Moved], [Retired]]


def test_a_seat_that_leaves_does_so_in_the_step_of_its_turn() -> None:
    steps = steps_of(recorded(Bid(), ("1", "resign {n}"), ("3", "4"), ("2", "1"), players="3"))
    assert [events[-1] for events in kinds(steps)[1:]] == [Drawn, Moved, Drawn, Retired, Moved]
    assert [len(events) for events in kinds(steps)] == [0, 1, 3, 1, 3, 2]


def test_moves_one_after_the_other_are_steps_of_their_own() -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("L:A1", "resign {n}"), ("L:A2 D:Z9", "L:A2 D:A3")))
    assert kinds(steps) == [[], [Moved], [Rejected, Moved], [Retired]]


def test_the_reserves_are_those_after_the_step() -> None:
    slow = (puppet((2_000_000, "L:A1"), "resign {n}"), puppet((2_500_000, "L:A2")))
    control = TimeControl.parse("2s+6s/2s")
    blooms = GAMES["blooms"]
    terms = Terms("1:a:b", blooms, blooms.settle({}), ("a", "b"), (control, control), b"s")
    events = Events()
    verdict = play(terms, ScriptedWire(*slow), seeded_dice(terms), events)
    record = record_of(terms, events.all, verdict)
    reserves = [step.reserves_us for step in steps_of(record).steps]
    assert reserves == [(6_000_000,) * 2, (6_000_000,) * 2, (6_000_000, 4_000_000), (6_000_000, 4_000_000)]


def test_a_seat_that_ran_out_of_time_has_no_reserve() -> None:
    control = TimeControl.parse("2s+6s/2s")
    blooms = GAMES["blooms"]
    terms = Terms("1:a:b", blooms, blooms.settle({}), ("a", "b"), (control, control), b"s")
    events = Events()
    wire = ScriptedWire(puppet("L:A1"), puppet((9_000_000, "L:A2")))
    verdict = play(terms, wire, seeded_dice(terms), events)
    assert verdict.ending is Ending.TIME
    steps = steps_of(record_of(terms, events.all, verdict)).steps
    assert [step.reserves_us for step in steps] == [(6_000_000,) * 2] * 2 + [(6_000_000, 0)]


def test_a_damaged_record_has_the_steps_before_the_damage() -> None:
    whole = recorded(GAMES["blooms"], ("L:A1", "L:B1", "resign {n}"), ("L:A2", "L:B2"))
    moved = whole.events[2]
    assert isinstance(moved, Moved)
    broken = replace(whole, events=(*whole.events[:2], moved._replace(text="L:A1"), *whole.events[3:]))
    steps = steps_of(broken)
    assert kinds(steps)[:3] == [[], [Moved], [Moved]] and len(steps.steps) < len(steps_of(whole).steps)
    assert steps.verdict is None and "event 3" in str(steps.damage)


def test_a_seat_is_not_told_what_is_damaged_in_what_it_did_not_know() -> None:
    whole = random_game(GAMES["floral"], seed=b"3")
    moved = next(event for event in whole.events if isinstance(event, Moved) and event.seat == 1)
    broken = moved._replace(text="no move")
    steps = steps_of(replace(whole, events=tuple(broken if e is moved else e for e in whole.events)))
    secret = "expected a letter of"  # and then the choice that the other seat had
    assert secret in str(steps.damage) == str(steps.damage_for(None))
    browser = Browser(steps, 0)
    seen = [
        str(steps.damage_for(0)),
        json.dumps(game_states(steps, 0)),
        *map(str, map(browser.text, range(browser.last + 1))),
        replay_page(steps, 0),
    ]
    assert all(secret not in text for text in seen)
    assert "damaged" in game_data(steps, (0,)).value["damage"] and "damaged" in browser.text(browser.last)[-1]


def test_a_seat_of_an_open_game_sees_moves_of_others_but_not_their_rejected_answers() -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("L:A1", "resign {n}"), ("L:A1", "L:A2")))
    turn = steps.steps[2]
    assert [type(event) for event in ViewKnowledge(0, is_open=True).events(turn.events)] == [Moved]
    assert [type(event) for event in ViewKnowledge(1, is_open=True).events(turn.events)] == [Rejected, Moved]
    assert ViewKnowledge(0, is_open=False).events(turn.events) == ()
    assert steps.views == (None,)


def test_the_news_of_all_steps_are_the_news_of_the_game() -> None:
    steps = steps_of(recorded(Take(), ("1", "2"), ("2", "resign {n}"), rain="1")).steps
    for view in (None, 0, 1):
        known, states = ViewKnowledge(view, is_open=True), [step.state for step in steps]
        told = [line for before, state in zip((None, *states), states, strict=False)
                for line in known.news(state, before)]  # fmt: skip
        assert tuple(told) == steps[-1].state.seen(view)


@pytest.mark.slow
def test_steps_of_others_are_called_by_the_news_of_them() -> None:
    browser, labels = Browser(steps_of(random_game(GAMES["thetree"], seed=b"3")), only=0), []
    for number, step in enumerate(browser.steps.steps[1:], 1):
        news = browser.steps.known_by(0).news(step.state, browser.steps.steps[number - 1].state)
        own = any(isinstance(event, Moved) and event.seat == 0 for event in step.events)
        label = browser.label(number)
        assert label.startswith("1: ") if own else label == ", ".join(news)
        labels.append(label)
    assert any(label.startswith("move 2 ") for label in labels)


# --- As data ----------------------------------------------------------------------------------------------


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("slug", GAMES)
def test_every_game_is_data_that_json_holds(slug: str) -> None:
    steps = steps_of(random_game(GAMES[slug], b"7", {"max_turns": "12"} if slug == "floral" else None))
    for view in steps.views:
        data = game_states(steps, view)
        text = json.dumps(data, allow_nan=False)
        assert json.dumps(json.loads(text)) == text
        assert len(data["steps"]) == len(steps.steps) and data["result"]["ranks"]
        assert data["steps"][-1]["text"] == picture_text(steps.steps[-1].state.picture(view)).split("\n")
        assert data["view"] == (None if view is None else view + 1)


def test_the_page_has_every_member() -> None:
    page = "referee/viewing/STATES.md"
    data = game_states(steps_of(random_game(GAMES["blooms"], seed=b"3")), None)
    require_listed(page, "member | ", data)
    require_listed(page, "member | ", data["steps"][0], 1)
    (result,) = (what for first, what in rows(page, "member | ") if first == "`result`")
    assert set(words(result)) == set(data["result"])
    of_marks = rows(page, "member of a mark | default | ")
    assert {word: default for first, default, _ in of_marks for word in words(first)} == {
        name: {"": "empty", None: "null"}.get(default, str(default)) if name in Mark._field_defaults else ""
        for name in Mark._fields
        if name != "part"
        for default in [Mark._field_defaults.get(name)]
    }


def test_the_example_of_the_page_is_a_step() -> None:
    page = (ROOT / "referee" / "viewing" / "STATES.md").read_text()
    (example,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    step = game_states(steps_of(random_game(GAMES["evengroups"], seed=b"3")), None)["steps"][1]
    board = step["picture"][0]
    shortened = {**step, "picture": [{**board, "marks": board["marks"][1:2]}]}
    del shortened["text"]
    assert json.loads(example) == shortened, "referee/viewing/STATES.md"


@pytest.mark.parametrize("slug", [pytest.param("floral", marks=pytest.mark.slow), "thetree"])
def test_the_data_of_a_seat_have_nothing_of_the_others(slug: str) -> None:
    """Clocks, chance and the moves of other seats are known to the spectator alone."""
    steps = steps_of(random_game(GAMES[slug], seed=b"3"))
    data = game_states(steps, 0)
    events = [event for step in data["steps"] for event in step["events"]]
    assert events and {event["seat"] for event in events} == {1}
    assert all(reserve is None for step in data["steps"] for reserve in step["reserves_us"][1:])
    everything = game_states(steps, None)
    assert any("chance" in event for step in everything["steps"] for event in step["events"])
