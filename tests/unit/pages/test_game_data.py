"""A game as data for pages: complete for a spectator, and for a seat nothing but what it knew."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from referee.core.text import by_name
from referee.core.units import TimeControl
from referee.gameplay.events import Drawn, Ending, Event, Moved, Rejected, Retired
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import NotAMove
from referee.games.picture import boards_and_notes, panels_of_seat
from referee.pages.game_data import (
    NOTES_WIDTH,
    ROW_WIDTHS,
    WRITTEN_LINES,
    GameData,
    frames_of,
    game_data,
    packed,
)
from referee.records.record import GameRecord
from referee.viewing.knowledge import View
from referee.viewing.steps import Steps, steps_of
from referee.viewing.svg import Layout, draw
from tests.recorded import record_of
from tests.rules.random_play import random_game
from tests.unit.scripted import Events, ScriptedWire, puppet

HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"


def told(record: GameRecord) -> GameRecord:
    """The game with something that each bot said of each move, an answer that was rejected, and output."""
    steps = steps_of(record).steps
    first = next(step for step in steps if any(isinstance(event, Moved) for event in step.events))
    before = steps[first.number - 1].state

    def rejected(seat: int) -> Rejected:
        text = f"{HOSTILE} answer of {seat}"
        with pytest.raises(NotAMove) as error:
            before.read(seat, text)
        return Rejected(seat, text, error.value.reason, error.value.sentence, 5)

    events: list[Event] = []
    refused: set[int] = set()
    for event in record.events:
        if isinstance(event, Moved):
            if event.seat in before.to_act() and event.seat not in refused:
                refused.add(event.seat)
                events.append(rejected(event.seat))
            event = event._replace(info=f"info of {event.seat}")
        events.append(event)
    measured = {
        "seats": [
            {"stderr": {"before": {"text": f"{HOSTILE} stderr of {seat}\n"}}, "log": [f"log of {seat}"]}
            for seat in range(len(record.terms.bots))
        ]
    }
    return replace(record, events=tuple(events), measured=measured)


@cache
def game(slug: str, **options: str) -> Steps:
    steps = steps_of(told(random_game(GAMES[slug], b"5", options)))
    assert len(steps.steps) > 5
    return steps


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


GAME_OPTIONS: list[tuple[str, dict[str, str]]] = [(slug, {}) for slug in GAMES] + [
    ("thetree", {"players": "3"})
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("slug", "options"), GAME_OPTIONS)
def test_the_elements_of_each_step_are_its_picture(slug: str, options: dict[str, str]) -> None:
    steps = game(slug, **options)
    value = unpacked(game_data(steps).packed())
    assert [view["seat"] for view in value["views"]] == [
        None if view is None else view + 1 for view in steps.views
    ]
    for view, made in zip(steps.views, value["views"], strict=True):
        pictures = [frame.step.state.picture(view) for frame in frames_of(steps.steps)]
        assert sum("more" not in step for step in made["steps"]) == len(steps.steps)
        boards, notes = boards_and_notes(pictures)
        layout = Layout.of(boards)
        assert (made["box"], made["ground"]) == (layout.view_box, layout.ground)
        assert len(made["steps"]) == len(pictures)
        for board, step in zip(boards, made["steps"], strict=True):
            assert [value["elements"][index] for index in step["draw"]] == layout.elements(board)
        seats = range(len(steps.record.terms.bots))
        assert [*made["rows"]] == ["0", *(str(seat + 1) for seat in seats)], "each has something of its own"
        for seat, box in made["rows"].items():
            rows, width = notes, NOTES_WIDTH
            if seat != "0":
                rows = [panels_of_seat(picture, int(seat) - 1) for picture in pictures]
                width = ROW_WIDTHS[len(seats) - 1]
            layout, drawn = draw(rows, row_width=width)
            assert box == layout.view_box
            for step, indexes in zip(made["steps"], drawn.pictures, strict=True):
                texts = [*filter(None, [layout.ground]), *(drawn.elements[index] for index in indexes)]
                assert [value["elements"][index] for index in step["rows"][seat]] == texts
            for picture, panels in zip(pictures, rows, strict=True):
                assert set(panels) <= set(picture) and (panels or seat == "0")


@pytest.mark.slow
def test_tiles_are_drawn_one_by_one() -> None:
    steps = steps_of(random_game(GAMES["thetree"], b"0", {"players": "2"}))
    made = unpacked(game_data(steps).packed())["views"]
    drew = [[line for line in step.get("news", []) if " drew " in line] for step in made[0]["steps"]]
    assert sum(map(len, drew)) > 3 and max(map(len, drew)) == 1
    for view in made:
        assert [step.get("more") for step in view["steps"]] == [step.get("more") for step in made[0]["steps"]]
        whole = [step for step in view["steps"] if "more" not in step]
        assert len(whole) == len(steps.steps)
        assert all("turn" not in step for step in view["steps"] if "more" in step)
        moves = [step for step in view["steps"] if "lines" in step]
        assert all("more" not in before for before, step in pairwise(view["steps"]) if step in moves)


def secrets(steps: Steps, view: int) -> set[str]:
    """Texts that only others than this seat know."""
    record = steps.record
    last = steps.steps[-1].state
    known = set(last.seen(view))
    terms = record.terms
    others = [seat for seat in range(len(record.terms.bots)) if seat != view]
    return {
        record.terms.seed.hex(),
        *(event.text for event in record.events if isinstance(event, Drawn) and event.text not in known),
        *(
            text
            for seat in (None, *others)
            for line in last.seen(seat)
            if line not in known
            for text in (line, by_name(terms.game.told(line), terms.bots))
        ),
        *(f"{what} of {seat}" for what in ("info", "answer", "stderr", "log") for seat in others),
    } - {""}


def texts(value: object) -> list[str]:
    """All texts in a value of JSON."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for name, inner in value.items() for text in (name, *texts(inner))]
        case list():
            return [text for inner in value for text in texts(inner)]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["floral", "thetree"])
@pytest.mark.parametrize("view", [0, 1])
def test_the_data_of_a_seat_holds_no_secrets_of_others(slug: str, view: int) -> None:
    steps = game(slug)
    hidden = secrets(steps, view)
    assert len(hidden) > 7

    def found(data: GameData) -> set[str]:
        lines = {line for text in texts(unpacked(data.packed())) for line in (text, *text.split("\n"))}
        whole = "\n".join(lines)
        # A line of news may be the beginning of another one, which the seat does know.
        return {secret for secret in hidden if secret in lines or (" of " in secret and secret in whole)}

    assert len(found(game_data(steps))) >= 5
    assert found(game_data(steps, [view], with_texts=True)) == set()


def test_a_seat_of_an_open_game_knows_the_moves_of_others_but_not_what_they_said() -> None:
    steps = game("blooms")
    value = unpacked(game_data(steps, [0]).packed())
    kinds = [(line["kind"], line["seat"]) for line in value["lines"]]
    assert ("move", 1) in kinds and ("move", 2) in kinds
    whole = json.dumps(value)
    assert "info of 0" in whole and "info of 1" not in whole
    assert "log of 0" in whole and "log of 1" not in whole


def test_lines_say_what_happened() -> None:
    steps = game("blooms")
    value = unpacked(game_data(steps).packed())
    first = value["views"][0]["steps"][1]
    assert len(first["lines"]) == 2
    rejected, move = (value["lines"][index] for index in first["lines"])
    assert (rejected["kind"], move["kind"]) == ("rejected", "move")
    assert rejected["text"].startswith("<img src=x onerror=alert(1)>\\x1b[2J\\u202e")
    moved = next(event for event in steps.record.events if isinstance(event, Moved))
    assert move["text"] == moved.text and move["used_us"] == moved.charge.used_us
    assert f"seat 1 {steps.terms.bots[0]}: {moved.text} (info of 0)\n" in move["words"]


def scripted(*bots: tuple[str | tuple[int, str], ...]) -> GameRecord:
    """A game of Blooms between bots that give these answers."""
    control = TimeControl.parse("2s+6s/2s")
    blooms = GAMES["blooms"]
    terms = Terms("1:a:b", blooms, blooms.settle({}), ("a", "b"), (control, control), b"s")
    events = Events()
    verdict = play(terms, ScriptedWire(*(puppet(*bot) for bot in bots)), seeded_dice(terms), events)
    return record_of(terms, events.all, verdict)


def test_the_reserves_stand_where_they_change() -> None:
    record = scripted(((2_000_000, "L:A1"), "resign {n}"), ((2_500_000, "L:A2"),))
    value = unpacked(game_data(steps_of(record)).packed())
    assert value["clocks"] == [{"text": "2s+6s/2s", "move_us": 2_000_000, "reserve_us": 6_000_000}] * 2
    reserves = [step.get("reserves") for step in value["views"][0]["steps"]]
    assert reserves == [[6_000_000, 6_000_000], None, [6_000_000, 4_000_000], None]


@pytest.mark.slow
def test_the_seats_that_are_asked_next_stand_at_each_step() -> None:
    record = scripted(("L:A1", "resign {n}"), ("L:A2",))
    (view,) = unpacked(game_data(steps_of(record)).packed())["views"]
    assert [step.get("turn") for step in view["steps"]] == [[1], [2], [1], None]
    steps = game("floral")
    turns = {
        view: {
            seat
            for step in game_data(steps, [view]).value["views"][0]["steps"]
            for seat in step.get("turn", ())
        }
        for view in (None, 0, 1)
    }
    assert turns == {None: {1, 2}, 0: {1}, 1: {2}}, "a seat is told nothing of who else is asked"


def test_how_the_game_ended_stands_beside_the_clock_that_ran_out() -> None:
    value = unpacked(game_data(steps_of(scripted(("L:A1",), ((9_000_000, "L:A2"),)))).packed())
    assert value["end"] == {"ranks": [1, 2], "why": "b ran out of time", "fault": True}
    (late,) = (line for line in value["lines"] if line["kind"] == "left")
    assert late["late"] is True and late["used_us"] == 9_000_000
    assert value["views"][0]["steps"][-1]["reserves"] == [6_000_000, 0]


def test_what_a_bot_says_of_its_move_is_read() -> None:
    steps = game("blooms")
    moves = [event for event in steps.record.events if isinstance(event, Moved)]
    info = "value 0.25 depth 3 sure of it"
    events = tuple(event._replace(info=info) if event is moves[0] else event for event in steps.record.events)
    value = unpacked(game_data(steps_of(replace(steps.record, events=events))).packed())
    move = next(line for line in value["lines"] if line["kind"] == "move")
    assert move["value"] == 0.25 and move["info"] == [["depth", "3"], ["", "sure of it"]]


def test_a_fault_is_reported_to_spectators_and_to_its_seat() -> None:
    record = scripted(("L:A1",), ("move 99 L:A2",))
    measured = {"seats": [{}, {"last_came": ["move 99 L:A2"], "stderr": {"before": {"text": "oh\n"}}}]}
    steps = steps_of(replace(record, measured=measured))
    of_all, of_other, of_seat = (
        game_data(steps, [view]).value["views"][0]["faults"] for view in (None, 0, 1)
    )
    assert "stderr: oh" in of_all and "last received from the bot: move 99 L:A2" in of_all
    assert of_seat == of_all
    assert of_other == []


def test_how_a_bot_crashed_is_said_to_those_who_know_it() -> None:
    record = scripted(("L:A1",), ("resign {n}",))
    crash = Retired(1, Ending.GONE, "OSError /home/ann/book.bin", 5)
    outcome = record.verdict.outcome._replace(sentence="seat 2 crashed")
    record = replace(
        record,
        events=(*record.events[:-1], crash),
        verdict=record.verdict._replace(outcome=outcome, ending=Ending.GONE),
    )
    of_all, of_other = (game_data(steps_of(record), [view]).value for view in (None, 0))
    assert of_all["end"]["why"] == "b crashed: OSError book.bin"
    assert of_all["result"] == "a won: b crashed: OSError book.bin"
    assert of_all["lines"][-1]["words"] == "seat 2 b crashed: OSError book.bin"
    assert of_other["end"]["why"] == "b crashed" and "OSError" not in str(of_other)


def test_of_what_a_bot_wrote_the_last_lines_are_kept() -> None:
    record = replace(
        random_game(GAMES["blooms"], b"5", {}), measured={"seats": [{"log": [str(n) for n in range(99)]}]}
    )
    (view,) = game_data(steps_of(record)).value["views"]
    last = "\n".join(map(str, range(99 - WRITTEN_LINES, 99)))
    assert view["written"] == {"1": [("log", last)]}


@pytest.mark.parametrize(
    "measured",
    [
        {"seats": 1},
        {"seats": [1, None]},
        {"seats": [{"stderr": 1, "log": {"a": [None]}, "last_sent": 3, "left": "x"}]},
        {"seats": [{"stderr": {"before": 1}, "last_sent": [["ask", 1]]}] * 2},
        {"seats": [{"last_sent": [""]}, {"last_sent": ["ask 1 \u0662 -3"]}]},
    ],
)
def test_measurements_of_any_shape_are_shown_or_left_out(measured: dict[str, Any]) -> None:
    steps = game("blooms")
    assert game_data(steps_of(replace(steps.record, measured=measured))).packed()


@pytest.mark.parametrize("slug", ["blooms", "evengroups", "vinetree", "thetree"])
def test_an_ordinary_game_is_small(slug: str) -> None:
    record = random_game(GAMES[slug], b"5", {})
    views: list[View] = [None, 0]
    for view in views:
        assert len(game_data(steps_of(record), [view]).packed()) < 8 << 10


def test_packed_data_is_json_that_was_deflated() -> None:
    assert unpacked(packed({"a": ["<"]})) == {"a": ["<"]}
