"""How many Python functions the referee calls for a move. Unlike a time, that is the same on every machine.

The bots are no processes: each answers as soon as it is written to, and its pipes are real. Everything else
is what plays in a tournament. The clock goes on by `TICK_NS` whenever it is read, which gives a move about as
much time as it takes with bots that answer at once; so what is due after a while has its share too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from referee.core.seeds import house_stream
from referee.core.units import TimeControl
from referee.gameplay.events import Moved
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.record import to_json
from referee.records.replay import verify
from referee.tournament.workers.encounter import play_encounter
from referee.tournament.workers.worker import Transcript
from tests.unit import scripted_process
from tests.unit.scripted_process import ScriptedPipes, ScriptedStart

MOST_CALLS = 58
"""Python calls for a move, with its share of the beginning and the end of the game."""

OPTIONS = {"size": "5", "target": "100"}
"""Of the games of `tests.bench.overhead`, too."""

TICK_NS = 7_000

OURS = (__file__, scripted_process.__file__)


class AnsweringPipes(ScriptedPipes):
    """The pipes of a bot that plays these moves, each before the write that asks for it returns."""

    def __init__(self, moves: Iterator[str]) -> None:
        super().__init__()
        self._moves = moves

    def answer(self, question: bytes) -> None:
        self.say(b"move %s %s\n" % (question, next(self._moves).encode()))


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """The Python calls within, by function, without those of this module."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename not in OURS:
            calls[f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def played_texts(count: int) -> Iterator[str]:
    """The moves of random games, one game after the other."""
    game = GAMES["blooms"]
    for number in range(count):
        rng = house_stream(b"%d" % number)
        state = game.start(game.settle(OPTIONS))
        while not state.outcome():
            (seat,) = state.to_act()
            move = state.sample(seat, rng)
            yield state.write(move)
            state = state.play({seat: move})


def test_a_move_takes_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = 1_000_000_000_000

    def tick() -> int:
        nonlocal now_ns
        now_ns += TICK_NS
        return now_ns

    for clock in ("monotonic_ns", "process_time_ns"):
        monkeypatch.setattr(f"time.{clock}", tick)
    moves = iter(list(played_texts(2)))
    monkeypatch.setattr(
        "referee.tournament.workers.encounter.BotStart", lambda bot: ScriptedStart(AnsweringPipes(moves))
    )
    game = GAMES["blooms"]
    bots = [Program(name, ("scripted",), Path("/")) for name in "ab"]
    controls = (TimeControl.parse("1s+10s"),) * 2
    terms = Terms("x", game, game.settle(OPTIONS), ("a", "b"), controls, b"")
    list(play_encounter(bots, [terms]))  # what is imported and computed once
    with counted_calls() as calls:
        records = list(play_encounter(bots, [terms], tap=Transcript()))
    for record in records:
        verify(to_json(record))
        assert not record.verdict.ending.is_fault
    played = sum(isinstance(event, Moved) for record in records for event in record.events)
    each = {name: round(count / played, 2) for name, count in calls.most_common(70)}
    assert calls.total() / played <= MOST_CALLS, each
    assert played > 90 and next(moves, None) is None
