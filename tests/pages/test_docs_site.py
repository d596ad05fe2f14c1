"""The documents as HTML pages in a browser, from a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import referee

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.pages.browser import DARK, LIGHT, barriers, open_file, show_as, wider_than_screen

pytestmark = pytest.mark.slow

BROKEN_WORDS = """() => {
    const text = document.querySelector("h1").firstChild;
    return [...text.data.matchAll(/\\S+/g)].filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
    }).map(word => word[0]);
}"""
"""The words of the title that stand on two lines."""


def test_the_documents_are_searched_and_read(page: Page, tmp_path: Path) -> None:
    assert referee("docs", "--html", str(tmp_path)).code == 0
    open_file(page, tmp_path / "index.html")
    page.get_by_label("Search").fill("reserve INCREMENT_MS")
    expect(page.locator("#documents")).to_be_hidden()
    page.locator("#hits a").first.click()
    expect(page.locator("article h3:target, article h2:target")).to_have_text("What the referee says")
    page.get_by_role("link", name="All documents").click()
    expect(page.locator("#documents")).to_be_visible()
    page.get_by_label("Search").fill("zyxwv")
    expect(page.locator("#count")).to_have_text("0 sections")
    for name in ("index", "blooms", "protocol"):
        open_file(page, tmp_path / f"{name}.html")
        for look in (LIGHT, DARK):
            show_as(page, look)
            assert barriers(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert wider_than_screen(page) <= 0
        assert page.evaluate(BROKEN_WORDS) == []
