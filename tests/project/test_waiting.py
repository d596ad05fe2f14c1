"""Tests wait for events and relations, never for a number of seconds: a machine may stand still at any
moment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import waiting
from tests.command import ROOT

TESTS = ROOT / "tests"

INSTEAD = (
    "a machine may stand still for any number of seconds: wait for an event or a relation with "
    "`tests.waiting.eventually`, and bound what waits by itself with `tests.waiting.TOO_LONG_S`"
)

OUTSIDE = ("bots", "bench", "waiting.py")
"""What may: bots, benchmarks, and the functions that are to be used instead."""

EXCEPTIONS = {
    **dict.fromkeys(
        (f"processes/test_{name}.py" for name in ("catalogue", "processes", "time")),
        "compares its own readings of the clock with those of the referee and of bots",
    ),
    "tools/attacks.py": "an attack that keeps the referee from ending counts as one that hangs it",
    "tools/chaos.py": "disturbs runs at random moments",
    "tools/fault_soak.py": "prints how long it took",
    "tools/signal_moments.py": "sends signals at moments that are spread over the life of a command",
    "tools/soak.py": "prints how long it took",
    "tools/synthetic.py": "prints how long it took",
}
"""Files that may do so all the same, and why."""

SLEEPS = {"time.sleep", "sleep"}

DATES = {"time.time", "time.time_ns"}

CLOCKS = {f"time.{name}{unit}" for name in ("monotonic", "perf_counter") for unit in ("", "_ns")}

BOUNDED = {"wait", "join", "communicate", "get", "result", "select", "poll", "settimeout", "ended_after"}
"""What waits for no longer than its first argument, or an argument called `timeout`."""


def waits(source: str) -> list[str]:
    """The places in a program that depend on a number of seconds: their lines, and what is there."""
    found = {(node.lineno, ast.unparse(node)) for node in _waits(ast.parse(source))}
    return [f"line {line}: {what}" for line, what in sorted(found)]


def _waits(tree: ast.AST) -> Iterator[ast.Call | ast.ImportFrom]:
    for node in ast.walk(tree):
        match node:
            case ast.Call() if _name(node.func) in SLEEPS | CLOCKS or _has_bound(node):
                yield node
            case ast.Compare():  # what day it is may be asked, but not compared
                calls = (below for below in ast.walk(node) if isinstance(below, ast.Call))
                yield from (call for call in calls if _name(call.func) in DATES)
            case ast.ImportFrom(module="time"):
                yield node


def _name(function: ast.expr) -> str:
    """What is called: a name, or a name of a module; for all else the last of its names."""
    match function:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(module), name):
            return f"{module}.{name}"
        case ast.Attribute(_, name):
            return f".{name}"
    return ""


def _has_bound(call: ast.Call) -> bool:
    """Whether a call waits for no longer than a number that it is given."""
    bounds = [word.value for word in call.keywords if word.arg == "timeout"]
    if _name(call.func).rpartition(".")[2] in BOUNDED:
        bounds += call.args[:1]
    return any(isinstance(bound, ast.Constant) and type(bound.value) in (int, float) for bound in bounds)


def files() -> list[Path]:
    """The files of tests and of what helps them."""
    named = [(path.relative_to(TESTS), path) for path in sorted(TESTS.rglob("*.py"))]
    return [path for name, path in named if name.parts[0] not in OUTSIDE and str(name) not in EXCEPTIONS]


@pytest.mark.slow
def test_no_test_waits_for_a_number_of_seconds() -> None:
    found = {str(path.relative_to(ROOT)): waits(path.read_text()) for path in files()}
    lines = [f"{name}, {wait}" for name, places in found.items() for wait in places]
    assert not lines, f"{INSTEAD}:\n" + "\n".join(lines)


@pytest.mark.slow
def test_every_exception_is_one() -> None:
    assert [name for name in EXCEPTIONS if not waits((TESTS / name).read_text())] == []


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(0.3)",
        "time.sleep(pause)",
        "process.wait(5)",
        "process.wait(timeout=5)",
        "thread.join(1.5)",
        "process.communicate(b'x', timeout=60)",
        "subprocess.run(words, timeout=60)",
        "expect(page).to_have_count(3, timeout=20_000)",
        "pexpect.spawn('sh', timeout=30)",
        "connection.settimeout(1)",
        "with ended_after(20): pass",
        "assert time.monotonic() - before < 20",
        "deadline_ns = time.monotonic_ns() + 5",
        "assert time.time() < before + 5",
        "from time import perf_counter",
    ],
)
def test_such_a_line_is_refused(line: str) -> None:
    assert len(waits(f"import time\n{line}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "process.wait()",
        "process.communicate(timeout=TOO_LONG_S)",
        "eventually(process.exit_status)",
        "bot = 'import time; time.sleep(60)'",
        "', '.join(words)",
        "found.get('name', 0)",
        "monkeypatch.setattr('referee.x.time.monotonic', lambda: now)",
        "time.process_time_ns()",
        "os.utime(path, (time.time() - KEPT_S, 0))",
    ],
)
def test_such_a_line_is_fine(line: str) -> None:
    assert waits(f"import time\n{line}\n") == []


def test_what_does_not_come_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TOO_LONG_S", 0.0)
    answers = iter([0, 0, 7])
    with pytest.raises(AssertionError, match="still 0 after 0 s"):
        waiting.eventually(lambda: next(answers))
    assert waiting.eventually(lambda: 7) == 7
