"""Changes of the project in a copy, and whether a test fails for them."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.command import ROOT
from tests.waiting import TOO_LONG_S

CPU_S = 120
"""The processor time that a test run may take in one process; an endless loop takes more."""

NEVER_ENDS = "(a test never ends)"
"""What is said in the place of a failed test where a change makes one hang, which nobody overlooks."""


@cache
def parsed(source: str) -> ast.Module:
    """What a module consists of; many changes are made in one."""
    return ast.parse(source)


def text_of(source: str, node: ast.expr | ast.stmt) -> str:
    """What stands in the source for this node."""
    begin, end = _span(source, node)
    return source.encode()[begin:end].decode()


def spliced(source: str, node: ast.expr | ast.stmt, by: str) -> str:
    """The source with another text in the place of this node."""
    begin, end = _span(source, node)
    data = source.encode()
    return (data[:begin] + by.encode() + data[end:]).decode()


def _span(source: str, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """The first byte of a node, and the one after its last."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    starts = _line_starts(source)
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


@cache
def _line_starts(source: str) -> list[int]:
    """The byte at which each line begins."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


@contextmanager
def project_copy() -> Iterator[Path]:
    """A copy of the project, in which it may be changed."""
    with tempfile.TemporaryDirectory(prefix="referee-changes-") as folder:
        copy = Path(folder, "project")
        ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "*-results")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=ignored)
        yield copy


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """Another text in a file of a copy, for a while."""
    before = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)


def first_failure(copy: Path, tests: Sequence[str]) -> str:
    """The first test that fails in a copy of the project, empty where all pass. `tests`: what pytest is told.

    Raises `ValueError` where there are no such tests.
    """
    base = f"--basetemp={copy.with_name('pytest')}"  # it is removed with the copy
    pytest = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", base]
    pytest += tests
    try:
        done = subprocess.run(
            ["sh", "-c", f'ulimit -t {CPU_S}; exec "$@"', "sh", *pytest],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=TOO_LONG_S,
        )
    except subprocess.TimeoutExpired:
        return NEVER_ENDS
    if done.returncode < 0:
        return NEVER_ENDS
    if done.returncode == 5 or "file or directory not found" in done.stderr:
        raise ValueError(f"pytest finds nothing to run in `{' '.join(tests)}`")
    lines = (line.split() for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next((line[1] for line in lines), f"(pytest ends with {done.returncode})" * bool(done.returncode))
