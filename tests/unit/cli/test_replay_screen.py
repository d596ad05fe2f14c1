"""The screen on which a recorded game is shown: its keys, what it shows, and what fits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.text import Text

from referee.cli.replay_screen import SMALLEST, Browser, Pane, ReplayScreen
from referee.core.text import shown
from referee.gameplay.events import Moved, Rejected
from referee.games import GAMES
from referee.records.record import GameRecord
from referee.viewing.characters import lines
from referee.viewing.knowledge import View
from referee.viewing.steps import steps_of
from tests.rules.random_play import random_game
from tests.scenes import require_scene
from tests.unit.toys import Bid
from tests.unit.viewing.test_steps import recorded

BLOOMS = recorded(GAMES["blooms"], ("L:A1", "L:B1", "resign {n}"), ("L:A1", "L:A2", "L:B2"))
"""Steps 0 to 5; in step 2 an answer was rejected, in step 5 a seat resigns."""

SIZES = (80, 24), (50, 20)


class Shown:
    """A screen in a test, with a clock that the test moves."""

    def __init__(self, record: GameRecord, only: View = None, size: tuple[int, int] = (80, 24)) -> None:
        self.browser = Browser(steps_of(record), only)
        self.now_s = 0.0
        self.app = ReplayScreen(self.browser, lambda: self.now_s)
        self.size = size
        self.drawn: list[Text] = []
        self.press()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.app.press(key)
        self.resize(*self.size)

    def resize(self, columns: int, rows: int) -> None:
        self.size = columns, rows
        self.drawn = self.app.draw(columns, rows)
        assert len(self.drawn) <= rows and max(map(len, self.drawn)) <= columns

    def wait(self) -> None:
        """Waits until something is due."""
        due_s = self.app.wait_s()
        assert due_s is not None
        self.now_s += due_s
        self.app.tick()
        self.press()

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return [line.plain for line in self.drawn]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def long_game() -> GameRecord:
    return random_game(GAMES["blooms"], b"1")


# --- Keys -------------------------------------------------------------------------------------------------


def test_keys_go_through_the_steps() -> None:
    screen = Shown(long_game())
    last = screen.browser.last
    assert last > 20
    for keys, step in (
        (["right"], 1),
        (["enter"], 2),
        (["left"], 1),
        (["b"], 0),
        (["left"], 0),
        (["pagedown"], 10),
        (["pagedown", "right"], 21),
        (["pageup"], 11),
        (["backspace"], 10),
        (["end"], last),
        (["right"], last),
        (["home"], 0),
        (["G"], last),
        (["g"], 0),
        (["1", "4", "enter"], 14),
        (["3", "enter"], 3),
        (["9", "9", "9", "enter"], 3),
        (["7", "escape"], 3),
    ):
        screen.press(*keys)
        assert screen.browser.at == step, keys
        assert f"step {step} of {last}" in screen.text, keys
        assert f">{' ' * (step < 10)}{step} " in screen.text, "the list of steps marks it"


@pytest.mark.parametrize(
    ("slug", "given", "mark"), [("thetree", {"deals": "1"}, "<"), ("vinetree", {}, "═║")]
)
def test_the_board_is_scrolled_to_the_last_move(slug: str, given: dict[str, str], mark: str) -> None:
    record = random_game(GAMES[slug], b"2", given)

    screen = Shown(record, size=(50, 20))
    marked = 0
    for _ in range(screen.browser.last):
        screen.press("right")
        drawn = lines(screen.browser.picture(screen.browser.at))
        if any(ink.paint == "fresh" for line in drawn for ink in line):
            marked += 1
            assert any(one in screen.text.replace("< > laid last", "") for one in mark), screen.text
    assert marked > 10


SESSION = """
7 enter
right
/ l : b 2 enter
home / r e j e c t e d enter
home / s e a t enter
n n
N
end n
N
/ z e b r a enter
/ q escape
v
"""


def test_searches_and_what_is_not_there_are_told_in_the_last_line() -> None:
    """Matches go round; what is shown is the same in a terminal of each size."""
    screen = Shown(BLOOMS)
    screen.press("n")
    told = [f"n: step {screen.browser.at}: {screen.lines[-1]}"]
    for keys in SESSION.strip().split("\n"):
        screen.press(*keys.split())
        told.append(f"{keys}: step {screen.browser.at}: {screen.lines[-1]}")
    pictures = []
    for size, number in (((80, 24), 2), ((40, 12), 5), ((140, 30), 5)):
        screen = Shown(BLOOMS, size=size)
        screen.press(str(number), "enter")
        pictures.append("\n".join(line.rstrip() for line in screen.lines))
    require_scene("replay-screen", "\n".join(told), *pictures)


def test_the_game_plays_and_pauses_at_a_speed() -> None:
    screen = Shown(long_game())
    screen.press(*["-"] * 9)
    assert "0.25 steps per second" in screen.lines[-1]
    screen.press(" ")
    assert "playing 0.25 steps per second" in screen.lines[-1]
    screen.press("+", "+", "+", "+", "+", "+", "+")
    assert "playing 16 steps per second" in screen.lines[-1]
    while screen.browser.at < 3:
        screen.wait()
    assert screen.now_s == 3 / 16
    screen.press(" ")
    assert "playing" not in screen.lines[-1]
    screen.press(" ")
    while screen.browser.at < screen.browser.last:
        screen.wait()
    assert "playing" not in screen.lines[-1], "it stops at the end"
    screen.press(" ")
    assert screen.browser.at < screen.browser.last, "and begins anew"


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c"])
def test_keys_that_quit(key: str) -> None:
    screen = Shown(BLOOMS)
    screen.press(key)
    assert screen.app.is_over


def test_help_names_the_keys_and_the_whole_heading() -> None:
    machine = {"name": "ant", "cpu": "Xeon", "worker": "2"}
    screen = Shown(replace(BLOOMS, measured={"machine": machine}), size=(60, 16))
    screen.press("?")
    assert "PageDown, PageUp" in screen.text and "more" in screen.lines[0]
    screen.press("tab", "7", "/", "pagedown")
    assert "seat 1 a (2s+6s/2s)" in screen.text and "played on ant (Xeon), worker 2" in screen.text
    screen.press("escape")
    assert "step 0 of 5" in screen.text


# --- What is shown ----------------------------------------------------------------------------------------


def test_a_turn_of_several_seats_is_shown_together() -> None:
    screen = Shown(recorded(Bid(), ("1", "x", "2"), ("3", "3", "4")))
    screen.press("right", "right")
    assert "seat 1 a: 1" in screen.text and "seat 2 b: 3" in screen.text
    assert "1: 1, 2: 3" in screen.text


def test_a_damaged_record_is_shown_as_far_as_it_goes() -> None:
    moved = BLOOMS.events[3]
    assert isinstance(moved, Moved)
    broken = replace(BLOOMS, events=(*BLOOMS.events[:3], moved._replace(text="L:A1"), *BLOOMS.events[4:]))

    screen = Shown(broken, size=(140, 30))
    screen.press("end")
    assert 0 < screen.browser.at < 5
    text = " ".join(screen.text.replace("│", " ").split())
    assert "the record cannot be replayed any further: game 1:a:b: event 4" in text


def test_texts_of_bots_are_shown_as_text() -> None:
    """Neither the markup of rich, nor links, nor control characters do anything."""
    said = "[bold red]x[/] [link=http://192.0.2.1]y[/link] \x1b[2J [/] $[@click=app.quit]z"
    events = list(BLOOMS.events)
    moved, rejected = events[0], events[1]
    assert isinstance(moved, Moved) and isinstance(rejected, Rejected)
    events[0] = moved._replace(info=said)
    events[1] = rejected._replace(text=said, sentence="[blink]no[/]")
    names = ("[b]a[/b]", "[@click=app.quit]b[/]")
    broken = replace(BLOOMS, terms=replace(BLOOMS.terms, bots=names), events=tuple(events))

    screen = Shown(broken, size=(160, 30))
    assert all(name in screen.text for name in names)
    screen.press("/", *"[link", "enter")
    for _ in range(2):
        assert (
            "[bold red]x[/] [link=http://192.0.2.1]y[/link] \\x1b[2J [/] $[@click=app.quit]z" in screen.text
        )
        assert all(name in screen.text for name in names) and "\x1b" not in screen.text
        screen.press("right")
    screen.press("/", *"[x] [/]", "enter")
    assert "no step contains `[x] [/]`" in screen.lines[-1]


# --- Views ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_a_seat_s_screen_never_shows_what_others_hid(slug: str) -> None:
    given = {"floral": {"max_turns": "12"}, "thetree": {"deals": "1"}}[slug]
    record = random_game(GAMES[slug], b"5", given)

    screen = Shown(record, only=1, size=(120, 40))
    for key in ("v", "tab", "home", *["right"] * 8, "end"):
        screen.press(key)
        assert screen.browser.view == 1
        assert "as seat 2 knows it" in screen.text and "chance:" not in screen.text
        assert "seat 1 a:" not in screen.text, "its moves are known from the news"
    for number in range(screen.browser.last + 1):
        assert screen.browser.picture(number) == screen.browser.steps.steps[number].state.picture(1)
    screen.press("/", *"chance:", "enter")
    assert "no step contains `chance:`" in screen.lines[-1]


def test_the_views_of_a_game_with_hidden_information_take_turns() -> None:
    screen = Shown(random_game(GAMES["floral"], b"5", {"max_turns": "12"}))
    screen.press("right", "right")
    assert "board, all seats" in screen.text and "chance: " in screen.text
    for key, seat in (("v", 1), ("tab", 2)):
        screen.press(key)
        assert f"board, as seat {seat} knows it" in screen.text and "chance:" not in screen.text
        assert screen.browser.at == 2, "at the same step"
    screen.press("v")
    assert "board, all seats" in screen.text


# --- What fits --------------------------------------------------------------------------------------------


def words(text: str) -> set[str]:
    """The words of a text; the line between the board and what is beside it is none."""
    return set(text.replace("│", " ").split())


@pytest.mark.parametrize(
    ("slug", "size"),
    [(slug, size) for slug in GAMES for size in SIZES],
)
def test_nothing_is_cut_without_a_sign_and_all_can_be_scrolled_to(slug: str, size: tuple[int, int]) -> None:
    given = {"floral": {"max_turns": "12"}, "thetree": {"deals": "1"}}.get(slug)
    record = random_game(GAMES[slug], b"2", given)

    screen = Shown(record, size=size)
    board, text = screen.app.board, screen.app.text
    seen: set[str] = set()

    def check(pane: Pane) -> None:
        name = "board" if pane is board else "step "
        title = next(one for one in re.split("[│ ]─|\n─", f"\n{screen.text}") if f"{name}" in one)
        hidden = pane.top, pane.last_top - pane.top, pane.left, pane.last_left - pane.left
        for sign, count in zip("↑↓←→", hidden, strict=True):
            assert (f"{sign}{count}" in title) == (count > 0), title
        seen.update(words(screen.text))

    for step in (0, screen.browser.last):
        screen.press("home" if step == 0 else "end")
        seen.clear()
        check(text)
        while text.top < text.last_top:
            screen.press("j")
            check(text)
        while True:
            check(board)
            while board.left < board.last_left:
                screen.press(">")
                check(board)
            if board.top == board.last_top:
                break
            screen.press(*["<"] * 9, *["down"] * 3)
        drawn = lines(screen.browser.picture(step))
        for line in (*screen.browser.text(step), *("".join(ink.text for ink in line) for line in drawn)):
            assert words(line) <= seen
        screen.press(*["<"] * 9, *["up"] * board.last_top)


def test_the_smallest_terminal_and_one_that_is_smaller() -> None:
    screen = Shown(BLOOMS, size=SMALLEST)
    assert "step 0 of 5" in screen.text and "? help" in screen.text
    screen.resize(SMALLEST[0] - 1, SMALLEST[1])
    told = "the terminal is 39 × 12, expected at least 40 × 12"
    assert " ".join(screen.text.split()) == told
    screen.resize(20, 5)
    assert "the terminal is 20 × 5," in " ".join(screen.text.split())
    screen.resize(100, 30)
    assert "step 0 of 5" in screen.text and "terminal" not in screen.text


def test_long_names_and_options_are_cut_with_a_sign() -> None:
    names = ("a" * 100, "b" * 100)
    long = replace(BLOOMS, terms=replace(BLOOMS.terms, bots=names))

    screen = Shown(long)
    for line in screen.lines:
        assert "aaaa" not in line or "…" in line or shown(names[0]) in line


# --- Small and large terminals ----------------------------------------------------------------------------


def test_a_large_terminal_has_a_larger_board_and_the_times_of_the_moves() -> None:
    screen = Shown(BLOOMS, size=(140, 50))
    screen.press("end")
    drawn = lines(screen.browser.picture(screen.browser.at), is_large=True)
    for row in ("".join(ink.text for ink in line).rstrip() for line in drawn):
        assert row in screen.text
    assert "╭──╮" in screen.text
    assert re.search(r"1: L:A1 +1\.0 ms$", screen.text, re.MULTILINE)
    screen.resize(80, 24)
    assert "╭──╮" not in screen.text and "L:A1" in screen.text


def test_the_times_of_moves_are_left_out_where_they_would_cut_a_step() -> None:
    screen = Shown(random_game(GAMES["floral"], b"2", {"max_turns": "12"}), size=(110, 30))
    assert "1: C" in screen.text and " µs" not in screen.text
    screen.resize(180, 30)
    assert " µs" in screen.text


def test_a_seat_s_list_has_no_times_of_moves_that_it_was_not_told() -> None:
    steps = steps_of(random_game(GAMES["floral"], b"5", {"max_turns": "12"}))
    spectator, seat = Browser(steps), Browser(steps, 0)
    moves = [n for n in range(spectator.last) if all(f"{one}: " in spectator.label(n) for one in (1, 2))]
    assert all(", " in spectator.time(number) for number in moves) and moves
    assert all(", " not in seat.time(number) for number in moves)
