"""Which files of bots have changed, where a run is played with a cluster and without one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.header import ALL_FILES, Header, have_changed
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.run.opening import additions
from referee.tournament.tournament import Tournament

PLAN = Plan(
    GAMES["blooms"],
    GAMES["blooms"].settle({}),
    tuple(Entrant(Program(name, ("true",), Path("/")), TimeControl.parse("1s")) for name in "ab"),
    "seed",
)
TOURNAMENT = Tournament((PLAN,), RoundRobin())

HERE = {"python3": "p", "bot.py": "1"}
"""What is hashed without a cluster: also what the command finds on the path."""
SENT = {"bot.py": "1", ALL_FILES: "x"}
"""What is hashed where a bot is sent."""


def continued(known: dict[str, str] | None, now: dict[str, str]) -> tuple[Mapping[str, str] | None, bool]:
    """What a header knows of a bot after its run was continued, and whether that says that it changed."""
    header = Header.read({**TOURNAMENT.header.members, "files": {} if known is None else {"a": known}})
    change = additions(header, TOURNAMENT, {"a": now})
    header = header.after({"kind": "change", "when": "now", **change})
    assert ("a" in change.get("files", {})) == (header.files.get("a") != known)
    return header.files.get("a"), "a" in header.changed_programs


@pytest.mark.parametrize(
    ("known", "now", "then", "changed"),
    [
        (HERE, HERE, HERE, False),
        (HERE, {**HERE, "bot.py": "2"}, {**HERE, "bot.py": "2"}, True),
        (HERE, {"python3": "p"}, {"python3": "p"}, True),
        (HERE, {}, {}, True),
        (HERE, SENT, {**HERE, **SENT}, False),
        (SENT, HERE, {**HERE, **SENT}, False),
        ({**HERE, **SENT}, HERE, {**HERE, **SENT}, False),
        ({**HERE, **SENT}, SENT, {**HERE, **SENT}, False),
        (HERE, {**SENT, "bot.py": "2"}, {**SENT, "bot.py": "2"}, True),
        (SENT, {**HERE, "bot.py": "2"}, {**HERE, "bot.py": "2"}, True),
        (SENT, {**SENT, ALL_FILES: "y"}, {**SENT, ALL_FILES: "y"}, True),
        ({**HERE, **SENT}, {**SENT, ALL_FILES: "y"}, {**SENT, ALL_FILES: "y"}, True),
        ({"./built": "1"}, {ALL_FILES: "x"}, {"./built": "1", ALL_FILES: "x"}, False),
        (None, SENT, SENT, False),
        (None, HERE, HERE, False),
    ],
)
def test_what_both_ways_of_playing_know_is_compared(
    known: dict[str, str] | None, now: dict[str, str], then: dict[str, str], changed: bool
) -> None:
    assert continued(known, now) == (then, changed)
    assert have_changed(known, now) == changed
