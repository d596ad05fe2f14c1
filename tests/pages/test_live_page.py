"""The live page of a run in a browser: it follows the run, and says when it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.records.record import to_json
from tests.processes.serving import Server, serving
from tests.tools.hostile_run import Hostile
from tests.unit.growing import Growing, with_info

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.pages.browser import DARK, PHONE, check, foreign_parts, new_context, watched_page

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)>‮\x1b[31m"

STATE = '[data-part="state"]'
ROWS = '[data-part="games"] tbody tr'


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    run = Growing(tmp_path, rounds=10)
    run.begin()
    value = to_json(with_info(run.record("1:a:b"), MARKUP))
    run.append(run.line({**value, "sentence": MARKUP}))
    run.play("1:b:a")
    return run


@pytest.fixture
def server(growing: Growing) -> Iterator[Server]:
    with serving(growing.path.parent) as server:
        yield server


@pytest.fixture
def page(chromium: Browser, server: Server) -> Iterator[Page]:
    """A page for the server; the test fails if it does what no page may do."""
    with watched_page(chromium, server.url) as watched:
        watched.page.goto(server.url)
        yield watched.page
        assert watched.settle() == []


def test_it_follows_the_run_by_itself(page: Page, growing: Growing) -> None:
    expect(page.locator("#connection")).to_have_text("Live: this page follows the run.")
    expect(page.locator(ROWS)).to_have_count(2)
    growing.play("2:a:b")
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page.locator(STATE)).to_contain_text("3 of 20")
    assert page.locator("#told").text_content() == "", "nobody is told of each game"
    page.locator(f"{ROWS} a").first.focus()  # what has the focus is not replaced
    growing.play("2:b:a")
    expect(page.locator(STATE)).to_contain_text("4 of 20")
    expect(page.locator(ROWS)).to_have_count(3)
    page.evaluate("document.activeElement.blur()")
    expect(page.locator(ROWS)).to_have_count(4)
    text = page.locator(ROWS).last.text_content() or ""
    assert "<img src=x onerror=alert(1)>\\u202e\\x1b[31m" in text
    assert page.locator("img").count() == 0


def test_games_and_the_report_are_a_step_away(page: Page) -> None:
    page.locator(f"{ROWS} a").first.click()
    page.wait_for_url("**/game/2")
    page.go_back()
    page.get_by_role("link", name="Report of the games so far").click()
    page.wait_for_url("**/report")
    page.locator("#list tbody th a").first.click()
    page.wait_for_url("**/game/1#*")


def test_a_lost_connection_is_told_and_found_again(
    chromium: Browser, growing: Growing, server: Server
) -> None:
    with watched_page(chromium, server.url) as watched:
        page = watched.page
        page.goto(server.url)
        expect(page.locator("#connection")).to_have_text("Live: this page follows the run.")
        server.end()
        expect(page.locator("#connection")).to_contain_text("is lost")
        expect(page.locator("#told")).to_contain_text("is lost")
        growing.play("2:a:b")
        with serving(growing.path.parent, port=server.port):
            expect(page.locator("#connection")).to_have_text("Live: this page follows the run.")
            expect(page.locator(ROWS)).to_have_count(3)


def test_without_a_script_it_is_a_snapshot(chromium: Browser, server: Server) -> None:
    context = new_context(chromium, java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(server.url)
        assert page.locator(ROWS).count() == 2
        assert "As of" in (page.locator("#connection").text_content() or "")
    finally:
        context.close()


def test_nothing_of_a_hostile_run_is_part_of_a_page(hostile: Hostile, chromium: Browser) -> None:
    """The forged one has all that the played one has, and more."""
    with serving(hostile.forged) as server, watched_page(chromium, server.url) as watched:
        page = watched.page
        for path in ("standings", "games/1", "faults/1", "report", "game/1", "game/6", ""):
            page.goto(server.url + path)
            expect(page).not_to_have_title("The report is being made")  # it loads itself again until it is
            assert foreign_parts(page) == []
        check(page, [PHONE])
        assert watched.settle() == []


@pytest.mark.slow
def test_everybody_can_use_it_on_every_screen(page: Page, server: Server) -> None:
    expect(page.locator("#connection")).to_have_text("Live: this page follows the run.")
    check(page)
    for path in ("standings", "games/1", "faults/1", "game/1"):
        page.goto(server.url + path)
        check(page, [DARK, PHONE])  # both schemes and both widths
