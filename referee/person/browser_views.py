"""What persons' pages show, from what their viewers know.

A view is a JSON object: the board (`viewing.drawn_board`) as this viewer knows it, and

    {"hand": BOARD or null, "seat": NUMBER or null, "asked": BOOL, "question": TEXT or null,
     "news": [LINE, …], "log": [LINE, …], "rule": TEXT, "notation": TEXT, "hints": BOOL, "back": NUMBER,
     "waiting": TEXT, "over": BOOL, "result": TEXT}

`"hand"` is what is drawn beside the board, with the members of `DRAWN`. `"asked"`: whether a line of this
person would be taken. `"news"` are the lines that this person alone was shown, such as hints, `"log"` is what
happened in the game; `"back"` is how many moves can be taken back, and `"waiting"` says for whom the
beginning of the game waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from referee.core.seeds import Random
from referee.core.text import counted, shown
from referee.gameplay.api import Question, SeatReply
from referee.gameplay.events import Ending, Event, Moved, Preset, Retired
from referee.gameplay.terms import Terms
from referee.games.api import Chosen, Seat, State
from referee.games.picture import Picture, Plane, Row
from referee.person.browser_console import BrowserConsole
from referee.person.console import LineRequest
from referee.person.interface import Hint, PersonInterface
from referee.person.words import Choices, meaning, move_text
from referee.records.record import GameRecord
from referee.viewing.drawn_board import DrawnBoard, seat_rows
from referee.viewing.ghosts import MOST_MOVES, added_marks, ghost
from referee.viewing.knowledge import EVERYBODY, View
from referee.viewing.words import result

DRAWN = ("box", "ground", "defs", "from", "new", "draw")  # the members of a board that are drawn

HAND_WIDTH = 7
"""Where rows in which parts are chosen are broken into lines, so that a finger finds each on a phone."""

LOGGED = 400  # how many of the latest lines of a game a page shows


class BrowserInterface(PersonInterface):
    """The interface of one game. All persons are asked at once, each on a page; a further page is for those
    who watch, and shows what everybody knows.
    """

    def __init__(
        self, terms: Terms, persons: Collection[Seat], console: BrowserConsole, hint: Hint | None, rng: Random
    ) -> None:
        """As for persons at a terminal."""
        super().__init__(terms, persons, console, hint, rng)
        self._pages = console
        views: list[View] = [*persons, EVERYBODY]
        self._boards = {view: _Boards(terms) for view in views}
        self._requests: Sequence[LineRequest] = ()
        self._waiting = ""
        self.record: GameRecord | None = None  # when the game is over
        self._begin_position()
        self.views: Mapping[View, Mapping[str, Any]] = {}
        """The latest view of each page; replaced whenever something changes."""
        self.on_change: Callable[[], object] = lambda: None
        """Called when the views were replaced."""

    def _begin_position(self) -> None:
        self._reserves_us = [one.reserve_us if one.timed else None for one in self._terms.controls]
        self._moves = 0
        self._turn_began_ns = 0  # while nobody is asked

    def wait_for(self, names: str) -> None:
        """Says on all pages that the game begins when these persons have come; an empty text ends that."""
        self._waiting = f"waiting for {names}" if names else ""
        self._publish()

    def begin_again(self, events: int) -> None:
        """Prepares to receive the game from its first event again."""
        self._pages.end_turn(self._persons)
        super().begin_again(events)
        self._begin_position()

    def watch(self, event: Event, state: State[Any]) -> None:
        """Receives an event of the game, and the state after it."""
        if state is not self._state and isinstance(event, Moved | Preset):
            self._moves += 1
        super().watch(event, state)
        if isinstance(event, Moved) and self._reserves_us[event.seat] is not None:
            self._reserves_us[event.seat] = event.charge.reserve_us
        elif isinstance(event, Retired) and event.ending is Ending.TIME:
            self._reserves_us[event.seat] = 0
        self._publish()

    def begin_turn(self, seats: tuple[Seat, ...]) -> None:
        """Notes the beginning of a turn."""
        super().begin_turn(seats)
        self._turn_began_ns = time.monotonic_ns()
        self._publish()

    def next_seat(self, asked: Mapping[Seat, Question], poll_bots: Callable[[], bool]) -> Seat:
        """The person whose line came first. All of them are asked, and their clocks run."""
        for seat, question in asked.items():
            if seat not in self._asked:
                self._begin(seat, question)
        self._requests = [self._request(seat, asked[seat], self._asked[seat]) for seat in asked]
        self._publish()
        return self._pages.next_seat(self._requests, poll_bots)

    def _begin(self, seat: Seat, question: Question) -> None:
        super()._begin(seat, question)
        self._pages.ask(seat)

    def ask(self, seat: Seat, question: Question, poll_bots: Callable[[], bool]) -> SeatReply | None:
        """Reads what a person has sent; None where that is no answer."""
        reply = super().ask(seat, question, poll_bots)
        if reply:
            self._pages.end_turn([seat])
            self._publish()
        return reply

    def _why_not(self, choices: Choices, line: str) -> str:
        if meaning(line).word == "quit":
            return "`resign` ends the game; it waits for whoever closes the page"
        return super()._why_not(choices, line)

    def _agrees(self, seat: Seat, number: int, poll_bots: Callable[[], bool]) -> bool:
        question = f"Another player asks to take back {counted(number, 'move')}. Do you agree?"
        with self._pages.asking(seat, question):
            self._publish()
            return self._pages.agrees(seat, self._requests, poll_bots)

    def _show_turn(self, seat: Seat, question: Question) -> None:
        """Shows nothing besides the view."""

    def _show_board(self, seat: Seat | None, below: int = 0) -> None:
        """Shows nothing besides the view."""

    def choice(self, seat: Seat, parts: Sequence[str]) -> dict[str, Any]:
        """What can follow the parts of a move that a person has chosen, as JSON; called in another thread."""
        terms, state, layout = self._terms, self._state, self._boards[seat].layout
        found: Chosen[Any] = Chosen((), (), 0)
        if self._pages.is_asked(seat) and seat in state.to_act():
            found = state.chosen(seat, parts)
        moves = found.moves[:MOST_MOVES]
        added = added_marks(terms.game, terms.options, state, seat, moves, _beside_seats)
        picture = _beside_seats(state.picture(seat))
        return {
            "parts": list(parts),
            "next": list(found.next),
            "moves": [state.write(move) for move in moves],
            "left": found.left,
            "ghosts": [
                {"move": state.write(move), "svg": ghost(marks, layout, picture)}
                for move, marks in zip(moves, added, strict=True)
                if marks
            ],
        }

    def show_end(self, record: GameRecord) -> None:
        """Shows the last position, with all that was hidden, and the result."""
        self.record = record
        self._publish()

    def _publish(self) -> None:
        self.views = {view: self._view(view) for view in self._boards}
        self.on_change()

    def _view(self, view: View) -> dict[str, Any]:
        terms, state = self._terms, self._state
        known = self._known(None if self.record else view)  # guard: views-of-others
        seat = view if isinstance(view, int) else None
        is_asked = seat is not None and self._pages.is_asked(seat)
        began_ns = self._asked[seat].began_ns if seat is not None and is_asked else self._turn_began_ns
        everybody = known if known.is_full else self._known(EVERYBODY)
        to_move = everybody.to_move(state) if self._turn_began_ns else ()
        turn = [one for one in to_move if one != seat or is_asked]
        log = [move_text(terms, event) for event in self.events] if known.is_open else known.news(state)
        if not known.is_open:
            log = [shown(terms.game.told(line), 300) for line in log]
        log = [line for line in log if line][-LOGGED:]
        boards = self._boards[view].drawn(
            known.picture(state),
            turn=turn,
            reserves_us=known.reserves(self._reserves_us),
            at_us=began_ns // 1000 if known.is_full or is_asked else 0,
            moves=self._moves,
            last=log[-1] if log else "",
        )
        return {
            **boards,
            "seat": None if seat is None else seat + 1,
            "asked": is_asked,
            "question": None if seat is None else self._pages.question(seat),
            "news": [] if seat is None else self._pages.shown(seat),
            "log": log,
            "rule": terms.game.aim(terms.options) or terms.game.summary.split(". ")[0],
            "notation": " ".join(terms.game.notation.split()),
            "hints": self._hint is not None,
            "back": max(0, len(self._turns) - 1),
            "waiting": self._waiting,
            "over": self.record is not None,
            "result": result(self.record.terms, self.record.verdict) if self.record else "",
        }


class _Boards:
    """The board of one page, and beside it the rows in which parts of moves are chosen, such as a hand."""

    def __init__(self, terms: Terms) -> None:
        self._board, self._hand = (
            DrawnBoard(terms.id, terms.game.slug, terms.bots, terms.controls, True, row_width)
            for row_width in (None, HAND_WIDTH)
        )
        self._seats = len(terms.bots)
        self.layout = self._board.layout  # the frame of the board, which another thread may read
        self._has_hand = False

    def drawn(self, picture: Picture, **turn: Any) -> dict[str, Any]:
        """The board as a whole, with the hand. What rows say of seats stands as text beside their names."""
        rows = (panel for panel in picture if isinstance(panel, Row) and panel.seat is not None)
        hand = tuple(row for row in rows if any(span.part for span in row.spans))
        self._has_hand |= bool(hand)
        for one, panels in ((self._board, _beside_seats(picture)), (self._hand, hand)):
            one.show(panels, rows=seat_rows(picture, self._seats), **turn)
            one.patch()
        self.layout = self._board.layout
        beside = {name: self._hand.whole()[name] for name in DRAWN} if self._has_hand else None
        return {**self._board.whole(), "hand": beside}


def _beside_seats(picture: Picture) -> Picture:
    """What is drawn as the board: all panels but the rows about a seat."""
    return tuple(panel for panel in picture if isinstance(panel, Plane) or panel.seat is None) or picture
