"""Whether the tests guard the guards: `python -m tests.tools.guards [--list] [NAME ...]`.

A comment `# guard: NAME` in the code marks each guard of the referee against its bots. Each is switched off
in a copy of the project, in the way that the table here says, and a test has to fail for it. Prints which;
ends with an error where a guard can be taken away unseen.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from tests.command import ROOT

HANGS_S = 90
"""Without some guards a test never ends, which nobody overlooks either."""

MARKER = re.compile(r"  # guard: ([a-z-]+)$")


class Part(Enum):
    """What of the marked line is replaced: the innermost that begins on it or reaches over it."""

    STATEMENT = "statement"
    CONDITION = "condition"
    """Of an `if`, a `while` or a comprehension."""
    VALUE = "value"
    """What is assigned, returned or looped over, or one of several values that stand in brackets."""


class Guard(NamedTuple):
    """A marked line, what becomes of it without the guard, and where tests are that should notice."""

    name: str
    part: Part
    by: str
    """What the part is replaced by; `{}` in it is what stood there."""
    tests: str
    """What pytest is told to run."""


def dropped(name: str, tests: str) -> Guard:
    """The statement is left out."""
    return Guard(name, Part.STATEMENT, "pass", tests)


def never(name: str, tests: str) -> Guard:
    """The condition becomes False."""
    return Guard(name, Part.CONDITION, "False", tests)


def always(name: str, tests: str) -> Guard:
    """The condition becomes True."""
    return Guard(name, Part.CONDITION, "True", tests)


def replaced(name: str, by: str, tests: str) -> Guard:
    """Another statement stands there."""
    return Guard(name, Part.STATEMENT, by, tests)


def valued(name: str, by: str, tests: str) -> Guard:
    """Another value stands there."""
    return Guard(name, Part.VALUE, by, tests)


PROCESSES = "tests/processes/test_processes.py"
NEEDS = "tests/unit/test_needs.py"
WARDENS = "tests/processes/test_wardens.py"
STOPWATCH = "tests/unit/test_stopwatch.py"

GUARDS = [
    replaced(
        "deadline",
        "{}; place.watch.deadline_ns = time.monotonic_ns() + 200_000_000",
        f"{PROCESSES} -k deadline",
    ),
    never("deadline-after-rejection", f"{PROCESSES} -k rejection"),
    dropped("last-look", f"{PROCESSES} -k written_in_time"),
    never("bytes-of-a-turn", f"{PROCESSES} -k flood"),
    never("lines-of-a-turn", f"{PROCESSES} -k flood"),
    never("bytes-of-a-line", f"{PROCESSES} tests/unit/test_messages.py -k flood or line"),
    never("lists-of-a-question", "tests/unit/test_sessions.py tests/unit/test_match.py"),
    replaced("group-kill", "os.kill(self._bot, number)", WARDENS),
    dropped("orphans", WARDENS),
    replaced("killed-referee", "return", WARDENS),
    dropped("killed-warden", WARDENS),
    valued("killed-warden-tree", "False", WARDENS),
    valued("killed-launcher", "range(1)", WARDENS),
    never("processes", WARDENS),
    never("memory", WARDENS),
    never("scratch-bytes", f"{WARDENS} -k scratch"),
    never("scratch-files", f"{WARDENS} -k scratch"),
    dropped("limits-of-the-kernel", WARDENS),
    valued("links-of-bots", "False", NEEDS),
    always("named-by-bots", NEEDS),
    valued("escaping", "text[:most]", "tests/processes/test_escaping.py"),
    always("drain-of-stderr", f"{PROCESSES} -k stderr"),
    dropped("off-turn-first", f"{PROCESSES} -k thought"),
    never("death-with-open-output", f"{PROCESSES} -k gone"),
    valued("stamp", "None", STOPWATCH),
    valued("clock-was-set", "0", STOPWATCH),
    valued("stoppages", "0", f"{PROCESSES} -k stop"),
    dropped("garbage", "tests/processes/test_time.py"),
    valued(
        "margin",
        "used_us > self.control.move_us + self.reserve_us",
        "tests/unit/test_match.py tests/unit/test_clock.py",
    ),
    dropped("fresh-after-fault", PROCESSES),
    always("environment", PROCESSES),
]


def markers(root: Path = ROOT) -> Iterator[tuple[str, Path, int]]:
    """The guards that are marked in the code: name, file and line."""
    for path in sorted([*(root / "referee").rglob("*.py"), *(root / "protocol").glob("*.py")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := MARKER.search(line):
                yield found[1], path, number


def without(guard: Guard, source: str, line: int) -> str:
    """The source with the guard switched off that is marked on this line.

    Raises `ValueError` where the line has no such part.
    """
    parts = [part for part in _parts(ast.parse(source), guard.part) if _reaches(part, line)]
    if not parts:
        raise ValueError(f"the line of guard `{guard.name}` has no {guard.part.value}")
    part = min(parts, key=lambda part: len(ast.get_source_segment(source, part) or ""))
    lines = source.encode().splitlines(keepends=True)
    begin = sum(map(len, lines[: part.lineno - 1])) + part.col_offset
    assert part.end_lineno is not None and part.end_col_offset is not None
    end = sum(map(len, lines[: part.end_lineno - 1])) + part.end_col_offset
    data = source.encode()
    there = data[begin:end].decode()
    return (data[:begin] + guard.by.replace("{}", there).encode() + data[end:]).decode()


def _parts(tree: ast.AST, part: Part) -> Iterator[ast.expr | ast.stmt]:
    """All parts of this kind."""
    for node in ast.walk(tree):
        match part, node:
            case Part.STATEMENT, ast.stmt() if not hasattr(node, "body"):
                yield node
            case Part.CONDITION, ast.If() | ast.While() | ast.IfExp():
                yield node.test
            case Part.CONDITION, ast.comprehension():
                yield from node.ifs
            case Part.VALUE, ast.Assign() | ast.AnnAssign() | ast.Return() if node.value:
                yield node.value
            case Part.VALUE, ast.For():
                yield node.iter
            case Part.VALUE, ast.Tuple() | ast.List():
                yield from node.elts
            case _:
                pass


def _reaches(part: ast.expr | ast.stmt, line: int) -> bool:
    return part.lineno <= line <= (part.end_lineno or part.lineno)


def main(names: list[str]) -> None:
    """Switches off those guards whose name begins with one of these, or all."""
    guards = [guard for guard in GUARDS if not names or guard.name.startswith(tuple(names))]
    rows = []
    with tempfile.TemporaryDirectory(prefix="referee-guards-") as folder:
        copy = Path(folder, "project")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "*-results"))
        marked = {name: (path, line) for name, path, line in markers(copy)}
        for guard in guards:
            path, line = marked[guard.name]
            text = path.read_text()
            path.write_text(without(guard, text, line))
            failed = failure(guard, copy)
            path.write_text(text)
            rows.append([guard.name, failed or "NOTHING FAILS"])
            print("." if failed else "!", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(tabulate(rows, ["without", "fails"]))
    if any(failed == "NOTHING FAILS" for _, failed in rows):
        sys.exit(1)


def failure(guard: Guard, copy: Path) -> str:
    """The first test that fails in a copy of the project where a guard is switched off."""
    tests, _, wanted = guard.tests.partition(" -k ")
    choice = ["-k", wanted] if wanted else []
    pytest = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", "-m", ""]
    try:
        done = subprocess.run(
            [*pytest, *tests.split(), *choice],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=HANGS_S,
        )
    except subprocess.TimeoutExpired:
        return "(a test never ends)"
    return next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED")), "")


if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(guard.name for guard in GUARDS))
    else:
        main(sys.argv[1:])
