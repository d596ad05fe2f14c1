"""The guards that are marked in the code are those of the tool that switches them off."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.command import ROOT
from tests.tools.changes import parsed
from tests.tools.guards import GUARDS, Guard, dropped, markers, never, reaches, valued, without


def test_every_marker_has_a_guard_and_every_guard_a_marker() -> None:
    assert Counter(name for name, _, _ in markers()) == Counter(guard.name for guard in GUARDS)


@pytest.mark.slow
def test_without_a_guard_the_code_is_another_and_compiles() -> None:
    places = {name: (path, line) for name, path, line in markers()}
    for guard in GUARDS:
        path, line = places[guard.name]
        source = path.read_text()
        if path.suffix == ".c":
            assert without(guard, source, line) != source, guard.name
            continue
        before, after = source.split("\n"), without(guard, source, line).split("\n")
        (outer,) = (node for node in parsed(source).body if reaches(node, line))
        first, last = outer.lineno - 1, outer.end_lineno or 0
        there = ast.parse("\n".join(before[first:last]))
        changed = ast.parse("\n".join(after[first : last + len(after) - len(before)]))
        assert ast.dump(changed) != ast.dump(there), guard.name
        assert (after[:first], after[len(after) - len(before) + last :]) == (before[:first], before[last:])
        compile(changed, path.name, "exec")


def test_the_tests_of_a_guard_are_there() -> None:
    files = {file for guard in GUARDS for file in guard.tests.partition(" -k ")[0].split()}
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []


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
