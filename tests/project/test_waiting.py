"""Tests wait for events and relations, never for a number of seconds: a machine may stand still at any
moment.
"""

from __future__ import annotations

import ast

import pytest

from tests import waiting
from tests.command import ROOT

TESTS = ROOT / "tests"

INSTEAD = (
    "a machine may stand still for any number of seconds: wait for an event or a relation with "
    "`tests.waiting.eventually`, and bound what waits by itself with `tests.waiting.TOO_LONG_S`"
)

CLOCKED = (
    *(f"processes/test_{name}.py" for name in ("catalogue", "processes", "time")),
    "unit/person/test_person.py",
    "unit/wire/test_process_wire.py",
)
"""They compare their own readings of the clock with those of the referee and of bots."""

MAY = ("bots", "bench", "tools", "waiting.py", *CLOCKED)
"""Besides these bots, what measures or disturbs, and the functions that are to be used instead."""

CLOCKS = {"time.sleep", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"}

BOUNDED = {"wait", "join", "communicate", "get", "result", "select", "poll", "settimeout"}
"""Methods that wait for no longer than their first argument, or one called `timeout`."""


def waits(source: str) -> list[str]:
    """The calls in a program that depend on a number of seconds."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [ast.unparse(call) for call in calls if ast.unparse(call.func) in CLOCKS or _has_bound(call)]


def _has_bound(call: ast.Call) -> bool:
    bounds = [word.value for word in call.keywords if word.arg == "timeout"]
    if isinstance(call.func, ast.Attribute) and call.func.attr in BOUNDED:
        bounds += call.args[:1]
    return any(isinstance(bound, ast.Constant) and type(bound.value) in (int, float) for bound in bounds)


@pytest.mark.slow
def test_no_test_waits_for_a_number_of_seconds() -> None:
    paths = {str(path.relative_to(TESTS)): path for path in sorted(TESTS.rglob("*.py"))}
    found = {name: waits(path.read_text()) for name, path in paths.items() if not name.startswith(MAY)}
    assert {name: calls for name, calls in found.items() if calls} == {}, INSTEAD


def test_what_waits_is_found() -> None:
    refused = "time.sleep(x)", "process.wait(5)", "subprocess.run(words, timeout=60)", "time.monotonic() - a"
    fine = "process.wait()", "process.communicate(timeout=TOO_LONG_S)", "', '.join(words)", "time.time()"
    assert [len(waits(line)) for line in (*refused, *fine)] == [1] * 4 + [0] * 4


def test_what_does_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TOO_LONG_S", 0.0)
    answers = iter([0, 0, 7])
    with pytest.raises(AssertionError, match="still 0 after 0 s"):
        waiting.eventually(lambda: next(answers))
    assert waiting.eventually(lambda: 7) == 7
