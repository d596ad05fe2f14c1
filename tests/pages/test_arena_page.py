"""The page of a run in a browser: it shows the games in play and follows the run, and says when it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.core.units import NO_CLOCK, TimeControl
from referee.games import GAMES
from referee.live.slots import FOLDER, SlotWriter, now_us
from referee.pages.followed_pages import arena_page
from referee.records.record import to_json
from referee.viewing.drawn_board import DrawnBoard, planes_of, seat_rows
from tests.processes.serving import Server, serving
from tests.tools.hostile_run import Hostile
from tests.unit.growing import Growing

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.pages.browser import (
    DARK,
    PHONE,
    check,
    foreign_parts,
    new_context,
    press,
    show_as,
    watched_page,
)

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)>‮\x1b[31m"

TABLE = ".table"
STRIPS = ".strip"
ENDED = "#ended li"


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    run = Growing(tmp_path, rounds=10)
    run.begin()
    run.append(run.line({**to_json(run.record("1:a:b")), "sentence": MARKUP}))
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


@pytest.fixture
def slot(growing: Growing) -> Iterator[SlotWriter]:
    """What a worker writes of its game."""
    folder = growing.path.parent / FOLDER
    folder.mkdir()
    slot = SlotWriter(folder, "w1")
    yield slot
    slot.close()


def begin(slot: SlotWriter, run: Growing, game: str) -> None:
    bots = game.split(":")[1:]
    clocks = [[1_000_000, 90_000_000] for _ in bots]
    options = dict(run.plan.options)
    slot.begin({"id": game, "game": run.plan.game.slug, "options": options, "bots": bots, "clocks": clocks})


def move(slot: SlotWriter, seat: int, text: str) -> None:
    slot.append(f"{now_us()} m {seat} 90000000 {text}\n".encode())


def test_it_follows_the_run_by_itself(page: Page, growing: Growing) -> None:
    expect(page.locator("#progress")).to_have_text("2 of 20 games")
    expect(page.locator("#state")).to_contain_text("No referee is running.")
    expect(page.locator("#standings .counts")).to_have_count(2)
    expect(page.locator(ENDED)).to_have_count(2)
    assert "<img src=x onerror=alert(1)>\\u202e\\x1b[31m" in (page.locator(ENDED).last.text_content() or "")
    page.locator(f"{ENDED} a").first.focus()
    growing.play("2:a:b")
    expect(page.locator(ENDED)).to_have_count(3)
    expect(page.locator("#progress")).to_have_text("3 of 20 games")
    assert page.locator(":focus").get_attribute("href") == "/game/2", "what stays in a list keeps the focus"
    assert page.locator("img").count() == 0


def test_a_game_in_play_is_a_board_until_its_replay(page: Page, growing: Growing, slot: SlotWriter) -> None:
    begin(slot, growing, "2:a:b")
    strips = page.locator(STRIPS)
    expect(strips).to_have_count(2)
    expect(page.locator(".to-move")).to_contain_text("a")
    expect(page.locator(".to-move .left")).to_have_text("1:30")
    move(slot, 1, "L:A1")
    expect(page.locator(".to-move .state")).to_have_text("to move")
    expect(page.locator(".to-move .name")).to_have_text("b")
    page.locator(".open").focus()
    press(page, "Enter")
    expect(page.locator(".chosen .caption")).to_have_text("move 1 · a: L:A1")
    assert page.url.endswith("#2%3Aa%3Ab")
    press(page, "Escape")
    expect(page.locator(".chosen")).to_have_count(0)
    assert page.locator(":focus").get_attribute("class") == "open"
    page.locator("#pause").click()
    move(slot, 2, "L:B1")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".to-move .name")).to_have_text("a")
    page.go_back()  # to the large board
    growing.play("2:a:b")
    expect(page.locator(".stamp")).to_contain_text("wins")
    expect(page.locator(".to-move")).to_have_count(0)
    page.wait_for_url("**/game/3")


def test_games_and_the_report_are_a_step_away(page: Page) -> None:
    page.locator(f"{ENDED} a").first.click()
    page.wait_for_url("**/game/2")
    page.go_back()
    page.get_by_role("link", name="Report so far").click()
    page.wait_for_url("**/report")
    page.locator("#list tbody th a").first.click()
    page.wait_for_url("**/game/1#*")


def test_a_lost_connection_is_told_and_found_again(
    chromium: Browser, growing: Growing, server: Server
) -> None:
    with watched_page(chromium, server.url) as watched:
        page = watched.page
        page.goto(server.url)
        expect(page.locator(ENDED)).to_have_count(2)
        expect(page.locator("#connection")).to_be_empty()
        server.end()
        expect(page.locator("#connection")).to_contain_text("is lost")
        growing.play("2:a:b")
        with serving(growing.path.parent, port=server.port):
            expect(page.locator(ENDED)).to_have_count(3)
            expect(page.locator("#connection")).to_be_empty()


def test_a_lost_server_of_a_run_that_is_over_is_not_waited_for(chromium: Browser, server: Server) -> None:
    with watched_page(chromium, server.url) as watched:
        watched.page.goto(server.url)
        expect(watched.page.locator(ENDED)).to_have_count(2)
        server.end()
        expect(watched.page.locator("#connection")).to_contain_text("`referee serve` shows the run again")


def test_without_a_script_there_are_lists(chromium: Browser, server: Server) -> None:
    context = new_context(chromium, java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(server.url)
        expect(page.locator("#arena")).to_be_hidden()
        page.get_by_role("link", name="games").click()
        page.wait_for_url("**/games/1")
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
        expect(page.locator(ENDED).first).to_be_visible()
        check(page, [PHONE])
        assert watched.settle() == []


def test_everybody_can_use_it_on_every_screen(
    page: Page, server: Server, growing: Growing, slot: SlotWriter
) -> None:
    begin(slot, growing, "2:a:b")
    expect(page.locator(STRIPS)).to_have_count(2)
    check(page)
    page.locator("#large").click()
    expect(page.locator(".chosen")).to_have_count(1)
    check(page)
    for path in ("standings", "games/1", "faults/1", "game/1"):
        page.goto(server.url + path)
        check(page, [DARK, PHONE])  # both schemes and both widths


ADDRESS = "http://arena.test/"

Show = Callable[..., None]


@pytest.fixture
def told(chromium: Browser) -> Iterator[tuple[Page, Show]]:
    """A page, and a function that shows it what it is told by a server that is not there."""
    with watched_page(chromium, ADDRESS) as watched:
        page = watched.page

        def show(*events: dict[str, Any]) -> None:
            names = ["whole", *["frame" for _ in events[1:]]]
            data = (
                f"event: {name}\ndata: {json.dumps(event)}\n\n"
                for name, event in zip(names, events, strict=True)
            )
            stream = "".join(data)
            page.route("**/*", lambda route: route.fulfill(body=arena_page("run"), content_type="text/html"))
            page.route(
                "**/arena/events",
                lambda route: route.fulfill(body=stream, content_type="text/event-stream"),
            )
            page.goto(ADDRESS)

        yield page, show
        assert watched.settle() == []


def whole(**members: Any) -> dict[str, Any]:
    known = {"seq": 0, "now": now_us(), "boards": {}, "standings": [], "since": 0, "ended": [], "count": 0}
    said = dict.fromkeys(("state", "trouble", "notice", "note", "remaining"), "")
    return {**known, **said, "planned": None, "later": 0, "name": "run", "running": True, **members}


def board(
    game_id: str, slug: str, bots: list[str], turn: tuple[int, ...] = (0,), clock: TimeControl = NO_CLOCK
) -> dict[str, Any]:
    """The board of a game that begins."""
    game = GAMES[slug]
    picture = game.start(game.settle({})).picture(None)
    drawn = DrawnBoard(game_id, slug, bots, [clock for _ in bots])
    reserves = [clock.reserve_us for _ in bots] if clock.timed and game.is_open else [None for _ in bots]
    rows = seat_rows(picture, len(bots))
    drawn.show(
        planes_of(picture), turn=turn, reserves_us=reserves, at_us=now_us(), moves=0, last="", rows=rows
    )
    return drawn.whole()


def over(number: int, game_id: str, bots: list[str], show: bool = False) -> dict[str, Any]:
    """A game that ended."""
    return {
        "n": number,
        "id": game_id,
        "bots": bots,
        "scores": [16, 9],
        "won": [1],
        "why": "a reason",
        "fault": "",
        "show": show,
    }


def test_a_closing_test_is_told(told: tuple[Page, Show]) -> None:
    page, show = told
    show(whole(count=1, planned=100, later=2000, remaining="about 5 min"))
    text = "1 of 100 games, about 5 min left, then at most 2,000 of the closing test"
    expect(page.locator("#progress")).to_have_text(text)


def test_a_gap_in_the_news_is_told(told: tuple[Page, Show]) -> None:
    page, show = told
    show(whole(count=1), {"seq": 2, "now": 0, "count": 3})
    expect(page.locator("#connection")).to_contain_text("did not arrive")
    expect(page.locator("#progress")).to_have_text("1 game")


def test_a_page_does_not_grow_with_the_games(told: tuple[Page, Show]) -> None:
    page, show = told
    bots = ["ant", "bee"]
    frames = [
        {
            "seq": n,
            "now": now_us(),
            "boards": {"w1": board(f"{n}", "blooms", bots)},
            "ended": [over(n, f"{n}", bots)],
        }
        for n in range(1, 101)
    ]
    show(whole(boards={"w1": board("1", "blooms", bots)}), *frames[:10])
    expect(page.locator(ENDED).first).to_contain_text("ant16 : 9bee")
    few = page.locator("*").count()
    show(whole(boards={"w1": board("1", "blooms", bots)}), *frames)
    expect(page.locator(ENDED).first).to_have_attribute("data-number", "100")
    assert page.locator("*").count() == few


def test_a_large_board_stays_where_its_replay_is_kept_back(told: tuple[Page, Show]) -> None:
    page, show = told
    bots = ["ant", "bee"]
    page.add_init_script("location.hash = '#1'")
    next_game = {"w1": board("2", "thetree", bots)}
    show(
        whole(boards={"w1": board("1", "thetree", bots)}),
        {"seq": 1, "now": now_us(), "boards": next_game, "ended": [over(1, "1", bots)]},
    )
    expect(page.locator(".chosen .caption")).to_contain_text("kept back")
    expect(page.locator(".chosen .stamp")).to_contain_text("ant wins")
    show_as(page, PHONE)
    caption = page.locator(".chosen .caption")
    assert caption.evaluate("one => one.scrollWidth - one.clientWidth") == 0, "all of it can be read"


def test_a_board_goes_when_its_worker_has_no_game_any_more(told: tuple[Page, Show]) -> None:
    page, show = told
    show(
        whole(boards={"w1": board("1", "blooms", ["a", "b"]), "w2": board("2", "blooms", ["b", "a"])}),
        {"seq": 1, "now": now_us(), "boards": {"w1": None}},
    )
    expect(page.locator(f"{TABLE} .name")).to_have_text(["b", "a"])


def test_a_clock_shows_what_is_left_and_a_hidden_game_has_none(told: tuple[Page, Show]) -> None:
    page, show = told
    move_alone = TimeControl.parse("100s")
    show(whole(boards={"w1": board("1", "blooms", ["a", "b"], (0,), move_alone)}))
    expect(page.locator(".left")).to_have_text(["1:40", "1:40"])
    show(whole(boards={"w1": board("1", "thetree", ["a", "b"], (0,), move_alone)}))
    expect(page.locator(STRIPS).first).to_be_visible()
    expect(page.locator(".left").first).to_be_hidden()


def test_the_projector_shows_the_game_of_the_first_bots(told: tuple[Page, Show]) -> None:
    page, show = told
    standing = {"w": 0, "d": 0, "l": 0, "f": 0, "share": 0, "form": [], "elo": None, "moved": 0}
    standings = [{"bot": bot, **standing} for bot in "abcd"]
    boards = {"w1": board("1", "blooms", ["d", "a"]), "w2": board("2", "blooms", ["b", "a"])}
    show(whole(boards=boards, standings=standings))
    expect(page.locator(TABLE)).to_have_count(2)
    page.locator("#large").click()
    expect(page.locator(".chosen .name")).to_have_text(["b", "a"])
    press(page, "ArrowRight")
    expect(page.locator(".chosen .name")).to_have_text(["d", "a"])


def test_names_of_any_kind_stay_in_their_places(told: tuple[Page, Show]) -> None:
    page, show = told
    names = ["x" * 60, "שלום<b>"]
    show(whole(boards={"w1": board("1", "blooms", names)}, ended=[over(1, "0", names)]))
    expect(page.locator(STRIPS)).to_have_count(2)
    check(page)


def test_boards_fill_the_screen_and_nothing_is_below_it(told: tuple[Page, Show]) -> None:
    page, show = told
    show(whole(boards={"w1": board("1", "blooms", ["a", "b"])}))
    expect(page.locator(STRIPS)).to_have_count(2)
    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollHeight - {root}.clientHeight") == 0


def test_what_is_said_of_a_seat_has_room_beside_a_large_board(told: tuple[Page, Show]) -> None:
    page, show = told
    page.add_init_script("location.hash = '#1'")
    rows = {"1": "10 living, 12 dead", "2": "2 living, 0 dead"}
    show(whole(boards={"w1": {**board("1", "vinetree", ["a", "b"]), "rows": rows}}))
    expect(page.locator(".chosen .beside")).to_have_text(["living, 12 dead", "living, 0 dead"])
    for score in page.locator(".chosen .score").all():
        assert score.evaluate("one => one.scrollWidth - one.clientWidth") == 0


def test_of_a_game_of_four_all_are_listed_and_a_run_that_is_over_has_no_pause(
    told: tuple[Page, Show],
) -> None:
    page, show = told
    game = {**over(1, "0", [*"abcd"]), "scores": [7, 0, 3, 5], "won": [2]}
    show(whole(running=False, ended=[game]))
    assert page.locator(f"{ENDED} .all").inner_text().split() == [*"a7b0c3d5"]
    expect(page.locator(f"{ENDED} .won")).to_have_text("b")
    expect(page.locator("#pause")).to_be_hidden()


def test_without_boards_there_are_the_lists_and_why(told: tuple[Page, Show]) -> None:
    page, show = told
    show(whole(note="Games in play are shown elsewhere."))
    expect(page.locator("#note")).to_have_text("Games in play are shown elsewhere.")
    expect(page.locator("#large")).to_be_hidden()
    check(page)
