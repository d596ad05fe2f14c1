"""Limits: what stands in a file, what a run means by it, and what the kernel is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.core.errors import UsageError
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.limits import DEFAULT, MIN_SHARE, Limits, share_of
from referee.processes.program import Program
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.tournament import Tournament

GB = 1 << 30


def test_by_default_bots_share_most_of_the_memory_in_equal_parts() -> None:
    assert share_of(16 * GB, bots=4) == 3 * GB
    assert share_of(1 * GB, bots=4) == MIN_SHARE


def test_a_plan_knows_how_many_bots_play_at_once() -> None:
    game = GAMES["blooms"]
    entrants = tuple(
        Entrant(Program(name, ("true",), Path("/"), limits=limits), TimeControl.parse("1s"))
        for name, limits in (
            ("a", Limits()),
            ("b", Limits.parse({"memory": "1GB"})),
            ("c", Limits.parse({"memory": "none"})),
        )
    )
    plan = Plan(game, game.settle({}), entrants, "seed")
    whole = Tournament((plan,), RoundRobin())
    shared = whole.sharing(16 * GB, games=3)
    limits = [entrant.bot.limits for entrant in shared.entrants]
    assert [limit.memory_of_all for limit in limits] == [2 * GB, 1 * GB, None]
    assert [limit.memory_of_each for limit in limits] == [None, 1 * GB, None], "none from a default"
    assert shared.header.members == whole.header.members


def test_each_limit_can_be_switched_off() -> None:
    names = ("memory", "processes", "scratch", "scratch_files", "open_files", "file_size", "cpu")
    off = Limits.parse(dict.fromkeys(names, "none"))
    assert {getattr(off, name) for name in names} == {None}
    assert Limits.parse(off.changed()) == off and DEFAULT.changed() == {}


def test_no_limit_is_nothing() -> None:
    with pytest.raises(UsageError, match="expected a size"):
        Limits.parse({"memory": "0MB"})
