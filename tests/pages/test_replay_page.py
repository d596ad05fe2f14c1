"""The page that replays a game, in a real browser: each step shows what was recorded, by every way to it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from referee.core.text import by_name
from referee.core.units import TimeControl
from referee.gameplay.events import Moved
from referee.gameplay.loop import play as play_game
from referee.gameplay.loop import seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import Seat
from referee.games.picture import Plane, boards_and_notes, panels_of_seat
from referee.pages.game_data import NOTES_WIDTH, ROW_WIDTHS, frames_of
from referee.pages.replay_page import replay_page
from referee.viewing.characters import picture_text
from referee.viewing.steps import Steps, steps_of
from referee.viewing.svg import Layout, draw
from tests.pages.recorded import SHORT, only_game, play, written
from tests.rules.random_play import random_game
from tests.unit.pages.test_game_analysis import GIVEN
from tests.unit.scripted import Events, ScriptedWire, puppet
from tests.unit.viewing.test_deciding import BY_LEAD, CAPTURED
from tests.unit.viewing.test_expected import saying
from tests.unit.viewing.test_steps import recorded

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.pages.browser import (
    AS_THE_BROWSER_WRITES_IT,
    LIGHT,
    PHONE,
    SETTLED,
    Look,
    check,
    new_context,
    open_file,
    press,
    show_as,
)
from tests.recorded import record_of

pytestmark = pytest.mark.slow

SMALL = Look("small", 1280, 720, "light")


@pytest.fixture(scope="package")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Steps]:
    folder = tmp_path_factory.mktemp("games")
    return {slug: only_game(play(slug, folder / slug, option)) for slug, option in SHORT.items()}


class Replay:
    """The page of a game, and what it should show."""

    def __init__(self, page: Page, steps: Steps, path: Path, view: Seat | None = None) -> None:
        self.page = page
        self.steps = steps
        self.frames = [*frames_of(steps.steps)]
        self.last = len(self.frames) - 1
        open_file(page, written(steps, path, view))
        self.at(0, view)

    def at(self, step: int, view: Seat | None = None) -> None:
        """Checks that this step is shown, as this view knows it."""
        page = self.page
        expect(page.get_by_role("slider")).to_have_value(str(step))
        expect(page.locator("[aria-current=step]")).to_have_count(1)
        pictures = [frame.step.state.picture(view) for frame in self.frames]
        boards, notes = boards_and_notes(pictures)
        layout = Layout.of(boards)
        drawn = "".join(layout.elements(boards[step]))
        place = page.locator(".board > svg .pieces")
        assert place.inner_html() == page.evaluate(AS_THE_BROWSER_WRITES_IT, drawn)
        ground = page.evaluate(AS_THE_BROWSER_WRITES_IT, layout.ground)
        assert page.locator(".board .ground").inner_html() == ground
        seats = range(len(self.steps.terms.bots))
        beside = [(notes, NOTES_WIDTH)] if any(notes) else []
        for seat in seats:
            panels = [panels_of_seat(picture, seat) for picture in pictures]
            beside.append((panels, ROW_WIDTHS[len(seats) - 1]))
        places = [one for part in (".notes", ".rows") for one in page.locator(f"{part} .pieces").all()]
        for place, (rows, width) in zip(places, beside, strict=True):
            layout, parts = draw(rows, row_width=width)
            drawn = layout.ground + "".join(parts.elements[index] for index in parts.pictures[step])
            assert place.inner_html() == page.evaluate(AS_THE_BROWSER_WRITES_IT, drawn)
        assert page.locator(".position pre").text_content() == picture_text(pictures[step])
        # What marks are said to be stands in the page, however they are drawn.
        planes = [panel for panel in pictures[step] if isinstance(panel, Plane)]
        titles = {mark.title for plane in planes for mark in (*plane.ground, *plane.marks) if mark.title}
        assert titles <= set(page.locator("svg.picture title").all_text_contents())


def test_what_is_new_moves_unless_the_reader_prefers_less_motion(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    found = []
    for number in (0, 1):
        page.emulate_media(reduced_motion="reduce" if number else "no-preference")
        Replay(page, games["evengroups"], tmp_path / f"{number}.html")
        found.append(
            page.evaluate(
                """async () => {
                    document.querySelector(".next").click();
                    await null;
                    return document.getAnimations().map(one => one.effect.target.closest(".pieces") !== null);
                }"""
            )
        )
    assert found[0] and all(found[0]), "in the picture"
    assert not found[1]


@pytest.fixture(params=["blooms", "floral", "thetree"])
def each_game(request: pytest.FixtureRequest, games: dict[str, Steps]) -> Steps:
    """For what depends on the game: what is drawn, and how large it is."""
    return games[request.param]


@pytest.fixture
def steps(games: dict[str, Steps]) -> Steps:
    """For what is the same in all games: the controls, the list, the words."""
    return games["thetree"]


def test_keys_lead_to_every_step(each_game: Steps, page: Page, tmp_path: Path) -> None:
    replay = Replay(page, each_game, tmp_path / "game.html")
    for step in range(1, replay.last + 1):
        press(page, "ArrowRight")
        if step % (5 if replay.last < 30 else replay.last // 6) == 0:
            replay.at(step)
    replay.at(replay.last)
    press(page, "ArrowRight")
    replay.at(replay.last)
    press(page, "ArrowLeft")
    replay.at(replay.last - 1)
    press(page, "Home")
    replay.at(0)
    press(page, "PageDown")
    replay.at(min(10, replay.last))
    press(page, "PageUp")
    replay.at(0)
    press(page, *str(len(each_game.steps) - 1), "Enter")
    replay.at(replay.last)
    press(page, "Home", "End")
    replay.at(replay.last)


def test_the_slider_and_the_buttons_lead_to_every_step(steps: Steps, page: Page, tmp_path: Path) -> None:
    replay = Replay(page, steps, tmp_path / "game.html")
    slider = page.get_by_role("slider")
    slider.fill(str(replay.last))
    replay.at(replay.last)
    slider.fill("1")
    replay.at(1)
    slider.focus()
    press(page, "End")
    replay.at(replay.last)
    for name, step in (("First step", 0), ("Step forward", 1), ("Step back", 0), ("Last step", replay.last)):
        page.get_by_role("button", name=name).click()
        replay.at(step)
    page.locator("ol.moves button").nth(2).click()
    replay.at(2)


def test_every_seat_has_its_view(each_game: Steps, page: Page, tmp_path: Path) -> None:
    replay = Replay(page, each_game, tmp_path / "game.html")
    press(page, "End")
    for view in (*each_game.views[1:], None):
        press(page, "v")
        replay.at(replay.last, view)
    choices = page.get_by_role("radio")
    assert choices.count() == (len(each_game.views) if len(each_game.views) > 1 else 0)
    for number, view in enumerate(each_game.views if len(each_game.views) > 1 else ()):
        page.locator("fieldset.views label").nth(number).click()
        replay.at(replay.last, view)


def test_a_page_for_a_seat_has_its_view_alone(steps: Steps, page: Page, tmp_path: Path) -> None:
    replay = Replay(page, steps, tmp_path / "game.html", view=1)
    press(page, "End")
    replay.at(replay.last, 1)
    assert page.get_by_role("radio").count() == 0


def test_the_last_step_of_a_damaged_game_says_so(games: dict[str, Steps], page: Page, tmp_path: Path) -> None:
    whole = games["vinetree"].record
    steps = steps_of(replace(whole, events=whole.events[:-2]))
    replay = Replay(page, steps, tmp_path / "game.html")
    expect(page.locator(".now")).not_to_contain_text("damaged")
    press(page, "End")
    replay.at(replay.last)
    expect(page.locator(".now")).to_contain_text(f"The record is damaged here: {steps.damage}")


@pytest.fixture
def out_of_time() -> Steps:
    """A game of Blooms in which seat 2 runs out of time, after a value of seat 1 that falls and a move of
    seat 2 that took some of its reserve.
    """
    control = TimeControl.parse("2s+6s/2s")
    blooms = GAMES["blooms"]
    terms = Terms("1:a:b", blooms, blooms.settle({}), ("a", "b"), (control, control), b"s")
    events = Events()
    wire = ScriptedWire(
        puppet("L:A1", "L:B1", "L:C1"), puppet((2_500_000, "L:A2"), "L:Z9", "L:B2", (9_000_000, "L:C2"))
    )
    verdict = play_game(terms, wire, seeded_dice(terms), events)
    values = iter(("value 0.8 depth 2", "value 0.8", "value 0.3"))
    said = tuple(
        event._replace(info=next(values)) if isinstance(event, Moved) and event.seat == 0 else event
        for event in events.all
    )
    return steps_of(record_of(terms, said, verdict))


def test_the_seat_to_move_and_the_clock_that_ran_out_are_seen(
    out_of_time: Steps, page: Page, tmp_path: Path
) -> None:
    Replay(page, out_of_time, tmp_path / "game.html")
    cards = page.locator(".seats .card")
    for seat in (0, 1, 0):
        expect(page.locator(".card.to-move")).to_have_count(1)
        expect(cards.nth(seat)).to_contain_text("to move")
        press(page, "ArrowRight")
    expect(page.locator(".stamp")).to_be_hidden()
    later = page.get_by_text("In the end")
    expect(later).to_be_visible()
    press(page, "End")
    expect(later).to_be_hidden()
    expect(page.locator(".card.to-move")).to_have_count(0)
    expect(cards.nth(1).locator(".big")).to_have_text("0.0 s")
    expect(cards.nth(1)).to_contain_text("out of time after 9.0 s")
    expect(cards.nth(0).locator(".big")).to_have_text("6.0 s")
    expect(page.locator(".stamp")).to_have_text("a winsb ran out of time")


def test_marks_and_the_graph_lead_to_their_steps(out_of_time: Steps, page: Page, tmp_path: Path) -> None:
    replay = Replay(page, out_of_time, tmp_path / "game.html")
    signs = []
    for _ in range(4):
        press(page, "n")
        current = page.locator("[aria-current=step]")
        signs.append((page.locator(".count").text_content(), current.locator(".sign").all_text_contents()))
    assert signs == [("2 / 6", ["◷"]), ("4 / 6", []), ("5 / 6", ["▼"]), ("6 / 6", ["✕"])]
    expect(page.locator("[aria-current=step] .rejected")).to_have_count(0)
    graph = page.locator(".graph")
    assert graph.locator(".own-line").count() == 1 and graph.locator("text.sign").count() == 4
    box = graph.bounding_box()
    assert box
    graph.click(position={"x": box["width"] - 10, "y": 20})
    replay.at(6)
    graph.click(position={"x": 48, "y": 20})
    replay.at(0)


def test_the_lead_is_a_line_of_its_own_and_the_deciding_move_is_marked(page: Page, tmp_path: Path) -> None:
    replay = Replay(page, steps_of(CAPTURED), tmp_path / "game.html")
    graph = page.locator(".graph")
    assert graph.locator(".lead-line").count() == 1 and graph.locator(".own-line").count() == 0
    expect(graph).to_contain_text("b: captures ahead")
    expect(page.locator(".about-graph")).to_have_text("Captures ahead, time per move")
    press(page, "n")
    replay.at(4)
    expect(page.locator(".now p.deciding")).to_have_text(f"★ Deciding move: {BY_LEAD.words}")
    expect(page.locator("[aria-current=step] .sign")).to_have_text("★")


def test_what_is_proved_and_estimated_is_drawn_and_said(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "game.html"
    path.write_text(replay_page(steps_of(CAPTURED), analyses={CAPTURED.terms.id: GIVEN}))
    open_file(page, path)
    graph = page.locator(".graph")
    assert graph.locator("rect.proof").count() == 2 * 3 and graph.locator(".open-proof").count() == 2 * 2
    assert graph.locator("path.estimate").count() == 1 and graph.locator("rect.open").count() == 1
    expect(page.locator(".about-graph")).to_contain_text(
        "Proofs (high: won, flat: lost), chance to win (estimated by @greedy)"
    )
    press(page, "n")
    expect(page.locator(".now p.analysis").first).to_have_text("proved: a wins with best play")
    press(page, "n")
    expect(page.locator(".now p.deciding")).to_contain_text("proved: b wins with best play from here on")
    expect(page.locator("[aria-current=step] .sign").first).to_have_text("?")


def test_many_rejected_answers_are_folded(page: Page, tmp_path: Path) -> None:
    blooms = GAMES["blooms"]
    control = TimeControl.parse("2s+6s/2s")
    terms = Terms("1:a:b", blooms, blooms.settle({}), ("a", "b"), (control, control), b"s")
    events = Events()
    verdict = play_game(terms, ScriptedWire(puppet(*["L:Z9"] * 10), puppet()), seeded_dice(terms), events)
    Replay(page, steps_of(record_of(terms, events.all, verdict)), tmp_path / "g.html")
    press(page, "End")
    assert page.locator(".moves .rejected").count() == 10
    expect(page.locator(".seats .card").first).to_have_class(re.compile(r"\bout\b(?!.*late)"))
    expect(page.locator(".moves .rejected:visible")).to_have_count(1)
    expect(page.locator(".moves .rejected .kind:visible")).to_have_text("10 rejected")
    expect(page.locator(".now summary")).to_have_text("9 more answers rejected")
    expect(page.locator(".now .rejected:visible")).to_have_count(1)


def test_playing_ends_at_the_last_step(games: dict[str, Steps], page: Page, tmp_path: Path) -> None:
    replay = Replay(page, games["vinetree"], tmp_path / "game.html")
    page.get_by_role("combobox").select_option("8")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    replay.at(replay.last)


def test_the_address_keeps_the_step_and_the_view(games: dict[str, Steps], page: Page, tmp_path: Path) -> None:
    replay = Replay(page, games["floral"], tmp_path / "game.html")
    press(page, "PageDown", "v")
    replay.at(10, 0)
    page.reload()
    replay.at(10, 0)


def test_two_games_are_shown_in_step_from_where_they_differ(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    whole = games["evengroups"]
    moves = [number for number, event in enumerate(whole.record.events) if isinstance(event, Moved)]
    differs = 4
    terms, events = replace(whole.terms, id="2:b:a"), whole.record.events[: moves[differs - 1]]
    cut = steps_of(replace(whole.record, terms=terms, events=events))
    open_file(page, written(whole, tmp_path / "pair.html", beside=cut))
    last = len(whole.steps) - 1

    def at(step: int, of_cut: int) -> None:
        found = [page.get_by_role("slider").nth(half) for half in (0, 1)]
        expect(found[0]).to_have_value(str(step))
        expect(found[1]).to_have_value(str(of_cut))

    at(differs, differs - 1)
    expect(page.locator(".apart")).to_contain_text(f"Step {differs} is the first that differs")
    expect(page.locator(".apart")).to_contain_text("the game is over in 2:b:a")
    press(page, "Home")
    at(0, 0)
    press(page, "ArrowRight")
    at(1, 1)
    press(page, "End")
    at(last, differs - 1)
    page.locator(".following .slider").press("End")
    page.locator(".following .row").last.click()
    at(last, differs - 1)
    page.reload()
    at(last, differs - 1)
    grounds = [page.locator(".board .ground").nth(half) for half in (0, 1)]
    press(page, "f")
    assert [ground.inner_html().count("rotate(180 ") for ground in grounds] == [1, 1]
    page.locator(".following .flip").click()
    assert [ground.inner_html().count("rotate(180 ") for ground in grounds] == [0, 0]
    page.locator(".following .row").nth(2).click()
    at(2, 2)
    page.reload()
    at(2, 2)
    page.get_by_role("button", name=f"Step {differs}").click()
    at(differs, differs - 1)
    check(page)
    show_as(page, PHONE)
    found = [page.locator(name).nth(at).bounding_box() for name, at in ((".board", 1), (".side", 0))]
    assert found[0] and found[1]
    assert found[0]["y"] + found[0]["height"] < found[1]["y"], "both boards stand before everything else"


def test_every_move_is_in_the_list(steps: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, steps, tmp_path / "game.html")
    rows = page.locator("ol.moves li")
    frames = [*frames_of(steps.steps)]
    assert rows.count() == len(frames)
    texts = rows.all_text_contents()
    for frame, text in zip(frames, texts, strict=True):
        moves = [event.text for event in frame.step.events if isinstance(event, Moved) and frame.is_first]
        assert all(move in text for move in moves)


def test_on_a_phone_nothing_stands_over_the_moves(each_game: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, each_game, tmp_path / "game.html")
    show_as(page, PHONE)
    last, list_of_moves = (page.locator(f"ol.moves{part}").bounding_box() for part in (" li:last-child", ""))
    below = page.locator("details.position").bounding_box()
    assert last and list_of_moves and below
    assert last["y"] + last["height"] <= list_of_moves["y"] + list_of_moves["height"] <= below["y"]


STAMP = "() => { document.querySelector('.stamp').hidden = false; }"
"""Shows how the game ended where it stands if nothing else says so, as in a report."""


def test_how_the_game_ended_is_said_once(steps: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, steps, tmp_path / "game.html")
    press(page, "End")
    assert steps.verdict
    told = page.get_by_text(by_name(steps.verdict.outcome.sentence, steps.terms.bots))
    expect(told.locator("visible=true").and_(page.locator(":not(.status)"))).to_have_count(1)


def test_how_the_game_ended_covers_nothing_of_the_board(each_game: Steps, page: Page, tmp_path: Path) -> None:
    page.emulate_media(reduced_motion="reduce")
    Replay(page, each_game, tmp_path / "game.html")
    press(page, "End")
    page.evaluate(STAMP)
    for look in (LIGHT, PHONE):
        show_as(page, look)
        stamp = page.locator(".stamp").bounding_box()
        assert stamp
        parts = [page.locator(f".board > svg .{name}").bounding_box() for name in ("pieces", "ground")]
        tops = [box["y"] for box in parts if box and box["height"]]
        assert tops and min(tops) >= stamp["y"] + stamp["height"], look.name


HEIGHTS = """() => [...document.querySelectorAll(".board, .rows")].flatMap(part => [
    ...[...part.querySelectorAll("text")].map(text => [text, text]),
    ...[...part.querySelectorAll("use")].flatMap(
        use => [...document.querySelectorAll(`${use.getAttribute("href")} text`)].map(text => [text, use])
    ),
]).map(([text, shown]) => parseFloat(getComputedStyle(text).fontSize) * shown.getScreenCTM().a)"""
"""The heights of all letters of the pictures in pixels, as they are seen, also of those in symbols."""


def test_texts_of_pictures_can_be_read(each_game: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, each_game, tmp_path / "game.html")
    for look in (LIGHT, PHONE):
        show_as(page, look)
        for key in ("PageDown", "End"):
            press(page, key)
            assert min(page.evaluate(HEIGHTS)) >= 11.99, look.name


def test_texts_of_two_boards_can_be_read(games: dict[str, Steps], page: Page, tmp_path: Path) -> None:
    for slug, steps in games.items():
        open_file(page, written(steps, tmp_path / f"{slug}.html", beside=steps))
        for look in (LIGHT, PHONE):
            show_as(page, look)
            assert min(page.evaluate(HEIGHTS)) >= 11.99, (slug, look.name)


@pytest.mark.parametrize("players", [1, 4])
def test_all_of_a_board_is_on_a_small_screen(players: int, page: Page, tmp_path: Path) -> None:
    record = random_game(GAMES["thetree"], b"pages", {"players": str(players), "deals": "1"})
    open_file(page, written(steps_of(record), tmp_path / "game.html"))
    show_as(page, SMALL)
    for key in ("PageDown", "End"):
        press(page, key)
        lowest = page.locator(".views").bounding_box()
        assert lowest and lowest["y"] + lowest["height"] <= SMALL.height


@pytest.mark.parametrize("players", [2, 4])
def test_a_tree_fills_its_board_beside_many_hands(players: int, page: Page, tmp_path: Path) -> None:
    page.emulate_media(reduced_motion="reduce")
    record = random_game(GAMES["thetree"], b"pages", {"players": str(players), "deals": "1"})
    open_file(page, written(steps_of(record), tmp_path / "game.html"))
    for look in (SMALL, PHONE):
        show_as(page, look)
        press(page, "End")
        page.evaluate(SETTLED)
        parts = (".board > svg .pieces", ".board > svg", ".board", ".rows")
        tree, drawing, board, hands = (page.locator(part).bounding_box() for part in parts)
        assert tree and drawing and board and hands
        share = max(tree["width"] / drawing["width"], tree["height"] / drawing["height"])
        assert 0.8 <= share <= 1, look.name
        is_beside = hands["x"] + hands["width"] <= board["x"]
        assert is_beside == (players > 2 and look is SMALL), look.name


def test_all_of_a_board_and_its_notes_is_on_a_small_screen(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    for slug, steps in games.items():
        open_file(page, written(steps, tmp_path / f"{slug}.html"))
        show_as(page, SMALL)
        press(page, "End")
        parts = (".board > svg", ".notes", ".board")
        picture, notes, board = (page.locator(part).bounding_box() for part in parts)
        assert picture and notes and board
        is_beside = picture["x"] + picture["width"] <= notes["x"]
        is_below = picture["y"] + picture["height"] <= notes["y"]
        assert is_beside if slug == "floral" else is_below, "spells beside the casts, legends below"
        assert board["y"] + board["height"] <= SMALL.height, slug


def test_moves_of_both_seats_at_once_stand_beside_each_other(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    open_file(page, written(games["floral"], tmp_path / "game.html"))
    both = page.locator(".moves .both")
    assert both.count() > 5
    for row in (both.first, both.last):
        one, other = (row.locator(f".column{seat} .text").bounding_box() for seat in (1, 2))
        assert one and other
        assert one["y"] == other["y"] and one["x"] + one["width"] < other["x"]


CUT = """() => {
    const list = document.querySelector(".moves");
    const top = list.getBoundingClientRect().top;
    const rows = [...list.children].map(row => row.getBoundingClientRect());
    return rows.some(row => row.top < top - 0.5 && row.bottom > top + 8);
}"""
"""Whether a step of the list is cut at its top."""


def test_the_topmost_step_is_whole_where_the_list_was_scrolled(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    for slug in ("floral", "thetree"):
        open_file(page, written(games[slug], tmp_path / f"{slug}.html"))
        show_as(page, SMALL)
        current = page.locator(".moves [aria-current=step]")
        for key in ("PageDown", "PageDown", "End", "PageUp"):
            press(page, key)
            expect(current).to_be_in_viewport(ratio=0.9)
            assert not page.evaluate(CUT), (slug, key)


def test_the_current_step_stays_in_view_when_the_window_changes(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    open_file(page, written(games["floral"], tmp_path / "game.html"))
    show_as(page, SMALL)
    press(page, "End")
    current = page.locator(".moves [aria-current=step]")
    expect(current).to_be_in_viewport(ratio=0.9)
    for height in (2000, SMALL.height):
        page.set_viewport_size({"width": SMALL.width, "height": height})
        expect(current).to_be_in_viewport(ratio=0.9)


def test_news_are_folded_where_more_is_known_and_unfolded_as_the_reader_asks(
    games: dict[str, Steps], page: Page, tmp_path: Path
) -> None:
    open_file(page, written(games["floral"], tmp_path / "game.html"))
    news = page.locator(".now .news")
    summary = page.locator(".now summary", has_text="News of this step")
    press(page, "End")
    expect(news).to_be_hidden()
    summary.click()
    press(page, "ArrowLeft")
    expect(news).to_be_visible()
    summary.click()
    press(page, "ArrowLeft")
    expect(news).to_be_hidden()
    press(page, "v", "Home", "ArrowRight", "ArrowRight")  # the spells, of which a seat knows only its own
    expect(news).to_be_visible()


def test_how_a_game_ended_stays_within_the_page(games: dict[str, Steps], page: Page, tmp_path: Path) -> None:
    open_file(page, written(games["evengroups"], tmp_path / "game.html"))
    press(page, "End")
    page.evaluate(STAMP)
    page.evaluate("() => document.getAnimations().forEach(one => { one.pause(); one.currentTime = 900; })")
    stamp, stage = (page.locator(name).bounding_box() for name in (".stamp", ".stage"))
    assert stamp and stage
    assert stage["x"] <= stamp["x"] and stamp["x"] + stamp["width"] <= stage["x"] + stage["width"]


def test_a_finger_on_either_board_of_a_pair_turns_a_step_of_both(
    games: dict[str, Steps], chromium: Browser, tmp_path: Path
) -> None:
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    path = written(games["evengroups"], tmp_path / "pair.html", beside=games["evengroups"])
    open_file(page, path)
    session = context.new_cdp_session(page)
    sliders = page.get_by_role("slider")

    def swipe(half: int, by: int) -> None:
        board = page.locator(".board").nth(half)
        board.scroll_into_view_if_needed()
        box = board.bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind, at in (("touchStart", 0), ("touchMove", by / 2), ("touchMove", by), ("touchEnd", by)):
            points = [] if kind == "touchEnd" else [{"x": x + at, "y": y}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    for half, by, step in ((0, -120, 1), (1, -120, 2), (1, 120, 1), (0, 20, 1), (0, 120, 0)):
        swipe(half, by)
        for each in range(2):
            expect(sliders.nth(each)).to_have_value(str(step))
    context.close()


@pytest.mark.slow
def test_nothing_keeps_people_from_it(steps: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, steps, tmp_path / "game.html")
    press(page, "End")
    check(page)


def test_the_tab_key_reaches_everything_that_acts(steps: Steps, page: Page, tmp_path: Path) -> None:
    Replay(page, steps, tmp_path / "game.html")
    press(page, "PageDown")
    reached = set()
    for _ in range(40):
        press(page, "Tab")
        reached.add(page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.tagName"))
    assert {"Step", "First step", "Play", "Step back", "SELECT", "SUMMARY"} <= reached


def test_the_board_is_turned_and_linked_and_shows_what_is_expected(page: Page, tmp_path: Path) -> None:
    record = recorded(GAMES["blooms"], ("L:A1", "L:B1", "resign {n}"), ("L:A2 D:C1",))
    steps = steps_of(saying(record, "pv L:A1; L:A2; L:B1"))
    open_file(page, written(steps, tmp_path / "game.html"))
    press(page, "ArrowRight")
    drawn = page.locator(".board > svg .pieces")
    before = drawn.inner_html()
    page.get_by_role("button", name="Turn the board round").click()
    assert "rotate(180 " in drawn.inner_html()
    assert (
        drawn.inner_html().count("rotate") == page.locator(".board .ground").inner_html().count("rotate") == 1
    )
    press(page, "f")
    assert drawn.inner_html() == before
    buttons = page.locator(".expected button")
    assert buttons.all_text_contents() == ["L:A1", "L:A2", "L:B1"]
    stones = drawn.locator("use").count()
    buttons.last.click()
    assert drawn.locator("use").count() > stones
    expect(buttons.last).to_have_attribute("aria-pressed", "true")
    press(page, "Home", "ArrowRight")
    assert drawn.inner_html() == before
    page.get_by_role("button", name="Copy the link to this step").click()
    expect(page.locator(".told")).to_have_text(re.compile("link copied|#step=1"))


def test_the_board_is_saved_as_an_image(steps: Steps, chromium: Browser, tmp_path: Path) -> None:
    context = new_context(chromium)  # one that may download
    page = context.new_page()
    open_file(page, written(steps, tmp_path / "game.html"))
    press(page, "End")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the board as an image").click()
    last = len(steps.steps) - 1
    assert download.value.suggested_filename == f"{' - '.join(steps.terms.bots)} {last}.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    context.close()


def test_the_final_position_is_there_without_scripts(
    games: dict[str, Steps], chromium: Browser, tmp_path: Path
) -> None:
    steps = games["vinetree"]
    context = new_context(chromium, java_script_enabled=False)
    page = context.new_page()
    page.goto(written(steps, tmp_path / "game.html").as_uri())
    titles = {
        mark.title
        for panel in steps.steps[-1].state.picture(None)
        if isinstance(panel, Plane)
        for mark in panel.marks
        if mark.title
    }
    assert titles <= set(page.locator(".still title").all_text_contents())
    context.close()
