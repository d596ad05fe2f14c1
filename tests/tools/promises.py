"""Which test shows that which promise of the documents is kept: `python -m tests.tools.promises [--write]`.

Prints the page `tests/PROMISES.md` as it follows from the marks of the tests; `--write` replaces it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable

import pytest

from tests import tiers
from tests.command import ROOT
from tests.tiers import Case
from tests.tools.guards import GUARDS
from tests.tools.made_pages import print_or_write

PAGE = ROOT / "tests" / "PROMISES.md"

HEAD = """\
# What the tests promise

`python -m tests.tools.promises --write` makes this page from the marks of the tests; do not edit it.

`.ci/run` runs all quick tests and each test in the tables of this page. Of the other slow tests, it runs \
those that use what the commit changed and a choice that follows from the commit's hash, as far as they fit \
in {seconds:.0f} seconds of processor time. `.ci/run --all` runs all tests.
"""

GUARDS_HEAD = """\
## The guards against hostile bots

Without the guard, one of these tests fails; `python -m tests.tools.guards` tries it, with the quick tests \
and those that always run.
"""

REST_HEAD = """\
## Slow tests that run in turn

These are further cases of what the tables above and the quick tests show.
"""


def page(tests: Iterable[Case]) -> str:
    """The page as it follows from these tests."""
    tests = list(tests)
    promises = sorted({(*promise, test.name) for test in tests for promise in test.promises})
    lines = [HEAD.format(seconds=tiers.DUE_S)]
    for document in dict.fromkeys(document for document, _, _ in promises):
        rows = [(sentence, name) for found, sentence, name in promises if found == document]
        lines += [f"## {document}\n", *_table("promise", rows), ""]
    lines += [GUARDS_HEAD, *_table("guard", [(guard.name, guard.tests) for guard in GUARDS]), "", REST_HEAD]
    rest = sorted({test.function for test in tests if test.slow and not test.promises})
    return "\n".join([*lines, *(f"- `{name}`" for name in rest)]) + "\n"


def _table(head: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"| {head} | test |", "|---|---|", *(f"| {first} | `{second}` |" for first, second in rows)]


class _Collection:
    """A plugin that keeps what was collected."""

    tests: list[Case]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.tests = [tiers.case_of(item) for item in session.config.stash[tiers.COLLECTED]]


def main(words: list[str]) -> None:
    """Collects all tests and prints or writes the page."""
    collection = _Collection()
    with contextlib.redirect_stdout(sys.stderr):
        failed = pytest.main(["--collect-only", "-qqq", "-n0", "-m", "always"], plugins=[collection])
    if failed:
        sys.exit(1)
    print_or_write(page(collection.tests), PAGE, words)


if __name__ == "__main__":
    main(sys.argv[1:])
