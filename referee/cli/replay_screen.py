"""A replay on the whole screen, with keys to step through it."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from referee.cli.screen import show_screen
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Drawn, Moved
from referee.games.picture import Picture
from referee.viewing.characters import Extent, InkLine, last_move, lines, width
from referee.viewing.knowledge import View, view_text
from referee.viewing.steps import Step, Steps
from referee.viewing.words import end_lines, heading, place_text, step_label, step_lines

SMALLEST = 40, 12  # minimum number of columns and lines in which a game is shown

BESIDE = 30  # where this many columns are free beside the board, everything else is shown there, not below it

NARROWEST = 24  # minimum number of columns of a board that has something beside it, so that its title is seen

TEXT_LINES = 4  # how many lines of text there are below a board that has to be scrolled

LOW = 16
"""In a terminal of fewer lines the board comes first: without heading and clocks, with one line of text."""

WITH_LIST = 72  # below the board, the list of steps is shown where the terminal has this many columns

LIST = 30  # columns of the list of steps below the board

PAGE = 10  # how many steps the keys for pages skip

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # steps per second

HINTS = ("←→ step", "? help", "q quit", "Space play", "/ search", "v view", "0-9 jump", "↑↓ scroll")
"""The hints about keys in the last line, the most important first."""


def show(browser: Browser) -> None:
    """Shows a game until the user quits. Raises `Interrupted` when a signal ended that."""
    show_screen(ReplayScreen(browser))


class Pane:
    """Lines below a title, which says where there is more of them than fits."""

    def __init__(self) -> None:
        self._title = ""
        self._lines: Sequence[Text] = ()
        self._part: Extent | None = None
        self.top = self.left = 0  # the first line and column that are shown
        self.last_top = self.last_left = 0  # the largest values of these, as of the last drawing

    def present(self, title: str, found: Sequence[Text], part: Extent | None = None) -> None:
        """Shows other lines, and of them this part, where one is given and not all of them fit."""
        self._title, self._lines, self._part = title, found, part

    def scroll(self, columns: int, rows: int) -> None:
        """Shows other lines and columns of them."""
        self.left += columns
        self.top += rows

    def draw(self, columns: int, rows: int) -> list[Text]:
        """The title and as many lines as fit: `rows` in all."""
        self.last_top = max(0, len(self._lines) - (rows - 1))
        self.last_left = max(0, max((len(line) for line in self._lines), default=0) - columns)
        if part := self._part:
            self.top = min(max(self.top, part.bottom - (rows - 1)), part.top)
            self.left = min(max(self.left, part.right - columns), part.left)
            self._part = None
        self.top = max(0, min(self.top, self.last_top))
        self.left = max(0, min(self.left, self.last_left))
        seen = [line[self.left : self.left + columns] for line in self._lines[self.top : self.top + rows - 1]]
        return [self._rule(columns), *seen, *[Text()] * (rows - 1 - len(seen))]

    def _rule(self, columns: int) -> Text:
        hidden = (self.top, self.last_top - self.top, self.left, self.last_left - self.left)
        more = " ".join(f"{arrow}{count}" for arrow, count in zip("↑↓←→", hidden, strict=True) if count)
        title = f"{self._title}, {more} more" if more else self._title
        if len(title) > columns - 4:  # its end is cut off, which this must not be
            title = f"{more} more, {self._title}" if more else self._title
        return _cut(f"─ {title} ".ljust(columns, "─"), columns)


class ReplayScreen:
    """Shows a recorded game, step by step."""

    def __init__(self, browser: Browser, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self.is_over = False
        self._browser = browser
        self._clock = clock
        self._sought = ""  # the last text that was searched for
        self._asked = self._answer = ""
        """What is being asked in the last line, `/` or `step `, and what was typed so far."""
        self._said = ""  # what stands in the last line until the next key
        self._speed = SPEEDS.index(1.0)
        self._step_due_s: float | None = None  # when the next step is due while the game plays
        self._has_help = False
        self.board, self.text, self._help = Pane(), Pane(), Pane()
        self._present()

    # --- Keys ---------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Does what a key stands for."""
        self._said = ""
        if key == "ctrl+c":
            self.is_over = True
        elif self._has_help:
            self._press_in_help(key)
        elif self._asked:
            self._type(key)
        elif key.isdigit():
            self._ask("step ", key)
        elif key in _ACTIONS:
            _ACTIONS[key](self)

    def _press_in_help(self, key: str) -> None:
        rows = {"up": -1, "k": -1, "down": 1, "j": 1, " ": 1, "pageup": -PAGE, "pagedown": PAGE}
        self._help.scroll(0, rows.get(key, 0))
        self._has_help = key not in ("escape", "q", "?", "enter")

    def _ask(self, question: str, answer: str = "") -> None:
        self._step_due_s = None
        self._asked, self._answer = question, answer

    def _type(self, key: str) -> None:
        if key == "backspace":
            self._answer = self._answer[:-1]
        elif len(key) == 1:
            self._answer += key
        elif key in ("enter", "escape"):
            question, answer = self._asked, self._answer
            self._asked = ""
            if key == "enter" and question == "/" and answer:
                self._sought = answer
                self._match(0)
            elif key == "enter" and question != "/":
                self._jump(answer)

    def _go(self, number: int) -> None:
        self._browser.go(number)
        self._present()

    def _move(self, by: int) -> None:
        self._go(self._browser.at + by)

    def _jump(self, text: str) -> None:
        number, last = text.strip(), self._browser.last
        if number.isascii() and number.isdigit() and len(number) < 10 and int(number) <= last:
            self._go(int(number))
        else:
            self._said = f"there is no step `{shown(number, 20)}`, expected 0 to {last}"

    def _match(self, by: int) -> None:
        """Goes to the next match, or the one before; with 0, to the next from here on."""
        found = self._browser.matches(self._sought) if self._sought else []
        at = self._browser.at
        if not self._sought:
            self._said = "search with / first"
        elif not found:
            self._said = f"no step contains `{shown(self._sought)}`"
        else:
            if by < 0:
                number = max((number for number in found if number < at), default=found[-1])
            else:
                number = min((number for number in found if number >= at + by), default=found[0])
            self._go(number)
            self._said = f"match {found.index(number) + 1} of {len(found)}: `{shown(self._sought)}`"

    def _turn_view(self) -> None:
        browser = self._browser
        browser.turn_view()
        self._present()
        if len(browser.views) == 1:
            is_open = browser.steps.terms.game.is_open
            self._said = "every seat sees everything" if is_open else "there is only one view"

    def _play(self) -> None:
        """Plays, from the beginning if this is the end, or pauses."""
        if self._step_due_s is not None:
            self._step_due_s = None
            return
        if self._browser.at == self._browser.last:
            self._go(0)
        self._step_due_s = self._clock() + 1 / SPEEDS[self._speed]

    def _change_speed(self, by: int) -> None:
        self._speed = max(0, min(self._speed + by, len(SPEEDS) - 1))
        if self._step_due_s is None:
            self._said = f"speed: {SPEEDS[self._speed]:g} steps per second"
        else:
            self._step_due_s = self._clock() + 1 / SPEEDS[self._speed]

    def wait_s(self) -> float | None:
        """In how many seconds the next step is due; None where the game does not play."""
        return None if self._step_due_s is None else self._step_due_s - self._clock()

    def tick(self) -> None:
        """Takes the next step of a game that plays."""
        self._move(1)
        is_last = self._browser.at == self._browser.last
        self._step_due_s = None if is_last else self._clock() + 1 / SPEEDS[self._speed]

    def _show_help(self) -> None:
        self._step_due_s = None
        self._has_help = True

    def _quit(self) -> None:
        self.is_over = True

    # --- Drawing ------------------------------------------------------------------------------------------

    def _present(self) -> None:
        """Another step or view is shown from its beginning."""
        self.text.top = 0
        self._is_new = True

    def draw(self, columns: int, rows: int) -> list[Text]:
        """The board, and beside or below it the clocks, the text of the step, and the list of steps."""
        if columns < SMALLEST[0] or rows < SMALLEST[1]:
            smallest = " × ".join(map(str, SMALLEST))
            told = f"the terminal is {columns} × {rows}, expected at least {smallest}"
            return [Text(line) for line in textwrap.wrap(told, columns)[:rows]]
        if self._has_help:
            return self._draw_help(columns, rows)
        browser = self._browser
        ends = [browser.picture(number) for number in (0, browser.last)]
        for is_large in (True, False):
            boards = [lines(end, is_large) for end in ends]
            widest, highest = max(map(width, boards)), max(map(len, boards))
            is_beside = columns >= widest + BESIDE + 1
            if is_beside and highest + 3 <= rows:  # with the heading, a title, the keys
                break
        self._present_board(is_large)
        clocks = [_cut(line, columns) for line in _clocks(browser)]
        main = rows - 2  # without the heading and the keys
        if is_beside:
            left = max(widest, NARROWEST)
            side = self._draw_text(columns - left - 1, main - len(clocks))
            pairs = zip(self.board.draw(left, main), [*clocks, *side], strict=True)
            found = [_beside(one, left, other, columns - left - 1) for one, other in pairs]
        else:
            is_low = rows < LOW
            main, clocks = (main + 1, []) if is_low else (main, clocks)
            high = max(4, min(highest + 1, main - len(clocks) - (1 if is_low else TEXT_LINES) - 1))
            found = [*self.board.draw(columns, high), *clocks]
            found += self._draw_below(columns, main - len(found))
        if len(found) < rows - 1:
            terms = browser.steps.terms
            options = " ".join(f"{name}={value}" for name, value in terms.options.items())
            title = f"{shown(terms.id)}: {terms.game.slug} {shown(options)}".rstrip()
            found.insert(0, _cut(title, columns, "bold"))
        return [*found, _cut(self._last_line(columns), columns)]

    def _present_board(self, is_large: bool) -> None:
        browser = self._browser
        if browser.view is None:
            title = "board" if browser.steps.terms.game.is_open else "board, all seats"
        else:
            title = f"board, as {view_text(browser.view)} knows it"
        drawn = lines(browser.picture(browser.at), is_large)
        self.board.present(title, list(map(_text, drawn)), last_move(drawn) if self._is_new else None)
        self._is_new = False

    def _draw_text(self, columns: int, rows: int) -> list[Text]:
        high = rows - rows // 2
        return [*self._draw_step(columns, high), *self._steps(columns, rows - high)]

    def _draw_below(self, columns: int, rows: int) -> list[Text]:
        if columns < WITH_LIST:
            return self._draw_step(columns, rows)
        left = columns - LIST - 1
        pairs = zip(self._draw_step(left, rows), self._steps(LIST, rows), strict=True)
        return [_beside(one, left, other, LIST, " ") for one, other in pairs]

    def _draw_step(self, columns: int, rows: int) -> list[Text]:
        browser = self._browser
        wrapped = [
            Text(part)
            for line in browser.text(browser.at)
            for part in textwrap.wrap(line, columns, break_on_hyphens=False) or [""]
        ]
        self.text.present(f"step {browser.at} of {browser.last}", wrapped)
        return self.text.draw(columns, rows)

    def _steps(self, columns: int, rows: int) -> list[Text]:
        """The steps that there is room for, with the current one in the middle; it is marked by a sign and
        not by a colour alone.
        """
        browser = self._browser
        count, rows = browser.last + 1, rows - 1
        first = max(0, min(browser.at - rows // 2, count - rows))
        numbers = range(first, min(first + rows, count))
        title = "steps" if len(numbers) in (0, count) else f"steps {first} to {numbers[-1]}"
        digits = len(str(count - 1))
        labels = [f"{'>' if n == browser.at else ' '}{n:{digits}} {browser.label(n)}" for n in numbers]
        times = [browser.time(n) for n in numbers]
        widest, longest = max(map(len, labels), default=0), max(map(len, times), default=0)
        if widest + 2 + longest <= columns:
            labels = [f"{a:{widest}}  {b:>{longest}}".rstrip() for a, b in zip(labels, times, strict=True)]
        found = [_cut(f"─ {title} ".ljust(columns, "─"), columns), *(_cut(line, columns) for line in labels)]
        return [*found, *[Text()] * (rows - len(labels))]

    def _draw_help(self, columns: int, rows: int) -> list[Text]:
        steps = self._browser.steps
        wide = max(len(keys) for keys, *_ in KEYS)
        texts = [f"{keys:{wide}}  {meaning}" for keys, meaning, _ in KEYS]
        texts += ["", heading(steps.terms), place_text(steps.record.measured)]
        wrapped = [Text(part) for text in texts for part in textwrap.wrap(text, columns) or [""]]
        self._help.present("keys; Up, Down scroll, Escape closes", wrapped)
        return self._help.draw(columns, rows)

    def _last_line(self, columns: int) -> str:
        if self._asked:
            return self._asked + self._answer
        if self._said:
            return self._said
        if self._step_due_s is not None:
            return f"playing {SPEEDS[self._speed]:g} steps per second; Space pauses, + and - change it"
        said = HINTS[0]
        for hint in HINTS[1:]:
            if len(said) + 3 + len(hint) <= columns:
                said += f"   {hint}"
        return said


_Action = Callable[[ReplayScreen], None]

KEYS: Sequence[tuple[str, str, Mapping[str, _Action]]] = (
    ("Right, Enter", "next step", dict.fromkeys(("right", "enter"), lambda s: s._move(1))),
    ("Left, b, Backspace", "previous step", dict.fromkeys(("left", "b", "backspace"), lambda s: s._move(-1))),
    (
        "PageDown, PageUp",
        f"{PAGE} steps forward, back",
        {"pagedown": lambda s: s._move(PAGE), "pageup": lambda s: s._move(-PAGE)},
    ),
    ("Home, g", "first step", dict.fromkeys(("home", "g"), lambda s: s._go(0))),
    ("End, G", "last step", dict.fromkeys(("end", "G"), lambda s: s._go(s._browser.last))),
    ("a number, Enter", "that step", {}),
    ("Space", "play, pause", {" ": ReplayScreen._play}),
    (
        "+, -",
        "play faster, slower",
        {**dict.fromkeys("+=", lambda s: s._change_speed(1)), "-": lambda s: s._change_speed(-1)},
    ),
    ("/", "search moves, events, news, info and names", {"/": lambda s: s._ask("/")}),
    ("n, N", "next, previous match", {"n": lambda s: s._match(1), "N": lambda s: s._match(-1)}),
    ("v, Tab", "another view: all seats, seat 1, …", dict.fromkeys(("v", "tab"), ReplayScreen._turn_view)),
    (
        "Up, Down",
        "scroll the board",
        {"up": lambda s: s.board.scroll(0, -1), "down": lambda s: s.board.scroll(0, 1)},
    ),
    (
        "<, >",
        "scroll the board left, right",
        {"<": lambda s: s.board.scroll(-8, 0), ">": lambda s: s.board.scroll(8, 0)},
    ),
    (
        "k, j",
        "scroll the text up, down",
        {"k": lambda s: s.text.scroll(0, -1), "j": lambda s: s.text.scroll(0, 1)},
    ),
    ("?", "this help", {"?": ReplayScreen._show_help}),
    ("q, Escape", "quit", dict.fromkeys(("q", "escape"), ReplayScreen._quit)),
)
"""The keys: as people call them, what they do, and how."""

_ACTIONS = {key: action for *_, actions in KEYS for key, action in actions.items()}


def _cut(line: str, columns: int, style: str = "") -> Text:
    """A line whose end is replaced by a sign where it is too long."""
    text = Text(line, style)
    text.truncate(columns, overflow="ellipsis")
    return text


def _beside(left: Text, columns: int, right: Text, rest: int, between: str = "│") -> Text:
    text = left.copy()
    text.truncate(columns, overflow="crop", pad=True)
    right = right.copy()
    right.truncate(rest, overflow="ellipsis")
    return text.append(between).append_text(right)


def _text(drawn: InkLine) -> Text:
    return Text.assemble(*((ink.text, ink.colour) for ink in drawn))


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


class Browser:
    """Moves through the steps of a game, and gives what is to be shown there."""

    def __init__(self, steps: Steps, only: View = None, at: int = 0) -> None:
        """A seat in `only` allows its own view alone. `at` is a step; the number after the last means the
        last.
        """
        self.steps = steps
        self.last: int = len(steps.steps) - 1  # the number of the last step
        self.views: tuple[View, ...] = steps.views if only is None else (only,)
        self.at = 0  # the step that is looked at
        self.view = self.views[0]
        self.go(at)

    def go(self, number: int) -> None:
        """Goes to a step, or to the nearest that there is."""
        self.at = max(0, min(number, self.last))

    def turn_view(self) -> None:
        """Takes the next view, after the last one the first."""
        self.view = self.views[(self.views.index(self.view) + 1) % len(self.views)]

    @property
    def step(self) -> Step:
        """The step that is looked at."""
        return self.steps.steps[self.at]

    def picture(self, number: int) -> Picture:
        """The position after a step, as the view knows it."""
        return self.steps.known_by(self.view).picture(self.steps.steps[number].state)

    def text(self, number: int) -> list[str]:
        """What happened in a step, line by line; in the last one also how the game ended."""
        found = step_lines(self.steps, number, self.view)
        if not found and number == 0:
            found = ["the position before the first move"]
        elif not found:
            found = [f"nothing that {view_text(self.view)} was told about"]
        if number == self.last:
            found += ["", *end_lines(self.steps, self.view)]
            if damage := self.steps.damage_for(self.view):
                found.append(f"the record cannot be replayed any further: {damage}")
        return found

    def label(self, number: int) -> str:
        """A step in a few words."""
        return step_label(self.steps, number, self.view)

    def time(self, number: int) -> str:
        """How long the moves of a step took, as far as the view knows it."""
        events = self.steps.known_by(self.view).events(self.steps.steps[number].events)
        return ", ".join(about(event.charge.used_us) for event in events if isinstance(event, Moved))

    def matches(self, sought: str) -> list[int]:
        """The steps in whose text a word or phrase occurs, in whatever case."""
        sought = sought.casefold()
        return [n for n in range(self.last + 1) if sought in "\n".join(self.text(n)).casefold()]
