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

BOMBS = {"fork-bomb", "memory-bomb", "memory-bomb-file", "disk-filler", "inode-filler", "busy-children"}
"""What `test_wardens.py` and `test_mounts.py` have bots do too."""

PLAYED = {
    ("bwrap", "ordinary"): [name for name in BY_NAME if name not in BOMBS],
    ("landlock", "root"): (
        *(
            "memory-call",
            "kill",
            "renice",
            "move-forged",
            "warden-exited",
            "results-read",
            "udp",
            "home-read",
        ),
    ),
}
"""What is compared with the table here, by level and user; `tests.tools.attacks` plays everything."""

CELLS = table(PAGE.read_text())
"""The table of the documentation: what comes of an attack at a level as a user."""


def games() -> Iterator[tuple[str, str, tuple[Attack, ...]]]:
    """The attacks to play: level, user, and those that share a game."""
    for (level, user), names in PLAYED.items():

        def company(attack: Attack, cell: tuple[str, str] = (level, user)) -> object:
            """Attacks that harm nobody by the table share games: if one did, all in its game would fail."""
            stopped = CELLS[attack.name, *cell] is Outcome.STOPPED
            if not stopped or attack.limits or attack.only or attack.name == "program-fifo":
                return attack.company
            alike = attack.judge if attack.judge in (harms_victim, harms_run) else attack.terminal
            return (alike, attack.language, attack.game, attack.clock, attack.keep, attack.processes)

        for group in groups([BY_NAME[name] for name in names], company):
            yield level, user, group


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "user", "group"),
    [pytest.param(*game, id=f"{game[0]}-{game[2][0].name}") for game in games()],
)
def test_the_table_is_what_is_seen_here(level: str, user: str, group: tuple[Attack, ...], place: Lab) -> None:
    if user not in users_here():
        pytest.skip(f"bots cannot be started as {user} here")
    if level not in levels_here():
        pytest.skip(f"the referee has no level `{level}`")
    if program := missing(group[0].language):
        pytest.skip(f"needs `{program}` for {group[0].language}")
    if not Path("/proc/self").exists():
        pytest.skip("needs /proc to find the processes of a run")
    for name, (what, seen) in play(place, group, level, user).items():
        if what is not Outcome.NOT_TRIED:
            assert (name, what) == (name, CELLS[name, level, user]), seen
