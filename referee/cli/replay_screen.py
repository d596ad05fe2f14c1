"""A recorded game on the whole screen of a terminal, with keys to step through it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, ScrollableContainer
from textual.events import Resize
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from referee.cli.colour import in_colour
from referee.core.stop import Closing
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Drawn
from referee.viewing.browsing import Browser
from referee.viewing.characters import InkLine, last_move, lines, width
from referee.viewing.words import heading, place_text

SMALLEST = 40, 12
"""Minimum number of columns and lines in which a game is shown."""

BESIDE = 30
"""Where this many columns are free beside the board, everything else is shown there, not below it."""

NARROWEST = 24
"""Minimum number of columns of a board that has something beside it, so that its title is seen."""

TEXT_LINES = 4
"""How many lines of text there are below a board that has to be scrolled."""

LOW = 16
"""In a terminal of fewer lines the board comes first: without heading and clocks, with one line of text."""

WITH_LIST = 72
"""Below the board, the list of steps is shown where the terminal has this many columns."""

PAGE = 10
"""How many steps the keys for pages skip."""

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Steps per second."""

KEYS: Sequence[tuple[str, str, Sequence[Binding]]] = (
    ("Right, Enter", "next step", [Binding("right,enter", "move(1)")]),
    ("Left, b, Backspace", "previous step", [Binding("left,b,backspace", "move(-1)")]),
    (
        "PageDown, PageUp",
        f"{PAGE} steps forward, back",
        [Binding("pagedown", f"move({PAGE})"), Binding("pageup", f"move({-PAGE})")],
    ),
    ("Home, g", "first step", [Binding("home,g", "go(0)")]),
    ("End, G", "last step", [Binding("end,G", "go(-1)")]),
    ("a number, Enter", "that step", [Binding(n, f"number({n})", priority=True) for n in "0123456789"]),
    ("Space", "play, pause", [Binding("space", "play")]),
    ("+, -", "play faster, slower", [Binding("+,=", "speed(1)"), Binding("-", "speed(-1)")]),
    ("/", "search moves, events, news, info and names", [Binding("/", "search", priority=True)]),
    ("n, N", "next, previous match", [Binding("n", "match(1)"), Binding("N", "match(-1)")]),
    (
        "v, Tab",
        "another view: all seats, seat 1, …",
        [Binding("v", "view"), Binding("tab", "view", priority=True)],
    ),
    (
        "Up, Down",
        "scroll the board",
        [Binding("up", "scroll('board', 0, -1)"), Binding("down", "scroll('board', 0, 1)")],
    ),
    (
        "<, >",
        "scroll the board left, right",
        [Binding("<", "scroll('board', -8, 0)"), Binding(">", "scroll('board', 8, 0)")],
    ),
    (
        "k, j",
        "scroll the text up, down",
        [Binding("k", "scroll('text', 0, -1)"), Binding("j", "scroll('text', 0, 1)")],
    ),
    ("?", "this help", [Binding("?", "help")]),
    (
        "q, Escape",
        "quit",
        [Binding("q", "quit"), Binding("escape", "leave"), Binding("ctrl+c", "quit", priority=True)],
    ),
)
"""The keys: as people call them, what they do, and how."""

Returned = TypeVar("Returned")

HINTS = ("←→ step", "? help", "q quit", "Space play", "/ search", "v view", "0-9 jump", "↑↓ scroll")
"""The hints about keys in the last line, the most important first."""


def show(browser: Browser) -> None:
    """Shows a game until the user quits. Raises `Interrupted` when a signal ended that."""
    run_screen(lambda: ReplayScreen(browser))


def run_screen(make_screen: Callable[[], App[Returned]]) -> Returned | None:
    """Draws on the whole terminal until the user quits, and returns what the screen does. Raises
    `Interrupted` when a signal ended that; the terminal is then as it was before.

    The screen is made here, since Textual reads the variables about colour when it is made.
    """
    if in_colour(sys.stderr):  # where Textual draws
        os.environ.pop("NO_COLOR", None)  # which is obeyed even if it is empty
    else:
        os.environ["NO_COLOR"] = "1"
    screen = make_screen()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        with Closing(lambda: loop.call_soon_threadsafe(screen.exit)):
            runner.run(screen.run_async(mouse=False))  # so that text can be selected as elsewhere
    if screen.return_code:
        raise RuntimeError("the screen could not be shown")
    return screen.return_value


class StepList(Static):
    """The steps around the current one, a line each."""

    def __init__(self) -> None:
        super().__init__(id="steps", markup=False)
        self._labels: Sequence[str] = ()
        self._times: Sequence[str] = ()
        self._at = 0

    def present(self, labels: Sequence[str], times: Sequence[str], at: int) -> None:
        """Shows other steps, or another one as the current."""
        self._labels, self._times, self._at = labels, times, at
        self.on_resize()

    def on_resize(self) -> None:
        """Shows the steps that there is room for, with the current one in the middle; it is marked by a sign
        and not by a colour alone.
        """
        count, rows = len(self._labels), self.size.height
        first = max(0, min(self._at - rows // 2, count - rows))
        numbers = range(first, min(first + rows, count))
        is_all = len(numbers) == count
        self.border_title = Text("steps" if is_all or not numbers else f"steps {first} to {numbers[-1]}")
        digits = len(str(count - 1))
        widest = max((len(self._labels[n]) for n in numbers), default=0)
        longest = max((len(self._times[n]) for n in numbers), default=0)
        has_times = 2 + digits + widest + 2 + longest <= self.size.width
        lines = [f"{'>' if n == self._at else ' '}{n:{digits}} {self._labels[n]}" for n in numbers]
        if has_times:
            lines = [
                f"{line:{2 + digits + widest}}  {self._times[n]:>{longest}}".rstrip()
                for line, n in zip(lines, numbers, strict=True)
            ]
        self.update("\n".join(lines))


class Pane(ScrollableContainer):
    """Text that can be scrolled; its title says where there is more of it."""

    def __init__(self, name: str, wraps: bool = True) -> None:
        super().__init__(id=name, can_focus=False)
        self._content = Static(markup=False, classes="" if wraps else "-whole")
        self._title = ""

    def compose(self) -> ComposeResult:
        """The text, which is as high as it needs to be."""
        yield self._content

    def on_mount(self) -> None:
        """Keeps the title right."""
        for what in ("scroll_x", "scroll_y", "virtual_size"):
            self.watch(self, what, self._retitle, init=False)

    def on_resize(self) -> None:
        """Keeps the title right."""
        self._retitle()

    def present(self, title: str, text: Text, part: Region | None = None) -> None:
        """Shows another text, and of it this part, where one is given and not all of it fits."""
        self._title = title
        self._content.update(text)
        self._retitle()
        if part:
            self.call_after_refresh(self.scroll_to_region, part, animate=False)

    def _retitle(self) -> None:
        left, above = round(self.scroll_x), round(self.scroll_y)
        right, below = self.max_scroll_x - left, self.max_scroll_y - above
        more = " ".join(
            f"{arrow}{count}"
            for arrow, count in zip("↑↓←→", (above, below, left, right), strict=True)
            if count > 0
        )
        title = f"{self._title}, {more} more" if more else self._title
        if len(title) > self.size.width - 2:  # its end is cut off, which this must not be
            title = f"{more} more, {self._title}" if more else self._title
        self.border_title = Text(title)


class Help(ModalScreen[None]):
    """The keys, and what the game was played under."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,?,enter", "app.pop_screen"),
        Binding("up,k", "scroll(-1)"),
        Binding("down,j,space", "scroll(1)"),
        Binding("pageup", f"scroll({-PAGE})"),
        Binding("pagedown", f"scroll({PAGE})"),
    ]

    def __init__(self, about: str) -> None:
        super().__init__()
        self._about = about
        self._pane = Pane("help")

    def compose(self) -> ComposeResult:
        """A text of one page or more."""
        yield self._pane

    def on_mount(self) -> None:
        """Shows the text."""
        wide = max(len(keys) for keys, *_ in KEYS)
        keys = "\n".join(f"{keys:{wide}}  {meaning}" for keys, meaning, _ in KEYS)
        self._pane.present("keys; Up, Down scroll, Escape closes", Text(f"{keys}\n\n{self._about}"))

    def action_scroll(self, rows: int) -> None:
        """Scrolls."""
        self._pane.scroll_relative(0, rows, animate=False)


class ReplayScreen(App[None]):
    """Shows a recorded game, step by step."""

    AUTO_FOCUS = None  # keys go to the game, unless a question is asked
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    Pane, StepList {
        border-top: solid ansi_default;
        border-title-color: ansi_default; border-title-background: ansi_default; border-title-style: none;
        background: ansi_default; color: ansi_default;
    }
    Pane { scrollbar-size: 0 0; }
    Pane > Static { width: 100%; height: auto; }
    Pane > .-whole { width: auto; }
    .-cut, StepList { text-wrap: nowrap; text-overflow: ellipsis; }
    #heading { text-style: bold; }
    #main { height: 1fr; }
    #board, #text, #steps, #lower { height: 1fr; width: 1fr; }
    #bottom, #ask { height: 1; }
    #ask Static { width: auto; }
    Input { width: 1fr; background: ansi_default; color: ansi_default; }
    #too-small { display: none; }
    .-beside #main { layout: horizontal; }
    .-beside #side { border-left: solid ansi_default; }
    .-below #side { height: 1fr; }
    .-below #lower { layout: horizontal; }
    .-below #steps { width: 30; margin-left: 1; }
    .-narrow #steps { display: none; }
    .-low #heading, .-low #clocks { display: none; }
    .-too-small #too-small { display: block; }
    .-too-small #heading, .-too-small #main, .-too-small #bottom { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [binding for *_, bindings in KEYS for binding in bindings]

    def __init__(self, browser: Browser) -> None:
        super().__init__(ansi_color=True)
        self._browser = browser
        self._sought = ""
        """The last text that was searched for."""
        self._is_large = False
        """Whether the terminal has room for a larger board."""
        self._speed = SPEEDS.index(1.0)
        self._player: Timer | None = None
        """Takes the next step again and again while the game plays."""
        self._heading = Static(id="heading", classes="-cut", markup=False)
        self._board = Pane("board", wraps=False)
        self._clocks = Static(id="clocks", classes="-cut", markup=False)
        self._text = Pane("text")
        self._list = StepList()
        self._keys = Static(id="keys", classes="-cut", markup=False)
        self._ask_line = Horizontal(id="ask")
        """In place of the keys, while a question is asked."""
        self._question = Static(markup=False)
        self._answer = Input(compact=True, select_on_focus=False)
        self._too_small = Static(id="too-small", markup=False)

    def compose(self) -> ComposeResult:
        """The board, and beside or below it the clocks, the text of the step, and the list of steps."""
        yield self._heading
        yield Container(
            self._board,
            Container(self._clocks, Container(self._text, self._list, id="lower"), id="side"),
            id="main",
        )
        with Container(id="bottom"):
            yield self._keys
            with self._ask_line:
                yield self._question
                yield self._answer
        yield self._too_small

    def on_mount(self) -> None:
        """Shows the first picture."""
        self._set_asking(False)
        self._show()

    def on_resize(self, event: Resize) -> None:
        """Arranges everything by the size of the terminal."""
        self._arrange(*event.size)
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes to a step that was named, or to the next match."""
        is_step = str(self._question.content) == "step "
        self._set_asking(False)
        if is_step:
            self._jump(event.value)
        elif event.value:
            self._sought = event.value
            self.action_match(0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does something now: those that come before all others are letters of an answer, too.

        They come first since keys that follow at once are parts of the answer.
        """
        if action in ("search", "number", "view"):
            return not self._ask_line.display and len(self.screen_stack) == 1
        return True

    def action_move(self, by: int) -> None:
        """Goes some steps forward or back."""
        self._browser.go(self._browser.at + by)
        self._show()

    def action_go(self, number: int) -> None:
        """Goes to a step, counted from the end if it is negative."""
        self._browser.go(number if number >= 0 else self._browser.last + 1 + number)
        self._show()

    def action_play(self) -> None:
        """Plays, from the beginning if this is the end, or pauses."""
        if self._player:
            self._pause()
        else:
            if self._browser.at == self._browser.last:
                self._browser.go(0)
            self._player = self.set_interval(1 / SPEEDS[self._speed], self._play_on)
        self._show()

    def action_speed(self, by: int) -> None:
        """Plays faster or slower."""
        self._speed = max(0, min(self._speed + by, len(SPEEDS) - 1))
        if self._player:
            self._player.stop()
            self._player = self.set_interval(1 / SPEEDS[self._speed], self._play_on)
        self._show(self._playing() or f"speed: {SPEEDS[self._speed]:g} steps per second")

    def action_search(self) -> None:
        """Asks what to search for."""
        self._ask("/", "")

    def action_number(self, digit: int) -> None:
        """Asks for a step, whose number begins with a digit."""
        self._ask("step ", str(digit))

    def action_match(self, by: int) -> None:
        """Goes to the next match, or the one before; with 0, to the next from here on."""
        found = self._browser.matches(self._sought) if self._sought else []
        at = self._browser.at
        if not self._sought:
            said = "search with / first"
        elif not found:
            said = f"no step contains `{shown(self._sought)}`"
        else:
            if by < 0:
                number = max((number for number in found if number < at), default=found[-1])
            else:
                number = min((number for number in found if number >= at + by), default=found[0])
            self._browser.go(number)
            said = f"match {found.index(number) + 1} of {len(found)}: `{shown(self._sought)}`"
        self._show(said)

    def action_view(self) -> None:
        """Shows what another view knows."""
        self._browser.turn_view()
        self._arrange(*self.size)
        one = (
            "every seat sees everything"
            if self._browser.steps.terms.game.is_open
            else "there is only one view"
        )
        self._show("" if len(self._browser.views) > 1 else one)

    def action_scroll(self, what: str, columns: int, rows: int) -> None:
        """Scrolls the board or the text."""
        (self._board if what == "board" else self._text).scroll_relative(columns, rows, animate=False)

    def action_help(self) -> None:
        """Shows the keys."""
        self._pause()
        steps = self._browser.steps
        about = (heading(steps.terms), place_text(steps.record.measured))
        self.push_screen(Help("\n".join(filter(None, about))))

    def action_leave(self) -> None:
        """Leaves a question, or the game."""
        if self._ask_line.display:
            self._set_asking(False)
            self._show()
        else:
            self.exit()

    def _ask(self, question: str, answer: str) -> None:
        self._pause()
        self._question.update(question)
        self._answer.value = answer
        self._answer.cursor_position = len(answer)
        self._set_asking(True)

    def _set_asking(self, is_asking: bool) -> None:
        """At once, so that what is typed quickly goes where it belongs."""
        self._ask_line.display = is_asking
        self._keys.display = not is_asking
        self.screen.set_focus(self._answer if is_asking else None)

    def _jump(self, text: str) -> None:
        number, last = text.strip(), self._browser.last
        if number.isascii() and number.isdigit() and len(number) < 10 and int(number) <= last:
            self.action_go(int(number))
        else:
            self._show(f"there is no step `{shown(number, 20)}`, expected 0 to {last}")

    def _play_on(self) -> None:
        self._browser.go(self._browser.at + 1)
        if self._browser.at == self._browser.last:
            self._pause()
        self._show()

    def _pause(self) -> None:
        if self._player:
            self._player.stop()
            self._player = None

    def _arrange(self, columns: int, rows: int) -> None:
        browser = self._browser
        ends = [browser.picture(number) for number in (0, browser.last)]
        for self._is_large in (True, False):
            boards = [lines(end, self._is_large) for end in ends]
            widest, highest = max(map(width, boards)), max(map(len, boards))
            is_beside = columns >= widest + BESIDE + 1
            if is_beside and highest + 3 <= rows:  # with the heading, a title, the keys
                break
        is_low = rows < LOW and not is_beside
        self.set_class(is_low, "-low")
        self.set_class(is_beside, "-beside")
        self.set_class(not is_beside, "-below")
        self.set_class(not is_beside and columns < WITH_LIST, "-narrow")
        self._board.styles.width = max(widest, NARROWEST) if is_beside else "1fr"
        others = 3 if is_low else 3 + len(browser.steps.terms.bots) + TEXT_LINES  # titles, the keys, and more
        self._board.styles.height = "1fr" if is_beside else max(4, min(highest + 1, rows - others))
        smallest = " × ".join(map(str, SMALLEST))
        self.set_class(columns < SMALLEST[0] or rows < SMALLEST[1], "-too-small")
        self._too_small.update(f"the terminal is {columns} × {rows}, expected at least {smallest}")

    def _show(self, said: str = "") -> None:
        """Shows the step; `said` stands in the last line until it is shown again."""
        browser = self._browser
        terms = browser.steps.terms
        options = " ".join(f"{name}={value}" for name, value in terms.options.items())
        self._heading.update(f"{shown(terms.id)}: {terms.game.slug} {shown(options)}".rstrip())
        if browser.view is None:
            title = "board" if terms.game.is_open else "board, all seats"
        else:
            title = f"board, as seat {browser.view + 1} knows it"
        drawn = lines(browser.picture(browser.at), self._is_large)
        self._board.present(title, _text(drawn), _fresh(drawn))
        self._clocks.update("\n".join(_clocks(browser)))
        self._text.present(f"step {browser.at} of {browser.last}", Text("\n".join(browser.texts[browser.at])))
        self._text.scroll_home(animate=False)
        self._list.present(browser.labels, browser.times, browser.at)
        self._keys.update(said or self._playing() or _hints(self.size.width))

    def _playing(self) -> str:
        """Returns the status line of a game that is playing."""
        return (
            f"playing {SPEEDS[self._speed]:g} steps per second; Space pauses, + and - change it"
            if self._player
            else ""
        )


def _text(drawn: Sequence[InkLine]) -> Text:
    return Text("\n", no_wrap=True).join(
        Text.assemble(*((ink.text, ink.colour) for ink in line)) for line in drawn
    )


def _fresh(drawn: Sequence[InkLine]) -> Region | None:
    """Finds the last move in a picture."""
    found = last_move(drawn)
    return Region.from_corners(found.left, found.top, found.right, found.bottom) if found else None


def _clocks(browser: Browser) -> list[str]:
    """A line for each seat: its name and its clock; the seats of the step are marked."""
    terms, step = browser.steps.terms, browser.step
    known = browser.steps.known_by(browser.view)
    acted = {event.seat for event in known.events(step.events) if not isinstance(event, Drawn)}
    reserves = known.reserves(step.reserves_us)
    found = []
    for seat, (name, control, reserve) in enumerate(zip(terms.bots, terms.controls, reserves, strict=True)):
        has_reserve = control.reserve_us or control.increment_us
        clock = f"reserve {about(reserve)}  " if reserve is not None and has_reserve else ""
        found.append(f"{'>' if seat in acted else ' '}{seat + 1} {clock}{name} ({control})")
    return found


def _hints(columns: int) -> str:
    """Returns as many hints as there is room for."""
    said = HINTS[0]
    for hint in HINTS[1:]:
        if len(said) + 3 + len(hint) <= columns:
            said += f"   {hint}"
    return said
