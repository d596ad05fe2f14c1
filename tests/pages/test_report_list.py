"""The list of games of a report in a browser: filtered, sorted, in pages; games with their addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import referee
from tests.tools.synthetic import write

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from referee.pages.report import gathering
from tests.pages.browser import DARK, LIGHT, open_file, press, show_as

pytestmark = pytest.mark.slow

BOTS, GAMES = 6, 240


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported")
    assert write(folder, BOTS, GAMES) == GAMES
    return folder / "pool-results"


@pytest.fixture(scope="module")
def one_page(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert referee("report", str(run), "-o", str(path)).code == 0
    return path


@pytest.fixture(scope="module")
def folder(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("folder") / "report"
    assert referee("report", str(run), "-o", str(path), "--folder").code == 0
    return path


def ready(page: Page) -> None:
    """Waits until the list of games is there."""
    expect(page.locator("#list tbody tr").first).to_be_visible()


def test_a_game_is_chosen_replayed_and_left(page: Page, one_page: Path) -> None:
    open_file(page, one_page)
    ready(page)
    link = page.locator("#list tbody th a").nth(3)
    game = link.text_content()
    link.click()
    dialog = page.locator("dialog")
    expect(dialog.locator("#dialog-title")).to_have_text(str(game))
    count = dialog.locator(".count")
    expect(count).to_contain_text("0 /")
    press(page, "End")
    expect(dialog.locator(".stamp")).to_contain_text(" wins")
    press(page, "ArrowLeft")
    dialog.get_by_text("Next game").click()
    expect(dialog.locator("#dialog-title")).not_to_have_text(str(game))
    expect(count).to_contain_text("0 /")
    press(page, "ArrowRight")
    expect(count).to_contain_text("1 /")
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    expect(page).to_have_url(re.compile(r"^[^#]*#?$"))
    link.click()  # the same game again
    expect(dialog.locator("#dialog-title")).to_have_text(str(game))
    dialog.get_by_text("Close").click()
    expect(dialog).to_be_hidden()


def test_the_address_opens_a_game_at_once(page: Page, one_page: Path) -> None:
    page.goto(f"{one_page.as_uri()}#2:bot1:bot2@3")
    expect(page.locator("#dialog-title")).to_have_text("2:bot1:bot2")
    expect(page.locator("dialog .count")).to_contain_text("3 /")
    expect(page.locator("dialog .board .ground > *").first).to_be_attached()


def test_a_slow_move_leads_to_its_step(page: Page, one_page: Path) -> None:
    open_file(page, one_page)
    ready(page)
    row = page.locator("section[aria-labelledby=slowest] tbody tr").first
    step = row.locator("td").last.text_content()
    row.locator("td a").click()
    expect(page.locator("dialog .count")).to_contain_text(f"{step} /")
    bot = str(row.locator("th").text_content())
    expect(page.locator("dialog .now p").first).to_contain_text(f" {bot}: ")
    press(page, "ArrowLeft")
    game = str(row.locator("td a").text_content())
    at = f"@{int(str(step)) - 1}" if step != "1" else ""
    expect(page).to_have_url(re.compile(re.escape(f"#{game}{at}") + "$"))


def test_the_list_is_filtered_sorted_and_turned(page: Page, one_page: Path) -> None:
    open_file(page, one_page)
    ready(page)
    numbers = page.locator("#list tbody td:first-child")
    page.get_by_text("Next", exact=True).click()
    expect(page.locator("#pager span")).to_have_text("page 2 of 5")
    assert numbers.first.text_content() == "51"
    page.get_by_role("button", name="moves").click()
    page.get_by_role("button", name="moves").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("moves")
    moves = [int(str(cell.text_content())) for cell in page.locator("#list tbody td:nth-child(4)").all()]
    assert len(moves) == 50 and moves == sorted(moves, reverse=True)
    page.locator("select[name=bot]").select_option("bot1")
    page.locator("select[name=result]").select_option("won")
    cells = page.locator("#list tbody td:nth-child(3)").all()
    assert cells and all(cell.locator("strong").text_content() == "bot1" for cell in cells)
    page.get_by_role("button", name="All games").click()
    page.get_by_role("searchbox", name="search").fill("BOT1 bot2 captured")
    expect(page.locator("#list tbody tr th a").first).to_be_visible()
    found = page.locator("#list tbody th").all_text_contents()
    assert found and all("bot1" in game and "bot2" in game for game in found)
    page.get_by_role("searchbox", name="search").fill("bot1 <b>")
    expect(page.locator("#count")).to_have_text("0 games")


def test_games_of_a_folder_are_on_its_pages(page: Page, folder: Path) -> None:
    open_file(page, folder / "index.html")
    ready(page)
    for _ in range(4):
        page.get_by_text("Next", exact=True).click()
    link = page.locator("#list tbody th a").last
    game = str(link.text_content())
    link.click()
    page.wait_for_url("**/games/00002.html#*")
    expect(page.locator("#dialog-title")).to_have_text(game)
    expect(page.locator("#dialog-after")).to_be_hidden()
    press(page, "Escape")
    expect(page.locator("#count")).to_have_text(f"{GAMES - 200} games")
    assert page.locator("#list tbody td:first-child").first.text_content() == "201"
    page.locator("#list tbody th a").first.click()
    page.get_by_text("Previous game").click()
    page.wait_for_url("**/games/00001.html#*")
    expect(page.locator("dialog .board .ground > *").first).to_be_attached()
    press(page, "Escape")
    page.get_by_text("The report").click()
    page.wait_for_url("**/index.html")


def test_all_games_are_printed(page: Page, one_page: Path) -> None:
    open_file(page, one_page)
    ready(page)
    rows = page.locator("#list tbody tr")
    for moment, count in (("beforeprint", GAMES), ("afterprint", 50)):
        page.evaluate("moment => dispatchEvent(new Event(moment))", moment)
        expect(rows).to_have_count(count)


def test_a_wide_matrix_is_printed_in_parts(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MAX_BOTS", 1)  # no course of ratings, which takes long
    write(tmp_path, 26, 1, against=1)
    path = tmp_path / "report.html"
    assert referee("report", str(tmp_path / "pool-results"), "-o", str(path), "--no-replays").code == 0
    open_file(page, path)
    numbers = "[...table.tHead.rows[0].cells].slice(1).map(cell => +cell.textContent)"
    heads = f"tables => tables.map(table => {numbers})"
    tables = page.locator(".matrix:visible")
    whole = [[*range(1, 27)]] * 2
    assert tables.evaluate_all(heads) == whole
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tables.evaluate_all(heads) == [[*range(1, 14)], [*range(14, 27)]] * 2
    cells = tables.nth(1).locator("tbody tr").nth(25).locator("td")
    expect(cells).to_have_count(13)
    expect(cells.last).to_have_text("·")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tables.evaluate_all(heads) == whole


def test_charts_are_drawn_in_the_colours_of_the_page(page: Page, one_page: Path) -> None:
    open_file(page, one_page)
    colours = set()
    for look in (LIGHT, DARK):
        show_as(page, look)
        colours.add(page.locator(".chart .rect").first.evaluate("bar => getComputedStyle(bar).fill"))
        line = page.locator(".chart path.line").last
        assert line.evaluate("line => getComputedStyle(line).fill") == "none"
    assert len(colours) == 2 and "rgb(0, 0, 0)" not in colours
