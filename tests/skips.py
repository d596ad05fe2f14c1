"""Compares the reasons of skipped tests with lists: a plugin of pytest.

With `--allowed-skips FILE`, once or more often, all reasons are printed, with the number of tests, and one
that stands in none of the files fails the run. A file has one reason per line, in which `*` stands for
anything; lines that begin with `#` are comments.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    explanation = "fail if a test is skipped for a reason that is not in the file"
    parser.addoption("--allowed-skips", action="append", default=[], metavar="FILE", help=explanation)


def skips(config: pytest.Config) -> tuple[Counter[str], Counter[str]]:
    """The reasons that are allowed and the others, each with the number of tests or whole modules."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not config.option.allowed_skips or reporter is None:
        return Counter(), Counter()
    lines = [line for name in config.option.allowed_skips for line in Path(name).read_text().splitlines()]
    allowed, others = Counter[str](), Counter[str]()
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        is_allowed = any(fnmatchcase(reason, line) for line in lines if not line.startswith("#"))
        (allowed if is_allowed else others)[reason] += 1
    return allowed, others


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fails the run for a reason that is not allowed."""
    if skips(session.config)[1] and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the reasons."""
    for found, addition in zip(skips(config), ("", " (not allowed here)"), strict=True):
        for reason, tests in sorted(found.items()):
            terminalreporter.write_line(f"{tests} skipped{addition}: {reason}")
