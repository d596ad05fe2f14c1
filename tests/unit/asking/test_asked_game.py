"""A bot that is asked for moves in positions: what it is told, and how its replies are judged."""

from __future__ import annotations

from typing import Any

import pytest

from referee import kit
from referee.asking.asked_game import AskedGame
from referee.core.units import TimeControl
from referee.gameplay.api import Failure
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games.api import Seat
from tests.unit.scripted import Bot, ScriptedWire, listening, puppet, saying


def asked_in(
    position: kit.Position, bot: Bot, seat: Seat = 0, clock: str = "1s"
) -> tuple[AskedGame, list[str]]:
    """A game of this bot, and all that it is told. The others never answer."""
    told: list[str] = []
    wire = ScriptedWire(*(listening(told, bot) if one == seat else puppet() for one in range(position.seats)))
    control = TimeControl.parse(clock)
    controls = (control,) * position.seats
    terms = Terms("asked", position.game, position.options, ("bot",) * position.seats, controls, b"s")
    return AskedGame(terms, seat, wire), told


def blooms(*moves: str) -> kit.Position:
    position = kit.new("blooms", size=4)
    for move in moves:
        position = position.play(move)
    return position


def test_a_bot_is_asked_in_the_middle_of_a_game() -> None:
    position = blooms("L:A1", "D:B1")
    game, told = asked_in(position, puppet((2000, "L:A2")))
    (moved,) = game.ask_at(position.state)
    assert isinstance(moved, Moved) and moved.text == "L:A2" and moved.charge.used_us == 2000
    assert told[-3:] == ["news move 1 L:A1", "news move 2 D:B1", "ask 1 1000 0"]
    assert "game blooms 1 1 2" in told, told


def test_its_game_goes_on_where_its_own_move_was_played() -> None:
    position = blooms("L:A1", "D:B1")
    game, told = asked_in(position, puppet((2000, "L:A2"), "L:A3"), clock="1ms+10s")
    game.ask_at(position.state)
    own = position.play("L:A2").play("D:B2")
    assert game.goes_on_at(own.state)
    assert not game.goes_on_at(position.play("L:A4").play("D:B2").state), "another move than its own"
    assert not game.goes_on_at(position.state), "the same position again"
    del told[:]
    game.ask_at(own.state)
    charged, *news, question = told
    assert charged == "charged 1 2000 1000"
    assert news == ["news move 1 L:A2", "news move 2 D:B2"], "only what is new"
    assert question == "ask 2 1 10000", "the clock is a full one"


def test_between_two_positions_the_wire_knows_that_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it pauses a bot that is to be paused."""
    position = blooms()
    game, _ = asked_in(position, puppet("L:A1"))
    caught_up: list[tuple[Seat, ...]] = []
    monkeypatch.setattr(game.wire, "catch_up", caught_up.append)
    game.ask_at(position.state)
    assert caught_up == [(0,), ()]


def test_it_is_told_the_end_of_a_game_that_is_not_played_on() -> None:
    position = blooms()
    game, told = asked_in(position, puppet("L:A1"))
    game.ask_at(position.state)
    game.leave()
    assert told[-1] == "end 1,1 resigned the game is not played on"


def test_an_answer_that_is_no_legal_move_is_asked_for_again() -> None:
    position = blooms("L:A1")
    game, told = asked_in(position, puppet("D:A1", "D:B1"), seat=1)
    rejected, moved = game.ask_at(position.state)
    assert isinstance(rejected, Rejected) and rejected.text == "D:A1"
    assert isinstance(moved, Moved) and moved.text == "D:B1"
    assert any(line.startswith("rejected 1 ") for line in told)


@pytest.mark.parametrize(
    ("answers", "ending"),
    [
        (("resign {n}",), Ending.RESIGNED),
        ((None,), Ending.TIME),
        (((1_100_000, "L:A1"),), Ending.TIME),
        (("X",) * 10, Ending.ILLEGAL),
        (("move 7 L:A1 {n}",), Ending.TURN),
    ],
)
def test_a_bot_that_plays_no_move_retires(answers: tuple[Any, ...], ending: Ending) -> None:
    position = blooms()
    game, _ = asked_in(position, puppet(*answers))
    *_, retired = game.ask_at(position.state)
    assert isinstance(retired, Retired) and retired.ending is ending
    assert not game.goes_on_at(position.state)


def test_a_bot_that_does_not_start_retires() -> None:
    position = blooms()
    game, _ = asked_in(position, puppet())
    wire = game.wire
    assert isinstance(wire, ScriptedWire)
    wire.fail(0, Failure(Ending.GONE, "exited with status 3"))
    (retired,) = game.ask_at(position.state)
    assert isinstance(retired, Retired) and retired.ending is Ending.START
    assert retired.detail == "exited with status 3"


def test_the_legal_moves_are_listed() -> None:
    position = blooms("L:A1")
    bot = saying({"ask": (0, b"list 1 3\n"), "legal": (0, b"move 1 D:B1\n")})
    game, told = asked_in(position, bot, seat=1)
    (moved,) = game.ask_at(position.state)
    assert isinstance(moved, Moved) and moved.text == "D:B1"
    assert sum(line.startswith("choice ") for line in told) == 3


def test_several_seats_act_at_once_and_one_is_asked_for_its_move_alone() -> None:
    position = kit.new("floral", seed=1)
    assert position.to_act() == (0, 1)
    moves = {seat: next(iter(position.legal_texts(seat))) for seat in (0, 1)}
    game, told = asked_in(position, puppet(moves[1]), seat=1, clock="1s")
    (moved,) = game.ask_at(position.state)
    assert isinstance(moved, Moved) and (moved.seat, moved.text) == (1, moves[1])
    assert [line for line in told if line.startswith("news ")] == [
        f"news {line}" for line in position.news(1)
    ]
    assert position.news(1) != position.news(0), "what the other seat knows is not told"
    assert not game.goes_on_at(position.play(moves).state), "what the others moved is not known"


def test_a_default_move_is_a_reply_and_the_bot_is_told_of_it() -> None:
    position = kit.new("floral", seed=1)
    game, told = asked_in(position, puppet(None, "-"))
    (moved,) = game.ask_at(position.state)
    assert isinstance(moved, Moved) and moved.defaulted and moved.text == "-"
    game.ask_at(position.play({0: "-", 1: "-"}).state)
    assert "defaulted 1 -" in told


def test_rejections_are_counted_anew_at_each_position() -> None:
    position = blooms()
    game, _ = asked_in(position, puppet(*["X"] * 9, "L:A1", *["X"] * 9, "L:A2"))
    assert len(game.ask_at(position.state)) == 10
    *_, moved = game.ask_at(position.play("L:A1").play("D:B1").state)
    assert isinstance(moved, Moved) and moved.text == "L:A2"
