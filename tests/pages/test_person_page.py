"""The page on which a person plays, in a browser: games that are clicked from the first move to the last, by
mouse and by touch; what is said, and what is never on the page of another person.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from referee.core.seeds import Stream
from referee.core.text import shown
from referee.gameplay.events import Moved
from referee.games.api import Seat
from referee.games.picture import Picture, Plane
from referee.records import journal
from referee.records.record import GameRecord, from_json, parse_json
from referee.viewing.knowledge import ViewKnowledge
from referee.viewing.steps import Step, steps_of
from tests.command import RANDOM
from tests.processes.browser_play import BrowserGame, browser_game
from tests.processes.browser_play import Page as Link
from tests.waiting import TOO_LONG_S, eventually

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, Route, expect

from tests.pages.browser import (
    DARK,
    LIGHT,
    PHONE,
    SETTLED,
    Look,
    check,
    foreign_parts,
    show_as,
    watched_page,
    wider_than_screen,
)

pytestmark = pytest.mark.slow

READY = """() => {
    const game = document.querySelector(".game");
    const offers = document.querySelector(".target[role=button]:not(.pressed), .moves button");
    return game.matches(".asked") && offers !== null && !document.querySelector(".moves button:disabled");
}"""
"""Whether a person may click on something."""

NEXT = """([before, number]) => {
    const texts = document.querySelectorAll(".chosen, .turn, .log, .moves");
    const state = [...texts].map(one => one.textContent).join();
    const why = document.querySelector(".why").textContent;
    if (!document.querySelector(".stamp").hidden || why) return { kind: "over", why };
    if (state === before || !READY()) return null;
    const offered = [
        ["part", ".target[role=button]:not(.pressed)", ".ring"],
        ["move", ".moves button", "span"],
        ["ghost", ".ghost:not(.behind)", "use, path"],
    ].flatMap(([kind, all, drawn]) => [...document.querySelectorAll(all)].map(found => [kind, found, drawn]));
    const [kind, found, drawn] = offered[number % offered.length];
    found.scrollIntoView({ block: "center", behavior: "instant" });
    const box = (found.querySelector(drawn) ?? found).getBoundingClientRect();
    return { kind, why, state, at: [box.x + box.width / 2, box.y + box.height / 2] };
}""".replace("READY", f"({READY})")
"""When the page is no longer as it was before: where one of the things is that may be clicked (a part of a
move, the button of a move, or a ghost), which is in sight then; or that the game is over.
"""


class Finger:
    """Clicks on random things with a mouse, or taps them."""

    def __init__(self, page: Page, look: Look, rng: Stream) -> None:
        self.page = page
        self.kinds: Counter[str] = Counter()
        """What was clicked how often."""
        self._before = ""
        self._rng = rng
        self._press = page.touchscreen.tap if look is PHONE else page.mouse.click

    def click(self) -> bool:
        """Clicks on something, as soon as there is something; whether the game goes on."""
        found = self.page.wait_for_function(NEXT, arg=self._arg()).json_value()
        return self._take(found)

    def click_if_asked(self) -> bool:
        """Clicks on something, if this person is asked; whether that is so."""
        found = self.page.evaluate(NEXT, self._arg())
        return found is not None and self._take(found)

    def _arg(self) -> list[str | int]:
        return [self._before, self._rng.below(1 << 30)]

    def _take(self, found: dict[str, Any]) -> bool:
        assert not found["why"], (self.kinds, found)
        if found["kind"] == "over":
            return False
        self.kinds[found["kind"]] += 1
        self._before = found["state"]
        self._press(*found["at"])
        return True


@contextlib.contextmanager
def playing(*words: str) -> Iterator[BrowserGame]:
    """A game that is played in browsers, and ends as a user ends it."""
    with browser_game(*words) as game:
        try:
            yield game
        finally:
            game.process.terminate()
            game.process.wait(TOO_LONG_S)


@contextlib.contextmanager
def opened(chromium: Browser, link: Link, look: Look = LIGHT) -> Iterator[Page]:
    """The page of a person or of those who watch; it must do nothing that no page may do."""
    server = f"http://{link.host}/"
    with watched_page(chromium, server, look, touch=look is PHONE) as watched:
        watched.page.goto(server + link.path[1:])
        expect(watched.page.locator(".game")).to_be_visible()
        yield watched.page
        assert watched.settle() == []


def words_of(slug: str, *options: str) -> list[str]:
    """The words of a command line after `play`, without the players."""
    given = [word for option in options for word in ("--option", option)]
    return [slug, "--isolation", "none", "--seed", "clicks", *given]


CONNECT_FOUR = "tests/outside/connect_four.py:GAME"

GAMES = {
    "blooms": (LIGHT, words_of("blooms", "size=3", "target=3")),
    "vinetree": (PHONE, words_of("vinetree", "size=5")),
    "evengroups": (LIGHT, words_of("evengroups", "size=3")),
    "thetree with three": (PHONE, words_of("thetree", "deals=1", "players=3")),
    "connect4": (PHONE, words_of(CONNECT_FOUR)),
}
"""How each game is played, and looked at; two persons play the others."""


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_is_clicked_and_everybody_can_use_its_page(name: str, chromium: Browser) -> None:
    look, words = GAMES[name]
    bots = [f"b{number}={RANDOM}" for number in range(2 if "three" in name else 1)]
    with playing(*words, "anna=me", *bots) as game, opened(chromium, game.persons[0], look) as page:
        page.wait_for_function(READY)
        check(page, [DARK, PHONE])
        for control in page.locator("button:visible, input:visible").all():
            box = control.bounding_box()
            assert box and min(box["height"], box["width"]) >= 44, control.text_content()
        show_as(page, look)
        finger = Finger(page, look, Stream(name.encode()))
        while finger.click():
            pass
        assert finger.kinds.total() > 4
        expect(page.locator(".playing")).to_be_hidden()
        page.evaluate(SETTLED)
        assert wider_than_screen(page) == 0
        page.locator("a.replay").click()
        expect(page.locator(".replay .moves li").first).to_be_visible()


class Snapshot(NamedTuple):
    """What a page had in it at a moment, its attributes included."""

    moves: int
    text: str


def snapshot(page: Page) -> Snapshot | None:
    """Everything that is in the page, with the number of moves that its board shows; None where the game is
    over, when all may be seen.
    """
    is_going_on, label, text = page.evaluate(
        """() => [
            document.querySelector(".stamp").hidden,
            document.querySelector(".board .picture").getAttribute("aria-label"),
            document.documentElement.outerHTML,
        ]"""
    )
    if not is_going_on:
        return None
    return Snapshot(int(label.removeprefix("Move ").partition(":")[0]), unescape(text))


def titles(picture: Picture) -> set[str]:
    """The titles of everything in a picture."""
    found: set[str] = set()
    for panel in picture:
        found.update(piece.title for piece in (panel.marks if isinstance(panel, Plane) else panel.spans))
    return found - {""}


def told(step: Step, record: GameRecord, seat: Seat) -> set[str]:
    """What a seat is told and shown of a position, in the words of pages."""
    terms = record.terms
    known = ViewKnowledge(seat, terms.game.is_open)
    news = {shown(terms.game.told(line), 300) for line in known.news(step.state)}
    return titles(known.picture(step.state)) | {line for line in news if len(line) > 4}


def positions(record: GameRecord) -> list[list[Step]]:
    """The positions of a game by how many moves the pages count before them."""
    found: list[list[Step]] = [[]]
    for step in steps_of(record).steps:
        if any(isinstance(event, Moved) for event in step.events):
            found.append([])
        found[-1].append(step)
    return found


def only_record(run: Path) -> GameRecord:
    """The record of the game of a run."""
    _, line = journal.read(run)
    return from_json(parse_json(line.text))


def secrets(steps: Sequence[Step], record: GameRecord, seat: Seat, other: Seat) -> set[str]:
    """What a seat knows in all of these positions, and the other in none of them."""
    of_seat = set.intersection(*(told(step, record, seat) for step in steps))
    return of_seat.difference(*(told(step, record, other) for step in steps))


def stands_in(text: str, page: str) -> bool:
    """Whether a text is in a page, as all of an element or attribute."""
    return re.search(f'[>"]{re.escape(text)}[<"]', page) is not None


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_two_persons_never_have_the_secrets_of_the_other_on_their_pages(
    slug: str, chromium: Browser, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = words_of(slug, "max_turns=5" if slug == "floral" else "deals=1")
    found: dict[Seat, list[Snapshot]] = {0: [], 1: []}
    looks = (LIGHT, PHONE)
    with playing(*words, "anna=me", "bob=me", "-o", str(run)) as game, contextlib.ExitStack() as stack:
        pages = [
            stack.enter_context(opened(chromium, person, look))
            for person, look in zip(game.persons, looks, strict=True)
        ]
        rng = Stream(slug.encode())
        fingers = [Finger(page, look, rng) for page, look in zip(pages, looks, strict=True)]
        while not any(page.locator(".stamp").is_visible() for page in pages):
            for finger in fingers:
                if not finger.click_if_asked():
                    continue
                for seat, page in enumerate(pages):
                    if seen := snapshot(page):
                        found[seat].append(seen)
        stack.close()
        assert game.ended()[0] == 0
    record = only_record(run)
    at = positions(record)
    for seat, other in ((0, 1), (1, 0)):
        seen_by_self = 0
        for mine, theirs in product(found[seat], found[other]):
            if mine.moves != theirs.moves:
                continue
            for secret in secrets(at[mine.moves], record, seat, other):
                assert not stands_in(secret, theirs.text), (secret, theirs.moves)
                seen_by_self += stands_in(secret, mine.text)
        assert seen_by_self > 20, "they stand on the page of the one who may know them"


SMALL = words_of("blooms", "size=3")


def test_a_typed_move_is_played_and_an_illegal_one_is_explained(chromium: Browser) -> None:
    words = words_of("blooms", "size=3")
    with (
        playing(*words, "anna=me", f"b={RANDOM}") as game,
        opened(chromium, game.persons[0]) as page,
    ):
        field = page.get_by_label("Your move", exact=True)
        field.fill("L:Z9")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("illegal: ")
        expect(field).to_have_value("L:Z9")
        field.fill("L:A1")
        page.get_by_role("button", name="Play").click()
        expect(page.locator(".log li")).to_have_count(2)
        expect(field).to_have_value("")
        expect(page.locator(".why")).to_be_empty()


def test_what_a_hostile_bot_says_is_text(chromium: Browser) -> None:
    bot = "{python} tests/bots/markup_bot.py malformed"
    words = words_of("blooms", "size=4")
    with playing(*words, "anna=me", f"b={bot}", "--hint", bot) as game, contextlib.ExitStack() as stack:
        page, watching = (stack.enter_context(opened(chromium, link)) for link in game.pages.values())
        page.get_by_role("button", name="Hint").click()
        expect(page.locator(".news")).to_contain_text("hint")
        finger = Finger(page, LIGHT, Stream(b"hostile"))
        while finger.click():
            pass
        for one in (page, watching):
            expect(one.locator(".log")).to_contain_text("<")
            assert foreign_parts(one) == []


def test_the_keyboard_alone_is_enough(chromium: Browser) -> None:
    with playing(*SMALL, "anna=me", f"b={RANDOM}") as game, opened(chromium, game.persons[0]) as page:
        page.wait_for_function(READY)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.dataset.target"):
                break
        first = page.evaluate("document.activeElement.dataset.target")
        page.keyboard.press("ArrowRight")
        second = page.evaluate("document.activeElement.dataset.target")
        assert first and second and first != second
        page.keyboard.press("Enter")
        expect(page.locator(".chosen")).to_contain_text(f"Chosen: {second}.")
        page.keyboard.press("Escape")
        expect(page.locator(".chosen")).to_have_text("Choose on the board.")
        page.keyboard.press("Enter")
        expect(page.locator(".moves button")).to_have_count(2)
        page.locator(".moves button").first.press("Enter")
        expect(page.locator(".log li")).to_have_count(2)
        expect(page.locator(".told")).to_contain_text("Your move")


def test_clicks_are_kept_until_the_server_has_answered_those_before(chromium: Browser) -> None:
    held: list[Route] = []
    with playing(*SMALL, f"b={RANDOM}", "anna=me") as game, opened(chromium, game.persons[0]) as page:

        def let_go() -> None:
            eventually(lambda: page.evaluate(SETTLED) or held)
            held.pop().continue_()

        page.wait_for_function(READY)
        cells = page.locator("[data-target]").evaluate_all("all => all.map(one => one.dataset.target)")[:2]
        page.route("**/act", lambda route: held.append(route))
        page.reload()
        for cell in cells:
            page.locator(f'.board [data-part="{cell}"]').first.click(force=True)
            let_go()
        let_go()
        expect(page.locator(".chosen")).to_contain_text(f"Chosen: {' '.join(cells)}.")


def test_hints_and_moves_that_are_taken_back(chromium: Browser) -> None:
    with playing(*SMALL, "anna=me", f"b={RANDOM}") as game, opened(chromium, game.persons[0]) as page:
        back = page.get_by_role("button", name="Take back")
        expect(back).to_be_disabled()
        page.get_by_role("button", name="Hint").click()
        expect(page.locator(".news")).to_contain_text("hint: ")
        page.get_by_label("Your move", exact=True).fill("L:A1")
        page.get_by_role("button", name="Play").click()
        expect(page.locator(".log li")).to_have_count(2)
        back.click()
        expect(page.locator(".log li")).to_have_count(0)
        expect(page.locator(".turn")).to_have_text("Your move")


def test_who_resigns_is_asked_once(chromium: Browser) -> None:
    words = words_of("evengroups", "size=3")
    with playing(*words, "anna=me", f"b={RANDOM}") as game, opened(chromium, game.persons[0]) as page:
        page.get_by_role("button", name="Resign", exact=True).click()
        page.get_by_role("button", name="No", exact=True).click()
        expect(page.locator(".turn")).to_have_text("Your move")
        page.get_by_role("button", name="Resign", exact=True).click()
        page.get_by_role("button", name="Yes, resign").click()
        expect(page.locator(".stamp")).to_contain_text("resigned")
        check(page)


def test_another_person_agrees_or_not_and_others_watch_without_controls(chromium: Browser) -> None:
    with playing(*SMALL, "anna=me", "bob=me") as game, contextlib.ExitStack() as stack:
        anna, bob = (stack.enter_context(opened(chromium, person)) for person in game.persons)
        watching = stack.enter_context(opened(chromium, game.watching))
        for page, move in ((anna, "L:A1"), (bob, "L:B1")):
            page.get_by_label("Your move", exact=True).fill(move)
            page.get_by_role("button", name="Play").click()
        for answer, left in (("No", 2), ("Yes", 1)):
            anna.get_by_role("button", name="Take back").click()
            expect(bob.get_by_role("alertdialog")).to_contain_text("take back")
            bob.get_by_role("button", name=answer, exact=True).click()
            expect(bob.get_by_role("alertdialog")).to_be_hidden()
            expect(watching.locator(".log li")).to_have_count(left)
        expect(watching.locator(".playing")).to_be_hidden()
        expect(watching.locator(".turn")).to_have_text("bob to move")
        assert watching.locator("button:visible").all_text_contents() == ["Dark"]


def test_a_lost_connection_is_told(chromium: Browser) -> None:
    with playing(*SMALL, "anna=me", f"b={RANDOM}") as game:
        link = game.persons[0]
        with watched_page(chromium, f"http://{link.host}/") as watched:
            page = watched.page
            page.goto(f"http://{link.host}{link.path}")
            expect(page.locator(".turn")).to_have_text("Your move")
            game.process.terminate()
            expect(page.locator(".connection")).to_contain_text("is lost")
            page.get_by_label("Your move", exact=True).fill("L:A1")
            page.get_by_role("button", name="Play").click()
            expect(page.get_by_role("alert")).to_contain_text("did not answer")
