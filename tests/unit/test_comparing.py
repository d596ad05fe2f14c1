"""How machines of a cluster compare, for made-up figures, and what is taken from their reports."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from referee.cli.doctor import json_of
from referee.cli.machines import data_of, page_of
from referee.cluster.comparing import MeasuredMachine, UnmeasuredMachine, clock_percent, compare, read_report
from referee.core.errors import EnvironmentLacksError
from referee.machine.calibration import Rates, Speed
from referee.machine.doctor import Finding, Severity, diagnose
from tests.command import referee
from tests.unit.test_doctor import FIGURES


def reported(**changes: Any) -> Any:
    """What `doctor --json` prints on the good machine of the tests of `doctor`."""
    figures = FIGURES._replace(**changes)
    return json.loads(json_of(figures, diagnose(figures)))


DESK = read_report("10.0.0.1", 4, reported())


def machine(
    address: str, native: int = 14_000, python: int | None = None, share: int = 99, **more: Any
) -> MeasuredMachine:
    """A machine like the good one, at another speed; Python is as much slower or faster as compiled code."""
    rates = Rates(native, 6 * native if python is None else python, share)
    return DESK._replace(address=address, speed=Speed(rates, rates), **more)


def warned(*machines: MeasuredMachine) -> dict[str, Finding]:
    """The warnings by what they are about; with the good machine as the first."""
    found = compare([machine("first"), *machines], DESK.referee)
    return {finding.about: finding for finding in found if finding.level is not Severity.FINE}


def test_a_report_is_read_as_it_was_measured() -> None:
    assert (DESK.label, DESK.cpu, DESK.python) == ("desk (10.0.0.1)", "Model 7", "CPython 3.11.7")
    assert (DESK.cores, DESK.slots, DESK.slow_us, DESK.speed) == (8, 4, 500, FIGURES.speed)
    assert DESK.isolation == ("basic", "landlock", "bwrap") and DESK.pinning and DESK.can_play
    assert not DESK.warnings
    poor = read_report(
        "b", 1, reported(moves=None, speed=None, lack="none", isolation={"basic": "", "bwrap": "no"})
    )
    assert (poor.slow_us, poor.speed, poor.isolation, poor.can_play) == (None, None, ("basic",), False)
    assert [(one.about, one.level) for one in poor.warnings] == [
        ("bots", Severity.LACK),
        ("bwrap", Severity.WARNING),
    ]


def test_what_doctor_warns_of_is_kept_but_for_the_disk_where_no_records_are_written() -> None:
    report = reported(disk=FIGURES.disk._replace(sync=None), busy_percent=800)
    assert [found["about"] for found in report["findings"] if found["level"] == "warning"] == ["load", "disk"]
    assert [finding.about for finding in read_report("a", 1, report).warnings] == ["load"]


@pytest.mark.parametrize(
    "change",
    [
        {"figures": None},
        {"referee": 1},
        {"can_run": "yes"},
        {"findings": [{"level": "warning", "about": "x"}]},
        {"findings": [1]},
        {"figures": {**reported()["figures"], "speed": {"alone": {}, "together": {}}}},
        {"figures": {**reported()["figures"], "moves": 3}},
    ],
)
def test_a_report_of_another_form_is_one_line(change: dict[str, Any]) -> None:
    with pytest.raises(EnvironmentLacksError, match="expected"):
        read_report("a", 1, {**reported(), **change})
    with pytest.raises(EnvironmentLacksError, match="expected an object"):
        read_report("a", 1, [])


def test_texts_of_other_machines_are_escaped() -> None:
    hostile = "\x1b[31mred\n" + "x" * 5000
    report = reported(machine=FIGURES.machine._replace(name=hostile, cpu=hostile, python=hostile))
    report["referee"] = hostile
    read = read_report("a", 1, report)
    for text in (read.name, read.cpu, read.python, read.referee):
        assert text.isprintable() and len(text) < 1100


def test_machines_that_are_alike_have_no_warnings() -> None:
    assert warned(machine("b", native=11_200), machine("c", native=13_000)) == {}
    (speed,) = compare([machine("a"), machine("b", native=11_200)], DESK.referee)
    assert speed.level is Severity.FINE and "80 % of the speed" in speed.measured
    assert compare([machine("a")], DESK.referee) == ()


def test_a_machine_that_is_slower_by_more_than_a_fifth_is_named() -> None:
    found = warned(machine("b", native=11_059), machine("c", native=7000), machine("d"))["speed"]
    assert found.measured == ("of the speed of `desk (first)`, `desk (b)` has 79 % and `desk (c)` has 50 %")
    assert "`scale_clocks = true`" in found.advice


def test_a_machine_without_a_speed_is_not_compared() -> None:
    assert warned(machine("b")._replace(speed=None)) == {}


def test_of_many_slow_machines_some_are_named() -> None:
    found = warned(*(machine(f"m{n}", native=100) for n in range(100)))["speed"]
    assert "`desk (m7)` has 1 % and 92 others" in found.measured and "m8" not in found.measured


def test_other_versions_of_the_referee_would_be_refused() -> None:
    found = warned(machine("b", referee="0.0.9"))["referee"]
    assert "`desk (b)` has 0.0.9" in found.measured and "refused" in found.meaning


def test_pythons_are_compared_with_their_like_only() -> None:
    other = warned(machine("b", python=30_000)._replace(python="CPython 3.13.1"))
    assert list(other) == ["python"] and "CPython 3.13.1 on `desk (b)`" in other["python"].measured
    slow = warned(machine("b", native=7000, python=25_000))["python"]
    assert "is slower on `desk (b)`" in slow.measured
    assert "python" not in warned(machine("b", native=7000, python=26_000))


def test_machines_without_free_cores_are_named() -> None:
    assert list(warned(machine("b", share=89), machine("c", share=90))) == ["load"]
    assert "89 % of a core on `desk (b)`" in warned(machine("b", share=89))["load"].measured


def test_unlike_isolation_and_pinning_are_named() -> None:
    found = warned(machine("b", isolation=("basic", "landlock")), machine("c", isolation=(), pinning=False))
    assert (
        found["isolation"].measured
        == "`bwrap` on `desk (first)`; `landlock` on `desk (b)`; `none` on `desk (c)`"
    )
    assert "on `desk (c)`" in found["pinning"].measured
    none = machine("a", pinning=False)
    assert compare([none, none._replace(address="b")], DESK.referee)[1:] == ()


@pytest.mark.parametrize(
    ("reference", "speed", "percent"),
    [(100, 100, 100), (105, 100, 100), (106, 100, 106), (100, 105, 100), (100, 107, 93), (100, 50, 200)]
    + [(400, 100, 400), (50, 100, 50)],
)
def test_a_slower_machine_gets_longer_clocks(reference: int, speed: int, percent: int) -> None:
    assert clock_percent(reference, speed) == percent


@pytest.mark.parametrize(
    ("reference", "speed", "percent"), [(401, 100, 401), (49, 100, 49), (100, 0, 10_000)]
)
def test_a_machine_that_is_too_unlike_is_refused(reference: int, speed: int, percent: int) -> None:
    with pytest.raises(EnvironmentLacksError, match=f"{percent} % .* expected 50 to 400 %$"):
        clock_percent(reference, speed)


def test_the_page_has_the_machines_then_what_differs_then_their_warnings() -> None:
    warning = Finding("cores", Severity.WARNING, "2 available", "too few", "`workers = 1`")
    slow = machine("b", native=7000, slow_us=None, warnings=(warning,))
    every: list[MeasuredMachine | UnmeasuredMachine] = [
        machine("a"),
        slow,
        UnmeasuredMachine("10.0.0.9", 2, "it does not answer"),
    ]
    findings = compare(every, DESK.referee)
    page = page_of(every, findings)
    lines = page.splitlines()
    assert "100 %" in lines[2] and "500 µs" in lines[2] and "basic, landlock and bwrap" in lines[2]
    assert "50 %" in lines[3] and "?" in lines[3]
    assert (
        page.index("!  missing  `10.0.0.9`") < page.index("!  speed") < page.index("desk (b):\n\n!  cores  2")
    )
    assert "desk (a):" not in page
    data = json.loads(data_of(every, {"a": reported(), "b": None, "10.0.0.9": None}, findings))
    assert [one["speed_percent"] for one in data["machines"]] == [100, 50, None]
    assert [one["failure"] for one in data["machines"]] == ["", "", "it does not answer"]
    assert data["machines"][0]["report"] == reported()
    assert [found["about"] for found in data["findings"]] == ["missing", "speed"]


def test_of_a_cluster_the_workers_are_not_set() -> None:
    done = referee("doctor", "--cluster", "local:1", "--workers", "1")
    assert done.code == 2 and done.out == "" and "expected only one of them" in done.err


def test_without_dask_a_cluster_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = referee("doctor", "--cluster", "local:1")
    assert (done.code, done.out) == (5, "")
    assert done.err == (
        "referee: playing on a cluster requires the package `distributed`, which "
        "`pip install -e '.[cluster]'` installs in a checkout\n"
    )
