"""What `referee doctor` finds and says, and how it reads what a system reports."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from referee import machine
from referee.cli.doctor import page_of
from referee.core.this_machine import control_group
from referee.machine import (
    Check,
    Level,
    available_memory,
    checks,
    games_by_files,
    physical_cores,
    processes_of,
    ticks,
)
from tests.command import referee

ROOM = {"cores": 3, "memory": 40}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that nobody else uses, with isolation, and no need to wait for it."""
    monkeypatch.setattr(machine, "LOOK_S", 0)
    monkeypatch.setattr(machine, "ticks", lambda _: None)
    monkeypatch.setattr(machine, "reason", lambda _: "")
    monkeypatch.setattr(machine, "compiled_starter", lambda: "starter.so")


def check(about: str, room: dict[str, int] = ROOM) -> Check:
    (found,) = (one for one in checks(room, Path()) if one.about == about)
    return found


def test_the_page_says_how_many_games_fit_and_marks_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    page = page_of([*checks(ROOM, Path())], 3)
    assert page.startswith(
        "Tournaments can be run here, with 1 warning (marked `!`), 3 games at a time: `workers = 3`"
    )
    assert "\n!   user" in page and all(len(line) <= 105 for line in page.splitlines())


def test_data_are_the_same_checks() -> None:
    done = referee("doctor", "--json")
    data = json.loads(done.out)
    assert done.code == 0 and data["can_run"] and data["games"] >= 1
    assert {"system", "user", "cores", "disk", "starter bots"} < {row["about"] for row in data["checks"]}


def test_a_resource_that_allows_fewer_games_is_told() -> None:
    assert {one.about for one in checks(ROOM, Path())}.isdisjoint({"quota", "files", "processes", "memory"})
    found = check("memory", {"cores": 3, "memory": 2})
    assert found.level is Level.WARNING and "allows 2 games at a time" in found.found


def test_without_room_for_a_game_no_tournament_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "room", lambda: {"cores": 3, "files": 0})
    done = referee("doctor")
    assert done.code == 5 and done.out.startswith("No tournament can be run here (see `!!`).")
    assert "the limit of open files allows 0 games at a time" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("working", "level", "trust"),
    [(("bwrap", "landlock"), Level.OK, False), (("landlock",), Level.OK, False), ((), Level.WARNING, True)],
)
def test_a_level_of_isolation_that_does_not_work_matters_where_none_confines(
    monkeypatch: pytest.MonkeyPatch, working: tuple[str, ...], level: Level, trust: bool
) -> None:
    monkeypatch.setattr(
        machine, "reason", lambda one: "" if one in (*working, "basic") else "it is not there"
    )
    found = check("isolation bwrap")
    assert found.level is level and ("only run bots that you trust" in found.advice) is trust
    assert found.found == ("works" if "bwrap" in working else "it is not there")


def test_a_landlock_that_does_not_confine_signals_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "landlock_abi", lambda: 5)
    assert check("signals").level is Level.WARNING
    monkeypatch.setattr(machine, "landlock_abi", lambda: 6)
    assert "signals" not in {one.about for one in checks(ROOM, Path())}


@pytest.mark.parametrize(
    ("busy", "stolen", "games", "level"),
    [(20, 0, 2, Level.OK), (120, 0, 2, Level.WARNING), (120, 0, 1, Level.OK), (0, 150, 2, Level.WARNING)],
)
def test_other_programs_must_leave_a_core_for_each_game(
    monkeypatch: pytest.MonkeyPatch, busy: int, stolen: int, games: int, level: Level
) -> None:
    """On two cores; times are hundredths of a core."""
    looks: list[Any] = [(0, 0, 0), (busy, stolen, 200)]
    monkeypatch.setattr(machine, "ticks", lambda _: looks.pop(0))
    monkeypatch.setattr(machine, "usable_cores", lambda: [0, 1])
    found = check("load", {"cores": games})
    assert found.level is level and f"other programs use {busy / 100:.1f} of 2 cores" in found.found
    assert ("the host of this virtual machine takes 1.5 away" in found.found) is (stolen > 0)


def test_a_missing_compiler_and_missing_languages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "compiled_starter", lambda: "")
    monkeypatch.setattr("shutil.which", lambda name: None if name in ("cc", "java") else name)
    assert "install one" in check("C compiler").advice
    found = check("starter bots")
    assert "Python" in found.found and "for C (`cc`) and Java (`java`)" in found.advice


def test_the_number_of_descriptors_that_is_enough() -> None:
    assert [games_by_files(limit) for limit in (None, 63, 64, 1024)] == [None, 0, 8, 248]


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def test_control_groups_of_version_2(tmp_path: Path) -> None:
    write(tmp_path, listing="0::/slice/job")
    root = tmp_path / "groups"
    write(
        root / "slice" / "job", cpu__max="max 100000", memory__max="max", pids__max="100", pids__current="40"
    )
    assert control_group(tmp_path / "listing", root) == (None, None, 60)
    write(root / "slice", cpu__max="150000 100000", memory__max="1000000", pids__max="50", pids__current="45")
    assert control_group(tmp_path / "listing", root) == (150, 1_000_000, 5), "the group around it is tighter"
    write(root / "slice" / "job", cpu__max="20000 40000", memory__max="1000")
    assert control_group(tmp_path / "listing", root) == (50, 1000, 5)


def test_control_groups_of_version_1(tmp_path: Path) -> None:
    write(
        tmp_path,
        listing="4:memory:/box\n3:pids:/box\n2:cpu,cpuacct:/box\n1:name=systemd:/x\n0::/elsewhere",
    )
    root = tmp_path / "groups"
    write(root / "memory", memory__limit_in_bytes="9223372036854771712")
    write(root / "cpu,cpuacct" / "box", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert control_group(tmp_path / "listing", root) == (None, None, None)
    write(root / "memory" / "box", memory__limit_in_bytes="2000000")
    write(root / "pids" / "box", pids__max="8", pids__current="9")
    write(root / "cpu,cpuacct" / "box", cpu__cfs_quota_us="250000", cpu__cfs_period_us="100000")
    assert control_group(tmp_path / "listing", root) == (250, 2_000_000, 0)


@pytest.mark.parametrize("path", ["/docker/0123", "/../../other", "/"])
def test_a_container_s_limits_are_at_the_root_that_it_sees(tmp_path: Path, path: str) -> None:
    write(tmp_path, listing=f"0::{path}", cpu__max="1 100")
    write(tmp_path / "a" / "groups", cpu__max="200000 100000")
    assert control_group(tmp_path / "listing", tmp_path / "a" / "groups") == (200, None, None)


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    assert control_group(tmp_path / "none", tmp_path) == (None, None, None)


def test_threads_of_one_core_count_once(tmp_path: Path) -> None:
    for core, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        write(tmp_path / f"cpu{core}" / "topology", thread_siblings_list=siblings)
    assert physical_cores({0, 1, 2, 3}, tmp_path) == 2
    assert physical_cores({0, 2}, tmp_path) == 1
    assert physical_cores({0, 4}, tmp_path) is None


def test_how_busy_the_usable_cores_are(tmp_path: Path) -> None:
    write(
        tmp_path,
        stat="cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 50 6 7 8 0 0\ncpu1 1 0 0 99 0 0 0 0 0 0\nctxt 5",
    )
    assert ticks({0}, tmp_path / "stat") == (19, 8, 117)
    assert ticks({0, 1}, tmp_path / "stat") == (20, 8, 217)
    assert ticks({0}, tmp_path / "none") is None


def test_memory_and_processes(tmp_path: Path) -> None:
    write(tmp_path, meminfo="MemTotal:  9 kB\nMemAvailable:   1000 kB")
    assert available_memory(tmp_path / "meminfo") == 1_024_000
    assert available_memory(tmp_path / "none") is None
    (tmp_path / "12" / "task" / "12").mkdir(parents=True)
    (tmp_path / "12" / "task" / "13").mkdir()
    (tmp_path / "14").mkdir()
    assert processes_of(os.geteuid(), tmp_path) == 2, "threads count, and what is just going does not"
    assert processes_of(os.geteuid() + 1, tmp_path) == 0
