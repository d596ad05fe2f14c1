"""The pages of `referee serve` in a real browser: they follow the run by themselves, and show all games."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.pages.browser import check, foreign_parts, press, watched_page
from tests.processes.serving import Server, serving
from tests.tools.hostile_run import Hostile
from tests.unit.growing import Growing

pytestmark = pytest.mark.slow


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    folder = tmp_path / "run"
    folder.mkdir()
    run = Growing(folder)
    run.begin()
    run.play("1:a:b", "1:b:a")
    return run


@pytest.fixture
def server(growing: Growing) -> Iterator[Server]:
    with serving(growing.path.parent) as server:
        yield server


@pytest.fixture
def page(server: Server, chromium: Browser) -> Iterator[Page]:
    with watched_page(chromium, server.url) as watched:
        watched.page.goto(server.url)
        yield watched.page
        assert watched.settle() == []


def test_it_follows_the_run_by_itself(growing: Growing, page: Page) -> None:
    expect(page.locator("main")).to_contain_text("2 of 6")
    growing.play("2:a:b")
    expect(page.locator("main")).to_contain_text("3 of 6", timeout=20_000)
    expect(page.get_by_role("link", name="2:a:b")).to_be_visible()
    check(page)


def test_its_other_pages(server: Server, page: Page) -> None:
    for path in ("standings", "games/1", "faults/1", "report"):
        page.goto(server.url + path)
        check(page)


def test_a_game_is_replayed(server: Server, page: Page) -> None:
    page.get_by_role("link", name="1:b:a").click()
    slider = page.get_by_role("slider")
    press(page, "End")
    expect(slider).to_have_value(slider.get_attribute("max") or "")
    check(page)


@pytest.mark.parametrize("run", Hostile._fields)
def test_hostile_text_is_text(run: str, hostile: Hostile, chromium: Browser) -> None:
    with serving(getattr(hostile, run)) as server, watched_page(chromium, server.url) as watched:
        for path in ("", "standings", "games/1", "faults/1", "report", "game/1", "game/6"):
            watched.page.goto(server.url + path)
            assert foreign_parts(watched.page) == []
        watched.page.goto(server.url)
        check(watched.page)
        assert watched.settle() == []
