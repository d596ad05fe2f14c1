"""Which bots are suspected where a process of the referee died."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.core.errors import ProcessLostError
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes import isolation
from referee.processes.confinement import SIGNALS_ABI
from referee.processes.program import Program
from referee.tournament.plan import Entrant, Plan
from referee.tournament.workers import local_backend
from referee.tournament.workers.task import Task


def task(**levels: str) -> Task:
    """A task of bots with these levels of isolation."""
    bots = (Program(name, ("true",), Path("/"), isolation=level) for name, level in levels.items())
    game = GAMES["blooms"]
    entrants = tuple(Entrant(bot, TimeControl.parse("1s")) for bot in bots)
    return Task(Plan(game, game.settle({}), entrants, "s"), (), "nothing")


@pytest.mark.parametrize(
    ("killed", "suspects"), [(3, {"a"}), pytest.param(4, {"a", "b", "c"}, id="out-of-memory")]
)
def test_only_bots_that_could_have_killed_a_worker_are_suspected_unless_memory_was_used_up(
    killed: int, suspects: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "landlock_abi", lambda: SIGNALS_ABI)
    monkeypatch.setattr(local_backend, "killed_for_memory", lambda: killed)
    worker = local_backend._Worker.__new__(local_backend._Worker)
    vars(worker).update(
        task=task(a="basic", b="landlock", c="bwrap"),
        _process=SimpleNamespace(returncode=-signal.SIGKILL),
        _killed_before=3,
    )
    assert worker.suspects == suspects


@pytest.mark.parametrize(("watched", "suspects"), [("a", {"a"}), ("c", {"a", "b"}), ("", {"a", "b"})])
def test_where_what_watched_over_a_bot_was_killed_only_that_bot_is_suspected_if_it_could_do_it(
    watched: str, suspects: set[str]
) -> None:
    played = task(a="basic", b="none", c="bwrap")
    assert played.suspects(ProcessLostError("killed", watched)) == suspects
