"""The report of a tournament in a real browser: all of it can be used, and every game is replayed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.gameplay.events import Moved
from referee.games.picture import boards_and_notes
from referee.ratings.columns import number_text
from referee.viewing.steps import steps_of
from referee.viewing.svg import Layout
from tests.command import referee
from tests.pages.recorded import play, records
from tests.processes.runs import toml
from tests.tools import synthetic

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.pages.browser import AS_THE_BROWSER_WRITES_IT, LIGHT, PHONE, check, open_file, press, show_as

pytestmark = pytest.mark.slow

BOTS = 4


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round robin of a few bots."""
    folder = tmp_path_factory.mktemp("report")
    synthetic.write(folder, BOTS, 5 * BOTS * (BOTS - 1))
    return folder / "pool-results"


@pytest.fixture(scope="package")
def report(run: Path) -> Path:
    """Its report on one page."""
    path = run.parent / "report.html"
    assert referee("report", str(run), "-o", str(path)).code == 0
    return path


def game_is_shown(page: Page, run: Path, number: int) -> None:
    """The last position of the game with this number, counted from 0."""
    record = records(run)[number]
    pictures, _ = boards_and_notes([step.state.picture(None) for step in steps_of(record).steps])
    dialog = page.locator("dialog")
    expect(dialog.locator("h2").first).to_have_text(record.terms.id)
    expect(dialog.get_by_role("slider")).to_have_attribute("max", str(len(pictures) - 1))
    press(page, "End")
    drawn = "".join(Layout.of(pictures).elements(pictures[-1]))
    expected = page.evaluate(AS_THE_BROWSER_WRITES_IT, drawn)
    assert dialog.locator(".board > svg .pieces").inner_html() == expected


def test_a_game_is_compared_with_another_of_the_same_bots(run: Path, report: Path, page: Page) -> None:
    open_file(page, report)
    page.locator("#list tbody th a").first.click()
    record = records(run)[0]
    others = [
        other.terms.id for other in records(run)[1:] if sorted(other.terms.bots) == sorted(record.terms.bots)
    ]
    choice = page.get_by_label("compare with")
    assert choice.locator("option").evaluate_all("all => all.map(one => one.value)") == ["", *others]
    choice.select_option(others[0])
    expect(page.locator("dialog .half")).to_have_count(2)
    expect(page.locator("dialog .half > h2")).to_contain_text([record.terms.id, others[0]])
    page.reload()
    expect(page.locator("dialog .half")).to_have_count(2)
    page.get_by_label("compare with").select_option("")
    expect(page.locator("dialog .half")).to_have_count(0)
    game_is_shown(page, run, 0)


@pytest.mark.slow
def test_everybody_can_use_it(report: Path, page: Page) -> None:
    open_file(page, report)
    expect(page.locator("#list tbody tr").first).to_be_visible()
    check(page)


def test_every_game_is_replayed(run: Path, report: Path, page: Page) -> None:
    open_file(page, report)
    page.locator("#list tbody th a").nth(3).click()
    game_is_shown(page, run, 3)
    check(page, [PHONE])
    page.reload()
    game_is_shown(page, run, 3)
    page.get_by_role("link", name="Next game").click()
    game_is_shown(page, run, 4)
    page.go_back()
    game_is_shown(page, run, 3)
    press(page, "Escape")
    expect(page.locator("dialog")).not_to_be_visible()
    expect(page).to_have_url(report.as_uri())


def test_a_score_leads_to_the_page_of_two_bots(run: Path, report: Path, page: Page) -> None:
    open_file(page, report)
    score = page.locator(".matrix a[href^='#pair?']").first
    one, other = str(score.get_attribute("href")).removeprefix("#pair?").split("&")
    score.click()
    panel = page.locator("#bot")
    expect(panel.locator("h2")).to_have_text(f"{one} – {other}")
    expect(page.locator("#standings")).not_to_be_visible()
    met = [record for record in records(run) if {*record.terms.bots} == {one, other}]
    won = sum(record.verdict.outcome.ranks[record.terms.bots.index(one)] == 1 for record in met)
    expect(panel).to_contain_text(f"{won} : {len(met) - won}")
    for seat in (0, 1):
        of_seat = [record for record in met if record.terms.bots[seat] == one]
        points = sum(record.verdict.outcome.ranks[seat] == 1 for record in of_seat)
        expect(panel).to_contain_text(f"{seat + 1}{points} of {len(of_seat)}")
    assert panel.locator(".games tbody tr").count() == len(met)
    longest = max(met, key=lambda record: sum(isinstance(event, Moved) for event in record.events))
    shown = panel.locator(".to-see li").filter(has_text="Longest").get_by_role("link")
    expect(shown).to_have_text(longest.terms.id)
    check(page, [PHONE])
    panel.locator(".games tbody th a").first.click()
    expect(page.locator("dialog")).to_be_visible()
    press(page, "Escape")
    expect(panel.locator("h2")).to_have_text(f"{one} – {other}")
    expect(page).to_have_url(f"{report.as_uri()}#pair?{one}&{other}")
    panel.get_by_role("link", name="In the list of games").click()
    expect(page.locator("#count")).to_have_text(f"{len(met)} games")
    expect(panel).not_to_be_visible()
    page.get_by_role("button", name="All games").click()
    expect(page.locator("#count")).to_contain_text(f"{len(records(run))} games")


STRANGE = ("%", "nothing", "games?bot=nobody&%=%", "1:a%00", "games?nothing")
NOBODY = ("pair?bot1&bot1", "pair?bot1", "pair?bot1&%", "bot?%")
"""Addresses of bots that are not there or never met."""


def test_a_strange_address_shows_the_report(report: Path, page: Page) -> None:
    for fragment in (*STRANGE, *NOBODY):
        page.goto(f"{report.as_uri()}#{fragment}")
        page.reload()
        expect(page.locator("#list tbody tr").first).to_be_visible()
        expect(page.locator("#bot")).not_to_be_visible()


def test_the_first_screen_shows_the_positions_of_its_games(run: Path, report: Path, page: Page) -> None:
    open_file(page, report)
    links = page.locator(".front a.position, .to-see a.position")
    assert links.count() > 3
    last = {
        record.terms.id: boards_and_notes([step.state.picture(None) for step in steps_of(record).steps])[0]
        for record in records(run)
    }
    for link in links.all():
        expect(link.locator("svg > *").first).to_be_attached()
        pictures = last[str(link.get_attribute("data-position"))]
        layout = Layout.of(pictures)
        shown = int(link.get_attribute("data-step") or -1)  # the deciding move, or else the last
        drawn = layout.ground + "".join(layout.elements(pictures[shown]))
        expected = page.evaluate(AS_THE_BROWSER_WRITES_IT, drawn)
        assert link.locator("svg").inner_html() == expected
        expect(link.locator("svg")).to_have_css("stroke-linecap", "round")  # as for all pictures
        expect(link.locator(".text-faint").first).to_be_hidden()  # a coordinate, too small to be read
        left, top, width, height = (
            float(number) for number in str(link.locator("svg").get_attribute("viewBox")).split()
        )
        assert left > 0 and left + width < layout.width and top > 0 and top + height < layout.height
    links.last.click()
    expect(page.locator("dialog")).to_be_visible()


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_what_is_too_small_to_be_read_is_left_out_of_positions(slug: str, page: Page, tmp_path: Path) -> None:
    run, path = play(slug, tmp_path / "run"), tmp_path / "report.html"
    assert referee("report", str(run), "-o", str(path)).code == 0
    open_file(page, path)
    large, small = (page.locator(f"{place} .position svg").first for place in (".podium", ".to-see"))
    for look in (LIGHT, PHONE):
        show_as(page, look)
        if slug != "thetree":  # whose boards grow
            expect(large).to_have_class(re.compile("^picture *$"))
        if look is PHONE:
            expect(small).to_have_class(re.compile("wordless|plain"))
        for drawing in (large, small):
            assert min(drawing.evaluate(SEEN), default=99) >= 12, look.name


SEEN = """svg => [...svg.querySelectorAll("text, use")].flatMap(shown => {
    const target = shown.localName === "use" ? document.querySelector(shown.getAttribute("href")) : shown;
    const texts = target === shown ? [shown] : [...target.querySelectorAll("text")];
    return getComputedStyle(shown).getPropertyValue("--letters") === "hidden" || shown.matches(".text-faint")
        ? []
        : texts.map(text => parseFloat(getComputedStyle(text).fontSize) * shown.getScreenCTM().a);
})"""
"""The heights of the letters of a picture in pixels, as they are seen."""


def test_a_name_leads_to_what_the_games_say_of_the_bot(run: Path, report: Path, page: Page) -> None:
    open_file(page, report)
    name = str(page.locator(".answer th a").first.text_content())
    page.locator(".answer th a").first.click()
    panel = page.locator("#bot")
    expect(panel.locator("h2")).to_have_text(name)
    own = [record for record in records(run) if name in record.terms.bots]
    won = [one for one in own if one.verdict.outcome.ranks[one.terms.bots.index(name)] == 1]
    squares = panel.locator("a.square")
    assert squares.count() == len(own)
    assert panel.locator(".square.won").count() == len(won)
    expect(panel).to_contain_text(f"{len(own)} games: {len(won)} won")
    check(page, [PHONE])
    squares.first.click()
    expect(page.locator("dialog")).to_be_visible()
    press(page, "Escape")
    panel.locator("th a").first.click()
    expect(panel.locator("h2")).not_to_have_text(name)
    panel.get_by_role("link", name="The tournament").click()
    expect(page.locator("#standings")).to_be_visible()


SCALED = "size = 3\n[tournament.points]\nwin = 3\ndraw = 1\nbye = 4"


@pytest.mark.parametrize(
    ("game", "options", "form"),
    [("blooms", SCALED, "swiss"), ("thetree", "players = 3", None), ("thetree", "players = 1", None)],
)
def test_the_pages_of_bots_have_the_points_of_the_table(
    game: str, options: str, form: str | None, tmp_path: Path, page: Page
) -> None:
    file, path = toml(tmp_path / "t.toml", None, options, game=game, format=form), tmp_path / "t.html"
    assert referee("run", str(file)).code == 0
    assert referee("report", str(file), "-o", str(path)).code == 0
    standings = json.loads(referee("table", str(file), "--format", "json").out)["standings"]
    for row in standings:
        page.goto(f"{path.as_uri()}#bot?{row['bot']}")
        panel = page.locator("#bot")
        expect(panel.locator("h2")).to_have_text(row["bot"])
        figure = panel.locator(".key-figures div", has_text="points").locator("dd").text_content()
        assert re.match(rf"{number_text(row['points'])}\b", str(figure))
        points, score = panel.locator(".squares tbody tr").last.locator("td").all_text_contents()[:2]
        in_games = row["points"] - 4 * row.get("byes", 0)
        assert points.split(" of ")[0] == number_text(in_games)
        assert score == f"{100 * row['score']:.0f} %"


def test_the_list_is_sorted_by_its_columns(report: Path, page: Page) -> None:
    open_file(page, report)
    moves = page.locator("#list thead button", has_text="moves")
    column = page.locator("#list tbody td:nth-child(4)")
    for order in (1, -1):
        moves.click()
        numbers = [int(text) for text in column.all_text_contents()]
        assert numbers == sorted(numbers)[::order]


@pytest.mark.slow
def test_the_folder_form(run: Path, page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert referee("report", str(run), "--folder", "-o", str(folder)).code == 0
    open_file(page, folder / "index.html")
    check(page, [PHONE])
    page.locator("#list tbody th a").nth(7).click()
    game_is_shown(page, run, 7)
    page.get_by_role("link", name="Next game").click()
    game_is_shown(page, run, 8)
    check(page, [PHONE])
