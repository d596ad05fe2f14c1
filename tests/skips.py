"""Compares the reasons of skipped tests with lists, and runs no test twice: a plugin of pytest.

With `--allowed-skips FILE`, once or more often, all reasons are printed, with the number of tests, and one
that stands in none of the files fails the run. A file has one reason per line, in which `*` stands for
anything; lines that begin with `#` are comments.

With `--once FILE`, the tests that passed are noted in the file, and those of `unit` and `rules` that stand
in it already are left out: since they start no bots, they do the same with other programs installed.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ALONE = ("tests/unit/", "tests/rules/")
"""Where the quick tests are that start no bots."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    explanation = "fail if a test is skipped for a reason that is not in the file"
    parser.addoption("--allowed-skips", action="append", default=[], metavar="FILE", help=explanation)
    explanation = "leave out tests without bots that passed in an earlier run with the same file"
    parser.addoption("--once", metavar="FILE", help=explanation)


def done_before(config: pytest.Config) -> set[str]:
    """The tests that are left out, by the file of `--once`, which an earlier run made."""
    file = config.option.once
    names = Path(file).read_text().splitlines() if file and Path(file).exists() else []
    return {name for name in names if name.startswith(ALONE)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves tests out that passed before."""
    if before := done_before(config):
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
        items[:] = [item for item in items if item.nodeid not in before]


def note_passed(terminalreporter: pytest.TerminalReporter, file: Path) -> None:
    """Adds what passed, its setup and teardown too, to the file of `--once`."""
    passed, failed, errors = (
        {report.nodeid for report in terminalreporter.stats.get(kind, [])}
        for kind in ("passed", "failed", "error")
    )
    with file.open("a") as opened:
        opened.writelines(f"{name}\n" for name in sorted(passed - failed - errors))


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
    """Prints the reasons, and how many tests are not run again; notes those that passed."""
    if before := done_before(config):
        terminalreporter.write_line(f"{len(before)} left out: they passed before, and start no bots")
    if config.option.once and not hasattr(config, "workerinput"):
        note_passed(terminalreporter, Path(config.option.once))
    for found, addition in zip(skips(config), ("", " (not allowed here)"), strict=True):
        for reason, tests in sorted(found.items()):
            terminalreporter.write_line(f"{tests} skipped{addition}: {reason}")
