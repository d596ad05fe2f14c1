"""Persons: what typed lines mean, which moves are offered, and how moves are taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.api import Answer, Failure, Question, Ready, SeatReply
from referee.gameplay.clock import Charge
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms, Verdict
from referee.games import GAMES
from referee.games.api import Seat, State
from referee.person.console import CLOSED, Console, InputEnd, LineRequest
from referee.person.game import ContinuedWire
from referee.person.interface import BELOW, PersonInterface, PersonLeft, TakenBack
from referee.person.words import (
    COMMANDS,
    MAX_LINE,
    Choices,
    TypedLine,
    clock_text,
    help_lines,
    meaning,
    meant_by,
    moves_lines,
)
from tests.unit.scripted import Events, ScriptedWire, puppet


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("L:D4 D:D6", TypedLine("move", "L:D4 D:D6")),
        ("  E5 R U ", TypedLine("move", "E5 R U")),
        ("h", TypedLine("move", "h")),
        ("-", TypedLine("move", "-")),
        ("", TypedLine("")),
        ("   ", TypedLine("")),
        ("HELP", TypedLine("help")),
        ("?", TypedLine("help")),
        ("board", TypedLine("board")),
        ("undo 3", TypedLine("undo", number=3)),
        ("back", TypedLine("undo")),
        ("legal  L:D ", TypedLine("legal", "L:D")),
        ("moves", TypedLine("legal")),
        ("move help", TypedLine("move", "help")),
    ],
)
def test_a_line_is_a_command_only_as_a_whole_word(line: str, typed: TypedLine) -> None:
    assert meaning(line) == typed


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("resign now", "`resign` takes no argument"),
        ("move", "`move` needs a move after it"),
        ("undo 0", r"`undo 0` has a wrong number of moves"),
        ("undo ١", r"`undo ١` has a wrong number of moves"),
        ("undo -1", r"`undo -1`"),
        ("undo 10000", r"`undo 10000`"),
        ("undo \x1b[2J", r"`undo \x1b[2J`"),
        ("x" * (MAX_LINE + 1), f"the line has more than {MAX_LINE} characters"),
    ],
)
def test_a_wrong_command_has_a_reason(line: str, why: str) -> None:
    typed = meaning(line)
    assert typed.word == "wrong" and typed.text.startswith(why)
    assert typed.text.isprintable()


def test_a_misspelt_command_is_recognized_and_a_short_move_is_not_taken_for_one() -> None:
    assert meant_by("unod 2") == "`undo`" and meant_by("lgeal") == "`legal`"
    assert meant_by("xyzzy") == "" and meant_by("mo") == ""


def choices(slug: str, *moves: str, **options: str) -> Choices:
    game = GAMES[slug]
    state: State[Any] = game.start(game.settle(options))
    for text in moves:
        (seat,) = state.to_act()
        state = state.play({seat: state.read(seat, text)})
    return Choices(state, state.to_act()[0], Stream(b"t"))


def test_moves_with_a_beginning_are_listed_whatever_the_case() -> None:
    found = choices("blooms", size="3").starting("d:a", 2)
    assert found.moves == ["D:A1", "D:A2"] and found.more == 1
    assert choices("blooms", size="3").starting("D:Z", 5).moves == []
    assert choices("vinetree").starting("", 10).moves[0] == "E5 D L"


def test_why_a_text_is_no_move_is_the_reason_of_the_rules() -> None:
    blooms = choices("blooms", "L:A1", size="3")
    assert blooms.why_not("L:A1") == "A1 is occupied"
    assert blooms.why_not("\x1b[2J\x00").isprintable()
    assert "characters" in blooms.why_not("L:A1" * 1000)
    assert blooms.why_not("d:a2 l:a3") == ""


def test_where_there_are_too_many_moves_some_are_looked_at() -> None:
    large = choices("evengroups", "O:A1", size="8")
    found = large.starting("", 5)
    assert len(found.moves) == 5 and found.more is None
    assert any(large.starting(f"{colour}:N", 1).moves for colour in "OW"), "a sample reaches the last rows"
    assert "and many more" in moves_lines(found, "")[-1]


def test_the_help_has_every_command_and_no_line_is_too_long() -> None:
    game = GAMES["thetree"]
    control = TimeControl.parse("none")
    terms = Terms("1:a:b", game, game.settle({}), ("a", "b"), (control, control), b"s")
    lines = help_lines(terms)
    assert all(len(line) <= 80 for line in lines)
    for command in COMMANDS:
        assert any(line.startswith(f"  {command.word}") for line in lines)


@pytest.mark.parametrize(
    ("used_s", "text"),
    [
        (0, "0:30 left and 1:00 in reserve"),
        (29.5, "0:01 left and 1:00 in reserve"),
        (60, "0:00 left and 0:30 in reserve"),
    ],
)
def test_the_clock_runs_into_the_reserve(used_s: float, text: str) -> None:
    question = Question((), 30_000_000, 60_000_000, 90_000_000)
    assert clock_text(question, int(used_s * 1e6)) == text


def test_turns_are_taken_back_to_a_turn_of_a_person() -> None:
    for persons, number, events in (([0], 1, 2), ([0], 2, 0), ([0, 1], 1, 3), ([0, 1], 4, 0)):
        console = TypingConsole(f"undo {number + 5}", f"undo {number}", *["y"] * 2)
        at = interface(console, persons)
        for seat in (0, 1, 0, 1, 0):
            at.begin_turn((seat,))
            at.events.append(Retired(seat, Ending.RESIGNED, "", 0))  # any event will do
        with pytest.raises(TakenBack) as back:
            at.ask(0, QUESTION, bool)
        assert back.value.events == events
        earlier = "4 moves" if len(persons) == 2 else "2 moves"
        assert f"only {earlier} can be taken back" in console.shown


BLOOMS = GAMES["blooms"]


def terms_of_blooms(control: str = "1s+10s") -> Terms:
    clock = TimeControl.parse(control)
    options = BLOOMS.settle({"size": "3", "target": "3"})
    return Terms("1:a:b", BLOOMS, options, ("a", "b"), (clock, clock), b"s", margin_us=0)


def played(terms: Terms, *wire: Any, before: list[Any] | None = None) -> tuple[Events, Verdict]:
    events = Events()
    scripted = ScriptedWire(*wire)
    live = ContinuedWire(before, events.all, scripted) if before is not None else scripted
    verdict = play(terms, live, seeded_dice(terms), events)
    return events, verdict


def test_a_game_goes_on_from_its_first_events_with_their_clocks_and_answers() -> None:
    terms = terms_of_blooms()
    first, _ = played(
        terms, puppet((2_000_000, "L:A1"), "{n}resign"), puppet("bad", (1_500_000, "D:B1"), "D:C1")
    )
    kept = first.all[:3]
    assert [type(event) for event in kept] == [Moved, Rejected, Moved]
    told: list[str] = []

    def second(lines: list[str]) -> Any:
        told.extend(lines)
        return puppet("D:E1", "resign {n}")(lines)

    again, verdict = played(terms, puppet("L:D1", "L:E3"), second, before=kept)
    assert again.all[:3] == kept
    assert [event.text for event in again.all[3:6] if isinstance(event, Moved)] == ["L:D1", "D:E1", "L:E3"]
    moved = again.all[3]
    assert isinstance(moved, Moved) and moved.charge.reserve_us == 9_000_000, "the reserve of before"
    news = [line for line in told if line.startswith("news")]
    assert news[:3] == ["news move 1 L:A1", "news move 2 D:B1", "news move 1 L:D1"], (
        "all with its first question"
    )
    assert verdict.outcome.ranks


def test_a_game_goes_on_from_its_very_beginning() -> None:
    again, _ = played(terms_of_blooms(), puppet("L:A1"), puppet("resign {n}"), before=[])
    assert isinstance(again.all[0], Moved) and again.all[0].text == "L:A1"


class FailingWire(ScriptedWire):
    """Seat 2 does not start."""

    def next_reply(self) -> SeatReply:
        reply = super().next_reply()
        if reply.seat == 1 and isinstance(reply.content, Ready):
            return replace(reply, content=Failure(Ending.START, "no such program"))
        return reply


def test_a_bot_that_does_not_start_again_is_at_fault_when_it_is_asked() -> None:
    terms = terms_of_blooms()
    first, _ = played(terms, puppet("L:A1", "L:A2"), puppet("D:B1", "resign {n}"))
    kept = first.all[:2]
    events = Events()
    wire = ContinuedWire(kept, events.all, FailingWire(puppet("L:D1"), puppet()))
    play(terms, wire, seeded_dice(terms), events)
    assert events.all[:2] == kept and isinstance(events.all[2], Moved)
    left = events.all[3]
    assert isinstance(left, Retired) and left.ending is Ending.START and left.seat == 1


class TypingConsole:
    """A console whose lines are typed beforehand."""

    def __init__(self, *lines: str | InputEnd, room: tuple[int, int] = (80, 24)) -> None:
        self.is_looked_at = True
        self._lines = list(lines)
        self._room = room
        self.shown: list[str] = []
        self.told: list[tuple[Seat | None, str]] = []
        self.came_ns = 1 << 60  # long after the question

    @property
    def room(self) -> tuple[int, int]:
        return self._room

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        self.shown.append(request.prompt)
        return self._lines.pop(0) if self._lines else CLOSED

    def respond(self, seat: Seat, why: str) -> None:
        if why:
            self.show(why, seat)

    def show(self, text: str, seat: Seat | None) -> None:
        self.shown.append(text)
        self.told.append((seat, text))

    def note(self, text: str) -> None:
        self.shown.append(text)

    def clear(self) -> None:
        self.shown.append("CLEARED")


def interface(
    console: Console, persons: list[int], slug: str = "blooms", control: str = "none"
) -> PersonInterface:
    game = GAMES[slug]
    options = game.settle({"size": "3"} if slug == "blooms" else {})
    clock = TimeControl.parse(control)
    terms = Terms("1:a:b", game, options, ("a", "b"), (clock, clock), b"s")
    return PersonInterface(terms, persons, console, None, Stream(b"t"))


QUESTION = Question((), 3_600_000_000, 0, 3_600_000_000)


def test_an_illegal_line_is_not_handed_to_the_game() -> None:
    console = TypingConsole("L:Z9", "quit now", "L:A1")
    at = interface(console, [0])
    at.begin_turn((0,))
    reply = at.ask(0, QUESTION, bool)
    assert reply and reply.content == Answer("L:A1")
    assert any(line.startswith("illegal: ") for line in console.shown)
    assert any(line.startswith("`quit` takes no argument") for line in console.shown)


def test_texts_and_the_board_fit_the_terminal() -> None:
    rows = {}
    for room in ((80, 24), (100, 40), (100, 41)):
        console = TypingConsole("help", "legal", "E5 D L", room=room)
        at = interface(console, [0], "vinetree")
        at.begin_turn((0,))
        at.ask(0, QUESTION, bool)
        lines = "\n".join(console.shown).split("\n")
        assert max(map(len, lines)) <= min(room[0], 80)
        rows[room] = next(number for number, line in enumerate(lines) if line.startswith("I "))
    assert rows[80, 24] == rows[100, 40] < rows[100, 41]


@pytest.mark.parametrize("first", ["L:A1", "L:E3"])
def test_in_a_small_terminal_the_last_move_is_seen_with_the_question(first: str) -> None:
    console = TypingConsole("L:C1", room=(40, 8))
    at = interface(console, [1])
    state = BLOOMS.start(BLOOMS.settle({"size": "3"}))
    at.watch(Moved(0, first, Charge(0, 0, 0, 0)), state.play({0: state.read(0, first)}))
    at.begin_turn((1,))
    at.ask(1, QUESTION, bool)
    *_, board, prompt = console.shown
    lines = board.split("\n")
    assert "`board` shows all" in lines[0] and prompt == "seat 2 b> "
    assert len(lines) <= 8 - BELOW and max(map(len, lines)) <= 40
    assert "[1L]" in board


def test_without_a_clock_nobody_is_late() -> None:
    at = interface(TypingConsole("L:A1"), [0])
    at.begin_turn((0,))
    reply = at.ask(0, replace(QUESTION, wait_us=1), bool)
    assert reply and reply.used_us <= 1


def test_the_end_of_the_input_leaves_the_game() -> None:
    at = interface(TypingConsole(), [0])
    at.begin_turn((0,))
    with pytest.raises(PersonLeft):
        at.ask(0, QUESTION, bool)


def test_moves_are_taken_back_only_where_all_persons_agree() -> None:
    console = TypingConsole("undo", "maybe", "n", "undo", "y")
    at = interface(console, [0, 1])
    at.begin_turn((0,))
    at.events.append(Retired(0, Ending.RESIGNED, "", 0))  # any event will do
    at.begin_turn((1,))
    with pytest.raises(TakenBack) as back:
        at.ask(1, QUESTION, bool)
    assert back.value.events == 0
    assert "seat 1 a does not agree" in console.shown
    assert console.shown.count("seat 1 a: take back 1 move? [y/n] ") == 3


def test_after_moves_were_taken_back_each_person_is_shown_what_happened_instead() -> None:
    console = TypingConsole("D:B1", "D:C1")
    at = interface(console, [0, 1])
    state = BLOOMS.start(BLOOMS.settle({"size": "3"}))
    for text in ("L:A1", "L:A2"):  # the second time after moves were taken back
        at.begin_turn((0,))
        after = state.play({0: state.read(0, text)})
        at.watch(Moved(0, text, Charge(0, 0, 0, 0)), after)
        at.begin_turn((1,))
        console.shown.clear()
        assert at.ask(1, QUESTION, bool)
        assert f"seat 1 a: {text}" in console.shown
        at.begin_again(0)


def test_without_a_move_nothing_is_taken_back() -> None:
    console = TypingConsole("undo", "L:A1")
    at = interface(console, [0])
    at.begin_turn((0,))
    assert at.ask(0, QUESTION, bool)
    assert "there is no move to take back yet" in console.shown


def test_in_a_game_with_hidden_information_each_person_looks_alone() -> None:
    console = TypingConsole("", "A", "", "C")
    at = interface(console, [0, 1], "floral")
    state = GAMES["floral"].start(GAMES["floral"].settle({}))
    rng = Stream(b"x")
    while state.to_act()[0] < 0:
        state = state.chance(state.draw(rng))
    at.watch(Retired(0, Ending.RESIGNED, "", 0), state)
    at.begin_turn((0, 1))
    assert at.ask(0, QUESTION, bool) and at.ask(1, QUESTION, bool)
    where = [number for number, line in enumerate(console.shown) if line == "CLEARED"]
    assert len(where) == 4
    first = "\n".join(console.shown[where[1] : where[2]])
    second = "\n".join(console.shown[where[3] :])
    own = [" ".join(line.split()[2:]) for seat in (0, 1) for line in state.seen(seat) if "runes" in line]
    assert own[0] in first and own[1] not in first
    assert own[1] in second and own[0] not in second
    for seat in (0, 1):
        told = "\n".join(text for whom, text in console.told if whom in (seat, None))
        assert own[seat] in told and own[1 - seat] not in told, "whom a text is for is said with it"
