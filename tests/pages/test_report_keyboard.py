"""A report with the keyboard alone: everything is reached, used and left, and what has the focus is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import referee
from tests.tools.synthetic import write

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.pages.browser import SETTLED, open_file, press

pytestmark = pytest.mark.slow

FOCUSED = """() => {
    const element = document.activeElement;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const isOnScreen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return {
        text: (element.labels?.[0] ?? element).textContent.trim(),
        href: element.getAttribute("href") ?? "",
        id: element.id,
        kind: element.localName,
        isOurs: element !== document.body,
        isSeen: isOnScreen && box.width > 0 && style.outlineStyle !== "none",
    };
}"""
"""What has the focus, and whether a reader sees that it has."""

MOST_STOPS = 400
"""So often Tab is pressed at most."""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report of two pages of games."""
    write(tmp_path, 3, 60)
    path = tmp_path / "report.html"
    assert referee("report", str(tmp_path / "pool-results"), "-o", str(path)).code == 0
    return path


Focused = dict[str, object]


def focused(page: Page) -> Focused:
    """What has the focus, once the page has done what it wanted to."""
    page.evaluate(SETTLED)
    found: Focused = page.evaluate(FOCUSED)
    return found


def tab_to(page: Page, is_wanted: Callable[[Focused], bool], key: str = "Tab") -> Focused:
    """Goes on from one thing to the next until one is wanted; each of them is seen to have the focus."""
    passed = []
    for _ in range(MOST_STOPS):
        press(page, key)
        passed.append(focused(page))
        assert passed[-1]["isSeen"] or not passed[-1]["isOurs"], passed[-1]
        if is_wanted(passed[-1]):
            return passed[-1]
    raise AssertionError(f"not reached: {[stop['text'] for stop in passed]}")


def leads_to(part: str) -> Callable[[Focused], bool]:
    return lambda stop: str(stop["href"]).startswith(part)


def is_named(text: str) -> Callable[[Focused], bool]:
    return lambda stop: str(stop["text"]).startswith(text)


@pytest.mark.slow
def test_a_report_is_used_with_the_keyboard_alone(report: Path, page: Page) -> None:
    open_file(page, report)
    expect(page.locator("#list tbody tr").first).to_be_visible()
    panel, dialog = page.locator("#bot"), page.locator("dialog")

    name = tab_to(page, leads_to("#bot?"))
    press(page, "Enter")
    expect(panel.locator("h2")).to_have_text(str(name["text"]))
    assert focused(page)["id"] == "bot-name"
    tab_to(page, leads_to("#pair?"))
    press(page, "Enter")
    expect(panel.locator("h2")).to_contain_text(" – ")
    assert focused(page)["id"] == "bot-name"
    game = tab_to(page, lambda stop: ":" in str(stop["href"]))
    press(page, "Enter")
    expect(dialog).to_be_visible()
    page.go_back()
    expect(dialog).to_be_hidden()
    assert focused(page)["href"] == game["href"], "the page of the two is as it was left"
    tab_to(page, is_named("← The tournament"), "Shift+Tab")
    press(page, "Enter")
    expect(panel).to_be_hidden()
    assert focused(page)["text"] == name["text"], "where the tournament was left"

    tab_to(page, leads_to("#games"))
    press(page, "Enter")
    tab_to(page, is_named("search"))
    page.keyboard.type("bot1 bot2")
    tab_to(page, is_named("bot"))
    press(page, "ArrowDown")
    expect(page.locator("select[name=bot]")).to_have_value("bot1")
    tab_to(page, is_named("All games"))
    press(page, "Enter")
    expect(page.locator("select[name=bot]")).to_have_value("")
    tab_to(page, is_named("moves"))
    press(page, "Enter", "Enter")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("moves")
    tab_to(page, is_named("Next"))
    press(page, "Enter")
    expect(page.locator("#pager span")).to_have_text("page 2 of 2")
    assert focused(page)["text"] == "Next", "though there is no page behind this one"
    game = tab_to(page, lambda stop: ":" in str(stop["href"]) and "@" not in str(stop["href"]), "Shift+Tab")

    press(page, "Enter")
    title = dialog.locator("#dialog-title")
    expect(title).to_have_text(str(game["text"]))
    assert focused(page)["id"] == "dialog-title"
    press(page, "ArrowRight")
    expect(dialog.locator(".count")).to_contain_text("1 /")
    tab_to(page, is_named("compare with"))
    press(page, "ArrowDown")
    expect(dialog.locator(".half")).to_have_count(2)
    assert focused(page)["id"] == "dialog-beside"
    press(page, "ArrowUp")
    expect(dialog.locator(".half")).to_have_count(0)
    tab_to(page, is_named("Next game"), "Shift+Tab")
    before = title.text_content()
    press(page, "Enter")
    expect(title).not_to_have_text(str(before))
    tab_to(page, lambda stop: stop["kind"] == "input")
    tab_to(page, is_named("Close"), "Shift+Tab")
    press(page, "Enter")
    expect(dialog).to_be_hidden()
    assert focused(page)["href"] == game["href"], "where the list was left"
