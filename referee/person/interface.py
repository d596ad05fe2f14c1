"""The interface between persons and a game: asks for moves, shows what a seat sees, and obeys commands, such
as to take back a move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from referee.core.seeds import Random
from referee.core.text import WIDTH, counted, listed, shown
from referee.gameplay.api import RESIGNED, Answer, Question, ReplyContent, SeatReply, Silence
from referee.gameplay.events import Event, Timing
from referee.gameplay.terms import Terms
from referee.games.api import Seat, State
from referee.person.console import OTHERS_FIRST, TIME_UP, Console, InputEnd, LineRequest
from referee.person.words import (
    Choices,
    TypedLine,
    cannot_go_back,
    clock_text,
    help_lines,
    meaning,
    meant_by,
    move_text,
    moves_lines,
    seat_name,
    wrapped,
)
from referee.records.record import GameRecord
from referee.viewing.characters import lines, part, picture_text, text_of, width
from referee.viewing.knowledge import View, ViewKnowledge
from referee.viewing.words import result

LISTED = 120  # maximum number of moves that `legal` lists

NEWS_SHOWN = 12  # how many lines of new news are shown unasked; `news` shows all

BELOW = 4  # how many lines are kept for the question and what is typed when the size of the board is chosen

FEW = 12  # if there are at most this many legal moves, they are shown unasked

Hint = Callable[[State[Any], Seat], tuple[str, str]]
"""A hint for a seat: a move, and what is said of it. Raises `NoHint`."""


class NoHint(Exception):
    """The bot gave no legal move; says why."""


class TakenBack(Exception):
    """Moves are taken back: the game continues after its first `events` events."""

    def __init__(self, events: int) -> None:
        super().__init__(f"back to event {events}")
        self.events = events


class PersonLeft(Exception):
    """A person left, and the game is not finished."""


class _Asked(NamedTuple):
    began_ns: int
    choices: Choices


class PersonInterface:
    """The interface of one game. It receives every event, with the state after it."""

    def __init__(
        self,
        terms: Terms,
        persons: Collection[Seat],
        console: Console,
        hint: Hint | None,
        rng: Random,
        in_colour: bool = False,
    ) -> None:
        """Without `hint` there are none; `rng` picks moves to be listed where there are
        too many.
        """
        self.hints: dict[Seat, int] = {}  # how many hints each person got
        self.events: list[Event] = []
        self.began_ns = time.monotonic_ns()
        self._terms = terms
        self._persons = persons
        self._console = console
        self._hint = hint
        self._rng = rng
        self._in_colour = in_colour
        self._has_secrets = console.is_looked_at and not terms.game.is_open and len(persons) > 1
        self._turns: list[int] = []  # how many events there were before each turn of a person
        self._state: State[Any] = terms.game.start(terms.options)
        self._told: dict[Seat, tuple[int, int]] = {}  # how many events and lines of news each seat was shown
        self._asked: dict[Seat, _Asked] = {}
        self._looking: Seat | None = None  # who looks at the screen, where others must not
        self._awaited: Seat | None = None  # who is asked to look at it next
        self._is_waiting = False  # whether persons were told that bots are waited for

    def begin_again(self, events: int) -> None:
        """Prepares to receive the game from its first event again, since moves were taken back: it then goes
        on after so many events.
        """
        self._console.show("taken back; the bots are restarted", None)
        self.events = []
        self._turns = [turn for turn in self._turns if turn < events]
        self._state = self._terms.game.start(self._terms.options)
        self._asked = {}
        self._told = {}  # the events of the game are other ones from here on

    def watch(self, event: Event, state: State[Any]) -> None:
        """Receives an event of the game, and the state after it."""
        self.events.append(event)
        self._state = state

    def begin_turn(self, seats: tuple[Seat, ...]) -> None:
        """Notes the beginning of a turn."""
        if any(seat in self._persons for seat in seats):
            self._turns.append(len(self.events))
        self._asked = {}
        self._is_waiting = False

    def wait_for_bots(self, seats: Collection[Seat]) -> None:
        """Tells persons once a turn which bots they wait for."""
        if not self._is_waiting:
            self._is_waiting = True
            names = listed(seat_name(self._terms, seat) for seat in sorted(seats))
            self._console.note(f"{names} to move")

    def next_seat(self, asked: Mapping[Seat, Question], poll_bots: Callable[[], bool]) -> Seat:
        """Which of the persons that are asked is to be asked on: they share a keyboard."""
        return min(asked)

    def ask(self, seat: Seat, question: Question, poll_bots: Callable[[], bool]) -> SeatReply | None:
        """Asks a person, and returns the reply; None where the reply of a bot, or a line of another person,
        has to be taken first.

        Raises `TakenBack` and `PersonLeft`.
        """
        if seat not in self._asked or question.rejected:
            if not self._let_look(seat, poll_bots):
                return None
            self._begin(seat, question)
        asked = self._asked[seat]
        content = self._answer(seat, question, asked, poll_bots)
        if content is None:
            return None
        return self._reply(seat, question, asked, content)

    def _begin(self, seat: Seat, question: Question) -> None:
        """Shows a person the question. The clock runs from here, or runs on after a rejection."""
        began_ns = self._asked[seat].began_ns if seat in self._asked else time.monotonic_ns()
        self._asked[seat] = _Asked(began_ns, Choices(self._state, seat, self._rng))
        if question.rejected:
            self._console.show(f"rejected: {shown(question.rejected[1])}", seat)
        else:
            self._show_turn(seat, question)

    def _reply(self, seat: Seat, question: Question, asked: _Asked, content: ReplyContent) -> SeatReply:
        """A reply with the time that it took. Without a clock, nobody is late."""
        used_us = (self._console.came_ns - asked.began_ns) // 1000
        timing = Timing(max(0, asked.began_ns - self.began_ns) // 1000, used_us)
        if not self._terms.controls[seat].timed:
            used_us = min(used_us, question.wait_us)
        elif isinstance(content, Silence):
            used_us = max(used_us, question.wait_us + 1)
        return SeatReply(seat, content, used_us, timing)

    def _request(self, seat: Seat, question: Question, asked: _Asked) -> LineRequest:
        deadline_ns = asked.began_ns + question.wait_us * 1000 if self._terms.controls[seat].timed else None
        return LineRequest(seat, f"{seat_name(self._terms, seat)}> ", deadline_ns)

    def _answer(
        self, seat: Seat, question: Question, asked: _Asked, poll_bots: Callable[[], bool]
    ) -> ReplyContent | None:
        """Reads lines until one is an answer; None where something else has to be taken first."""
        request = self._request(seat, question, asked)
        while True:
            line = self._console.read(request, poll_bots)
            if line is OTHERS_FIRST:
                return None
            if line is TIME_UP:
                self._console.show("the time is up", seat)
                return Silence("no move was typed in time")
            if isinstance(line, InputEnd):
                raise PersonLeft
            why = self._why_not(asked.choices, line)
            self._console.respond(seat, why)
            if why:
                continue
            typed = meaning(line)
            match typed.word:
                case "move":
                    return Answer(typed.text)
                case "resign":
                    return RESIGNED
                case "quit":
                    raise PersonLeft
                case "undo":
                    self._take_back(seat, typed.number, poll_bots)
                case _:
                    self._obey(seat, question, asked, typed)

    def _why_not(self, choices: Choices, line: str) -> str:
        """Why a line is neither a legal move nor a command; empty if it is."""
        typed = meaning(line)
        if typed.word == "wrong":
            return typed.text
        if typed.word != "move" or not (why := choices.why_not(typed.text)):
            return ""
        meant = meant_by(typed.text)
        return f"illegal: {why}{f' (did you mean {meant}?)' if meant else ''}"

    def _obey(self, seat: Seat, question: Question, asked: _Asked, typed: TypedLine) -> None:
        """Obeys a command that changes nothing in the game."""
        match typed.word:
            case "help":
                self._show_lines(help_lines(self._terms, self._width), seat)
            case "board":
                self._show_board(seat)
            case "legal":
                found = asked.choices.starting(typed.text, LISTED)
                self._show_lines(moves_lines(found, typed.text, self._width), seat)
            case "hint":
                self._give_hint(seat)
            case "news":
                news = [shown(line, 300) for line in self._known(seat).news(self._state)]
                self._show_lines(news or ["no news yet"], seat)
            case "clock":
                self._console.show(self._clock(seat, question, asked) or "there is no clock", seat)

    def _give_hint(self, seat: Seat) -> None:
        if self._hint is None:
            self._console.show("there is no hint bot for this game, expected `--hint BOT`", seat)
            return
        try:
            move, info = self._hint(self._state, seat)
        except NoHint as why:
            self._console.show(f"the hint bot gave no hint: {why}", seat)
            return
        self.hints[seat] = self.hints.get(seat, 0) + 1
        said = f" ({shown(info)})" if info else ""
        self._console.show(f"hint: {shown(move)}{said}", seat)

    def _take_back(self, seat: Seat, number: int, poll_bots: Callable[[], bool]) -> None:
        """Takes moves back if all other persons agree. Raises `TakenBack`; `PersonLeft` if the input ends."""
        earlier = self._turns[:-1]  # the last is the present one, in which nobody has moved yet
        if number > len(earlier):
            self._console.show(cannot_go_back(len(earlier)), seat)
            return

        def poll() -> bool:
            poll_bots()
            return False  # the answer comes first

        for other in sorted(self._persons):
            if other != seat and not self._agrees(other, number, poll):
                self._let_look(seat, poll)
                self._console.show(f"{seat_name(self._terms, other)} does not agree", seat)
                return
        raise TakenBack(earlier[-number])

    def _agrees(self, seat: Seat, number: int, poll_bots: Callable[[], bool]) -> bool:
        if self._has_secrets and self._looking is not None:
            self._console.clear()
            self._looking = None
        prompt = f"{seat_name(self._terms, seat)}: take back {counted(number, 'move')}? [y/n] "
        request = LineRequest(seat, prompt)
        while True:
            line = self._console.read(request, poll_bots)
            if isinstance(line, InputEnd):
                raise PersonLeft
            if line.strip().lower() in ("y", "yes", "n", "no"):
                return line.strip().lower().startswith("y")

    def _let_look(self, seat: Seat, poll_bots: Callable[[], bool]) -> bool:
        """Lets a person look at the screen alone; False where a bot has to be heard first."""
        if not self._has_secrets or self._looking == seat:  # guard: screens
            return True
        if self._awaited != seat:
            self._console.clear()
            self._looking, self._awaited = None, seat
        prompt = f"{seat_name(self._terms, seat)}: press Enter when nobody else is looking "
        line = self._console.read(LineRequest(seat, prompt), poll_bots)
        if line is OTHERS_FIRST:
            return False
        if isinstance(line, InputEnd):
            raise PersonLeft
        self._console.clear()
        self._looking, self._awaited = seat, None
        return True

    def _clock(self, seat: Seat, question: Question, asked: _Asked) -> str:
        if not self._terms.controls[seat].timed:
            return ""
        return clock_text(question, (time.monotonic_ns() - asked.began_ns) // 1000)

    def _show_turn(self, seat: Seat, question: Question) -> None:
        events, lines = self._told.get(seat, (0, 0))
        known = self._known(seat)
        seen = known.news(self._state)
        if known.is_open:
            new = [move_text(self._terms, event) for event in self.events[events:]]
        else:
            new = [f"news: {shown(line, 300)}" for line in seen[lines:]]
        below = [line for line in new if line][-NEWS_SHOWN:]
        if clock := self._clock(seat, question, self._asked[seat]):
            below.append(clock)
        few = self._asked[seat].choices.starting("", FEW)
        if few.more == 0:
            below += wrapped(f"moves: {', '.join(few.moves)}", self._width)
        if self._fits(seat, below):
            self._show_board(seat, len(below))
            self._show_lines(below, seat)
        else:
            self._show_lines(below, seat)
            self._show_part(seat)
        self._told[seat] = len(self.events), len(seen)

    @property
    def _width(self) -> int:
        columns, _ = self._console.room
        return min(WIDTH, columns) if columns else WIDTH

    def _fits(self, seat: Seat, below: Sequence[str]) -> bool:
        """Whether the board, these lines below it and the question are seen at once."""
        columns, rows = self._console.room
        drawn = lines(self._known(seat).picture(self._state))
        lengths = [*(width([line]) for line in drawn), *map(len, below)]
        return rows == 0 or sum(max(1, ceil(length / columns)) for length in lengths) + BELOW <= rows

    def _show_part(self, seat: Seat) -> None:
        """Shows the part of the board with the last move that leaves room for the question."""
        columns, rows = self._console.room
        drawn = lines(self._known(seat).picture(self._state))
        seen = part(drawn, columns, max(1, rows - BELOW - 1))
        self._console.show(f"part of the board; `board` shows all\n{text_of(seen, self._in_colour)}", seat)

    def _show_board(self, seat: Seat | None, below: int = 0) -> None:
        """Shows a person the board, as large as leaves room for so many lines below it and for the question;
        with None, shows everybody all of it.
        """
        picture, (columns, rows) = self._known(seat).picture(self._state), self._console.room
        larger = lines(picture, is_large=True)
        is_large = width(larger) <= columns and len(larger) + below + BELOW <= rows
        self._console.show(f"\n{picture_text(picture, self._in_colour, is_large)}", seat)

    def _known(self, view: View) -> ViewKnowledge:
        return ViewKnowledge.of(view, self._terms.game, self._terms.options)

    def _show_lines(self, lines: Sequence[str], seat: Seat) -> None:
        if lines:
            self._console.show("\n".join(lines), seat)

    def show_end(self, record: GameRecord) -> None:
        """Shows the last position, with all that was hidden, and the result."""
        self._show_board(None)
        self._console.show(result(record.terms, record.verdict), None)
