"""Which attacks succeed at which level: the table of the documentation, its aims, and the attacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.catalogue.judging import Area, Outcome, harms_run, harms_victim
from tests.catalogue.row import Attack
from tests.tools.attacks import (
    ATTACKS,
    BEGIN,
    BY_NAME,
    END,
    LEVELS,
    PAGE,
    USERS,
    Lab,
    cell,
    groups,
    lab,
    levels_here,
    markdown,
    missing,
    outcomes_in,
    play,
    table,
    users_here,
)

HARMLESS = (Outcome.STOPPED, Outcome.NOT_TRIED)
REACHING = (Area.OPPONENT, Area.REFEREE, Area.RESULTS, Area.HIDDEN, Area.NETWORK)
"""At a level that confines, no attack of these areas may succeed."""

IMPORTANT = (
    ("memory-call", "landlock"),
    ("kill", "landlock"),
    ("renice", "landlock"),
    ("move-forged", "landlock"),
    ("warden-exited", "landlock"),
    ("results-read", "landlock"),
    ("udp", "landlock"),
    ("memory-file", "bwrap"),
    ("source", "bwrap"),
    ("kill-worker", "bwrap"),
    ("results-remove", "bwrap"),
    ("home-read", "bwrap"),
)
"""Attacks that are tried as the user who runs the tests."""

COMPARED = ("bwrap", "ordinary")
"""The level and user that the slow test compares with the table; `tests.tools.attacks` plays everything."""

BY_CHANCE = {"fork-bomb"}
"""Whether it is seen to have more processes than it may before it is ended."""

CELLS = table(PAGE.read_text())
"""The table of the documentation: what comes of an attack at a level as a user."""


def company(attack: Attack) -> object:
    """Attacks that harm nobody by the table share games: if one of them did, all in its game would fail."""
    stopped = CELLS[attack.name, *COMPARED] is Outcome.STOPPED
    # A shell ends at a redirection that is refused, so that it would not come to the next.
    ends = attack.language == "sh" and attack.area is Area.RESULTS
    alike = not (attack.terminal or attack.limits or attack.only or ends)
    if stopped and alike and attack.judge in (harms_victim, harms_run):
        return (attack.judge, attack.language, attack.game, attack.clock, attack.keep, attack.processes)
    return attack.company


@pytest.fixture(scope="module")
def place() -> Iterator[Lab]:
    with lab() as made:
        yield made


def test_the_names_of_the_attacks_are_different() -> None:
    assert len(BY_NAME) == len(ATTACKS)


def test_the_table_has_each_attack_and_level() -> None:
    assert {name for name, _, _ in CELLS} == set(BY_NAME)
    assert {level for _, level, _ in CELLS} == set(LEVELS)
    assert PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip() == markdown(CELLS)


def test_a_cell_of_the_table_has_the_outcome_for_each_user() -> None:
    for outcomes in product(Outcome, repeat=len(USERS)):
        found = dict(zip(USERS, outcomes, strict=True))
        assert outcomes_in(cell(found), USERS) == found


@pytest.mark.parametrize("level", ["landlock", "bwrap"])
def test_no_attack_reaches_others_from_confinement(level: str) -> None:
    found = {key: what for key, what in CELLS.items() if key[1] == level and BY_NAME[key[0]].area in REACHING}
    assert found and not {key: what for key, what in found.items() if what not in HARMLESS}


ONLY_LOOK = {"results-listed", "results-measured", "results-watched"}
"""Attacks on results that neither change them nor read what is hidden."""


def test_at_basic_no_run_hangs_and_no_result_is_lost_in_silence() -> None:
    cells = {key: what for key, what in CELLS.items() if key[1] == "basic"}
    assert cells and Outcome.HANGS not in cells.values()
    succeeding = {name for (name, _, _), what in cells.items() if what is Outcome.SUCCEEDS}
    assert {name for name in succeeding if BY_NAME[name].area is Area.RESULTS} <= ONLY_LOOK
    assert succeeding.isdisjoint(("memory-file", "memory-call", "questions-read", "results-read"))


@pytest.mark.parametrize(("name", "level"), IMPORTANT)
@pytest.mark.slow
def test_the_most_important_attacks_are_stopped(name: str, level: str, place: Lab) -> None:
    attack = BY_NAME[name]
    can_be_tried(attack, level)
    what, seen = play(place, (attack,), level, next(iter(users_here())))[name]
    if what is Outcome.NOT_TRIED:
        pytest.skip(f"this machine lacks the level: {seen.output}")
    assert what is Outcome.STOPPED, seen


@pytest.mark.slow
@pytest.mark.parametrize("group", groups(ATTACKS, company), ids=lambda group: group[0].name)
def test_the_table_is_what_is_seen_here(group: tuple[Attack, ...], place: Lab) -> None:
    level, user = COMPARED
    if user not in users_here():
        pytest.skip(f"bots cannot be started as {user} here")
    can_be_tried(group[0], level)
    for name, (what, seen) in play(place, group, level, user).items():
        if what is not Outcome.NOT_TRIED and name not in BY_CHANCE:
            assert (name, what) == (name, CELLS[name, level, user]), seen


def can_be_tried(attack: Attack, level: str) -> None:
    """Skips what this machine has no language for."""
    if level not in levels_here():
        pytest.skip(f"the referee has no level `{level}`")
    if program := missing(attack.language):
        pytest.skip(f"needs `{program}` for {attack.language}")
    if not Path("/proc/self").exists():
        pytest.skip("needs /proc to find the processes of a run")
