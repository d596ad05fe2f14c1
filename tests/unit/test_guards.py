"""The guards that are marked in the code are those of the tool that switches them off."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.command import ROOT
from tests.tools.changes import parsed
from tests.tools.guards import GUARDS, Guard, dropped, markers, never, valued, without


def test_every_marker_has_a_guard_and_every_guard_a_marker() -> None:
    assert Counter(name for name, _, _ in markers()) == Counter(guard.name for guard in GUARDS)


@pytest.fixture(scope="module")
def places() -> dict[str, tuple[Path, int]]:
    """The file and line of each guard."""
    return {name: (path, line) for name, path, line in markers()}


def dumped(module: ast.Module, line: int) -> list[str]:
    """What those statements of a module are made of that reach over a line; the others stay as they are."""
    return [ast.dump(node) for node in module.body if node.lineno <= line <= (node.end_lineno or 0)]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_a_guard_the_code_is_another_and_compiles(
    guard: Guard, places: dict[str, tuple[Path, int]]
) -> None:
    path, line = places[guard.name]
    source = path.read_text()
    after = ast.parse(without(guard, source, line))
    assert dumped(after, line) != dumped(parsed(source), line) != []
    compile(after, path.name, "exec")
    files = guard.tests.partition(" -k ")[0].split()
    assert all((ROOT / file).exists() for file in files)


CODE = """
def f(é, b):
    if é and (  # guard: condition
        b > 3
    ):
        g(é)  # guard: statement
    else:
        x = [
            1,
            é,  # guard: value
        ]
    return [y for y in x if y]  # guard: filter
"""


@pytest.mark.parametrize(
    ("guard", "line", "there", "gone"),
    [
        (never("condition", ""), 3, "é and (  # guard: condition\n        b > 3\n    )", "False"),
        (dropped("statement", ""), 6, "g(é)", "pass"),
        (valued("value", "2", ""), 10, "é,  #", "2,  #"),
        (never("filter", ""), 12, "if y]", "if False]"),
    ],
)
def test_the_innermost_part_of_the_line_is_replaced(guard: Guard, line: int, there: str, gone: str) -> None:
    assert without(guard, CODE, line) == CODE.replace(there, gone)


def test_a_line_without_such_a_part_is_an_error() -> None:
    with pytest.raises(ValueError, match="guard `x` has no condition"):
        without(never("x", ""), CODE, 6)
