"""What CI lets pass: which tests may be skipped or left out, and what `.ci/versions` can be asked for."""

from __future__ import annotations

import subprocess

import pytest

from tests.command import ROOT

SKIPPED = """
import pytest

def test_of_programs():
    pytest.skip("needs `cc`")

@pytest.mark.skipif(True, reason="only root may do it")
def test_of_users():
    pass
"""


@pytest.mark.parametrize(("allowed", "code"), [("only root *", 1), ("only root *\nneeds `cc`", 0)])
def test_a_test_that_is_skipped_for_a_reason_on_no_list_fails_the_run(
    allowed: str, code: int, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(SKIPPED)
    pytester.makefile(".txt", allowed=f"# needs *\n{allowed}\n")
    done = pytester.runpytest_inprocess(
        "-p", "tests.skips", "-p", "no:xdist", "--allowed-skips", "allowed.txt"
    )
    assert done.ret == code
    done.stdout.fnmatch_lines(["1 skipped: only root may do it"])
    of_programs = "1 skipped: needs `cc`" if code == 0 else "1 skipped (not allowed here): needs `cc`"
    done.stdout.fnmatch_lines([of_programs])


def test_a_module_that_is_skipped_as_a_whole_counts(pytester: pytest.Pytester) -> None:
    pytester.makepyfile('import pytest\n\npytest.importorskip("no_such_package")\n\ndef test_it(): pass\n')
    pytester.makefile(".txt", allowed="")
    done = pytester.runpytest_inprocess(
        "-p", "tests.skips", "-p", "no:xdist", "--allowed-skips", "allowed.txt"
    )
    done.stdout.fnmatch_lines(["1 skipped (not allowed here): could not import 'no_such_package'*"])
    assert done.ret != 0


TWO_RUNS = """
import pathlib
import pytest

again = pathlib.Path("again").exists()

def test_passes(): assert not again

def test_passes_in_the_end(): assert again

def test_is_skipped_at_first():
    if not again:
        pytest.skip("needs `cc`")

@pytest.fixture
def leaves(): yield; assert again

def test_leaves_something(leaves): pass
"""


@pytest.mark.slow
def test_what_passed_without_bots_is_not_run_again_and_this_is_told(pytester: pytest.Pytester) -> None:
    for folder in ("unit", "processes"):
        (pytester.path / "tests" / folder).mkdir(parents=True)
        (pytester.path / "tests" / folder / f"test_{folder}.py").write_text(TWO_RUNS)
    words = (
        "-p",
        "tests.skips",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "--once",
        str(pytester.path / "passed"),
    )
    first = pytester.runpytest_inprocess(*words)
    first.assert_outcomes(passed=4, failed=2, skipped=2, errors=2)
    assert "left out" not in first.stdout.str()
    (pytester.path / "again").touch()
    second = pytester.runpytest_inprocess(*words)
    second.assert_outcomes(passed=6, failed=1)  # of processes
    second.stdout.fnmatch_lines(["1 left out: they passed before, and start no bots"])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("3.99", "`3.99` cannot be tested here, without Python 3.99"),
        ("lowst", "`lowst` is not a kind, expected 3.11, 3.12 and so on, lowest, minimal, ordinary or turn"),
    ],
)
def test_what_cannot_be_tested_is_an_error(kind: str, said: str) -> None:
    done = subprocess.run(["sh", ROOT / ".ci" / "versions", kind], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f".ci/versions: {said}\n")
