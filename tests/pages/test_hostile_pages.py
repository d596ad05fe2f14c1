"""Hostile text in pages: it is shown as what it is, and nothing of it becomes part of a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from referee.gameplay.events import Moved, Rejected
from referee.viewing.steps import steps_of
from tests.bots.markup_bot import MARKUP
from tests.command import referee
from tests.pages.recorded import records, written
from tests.tools.hostile_run import Hostile

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.pages.browser import PHONE, check, foreign_parts, open_file, press, watched_page

pytestmark = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("run", Hostile._fields)
def test_a_report_of_hostile_bots(run: str, hostile: Hostile, page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = referee("report", str(getattr(hostile, run)), "-o", str(path))
    assert done.code == 0, done.err
    open_file(page, path)
    check(page, [PHONE])
    text = page.locator("main").text_content() or ""
    assert all(said in text for said in MARKUP[3:5]), "what bots said when they committed their faults"
    for game in page.locator("#list th a").all()[::7]:
        game.click()
        expect(page.locator("dialog .moves")).to_be_visible()
        press(page, "End")
        assert page.locator("dialog .moves li").count() > 1
        assert foreign_parts(page) == []
        press(page, "Escape")


@pytest.mark.parametrize("run", Hostile._fields)
def test_replays_of_hostile_bots(run: str, hostile: Hostile, page: Page, tmp_path: Path) -> None:
    folder = getattr(hostile, run)
    path = tmp_path / "game.html"
    for number, record in list(enumerate(records(folder), 1))[::7]:
        done = referee("replay", str(folder), str(number), "--html", str(path))
        assert done.code in (0, 6), done.err
        open_file(page, path)
        assert foreign_parts(page) == []
        steps = page.locator(".moves li").count()
        listed = page.locator(".moves").text_content() or ""
        told = ""
        for _ in range(steps):
            told += page.locator(".now").text_content() or ""
            press(page, "ArrowRight")
        if number == 1:
            check(page, [PHONE])
        if done.code == 6:
            continue
        for event in record.events:
            if isinstance(event, Rejected) and event.text.isprintable():
                assert event.text[:60] in listed and event.text[:60] in told
            if isinstance(event, Moved) and event.info.isprintable():
                assert event.info in told


ID = '1"><img src=x onerror=alert(9)>&lt;#%22?a=b&c='
"""Instead of a round: a record alone, without its run, is replayed with any id."""


def test_an_id_of_a_game_is_text(hostile: Hostile, page: Page, tmp_path: Path) -> None:
    record = records(hostile.played)[0]
    strange = replace(record, terms=replace(record.terms, id=":".join((ID, *record.terms.bots))))
    open_file(page, written(steps_of(strange), tmp_path / "game.html"))
    check(page, [PHONE])
    assert ID in (page.locator(".facts").text_content() or "")


def test_every_guard_of_a_page_holds_by_itself(chromium: Browser, hostile: Hostile, tmp_path: Path) -> None:
    """Were a text not escaped, the policy would still let nothing of it run nor load."""
    path = written(steps_of(records(hostile.played)[0]), tmp_path / "game.html")
    html = path.read_text()
    attacks = "".join(MARKUP).replace("</script>", "</script>\n") + "<b onclick='owned=1' style='color:red'>"
    for place in ("</main>", "<main>", "<template"):
        assert place in html
        path.write_text(html.replace(place, f"{attacks}<script>owned=1</script>{place}", 1))
        with watched_page(chromium) as watched:
            watched.page.goto(path.as_uri())
            complaints = " ".join(watched.settle())
            assert watched.page.evaluate("() => window.owned") is None
        assert "inline script" in complaints and "dialog" not in complaints
