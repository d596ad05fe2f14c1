"""Which slow tests run for a commit, and the page of promises."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import commit, tiers
from tests.command import ROOT
from tests.imports import files_used_by
from tests.programs import path_of
from tests.tiers import Case, due, using
from tests.tools import promises

TESTS = [Case(f"tests/unit/test_{file}.py::test_it[{n}]", True, 1.0) for file in "ab" for n in range(50)]
CHANGED = {ROOT / "tests" / "unit" / "test_b.py"}


def test_those_that_use_what_was_changed_come_first() -> None:
    chosen = due(TESTS, CHANGED, "c0ffee", 60)
    assert len(chosen.names) == 60 and not chosen.left_out
    assert sum("test_b" in name for name in chosen.names) == 50


def test_those_for_which_there_is_no_time_are_named() -> None:
    long = Case("tests/unit/test_b.py::test_long", True, 11.0)
    chosen = due([*TESTS[50:60], long], CHANGED, "c0ffee", 10)
    every = {test.name for test in TESTS[50:60]} | {long.name}
    assert long.name in chosen.left_out and set(chosen.left_out) == every - chosen.names
    assert not due(TESTS, set(), "c0ffee", 10).left_out


def test_the_same_commit_has_the_same_tests_and_all_commits_together_have_all() -> None:
    runs = [due(TESTS, set(), f"commit {n}", 20) for n in range(50)]
    assert runs[0] == due(TESTS[::-1], set(), "commit 0", 20) != runs[1]
    assert set().union(*(run.names for run in runs)) == {test.name for test in TESTS}
    assert due(TESTS, set(), "", 20).names, "also where the commit is not known"


def test_a_test_uses_what_it_imports_also_by_way_of_other_tests() -> None:
    test = ROOT / "tests" / "unit" / "test_clock.py"
    used = files_used_by(test)
    assert {test, ROOT / "referee" / "gameplay" / "clock.py"} <= used
    helper = ROOT / "tests" / "unit" / "scripted.py"
    by_helper = files_used_by(helper)
    match = ROOT / "tests" / "unit" / "test_match.py"
    assert helper in files_used_by(match) and by_helper <= files_used_by(match)
    assert using(
        {ROOT / "protocol" / "messages.py"}, {test, ROOT / "tests" / "unit" / "test_messages.py"}
    ) == {ROOT / "tests" / "unit" / "test_messages.py"}


def test_a_test_uses_the_modules_that_it_is_called_like() -> None:
    """The machines of a cluster run what no test imports."""
    games, clock = (
        ROOT / "tests" / "processes" / "test_cluster_games.py",
        ROOT / "tests" / "unit" / "test_clock.py",
    )
    assert using({ROOT / "referee" / "cluster" / "host.py"}, {games, clock}) == {games}


def test_a_test_uses_the_pages_that_it_names() -> None:
    docs, clock = ROOT / "tests" / "processes" / "test_docs.py", ROOT / "tests" / "unit" / "test_clock.py"
    assert using({ROOT / "referee" / "docs" / "CLUSTER.md"}, {docs, clock}) == {docs}


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., None]:
    def run(*words: str, folder: Path = tmp_path / "first") -> None:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)

    path_of("git")
    (tmp_path / "first").mkdir()
    run("init", "-q", "-b", "main")
    return run


def test_what_a_commit_changed(git: Callable[..., None], tmp_path: Path) -> None:
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "third"

    def names(folder: Path) -> set[str]:
        return {file.name for file in commit.changed_files(folder)}

    for name in ("one", "two", "three"):
        (first / name).touch()
        git("add", ".")
        git("commit", "-q", "-m", name)
    assert names(first) == {"three"} and re.fullmatch(r"[0-9a-f]{40,}", commit.name_of(first))
    (first / "one").write_text("changed")
    (first / "new").touch()
    assert names(first) == {"one", "three", "new"}

    git("clone", "-q", f"file://{first}", str(second))
    assert names(second) == {"three"}, "on the main branch"
    git("checkout", "-q", "-b", "branch", folder=second)
    for name in ("four", "five"):
        (second / name).touch()
        git("add", ".", folder=second)
        git("commit", "-q", "-m", name, folder=second)
    assert names(second) == {"four", "five"}, "since it left the main branch"

    git("clone", "-q", "--depth", "1", f"file://{first}", str(third))
    assert names(third) == set() and commit.name_of(third) == commit.name_of(first)


def test_without_git_or_a_repository_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert (commit.name_of(tmp_path), commit.changed_files(tmp_path)) == ("", set())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (commit.name_of(), commit.changed_files()) == ("", set())


SLOW_TESTS = """
import pytest

@pytest.mark.slow
@pytest.mark.promise("PAGE", "It holds.", case="b")
@pytest.mark.parametrize("case", ["a", "b"])
def test_cases(case): ...

@pytest.mark.slow(seconds=2)
@pytest.mark.promise("PAGE", "So does this.")
def test_one(): ...

@pytest.mark.slow
def test_other(): ...

@pytest.mark.promise("PAGE", "It is quick.")
def test_quick(): ...
"""


def test_slow_tests_with_a_promise_run_always(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.tiers"]')
    pytester.makepyfile(SLOW_TESTS)
    _, done = pytester.inline_genitems("-m", "always")
    session = done.getcalls("pytest_collection_finish")[0].session
    assert [item.name for item in session.items] == ["test_cases[b]", "test_one"]
    tests = [tiers.case_of(item) for item in session.config.stash[tiers.COLLECTED]]
    assert [test.seconds for test in tests] == [tiers.USUAL_S, tiers.USUAL_S, 2, tiers.USUAL_S, 0]
    made = promises.page(tests)
    file = "test_slow_tests_with_a_promise_run_always.py"
    assert f"| It is quick. | `{file}::test_quick` |" in made and f"- `{file}::test_other`\n" in made
    assert f"| It holds. | `{file}::test_cases[b]` |" in made and f"- `{file}::test_cases`\n" in made


def test_a_slow_test_that_is_named_runs(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.tiers"]')
    pytester.makeini("[pytest]\naddopts = -m 'not slow'")
    file = pytester.makepyfile(SLOW_TESTS).name
    for words, names in ((file, ["test_quick"]), (f"{file}::test_other", ["test_other"])):
        _, done = pytester.inline_genitems(words)
        session = done.getcalls("pytest_collection_finish")[0].session
        assert [item.name for item in session.items] == names


@pytest.fixture
def every_test(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """All tests. Those that are slow are collected only if some of them run."""
    if request.config.args != request.config.getini("testpaths"):
        pytest.skip("needs all tests to be collected")
    return request.config.stash[tiers.COLLECTED]


@pytest.mark.promise("CONTRIBUTING", "The page of promises is made from the marks of the tests.")
@pytest.mark.slow
def test_the_page_of_promises_is_up_to_date(every_test: list[pytest.Item]) -> None:
    made = promises.page(map(tiers.case_of, every_test))
    assert made == promises.PAGE.read_text(), "python -m tests.tools.promises --write"


@pytest.mark.promise("CONTRIBUTING", "Each promise has a test.")
@pytest.mark.slow
def test_every_promise_is_shown_by_a_case_that_there_is(every_test: list[pytest.Item]) -> None:
    made = {(mark.args[0], mark.args[1]) for item in every_test for mark in item.iter_markers("promise")}
    assert made == {promise for item in every_test for promise in tiers.case_of(item).promises}


def test_all_but_the_first_cases_of_a_test_are_slow(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.quick_cases(2)
        @pytest.mark.parametrize("case", "abcd")
        def test_it(case): pass
        """
    )
    items, _ = pytester.inline_genitems()
    tiers.mark_slow_cases(items)
    assert [item.name[-2] for item in items if item.get_closest_marker("slow")] == ["c", "d"]
