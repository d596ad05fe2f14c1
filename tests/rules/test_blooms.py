"""Blooms, against its rules and against a second, slow implementation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.core.seeds import Stream
from referee.games.api import Illegal, NotAMove
from referee.games.blooms import Blooms, BloomsState
from referee.games.grid import Cells, members
from referee.games.picture import FRESH, GONE, Mark, Plane, Row
from referee.viewing.characters import picture_text
from tests.rules.positions import play
from tests.rules.random_play import quick_first
from tests.rules.slow_hex import touching

GAME = Blooms()


def position(stones: dict[str, str], mover: int, target: int = 15, side: int = 4) -> BloomsState:
    """A position in the middle of a game: `1L`, `1D`, `2L`, `2D` to the cells of each."""
    start = GAME.start(GAME.settle({"size": str(side), "target": str(target)}))
    cells = {
        stone: sum(1 << start.rules.board.cells[name] for name in names.split())
        for stone, names in stones.items()
    }
    own, theirs = (
        (cells.get(f"{seat + 1}L", 0), cells.get(f"{seat + 1}D", 0)) for seat in (mover, 1 - mover)
    )
    empty = start.empty & ~sum(cells.values())
    return replace(start, turn=10 + mover, own=own, opponent=theirs, empty=empty)


def names(state: BloomsState, cells: Cells) -> set[str]:
    return {state.rules.board.names[cell] for cell in members(cells)}


def stones(state: BloomsState) -> dict[str, tuple[int, str]]:
    """Seats, counted from 1, and colours by the names of cells."""
    found = {}
    for seat, both in ((state.mover, state.own), (1 - state.mover, state.opponent)):
        for colour, cells in zip("LD", both, strict=True):
            for name in names(state, cells):
                assert name not in found
                found[name] = (seat + 1, colour)
    assert names(state, state.empty) == set(state.rules.board.cells) - set(found)
    return found


class Slow:
    """The rules again, with sets of names and nothing clever."""

    def __init__(self, side: int) -> None:
        self.near = touching(side)
        self.stones: dict[str, tuple[int, str]] = {}
        self.mover = 1

    def bloom(self, cell: str) -> set[str]:
        found, edge = {cell}, [cell]
        while edge:
            for other in self.near[edge.pop()]:
                if self.stones.get(other) == self.stones[cell] and other not in found:
                    found.add(other)
                    edge.append(other)
        return found

    def fenced(self, seat: int) -> set[str]:
        return {
            cell
            for cell, stone in self.stones.items()
            if stone[0] == seat and all(n in self.stones for c in self.bloom(cell) for n in self.near[c])
        }

    def play(self, text: str) -> set[str]:
        for part in text.split():
            self.stones[part[2:]] = (self.mover, part[0])
        captured = self.fenced(3 - self.mover)
        for cell in captured:
            del self.stones[cell]
        self.mover = 3 - self.mover
        return captured


EXAMPLE = {"2D": "E3 B3 B4", "2L": "C5 D5 E4", "1D": "C3 D3 E2 F2", "1L": "C4 D4"}


def test_the_example_has_five_blooms_and_the_light_red_one_is_fenced() -> None:
    slow = Slow(4)
    for stone, cells in EXAMPLE.items():
        for cell in cells.split():
            slow.stones[cell] = (int(stone[0]), stone[1])
    blooms = {frozenset(slow.bloom(cell)) for cell in slow.stones}
    expected = ["E3", "B3 B4", "C5 D5 E4", "C3 D3 E2 F2", "C4 D4"]
    assert blooms == {frozenset(cells.split()) for cells in expected}
    assert slow.fenced(1) == {"C4", "D4"} and not slow.fenced(2)


def test_a_fenced_bloom_of_the_mover_stays_and_is_captured_after_the_next_turn() -> None:
    # The last gap beside the light bloom of seat 1 is filled by seat 1 itself.
    stones = {**EXAMPLE, "1L": "C4"}
    state = play(position(stones, mover=0), "L:D4")
    assert not state.captured and state.captures == (0, 0)
    state = play(state, "L:G4")
    assert names(state, state.captured) == {"C4", "D4"}
    assert state.captures == (0, 2)
    assert state.seen(None)[-1] == "captured 2 C4 D4"


def test_six_stones_as_in_the_source() -> None:
    # Red fills F4 and D6 and fences the dark blue bloom E5-D5-C5-B5-E6-D7; red had nine, and wins.
    stones = {"2D": "E5 D5 C5 B5 E6 D7", "1L": "E4 D4 C4", "1D": "F5 B4 A4", "2L": "C6"}
    state = replace(position(stones, mover=0), captures=(9, 3))
    state = play(state, "L:D6 D:F4")
    # D6 is fenced at once, and stays: only the opponent's blooms are captured. So is light blue C6.
    assert names(state, state.captured) >= {"E5", "D5", "C5", "B5", "E6", "D7"}
    assert "D6" not in names(state, state.empty)
    dark = names(state, state.captured) - {"C6"}
    assert len(dark) == 6
    outcome = state.outcome()
    assert outcome and outcome.ranks == (1, 2) and outcome.scores[0] >= 15
    assert state.to_act() == ()


def test_what_is_fenced_is_decided_before_anything_is_removed() -> None:
    # A2 and A1 of seat 2 fence each other; removing one first would free the other.
    state = position({"2L": "A1", "2D": "A2", "1L": "B2", "1D": "A3"}, mover=0, side=3)
    state = play(state, "L:B1 D:B3")
    assert names(state, state.captured) == {"A1", "A2"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not-a-move"),
        ("centre", "not-a-move"),
        ("D4", "not-a-move"),
        ("X:D4", "not-a-move"),
        ("L:D04", "not-a-move"),
        ("L:D+4", "not-a-move"),
        ("L:D４", "not-a-move"),
        ("L: D4", "not-a-move"),
        ("L:D4 D:D5 L:D6", "not-a-move"),
        ("L:D4,D:D5", "not-a-move"),
        ("L:D4\u00a0  D:D5", "not-a-move"),
        ("L:Z1 D:D5", "two-stones"),
        ("L:D8", "no-such-cell"),
        ("L:D0", "no-such-cell"),
        ("L:H1", "no-such-cell"),
        ("D:D" + "9" * 4000, "no-such-cell"),
    ],
)
def test_reasons_on_the_first_turn(text: str, reason: str) -> None:
    with pytest.raises((NotAMove, Illegal)) as caught:
        GAME.start(GAME.settle({})).read(0, text)
    assert caught.value.reason == reason
    assert len(caught.value.sentence) < 200


@pytest.mark.parametrize(
    ("text", "reason", "about"),
    [
        ("L:A5 L:A5", "no-such-cell", "A5"),
        ("L:A1 D:A9", "no-such-cell", "A9"),
        ("L:G9 D:A9", "no-such-cell", "G9"),
        ("L:D4 L:D4", "same-cell", "D4"),
        ("L:D4 D:D4", "same-cell", "D4"),
        ("L:D4 L:D5", "same-colour", ""),
        ("L:D5 D:D4", "occupied", "D4"),
        ("D:A1 L:D4", "occupied", "A1"),
    ],
)
def test_reasons_later_in_their_order(text: str, reason: str, about: str) -> None:
    state = play(GAME.start(GAME.settle({})), "L:D4", "L:A1 D:A2")
    with pytest.raises(Illegal) as caught:
        state.read(0, text)
    assert caught.value.reason == reason
    assert about in caught.value.sentence


@pytest.mark.parametrize("text", ["d:b2   l:B1", "D:B2 L:B1", "L:b1 d:b2"])
def test_leniency_and_the_canonical_spelling(text: str) -> None:
    state = play(GAME.start(GAME.settle({})), "D:D4")
    assert state.write(state.read(1, text)) == "L:B1 D:B2"


@pytest.mark.parametrize("side", quick_first([3, 4, 8, 5], 1))
def test_random_games_go_as_in_the_slow_implementation(side: int) -> None:
    rng = Stream(b"blooms" + bytes([side]))
    for _ in range(3 if side > 5 else 25):
        state = GAME.start(GAME.settle({"size": str(side), "target": "100" if side > 3 else "9"}))
        slow = Slow(side)
        while state.to_act():
            text = state.write(state.sample(state.mover, rng))
            state = play(state, text)
            assert names(state, state.captured) == slow.play(text)
            assert stones(state) == slow.stones


@pytest.mark.slow
def test_no_game_on_side_4_places_more_than_65_stones() -> None:
    rng = Stream(b"65")
    longest = 0
    for _ in range(300):
        state = GAME.start(GAME.settle({}))
        placed = 0
        while state.to_act():
            # Captures are what ends a game early: of a few moves take the one that captures least.
            moves = [state.sample(state.mover, rng) for _ in range(4)]
            move = min(moves, key=lambda move: state.play({state.mover: move}).captured.bit_count())
            placed += sum(bool(cell) for cell in move)
            state = state.play({state.mover: move})
        longest = max(longest, placed)
    assert 40 < longest <= 65


def test_legal_moves_are_all_that_is_accepted() -> None:
    for moves in ((), ("L:C3",), ("L:C3", "L:A1 D:B2"), ("L:A1", "L:B1 D:B2", "L:E3 D:E2", "D:A2")):
        state = play(GAME.start(GAME.settle({"size": "3", "target": "100"})), *moves)
        legal = [state.write(move) for move in state.legal(state.mover)]
        assert len(legal) == len(set(legal)) == state.count(state.mover)
        parts = ["", *(f"{colour}:{name}" for colour in "LD" for name in state.rules.board.cells)]
        accepted = set()
        for one in parts:
            for other in parts:
                try:
                    accepted.add(state.write(state.read(state.mover, f"{one} {other}".strip())))
                except (NotAMove, Illegal):
                    continue
        assert accepted == set(legal)
        assert state.any_legal(state.mover)


def test_the_picture_is_readable_without_colour() -> None:
    state = play(GAME.start(GAME.settle({"size": "3", "target": "2"})), "L:A1", "L:A2 D:B1", "L:C3", "L:B2")
    assert picture_text(state.picture(None)).split("\n") == [
        "          1   2   3",
        "A     (· ) 2L  ·   A3",
        "B    2D [2L] ·   ·   B4",
        "C  ·   ·   1L  ·   ·   C5",
        "D    ·   ·   ·   ·   D4",
        "E      ·   ·   ·   E3",
        "          1   2   3",
        "seat 1: 0 of 2 captured",
        "seat 2: 1 of 2 captured",
        "[ ] placed, ( ) captured by this turn",
    ]


def test_the_larger_picture_has_stones_with_outlines() -> None:
    state = play(GAME.start(GAME.settle({"size": "3", "target": "2"})), "L:A1", "L:A2 D:B1")
    assert picture_text(state.picture(None), is_large=True).split("\n")[:9] == [
        "                   1       2       3",
        "",
        "             ╭──╮    ╭──╮",
        "A            │1L│    [2L]     ·        A3",
        "             ╰──╯    ╰──╯",
        "         ╭──╮",
        "B        [2D]     ·       ·       ·        B4",
        "         ╰──╯",
        "",
    ]


def test_each_seat_has_a_place_for_every_stone_that_it_needs_to_capture() -> None:
    state = play(GAME.start(GAME.settle({"size": "3", "target": "22"})), "L:A1", "L:A2 D:B1", "L:C3", "L:B2")
    rows = [row for row in state.picture(None) if isinstance(row, Row)]
    names = [[span.symbol.name for span in row.spans if span.symbol] for row in rows]
    place = "place for a captured stone"
    assert names[:4] == [
        ["badge of seat 1", *[place] * 20],
        [place] * 2,
        ["badge of seat 2", "stone captured by this turn", *[place] * 19],
        [place] * 2,
    ]
    after = [row for row in play(state, "L:E1").picture(None) if isinstance(row, Row)]
    assert [span.symbol and span.symbol.name for span in after[2].spans][:3] == [
        *("badge of seat 2", "captured stone", place)
    ]


def test_each_stone_is_a_mark_with_its_place_and_each_position_has_the_same_board() -> None:
    state = play(GAME.start(GAME.settle({"size": "3", "target": "2"})), "L:A1", "L:A2 D:B1", "L:C3", "L:B2")
    board, *rows = state.picture(None)
    assert isinstance(board, Plane)
    assert [mark.title for mark in board.marks] == [
        "bloom of 2 light stones of seat 2",
        "light stone of seat 1 at C3",
        "light stone of seat 2 at A2",
        "light stone of seat 2 at B2",
        "dark stone of seat 2 at B1",
        "captured: A1",
        "placed last: B2",
    ]
    stones = [mark for mark in board.marks if isinstance(mark, Mark) and " stone of " in mark.title]
    assert {mark.text: mark.paint for mark in stones} == {
        "1L": "seat1-second",
        "2L": "seat2-second",
        "2D": "seat2",
    }
    assert len({mark.symbol for mark in stones}) == 3, "they differ in shape too"
    (captured,) = (mark for mark in board.marks if isinstance(mark, Mark) and mark.title == "captured: A1")
    assert captured.paint == "seat1"
    places = {mark.title: (mark.x, mark.y) for mark in board.ground if isinstance(mark, Mark) and mark.symbol}
    assert len(places) == 19 and (stones[-1].x, stones[-1].y) == places["B1"]
    first = GAME.start(GAME.settle({"size": "3"})).picture(0)[0]
    assert isinstance(first, Plane) and first.ground is board.ground and not first.marks
    assert [[span.symbol for span in row.spans] for row in rows if isinstance(row, Row)][-1] == [
        *(FRESH, None),
        *(GONE, None),
    ]
