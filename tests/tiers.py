"""Which of the slow tests run for which commit: a plugin of pytest.

A slow test that is marked `promise(page, sentence)` is the one that shows that a sentence of our documents is
true; these tests get the mark `always`. Of the others, as many as fit in `DUE_S` get the mark `due`: first
those that use a file that the commit changed, then the rest, in an order that follows from the hash of the
commit, so that each of them runs for some commits. `pytest -m 'always or due'` runs both.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import commit
from tests.command import ROOT
from tests.imports import files_used_by

DUE_S = 120.0
"""The processor time of the tests that are due, in seconds. What a test takes, its mark `slow` says."""

USUAL_S = 0.6
"""The processor time of a slow test whose mark says nothing of it."""


class Case(NamedTuple):
    """A test, as far as it decides on when it runs."""

    name: str
    """Its file, function and case."""
    slow: bool
    seconds: float
    promises: tuple[tuple[str, str], ...] = ()
    """The sentences that it shows to be true, each with its page."""

    @property
    def file(self) -> Path:
        return ROOT / self.name.partition("::")[0]

    @property
    def function(self) -> str:
        """Its name without the case."""
        return self.name.partition("[")[0]


class Due(NamedTuple):
    """The tests that are due for a commit, and those left out that use what it changed, by name."""

    names: frozenset[str]
    left_out: tuple[str, ...]


def due(tests: Iterable[Case], changed: set[Path], commit: str, room_s: float = DUE_S) -> Due:
    """Chooses among slow tests: those in the files `changed` come first."""

    def turn(test: Case) -> tuple[bool, bytes]:
        return test.file not in changed, hashlib.sha256(f"{commit} {test.name}".encode()).digest()

    chosen, left_out = set(), []
    for test in sorted(tests, key=turn):
        if test.seconds <= room_s:
            room_s -= test.seconds
            chosen.add(test.name)
        elif test.file in changed:
            left_out.append(test.name)
    return Due(frozenset(chosen), tuple(left_out))


def using(files: set[Path], tests: set[Path]) -> set[Path]:
    """The test files that use one of these files: that import it, that name it if it is no module, or that
    are called like it or its package, since what a test does by a command it does not import.
    """
    names = {file.name for file in files if file.suffix != ".py" or "sample_bots" in file.parts}
    words = {word for file in files for word in (*file.stem.split("_"), file.parent.name)} - {"test", "tests"}
    return {
        test
        for test in tests
        if not files.isdisjoint(files_used_by(test))
        or not words.isdisjoint(test.stem.split("_"))
        or any(name in test.read_text() for name in names)
    }


COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests of the session, before any is left out."""

LEFT_OUT = pytest.StashKey[Sequence[str]]()
"""The slow tests that use what the commit changed and for which there is no time."""


def case_of(item: pytest.Item) -> Case:
    """What the marks of a collected test say. With `case`, a promise is that of one case of the test."""
    case = item.callspec.id if hasattr(item, "callspec") else None
    promises = tuple(
        (mark.args[0], mark.args[1])
        for mark in item.iter_markers("promise")
        if mark.kwargs.get("case", case) == case
    )
    slow = list(item.iter_markers("slow"))
    seconds = max((mark.kwargs.get("seconds", USUAL_S) for mark in slow), default=0.0)
    return Case(item.nodeid, bool(slow), seconds, promises)


def mark_slow_cases(items: Iterable[pytest.Item]) -> None:
    """Marks all but the first cases of a test `slow`, as many as its mark `quick_cases(COUNT)` says."""
    cases: Counter[str] = Counter()
    for item in items:
        if quick := item.get_closest_marker("quick_cases"):
            function = item.nodeid.partition("[")[0]
            cases[function] += 1
            if cases[function] > quick.args[0]:
                item.add_marker("slow")


def pytest_configure(config: pytest.Config) -> None:
    """Leaves no slow test out where tests are named one by one."""
    if config.option.markexpr == "not slow" and any("::" in name for name in config.args):
        config.option.markexpr = ""


@pytest.hookimpl(tryfirst=True)  # before `-m` leaves out what does not have its marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that run always, and those that are due if they are asked for."""
    mark_slow_cases(items)
    config.stash[COLLECTED] = list(items)
    tests = [case_of(item) for item in items]
    always = {test.name for test in tests if test.slow and test.promises}
    chosen = Due(frozenset(), ())
    if "due" in config.option.markexpr:
        others = [test for test in tests if test.slow and not test.promises]
        changed = using(commit.changed_files(), {test.file for test in others})
        chosen = due(others, changed, commit.name_of())
    for item in items:
        if item.nodeid in always:
            item.add_marker("always")
        elif item.nodeid in chosen.names:
            item.add_marker("due")
    config.stash[LEFT_OUT] = chosen.left_out
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = chosen.left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes over what a worker of pytest-xdist left out: all of them leave out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Names the files with tests for which there is no time though the commit changed what they use."""
    counted = Counter(name.partition("::")[0] for name in config.stash.get(LEFT_OUT, ()))
    if counted:
        terminalreporter.section("left out, though they use what was changed: `pytest -m slow` runs them")
        for file, tests in sorted(counted.items()):
            terminalreporter.write_line(f"{file} ({tests})")
