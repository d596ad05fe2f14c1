"""Even Groups, against its rules and against a second, slow implementation."""

from __future__ import annotations

from itertools import product

import pytest

from referee.core.seeds import Stream
from referee.games.api import Illegal, NotAMove, Refusal
from referee.games.evengroups import EvenGroups, EvenGroupsState
from referee.games.picture import Mark, Plane
from referee.viewing.characters import picture_text
from tests.rules.positions import play, reason_of
from tests.rules.slow_hex import touching

GAME = EvenGroups()


def start(side: int = 5) -> EvenGroupsState:
    return GAME.start(GAME.settle({"size": str(side)}))


def stones(state: EvenGroupsState) -> dict[str, str]:
    """Colours by the names of cells; what is empty is where no group is."""
    found = {}
    for cell, name in state.rules.board.names.items():
        white, orange = (groups[cell] for groups in state.groups)
        assert (not white and not orange) == (cell in state.empty)
        if white or orange:
            assert not (white and orange)
            found[name] = "W" if white else "O"
    return found


class Slow:
    """The rules again, with sets of names and nothing clever."""

    def __init__(self, side: int) -> None:
        self.near = touching(side)
        self.stones: dict[str, str] = {}

    def groups(self, colour: str) -> int:
        left = {cell for cell, stone in self.stones.items() if stone == colour}
        count = 0
        while left:
            count += 1
            edge = {left.pop()}
            while edge:
                left -= edge
                edge = {other for cell in edge for other in self.near[cell]} & left
        return count

    def total(self) -> int:
        return self.groups("W") + self.groups("O")

    def reason(self, text: str) -> str:
        """Why a text is illegal; nothing where it is legal."""
        parts = text.upper().split()
        if len(parts) not in (1, 2) or not all(
            part[:2] in ("W:", "O:")
            and part[2:3].isalpha()
            and part[3:].isdigit()
            and (part[3:] == "0" or part[3] != "0")
            for part in parts
        ):
            return "not-a-move"
        if len(parts) != (2 if self.stones else 1):
            return "wrong-number"
        cells = [part[2:] for part in parts]
        if not set(cells) <= set(self.near):
            return "no-such-cell"
        if len(set(cells)) < len(cells):
            return "same-cell"
        if not self.stones and parts[0][0] != "O":
            return "first-orange"
        if set(cells) & set(self.stones):
            return "occupied"
        before = dict(self.stones)
        self.play(text)
        total = self.total()
        self.stones = before
        return "" if total % 2 else "even-total"

    def play(self, text: str) -> None:
        for part in text.upper().split():
            self.stones[part[2:]] = part[0]

    def legal(self) -> set[str]:
        """In the canonical spelling."""
        parts = [f"{colour}:{cell}" for cell in self.near if cell not in self.stones for colour in "OW"]
        if not self.stones:
            return {part for part in parts if not self.reason(part)}
        rank = list(self.near).index
        pairs = product(parts, parts)
        texts = {f"{one} {other}" for one, other in pairs if rank(one[2:]) < rank(other[2:])}
        return {text for text in texts if not self.reason(text)}


def test_the_examples_of_the_source() -> None:
    # Two new groups; two connected and a new one; two stones beside a group.
    state = play(start(), "O:E5")
    assert state.counts == (0, 1)
    state = play(state, "O:A1 W:I5")
    assert state.counts == (1, 2)
    state = play(state, "O:D4 O:C3")
    assert state.counts == (1, 2)
    state = play(state, "O:B2 W:A5")
    assert state.counts == (2, 1)
    assert not state.outcome()


def test_the_total_is_odd_after_every_turn_and_just_one_seat_wins() -> None:
    rng = Stream(b"odd")
    winners = set()
    for side in (2, 3, 4, 5, 5, 5, 8):
        state = start(side)
        while state.to_act():
            assert state.to_act() == (state.turn % 2,)
            state = state.play({state.mover: state.sample(state.mover, rng)})
            assert sum(state.counts) % 2 == 1
        outcome = state.outcome()
        assert outcome and outcome.scores == state.counts and sorted(outcome.ranks) == [1, 2]
        winner = outcome.ranks.index(1)
        assert outcome.scores[winner] % 2 == 0
        assert f"seat {winner + 1} has an even number" in outcome.sentence
        assert state.turn <= GAME.longest({"size": side}) == (3 * side * (side - 1) + 2) // 2
        winners.add(winner)
    assert winners == {0, 1}


def test_zero_is_even() -> None:
    state = play(start(2), "O:C1", "O:B1 O:B2", "O:A1 O:A2", "O:B3 O:C2")
    outcome = state.outcome()
    assert outcome and outcome.scores == (0, 1) and outcome.ranks == (1, 2)
    assert state.empty == b"" and not state.any_legal(state.mover)


def test_reasons_on_the_first_turn() -> None:
    no_moves = (
        *("", "centre", "E5", "X:E5", "O:E05", "O:E+5", "O:E５", "O:ı1", "O: E5", "O:E5 O:E6 O:E7"),
        *("O:E5\u00a0 W:E6", "O:E5,W:E6", "O:E5\n", "O:E5 " * 800),
    )
    expected = {
        **dict.fromkeys(no_moves, "not-a-move"),
        "W:Z9 W:Z9": "wrong-number",
        **dict.fromkeys(("W:E10", "W:E0", "O:J1", "O:E" + "9" * 4000), "no-such-cell"),
        "W:E5": "first-orange",
    }
    assert {text: reason_of(start(), 0, text) for text in expected} == expected


@pytest.mark.parametrize(
    ("text", "expected", "about"),
    [
        ("O:E5 O:E5 O:E5", "not-a-move", ""),
        ("O:E5 W", "not-a-move", ""),
        ("O:E5", "wrong-number", "two stones"),
        ("W:Z9", "wrong-number", "two stones"),
        ("O:E5 W:E10", "no-such-cell", "E10"),
        ("W:z9 O:y9", "no-such-cell", "Z9"),
        ("O:E5 W:E5", "same-cell", "E5"),
        ("w:a1  w:a1", "same-cell", "A1"),
        ("W:A2 O:E5", "occupied", "E5"),
        ("W:A1 O:E5", "occupied", "A1"),
        ("W:A2 O:A5", "even-total", "4 groups"),
        ("O:E6 W:A2", "even-total", "2 groups"),
    ],
)
def test_reasons_later_in_their_order(text: str, expected: str, about: str) -> None:
    state = play(start(), "O:E5", "W:A1 O:E7", "O:E4 O:E8")
    assert sum(state.counts) == 3
    with pytest.raises((NotAMove, Illegal)) as caught:
        state.read(1, text)
    assert caught.value.reason == expected
    assert about in caught.value.sentence


@pytest.mark.parametrize("text", ["w:f6   o:B4", "O:b4 W:F6", "  W:F6 O:B4 "])
def test_leniency_and_the_canonical_spelling(text: str) -> None:
    state = play(start(), "o:e5")
    assert state.seen(None) == ("move 1 O:E5",)
    assert state.write(state.read(1, text)) == "O:B4 W:F6"


def test_cells_are_ordered_by_row_then_number() -> None:
    state = play(start(8), "O:A1")
    assert state.write(state.read(1, "W:H10 O:H9")) == "O:H9 W:H10"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("side", "games"), [(2, 60), (3, 25), (4, 12), (5, 6), (8, 1)])
def test_random_games_go_as_in_the_slow_implementation(side: int, games: int) -> None:
    rng = Stream(b"evengroups" + bytes([side]))
    for _ in range(games):
        state, slow = start(side), Slow(side)
        while state.to_act():
            for _ in range(5):
                # Any pair of stones, most of them illegal.
                parts = [f"{rng.choice('WO')}:{rng.choice(list(slow.near))}" for _ in range(2)]
                text = " ".join(parts)
                try:
                    state.read(state.mover, text)
                    expected = ""
                except Refusal as refusal:
                    expected = refusal.reason
                assert slow.reason(text) == expected
            text = state.write(state.sample(state.mover, rng))
            assert slow.reason(text) == ""
            slow.play(text)
            state = play(state, text)
            assert stones(state) == slow.stones
            assert state.counts == (slow.groups("W"), slow.groups("O"))
        assert slow.legal() == set()


def test_every_text_on_side_2_is_judged_as_by_the_slow_implementation() -> None:
    # D1 and C3 are no cells; the moves are some that lead through the whole game.
    parts = [f"{colour}:{row}{number}" for colour in "WO" for row in "ABCD" for number in range(4)]
    texts = ["", *parts, *(f"{one} {other}" for one, other in product(parts, parts))]
    for moves in (
        (),
        ("O:B2",),
        ("O:A1", "W:A2 W:B1"),
        ("O:A1", "W:B3 O:C2", "O:C1 W:A2"),
        ("O:B1", "O:A1 O:C1", "W:A2 W:C2"),
        ("O:B2", "W:A1 W:C2", "W:B3 W:C1", "O:A2 O:B1"),
    ):
        state, slow = start(2), Slow(2)
        for text in moves:
            slow.play(text)
        state = play(state, *moves)
        accepted = set()
        for text in texts:
            try:
                accepted.add(state.write(state.read(state.mover, text)))
                expected = ""
            except Refusal as refusal:
                expected = refusal.reason
            assert slow.reason(text) == expected, text
        assert accepted == {state.write(move) for move in state.legal(state.mover)}


@pytest.mark.slow
def test_every_game_on_side_2() -> None:
    """All positions of the smallest board, each with its moves, its groups, and whether the game is over."""
    positions = {tuple[tuple[str, str], ...](): start(2)}
    slow = Slow(2)
    sizes = []
    while positions:
        sizes.append(len(positions))
        after = {}
        for key, state in positions.items():
            slow.stones = dict(key)
            assert state.counts == (slow.groups("W"), slow.groups("O"))
            moves = list(state.legal(state.mover))
            texts = [state.write(move) for move in moves]
            assert len(texts) == len(set(texts)) and set(texts) == slow.legal()
            assert state.any_legal(state.mover) == bool(moves)
            assert state.to_act() == ((state.mover,) if moves else ())
            assert (state.outcome() is None) == bool(moves)
            for move in moves:
                following = state.play({state.mover: move})
                after[tuple(sorted(stones(following).items()))] = following
        positions = after
    assert sizes == [1, 7, 113, 303, 61]


@pytest.mark.slow
def test_the_moves_of_a_larger_board() -> None:
    rng = Stream(b"larger")
    for side in (3, 3, 4):
        state, slow = start(side), Slow(side)
        while state.to_act():
            if side == 3 or state.turn > 8:
                moves = [state.write(move) for move in state.legal(state.mover)]
                assert len(moves) == len(set(moves)) and set(moves) == slow.legal()
            text = state.write(state.sample(state.mover, rng))
            slow.play(text)
            state = play(state, text)


def test_a_game_may_end_before_the_board_is_full() -> None:
    rng = Stream(b"early")
    ends: dict[int, EvenGroupsState] = {}
    for _ in range(100):
        state = start(3)
        while state.to_act():
            state = state.play({state.mover: state.sample(state.mover, rng)})
        ends[len(state.empty)] = state
    assert set(ends) == {0, 2}
    slow = Slow(3)
    slow.stones = stones(ends[2])
    assert slow.legal() == set() and ends[2].outcome()
    one, other = (state.rules.board.names[cell] for cell in ends[2].empty)
    for colours in product("WO", repeat=2):
        assert reason_of(ends[2], ends[2].mover, f"{colours[0]}:{one} {colours[1]}:{other}") == "even-total"


def test_a_sample_is_legal_even_if_nothing_legal_is_drawn() -> None:
    class Zero(Stream):
        def below(self, n: int) -> int:
            return 0

    state = play(start(3), "O:A1", "W:E1 W:E3")
    assert reason_of(state, state.mover, "W:A2 W:A3") == "even-total"
    assert state.write(state.sample(0, Zero(b""))) == "W:A2 O:A3"


def test_the_picture_is_readable_without_colour() -> None:
    state = play(start(3), "O:C3", "W:A1 W:C1", "O:B3 W:B2")
    assert picture_text(state.picture(None)).split("\n") == [
        "          1   2   3",
        "A       W   ·   ·  A3",
        "B     ·  [W] [O]  ·  B4",
        "C   W   ·   O   ·   ·  C5",
        "D     ·   ·   ·   ·  D4",
        "E       ·   ·   ·  E3",
        "          1   2   3",
        "seat 1, white: 2 groups, even",
        "seat 2, orange: 1 group, odd",
        "[ ] placed by this turn",
    ]


def test_white_and_orange_stones_are_marks_that_differ_in_shape_too() -> None:
    board = play(start(3), "O:C3", "W:A1 W:C1", "O:B3 W:B2").picture(None)[0]
    assert isinstance(board, Plane)
    assert [mark.title for mark in board.marks] == [
        *("group of 2 white stones", "group of 1 white stone"),
        "group of 2 orange stones",
        *("white stone at A1", "white stone at B2", "white stone at C1"),
        *("orange stone at B3", "orange stone at C3"),
        *("placed last: B2", "placed last: B3"),
    ]
    stones = [mark for mark in board.marks if isinstance(mark, Mark) and " stone at" in mark.title]
    assert len({mark.symbol for mark in stones}) == 2
    assert [mark.caption for mark in stones] == ["1", "", "2", "1", ""], "the numbers of the groups"
