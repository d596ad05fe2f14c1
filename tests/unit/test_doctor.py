"""What `referee doctor` finds and recommends, for made-up figures of machines."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from referee.cli.doctor import _page
from referee.core.control_groups import ControlGroup, control_group
from referee.machine.calibration import Rates, Speed
from referee.machine.doctor import COARSE_STEP_NS, MIN_DISK, Finding, Severity, diagnose
from referee.machine.measure import Disk, Distribution, Figures, shares
from referee.machine.survey import (
    Abilities,
    Machine,
    ResourceLimit,
    Ticks,
    available_memory,
    physical_cores,
    processes_of,
    ticks,
)

GB = 1 << 30

MACHINE = Machine(
    name="desk",
    cpu="Model 7",
    python="CPython 3.11.7",
    system="linux",
    root=False,
    cores=8,
    physical=8,
    group=ControlGroup(None, None, None),
    total_memory_bytes=16 * GB,
    bot_groups=("memory", "pids"),
    load_percent=0,
    memory_bytes=16 * GB,
    files=ResourceLimit(1024, 4096),
    processes=ResourceLimit(10_000, 20_000),
    processes_used=200,
    landlock_abi=7,
    coarse_tick_us=4000,
    abilities=Abilities(pinning=True, subreaper=True, proc=True, cpu_clocks=True, ptys=True),
)

FIGURES = Figures(
    workers=4,
    machine=MACHINE,
    moves=Distribution(10_000, 100, 200, 500, 900),
    pinned_moves=Distribution(10_000, 50, 100, 200, 300),
    starts=Distribution(5, 10_000, 12_000, 12_000, 12_000),
    speed=Speed(Rates(15_000, 90_000, 100), Rates(14_000, 80_000, 99)),
    lack="",
    busy_percent=10,
    stolen_percent=0,
    sleeps=Distribution(300, 80, 100, 200, 200),
    clock_step_ns=50,
    disk=Disk(100 * GB, Distribution(20, 200, 300, 300, 300)),
    isolation={"basic": "", "landlock": "", "bwrap": ""},
)
"""A good machine, with half of its cores in use."""


def on(**changes: Any) -> Figures:
    """The good machine, with other parts."""
    return FIGURES._replace(machine=MACHINE._replace(**changes))


def grouped(**changes: Any) -> Figures:
    """The good machine, in a control group."""
    return on(group=ControlGroup(None, None, None)._replace(**changes))


def finding(figures: Figures, about: str) -> Finding:
    (found,) = (finding for finding in diagnose(figures).findings if finding.about == about)
    return found


def test_the_speed_is_a_figure_without_a_judgement() -> None:
    found = finding(FIGURES, "speed")
    assert found.level is Severity.FINE and "CPython 3.11.7" in found.meaning
    assert found.measured == (
        "14.0 MB/s and 80,000 moves/s with 4 games at a time; alone 15.0 MB/s and 90,000 moves/s"
    )
    assert all(one.about != "speed" for one in diagnose(FIGURES._replace(speed=None)).findings)


def test_a_good_machine_has_no_warnings() -> None:
    diagnosis = diagnose(FIGURES)
    assert not diagnosis.warnings and not diagnosis.lacks
    assert diagnosis.advice == (4, 10, True, 5)
    assert "it can read your files" in finding(FIGURES, "basic").meaning


SLOW = Distribution(10_000, 100, 4000, 5001, 9000)
STEPS: list[tuple[str, Figures, Figures, str]] = [
    (
        "moves",
        FIGURES._replace(moves=SLOW._replace(p999_us=5000)),
        FIGURES._replace(moves=SLOW),
        "below 51 ms",
    ),
    ("load", FIGURES._replace(busy_percent=425), FIGURES._replace(busy_percent=426), "4.2 of 8 cores"),
    ("load", FIGURES._replace(workers=8), FIGURES._replace(workers=8, busy_percent=26), "wait for a core"),
    (
        "load",
        on(load_percent=425)._replace(busy_percent=None),
        on(load_percent=426)._replace(busy_percent=None),
        "wait for a core",
    ),
    ("cores", FIGURES._replace(workers=7), FIGURES._replace(workers=8), "no core is left for the referee"),
    ("cores", FIGURES._replace(workers=7), FIGURES._replace(workers=9), "more simultaneous games than cores"),
    ("cores", on(physical=5), on(physical=4), "two threads of a core slow each other down"),
    ("cores", on(physical=None), on(physical=None, cores=4), "no core is left for the referee"),
    ("quota", grouped(cpu_percent=800), grouped(cpu_percent=799), "7.9 of 8 cores"),
    ("files", on(files=ResourceLimit(64, 64)), on(files=ResourceLimit(63, 63)), "`ulimit -n 64`"),
    (
        "files",
        on(files=ResourceLimit(92, 92))._replace(workers=15),
        on(files=ResourceLimit(91, 4096))._replace(workers=15),
        "→ run `ulimit -n 92` before",
    ),
    (
        "files",
        on(files=ResourceLimit(None, None)),
        on(files=ResourceLimit(60, 62)),
        "ask the administrator to raise the hard limit",
    ),
    (
        "processes",
        on(processes=ResourceLimit(264, None)),
        on(processes=ResourceLimit(263, None)),
        "enough for 3 games",
    ),
    (
        "processes",
        on(processes=ResourceLimit(64, 64), root=True),
        on(processes=ResourceLimit(64, 64)),
        "enough for 0 games",
    ),
    ("processes", grouped(processes=64), grouped(processes=63), "allows 63 more"),
    ("memory", on(memory_bytes=GB // 2), on(memory_bytes=GB // 2 - 1), "the system kills processes"),
    ("memory", grouped(memory_bytes=GB // 2), grouped(memory_bytes=GB // 4), "allows 256 MB"),
    ("memory", on(memory_bytes=None), on(memory_bytes=0), "0 KB available"),
    (
        "timers",
        FIGURES._replace(sleeps=SLOW._replace(p99_us=5000)),
        FIGURES._replace(sleeps=SLOW._replace(p99_us=5001)),
        "the referee is often delayed",
    ),
    (
        "clock",
        FIGURES._replace(clock_step_ns=COARSE_STEP_NS),
        FIGURES._replace(clock_step_ns=COARSE_STEP_NS + 1),
        "steps of 100001 ns",
    ),
    ("disk", FIGURES, FIGURES._replace(disk=Disk(GB, None)), "nothing can be written"),
    (
        "disk",
        FIGURES._replace(disk=FIGURES.disk._replace(free_bytes=MIN_DISK)),
        FIGURES._replace(disk=FIGURES.disk._replace(free_bytes=MIN_DISK - 1)),
        "may not fit",
    ),
    (
        "disk",
        FIGURES._replace(disk=Disk(GB, Distribution(20, 50_000, 90_000, 90_000, 90_000))),
        FIGURES._replace(disk=Disk(GB, Distribution(20, 50_001, 90_000, 90_000, 90_000))),
        "each finished game waits",
    ),
    ("user", FIGURES, on(root=True), "run as root"),
    (
        "bwrap",
        FIGURES._replace(isolation={"basic": "", "landlock": "", "bwrap": "no program"}),
        FIGURES._replace(isolation={"basic": "", "landlock": "no Landlock", "bwrap": "no program"}),
        "does not work here: no program → without it, only run bots that you trust",
    ),
]
"""What a finding is about, figures that are just good enough, figures that are not, and its text then."""


@pytest.mark.parametrize(
    ("about", "good", "bad", "text"), STEPS, ids=[f"{about}: {text}" for about, _, _, text in STEPS]
)
def test_each_warning_appears_and_disappears(about: str, good: Figures, bad: Figures, text: str) -> None:
    assert finding(good, about).level is Severity.FINE
    found = finding(bad, about)
    assert found.level is Severity.WARNING
    assert text in f"{found.measured}: {found.meaning} → {found.advice}"
    assert found in diagnose(bad).warnings


def test_the_margin_is_twice_what_one_move_of_a_thousand_takes_and_not_below_the_default() -> None:
    for slow_us, margin_ms in ((0, 10), (5000, 10), (5001, 11), (5500, 11), (5501, 12), (70_000, 140)):
        moves = Distribution(10_000, 100, 200, slow_us, 100_000)
        assert diagnose(FIGURES._replace(moves=moves)).advice.margin_ms == margin_ms


@pytest.mark.parametrize(
    ("figures", "workers"),
    [
        (FIGURES._replace(workers=2), 2),
        (FIGURES._replace(workers=50), 7),
        (on(physical=4), 3),
        (on(physical=None, cores=1), 1),
        (grouped(cpu_percent=350), 2),
        (grouped(cpu_percent=50), 1),
        (on(files=ResourceLimit(63, 63)), 1),
        (on(processes=ResourceLimit(232, 232)), 2),
        (grouped(memory_bytes=3 * GB // 8), 3),
    ],
)
def test_as_many_workers_as_were_asked_for_if_all_that_limits_them_allows_it(
    figures: Figures, workers: int
) -> None:
    assert diagnose(figures).advice.workers == workers


def test_pinning_is_advised_where_it_is_steadier_and_there_are_cores_for_it() -> None:
    assert diagnose(FIGURES).advice.pin
    assert "uses one thread" in finding(FIGURES, "pinning").advice
    for figures in (
        FIGURES._replace(pinned_moves=FIGURES.moves),
        FIGURES._replace(pinned_moves=Distribution(10_000, 50, 100, 500, 600)),
        FIGURES._replace(pinned_moves=None),
        FIGURES._replace(busy_percent=500),
        FIGURES._replace(workers=8, busy_percent=50),
    ):
        assert not diagnose(figures).advice.pin


def test_that_no_game_can_be_played_comes_first() -> None:
    lacking = FIGURES._replace(moves=None, pinned_moves=None, starts=None, lack="cannot start bots")
    diagnosis = diagnose(lacking)
    assert [found.measured for found in diagnosis.lacks] == ["cannot start bots"]
    page = _page(diagnosis)
    assert page.startswith("No tournament can be run here.\n") and "[tournament]" not in page
    assert "!!  bots" in page


def test_a_system_that_reports_little_is_judged_by_what_it_reports() -> None:
    unknown = on(
        system="darwin",
        physical=None,
        memory_bytes=None,
        processes_used=None,
        coarse_tick_us=None,
        abilities=Abilities(pinning=False, subreaper=None, proc=False, cpu_clocks=None, ptys=True),
    )._replace(busy_percent=None, stolen_percent=None, pinned_moves=None)
    assert not diagnose(unknown).warnings and not diagnose(unknown).advice.pin
    system = finding(unknown, "system")
    assert "sub-reaper: not known on this system" in system.measured and "ptys: yes" in system.measured
    assert "without pinning: `pin` is ignored" in system.meaning and "without ptys" not in system.meaning
    assert "not known on this system" in _page(diagnose(unknown))


def test_the_page_has_lines_for_a_tournament_s_file() -> None:
    page = _page(diagnose(FIGURES._replace(moves=SLOW, busy_percent=800)))
    assert page.startswith("A tournament can be run here, with 2 warnings (marked `!`).")
    _, lines, findings = page.split("\n\n")
    assert tomllib.loads(lines)["tournament"] == {"workers": 4, "margin": "11ms", "pin": False}
    assert '→ set `margin = "11ms"`' in findings
    assert all(len(line) <= 100 for line in page.splitlines())
    assert tomllib.loads(_page(diagnose(FIGURES)).split("\n\n")[1])["tournament"]["pin"] is True


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


@pytest.mark.skipif(sys.platform == "darwin", reason="asks sysctl there")
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
    assert ticks({0}, tmp_path / "stat") == Ticks(busy=27, stolen=8, total=117)
    assert ticks({0, 1}, tmp_path / "stat") == Ticks(busy=28, stolen=8, total=217)
    assert ticks({0}, tmp_path / "none") is None
    assert shares(Ticks(10, 0, 100), Ticks(85, 20, 200), cores=2) == (150, 40)
    assert shares(Ticks(10, 0, 100), Ticks(10, 0, 100), cores=2) == (0, 0)


def test_the_default_limits_are_told_and_who_enforces_them() -> None:
    found = finding(FIGURES, "limits")
    assert "1.5 GB of memory (75 % of 16 GB, divided by the 8 bots of 4 games at a time)" in found.measured
    assert "500 processes and threads, and in its scratch folder 1.0 GB and 20,000 files" in found.measured
    assert "the kernel enforces the limits on memory and processes" in found.meaning and not found.advice
    found = finding(on(bot_groups=()), "limits")
    assert "killed together" in found.meaning and "Delegate=yes" in found.advice
    found = finding(on(bot_groups=None), "limits")
    assert "one by one" in found.meaning and "Delegate=yes" in found.advice


def test_memory_and_processes(tmp_path: Path) -> None:
    write(tmp_path, meminfo="MemTotal:  9 kB\nMemAvailable:   1000 kB")
    assert available_memory(tmp_path / "meminfo") == 1_024_000
    assert available_memory(tmp_path / "none") is None
    (tmp_path / "12" / "task" / "12").mkdir(parents=True)
    (tmp_path / "12" / "task" / "13").mkdir()
    (tmp_path / "14").mkdir()
    assert processes_of(os.geteuid(), tmp_path) == 2, "threads count, and what is just going does not"
    assert processes_of(os.geteuid() + 1, tmp_path) is None


def test_the_percentiles_are_measured_times() -> None:
    assert Distribution.of([7]) == (1, 7, 7, 7, 7)
    assert Distribution.of(range(1000, 0, -1)) == (1000, 500, 990, 999, 1000)
    assert Distribution.of([1, 2, 3]) == (3, 2, 3, 3, 3)


def test_the_number_of_descriptors_that_is_enough() -> None:
    """`tests/processes/test_measuring.py` tries it."""
    assert finding(on(files=ResourceLimit(64, 64)), "files").meaning == "enough for 8 games at a time"


def test_a_landlock_that_does_not_confine_signals_is_told() -> None:
    assert finding(on(landlock_abi=5), "signals").level is Severity.WARNING
    assert not [found for found in diagnose(on(landlock_abi=6)).findings if found.about == "signals"]
