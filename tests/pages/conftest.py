"""A browser for the tests of pages, and runs whose pages they open. It can be imported without Playwright,
which each module of tests asks for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.holdings import temporary_files_in
from tests.tools.hostile_run import Hostile, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="package")
def chromium(scratch: Path) -> Iterator[Browser]:
    """One browser for all tests of pages. It ends with the last of them, since meanwhile no other event loop
    can run in this thread.
    """
    from tests.pages.browser import NAMES, chromium_path, running_chromium

    if not chromium_path():
        pytest.skip(f"needs Chromium: one of {', '.join(NAMES)} on the PATH")
    folder = Path(tempfile.mkdtemp(dir=scratch))
    folder.chmod(0o755)  # other tests of the same worker start bots of other users meanwhile
    with temporary_files_in(folder), running_chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page for files; the test fails if it does what no page may do."""
    from tests.pages.browser import watched_page

    with watched_page(chromium) as watched:
        yield watched.page
        assert watched.settle() == []


@pytest.fixture(scope="package", autouse=True)
def few_fits() -> Iterator[None]:
    """Each fit of the course of ratings in a report takes long."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("referee.pages.report.rating_history.MAX_FITS", 3)
        yield


@pytest.fixture(scope="package")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return write(tmp_path_factory.mktemp("hostile") / "runs")
