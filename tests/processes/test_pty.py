"""Bots on a terminal of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.gameplay.events import Ending, Moved
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.record import GameRecord, to_json
from referee.records.replay import verify
from referee.tournament.workers.encounter import play_encounter
from tests.command import ROOT
from tests.processes.encounters import LONG, LONG_US, SHORT, bot
from tests.waiting import TOO_LONG_S

UNFLUSHED = """
import os, sys
{}
answered = 0
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "hello":
        print("hello 1")
    elif word == "prepare":
        print("ready")
    elif word == "ask":
        number = rest.split()[0]
        print("list", number)
    elif word == "choice" and number:
        {}
        number = ""
    elif word == "quit":
        break
"""


def on_a_terminal(before: str = "", answer: str = 'print("move", number, rest)', pty: bool = True) -> Program:
    script = UNFLUSHED.format(before, answer)
    return Program("terminal", (sys.executable, "-c", script), Path("/"), pty=pty)


def game(one: Program, slug: str = "blooms", start_us: int = LONG_US) -> GameRecord:
    kind = GAMES[slug]
    other = Program("other", (sys.executable, str(ROOT / "sample_bots" / "random_bot.py")), ROOT)
    control = TimeControl.parse(LONG)
    terms = Terms("x", kind, kind.settle({}), (one.name, "other"), (control,) * 2, b"seed")
    (record,) = play_encounter([one, other], [terms], start_us=start_us)
    verify(to_json(record))
    return record


def test_a_program_that_never_flushes_plays_on_a_terminal_and_not_on_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", TOO_LONG_S)
    assert game(on_a_terminal()).verdict.ending is Ending.RULES
    record = game(on_a_terminal(pty=False), start_us=20_000)
    assert record.verdict.ending is Ending.START
    assert "flush after each line" in record.events[0].hint  # type: ignore[union-attr]


def test_a_program_that_insists_on_a_terminal_has_one_of_its_own() -> None:
    insists = (
        "assert os.isatty(0) and os.isatty(1) and not os.isatty(2)\n"
        "assert os.ttyname(0) == os.ttyname(1)\n"
        "open('/dev/tty').close()"
    )
    assert game(on_a_terminal(insists)).verdict.ending is Ending.RULES
    record = game(on_a_terminal("os.isatty(0) or sys.exit('this is not a terminal')", pty=False))
    assert record.verdict.ending is Ending.START
    assert "set `pty`" in record.events[0].hint  # type: ignore[union-attr]


@pytest.mark.slow
def test_nothing_is_echoed_and_nothing_is_changed() -> None:
    """An echo of `hello` would be a bot's hello; what else came back would be noise."""
    record = game(on_a_terminal(), "evengroups")
    assert record.verdict.ending is Ending.RULES
    assert not record.measured["seats"][0].get("noise")


def test_the_terminal_adds_no_delay() -> None:
    record = game(on_a_terminal())
    used = [event.charge.used_us for event in record.events if isinstance(event, Moved) and event.seat == 0]
    assert min(used) < 50_000, "a terminal needs no delay"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("length", [4095, 4096, 20_000])
def test_a_line_is_never_cut(length: int) -> None:
    """A move that is too long to be one, in a line that is within the limit or not."""
    answer = f"print(f'move {{number}} '.ljust({length}, 'x'))"
    record = game(on_a_terminal(answer=answer))
    if length < 4096:
        assert record.verdict.ending is Ending.ILLEGAL
        assert len(record.events[0].text) == length - len("move 1 ")  # type: ignore[union-attr]
    else:
        assert record.verdict.ending is Ending.FLOOD


def test_what_is_on_the_terminal_ends_with_it() -> None:
    record = game(on_a_terminal(answer="sys.exit(5)"))
    assert record.verdict.ending is Ending.GONE
    assert record.events[-1].detail == "exited with status 5"  # type: ignore[union-attr]


def test_a_silent_bot_on_a_terminal_runs_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", 0.01)
    kind = GAMES["blooms"]
    controls = (TimeControl.parse(SHORT), TimeControl.parse(LONG))
    silent = Program("silent", bot("x", "silent").command, Path.cwd(), pty=True)
    terms = Terms("x", kind, kind.settle({}), ("silent", "other"), controls, b"")
    (record,) = play_encounter([silent, bot("other", "none")], [terms], start_us=LONG_US)
    assert record.verdict.ending is Ending.TIME
