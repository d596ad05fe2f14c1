"""Beautiful Vine Tree, against its rules and against a second, slow implementation."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path

import pytest

from referee.check.rules import random_game
from referee.core.seeds import Stream
from referee.games.api import Illegal, NotAMove
from referee.games.grid import SquareBoard, members
from referee.games.picture import Mark, Plane, Row, Trace
from referee.games.vinetree import VineTree, VineTreeState
from referee.games.vinetree import growing as vine_moves
from referee.games.vinetree.growing import NOTHING_KNOWN, Fit, dead_flowers, known_after, room_of, search
from referee.games.vinetree.position import Growth
from referee.viewing.characters import picture_text
from tests.rules.positions import play, reason_of
from tests.rules.random_play import quick_first

GAME = VineTree()
BENDS = ("excluded", "included")
POSITIONS = Path(__file__).parent.parent / "bench" / "vinetree_positions.txt"


def start(size: int = 9, bend: str = "excluded") -> VineTreeState:
    return GAME.start(GAME.settle({"size": str(size), "bend": bend}))


def with_fresh_end_test(state: VineTreeState) -> VineTreeState:
    """The same position without what is known from earlier moves about living and dead flowers."""
    known = known_after(NOTHING_KNOWN, state.position)
    return replace(state, known=known, over=bool(state.left) or known.life is None)


def parts(state: VineTreeState) -> tuple[int, ...]:
    position = state.position
    return position.room, position.flowers, position.right, position.down, state.turn


def length(state: VineTreeState, name: str) -> int:
    return state.position.length(state.position.rules.board.cells[name])


def legal(state: VineTreeState) -> list[str]:
    return [state.write(move) for move in state.legal(state.mover)]


def in_order(text: str) -> tuple[str, int, str, str, str]:
    flower, one, other = text.split()
    return flower[0], int(flower[1:]), one[0] + other[0], one, other


class Slow:
    """The rules again, with sets of names and nothing clever."""

    SIDES = {"D": (1, 0), "L": (0, -1), "R": (0, 1), "U": (-1, 0)}  # noqa: RUF012

    def __init__(self, size: int, bend: str) -> None:
        self.size = size
        self.bend = bend
        self.cells = {f"{chr(65 + row)}{column + 1}" for row in range(size) for column in range(size)}
        self.flowers = [f"{chr(65 + size // 2)}{size // 2 + 1}"]
        self.taken = set(self.flowers)
        self.joined: set[frozenset[str]] = set()
        self.mover = 1

    def beside(self, cell: str, side: str) -> str:
        down, right = self.SIDES[side]
        return f"{chr(ord(cell[0]) + down)}{int(cell[1:]) + right}"

    def goes_on(self, cell: str, side: str) -> bool:
        return frozenset((cell, self.beside(cell, side))) in self.joined

    def length(self, flower: str) -> int:
        segments = []
        for side in self.SIDES:
            cells = [flower]
            while self.goes_on(cells[-1], side):
                cells.append(self.beside(cells[-1], side))
            if len(cells) > 1 and cells[-1] not in self.flowers and self.bend == "excluded":
                cells.pop()
            segments.append(len(cells))
        return max(segments)

    def path(self, flower: str, vine: str) -> list[str]:
        path = []
        for side in vine:
            flower = self.beside(flower, side)
            path.append(flower)
        return path

    def reason(self, flower: str, vines: tuple[str, str]) -> str:
        paths = [self.path(flower, vine) for vine in vines]
        both = [cell for path in paths for cell in path]
        if flower not in self.cells:
            return "no-such-cell"
        if flower not in self.flowers:
            return "no-flower"
        if any(len(vine) != self.length(flower) for vine in vines):
            return "wrong-length"
        if vines[0][0] == vines[1][0]:
            return "same-side"
        if any(self.goes_on(flower, vine[0]) for vine in vines):
            return "side-used"
        if any(cell not in self.cells for cell in both):
            return "leaves-board"
        if any(cell in self.taken for cell in both) or any(len(set(path)) < len(path) for path in paths):
            return "runs-into"
        return "vines-cross" if set(paths[0]) & set(paths[1]) else ""

    def vines(self, flower: str, steps: int) -> list[str]:
        """Every vine that fits where it is alone."""
        found = [""]
        for _ in range(steps):
            found = [vine + side for vine in found for side in self.SIDES if self.fits(flower, vine + side)]
        return found

    def fits(self, flower: str, vine: str) -> bool:
        path = self.path(flower, vine)
        return path[-1] in self.cells - self.taken and path[-1] not in path[:-1]

    def legal(self) -> set[str]:
        return {
            f"{flower} {one} {other}"
            for flower in self.flowers
            for vines in [self.vines(flower, self.length(flower))]
            for one, other in product(vines, vines)
            if one < other and not set(self.path(flower, one)) & set(self.path(flower, other))
        }

    def play(self, text: str) -> None:
        flower, *vines = text.split()
        for vine in vines:
            path = [flower, *self.path(flower, vine)]
            self.joined |= {frozenset(two) for two in pairwise(path)}
            self.taken |= set(path)
            self.flowers.append(path[-1])
        self.mover = 3 - self.mover


@pytest.mark.parametrize("bend", BENDS)
def test_lengths_after_the_first_moves(bend: str) -> None:
    state = start(bend=bend)
    assert length(state, "E5") == 1
    corner = play(state, "E5 R U")
    assert [length(corner, name) for name in ("E6", "D5", "E5")] == [2, 2, 2]
    straight = play(state, "E5 L R")
    assert [length(straight, name) for name in ("E4", "E6", "E5")] == [3, 3, 2]


@pytest.mark.parametrize(("bend", "end", "centre"), [("excluded", 1, 2), ("included", 2, 3)])
def test_a_bend_counts_only_where_it_is_included(bend: str, end: int, centre: int) -> None:
    # The vine UUR out of E5, as if the centre had had length 3.
    state = start(bend=bend).play({0: Growth(start().position.rules.board.cells["E5"], "D", "UUR")})
    assert length(state, "C6") == end
    assert length(state, "E5") == max(centre, 2)
    assert length(state, "F5") == (4 if bend == "included" else 3), "through the centre, up to the bend"


def test_a_straight_segment_goes_through_flowers_and_ends_at_one_that_counts() -> None:
    state = play(start(), "E5 L R", "E4 DDD UUU", "E6 DDD UUU")
    # E4 has vine up and down: B4-C4-D4-E4-F4-G4-H4.
    assert length(state, "B4") == length(state, "H4") == 7
    assert length(state, "E4") == 4
    assert length(state, "E5") == 2
    assert length(play(start(), "E5 D R"), "E6") == 2
    # The flower E6 lies on the way, and the vine turns behind it: F5 sees nothing of that.
    state = play(start(), "E5 L R", "E4 ULL DLL")
    assert length(state, "E6") == 3


def test_cells_that_lie_side_by_side_are_not_joined() -> None:
    # D4 is the end of a vine beside E4, and no vine joins the two.
    state = play(start(), "E5 L U", "D5 LU UU")
    assert not state.position.flowers >> state.position.rules.board.cells["D4"] & 1
    assert length(state, "E4") == 2
    assert length(state, "C4") == 1
    assert length(play(start(bend="included"), "E5 L U", "D5 LU UU"), "C4") == 2


def test_only_the_centre_can_be_grown_twice() -> None:
    state = play(start(), "E5 L R", "E5 DD UU")
    assert not [move for move in legal(state) if move.startswith("E5")]
    assert reason_of(state, state.mover, "E5 DDD UUU") == "side-used"
    for bend in BENDS:
        rng = Stream(b"twice")
        for _ in range(20):
            grown: list[int] = []
            state = start(5, bend)
            while state.to_act():
                move = state.sample(state.mover, rng)
                grown.append(move.flower)
                state = state.play({state.mover: move})
            again = [flower for flower in set(grown) if grown.count(flower) > 1]
            assert again in ([], [state.position.rules.board.cells["C3"]])


@pytest.mark.parametrize(
    ("text", "why", "about"),
    [
        ("", "not-a-move", "E5 LLU UUR"),
        ("centre", "not-a-move", ""),
        ("E5", "not-a-move", ""),
        ("E5 R", "not-a-move", ""),
        ("E5 R U L", "not-a-move", ""),
        ("R U E5", "not-a-move", ""),
        ("E05 R U", "not-a-move", ""),
        ("E+5 R U", "not-a-move", ""),
        ("E５ R U", "not-a-move", ""),
        ("É5 R U", "not-a-move", ""),
        ("E5 R,U", "not-a-move", ""),
        ("E5 R N", "not-a-move", ""),
        ("E5\u00a0R U", "not-a-move", ""),
        ("E5 R U\n", "not-a-move", ""),
        ("Z1 RR RR", "no-such-cell", "Z1"),
        ("E0 R U", "no-such-cell", "E0"),
        ("E10 R U", "no-such-cell", "E10"),
        ("J1 R U", "no-such-cell", "J1"),
        ("E" + "9" * 4000 + " R U", "no-such-cell", "size 9"),
        ("A1 LL LL", "no-flower", "A1"),
        ("E4 UU UU", "no-flower", "E4"),
        ("E5 UU R", "wrong-length", "takes 2 steps, and R has 1"),
        ("E5 RRR UUU", "wrong-length", "RRR has 3"),
        ("D5 " + "U" * 2000 + " R", "wrong-length", "has 2000"),
        ("E5 RR RR", "same-side", "right"),
        ("E5 DD RR", "side-used", "right"),
        ("E5 UD RR", "side-used", "E5 has a vine up"),
        ("E5 RR UU", "side-used", "E5 has a vine right"),
        ("E6 DL UL", "runs-into", "UL runs into a flower on D5, step 2"),
        ("E6 UL UR", "same-side", ""),
        ("E6 DU RR", "runs-into", "DU runs into a flower on E6, step 2"),
        ("E6 DR RD", "vines-cross", "F7"),
        ("E6 RD DR", "vines-cross", "F7"),
    ],
)
def test_reasons_in_their_order(text: str, why: str, about: str) -> None:
    state = play(start(), "E5 R U")
    with pytest.raises((NotAMove, Illegal)) as caught:
        state.read(state.mover, text)
    assert caught.value.reason == why
    assert about in caught.value.sentence
    assert len(caught.value.sentence) < 120


def test_the_first_part_as_written_and_there_the_first_step_is_told() -> None:
    state = play(start(), "E5 L R", "E4 DDD UUU")
    for text, why, about in (
        ("E6 UUUU DDD", "wrong-length", "UUUU"),
        ("E6 UULL DD", "wrong-length", "UULL has 4"),
        ("E6 ULL DLL", "runs-into", "ULL runs into a vine on D4, step 3"),
        ("E6 DLL ULL", "runs-into", "DLL runs into a vine on F4, step 3"),
        ("E6 DLU ULL", "runs-into", "DLU runs into a flower on E5, step 3"),
        ("E6 DRL ULL", "runs-into", "DRL runs into itself on F6, step 3"),
        ("E6 RDD DRD", "vines-cross", "F7"),
        ("E6 DRD RDD", "vines-cross", "F7"),
        ("E6 DRU RDL", "vines-cross", "F6"),
        ("E6 RDL DRU", "vines-cross", "E7"),
    ):
        with pytest.raises(Illegal) as caught:
            state.read(0, text)
        assert (caught.value.reason, about in caught.value.sentence) == (why, True), caught.value.sentence


def test_leaving_the_board_comes_before_running_into_something() -> None:
    state = play(start(3), "B2 L R")
    for text, about in (
        ("B1 DRU ULL", "ULL leaves the board at A1, step 2"),  # DRU runs into B2
        ("B1 URD DDU", "DDU leaves the board at C1, step 2"),
        ("B3 URD DDU", "URD leaves the board at A3, step 2"),
        ("B3 DDU URD", "DDU leaves the board at C3, step 2"),
        ("B3 DLL ULU", "ULU leaves the board at A2, step 3"),
    ):
        with pytest.raises(Illegal) as caught:
            state.read(state.mover, text)
        assert (caught.value.reason, about in caught.value.sentence) == ("leaves-board", True), text


@pytest.mark.parametrize("text", ["E5 U R", "e5   u r", " E5 r  U ", "e5 R U"])
def test_leniency_and_the_canonical_spelling(text: str) -> None:
    state = start()
    assert state.write(state.read(0, text)) == "E5 R U"


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize(("size", "games"), [(3, 10), (5, 25), (7, 2)])
def test_random_games_go_as_in_the_slow_implementation(bend: str, size: int, games: int) -> None:
    rng = Stream(f"{size} {bend}".encode())
    for _ in range(games):
        state, slow = start(size, bend), Slow(size, bend)
        while True:
            moves = legal(state)
            assert moves == sorted(set(moves), key=in_order)
            assert set(moves) == slow.legal()
            assert {name: length(state, name) for name in slow.flowers} == {
                flower: slow.length(flower) for flower in slow.flowers
            }
            alive = {move.split()[0] for move in moves}
            names = state.position.rules.board.names
            dead = {names[cell] for cell in members(dead_flowers(state.position))}
            assert dead == set(slow.flowers) - alive
            assert state.any_legal(state.mover) == bool(moves) == bool(state.to_act())
            assert with_fresh_end_test(state).to_act() == state.to_act()
            if not moves:
                break
            text = state.write(state.sample(state.mover, rng))
            assert text in moves
            state = play(state, text)
            slow.play(text)


@pytest.mark.slow
@pytest.mark.parametrize("bend", quick_first(BENDS, 1))
def test_every_text_of_the_right_form_is_judged_as_in_the_slow_implementation(bend: str) -> None:
    first = start(3, bend)
    positions: list[list[str]] = [[]] + [[move] for move in legal(first)]
    positions += [[move, then] for (move,) in positions[1:] for then in legal(play(first, move))]
    flowers = [f"{row}{column}" for row in "ABCD" for column in range(5)]
    vines = ["".join(word) for steps in (1, 2, 3) for word in product("DLRU", repeat=steps)]
    for moves in (positions[0], positions[2], positions[-1]):
        state, slow = play(first, *moves), Slow(3, bend)
        for move in moves:
            slow.play(move)
        accepted = set()
        for flower, one, other in product(flowers, vines, vines):
            if flower not in slow.flowers and len(one + other) > 2:
                continue  # the vines are not looked at
            why = reason_of(state, state.mover, f"{flower} {one} {other}") or ""
            assert why == slow.reason(flower, (one, other))
            if not why:
                accepted.add(state.write(state.read(state.mover, f"{flower} {one} {other}")))
        assert accepted == set(legal(state))


def count(state: VineTreeState, depth: int) -> int:
    """The games of so many moves from here, or fewer where they end."""
    if depth == 0 or not state.to_act():
        return 1
    return sum(count(state.play({state.mover: move}), depth - 1) for move in state.legal(state.mover))


def slow_count(size: int, bend: str, depth: int, moves: tuple[str, ...] = ()) -> int:
    slow = Slow(size, bend)
    for move in moves:
        slow.play(move)
    choices = slow.legal() if depth else set()
    return sum(slow_count(size, bend, depth - 1, (*moves, move)) for move in choices) or 1


@pytest.mark.parametrize(
    ("size", "bend", "depth"), [(3, "excluded", 4), (3, "included", 4), (5, "excluded", 2)]
)
def test_as_many_games_as_in_the_slow_implementation(size: int, bend: str, depth: int) -> None:
    assert count(start(size, bend), depth) == slow_count(size, bend, depth)


def test_who_makes_the_last_move_loses() -> None:
    state = play(start(3), "B2 L R")
    assert state.outcome() is None
    outcome = play(state, "B2 DL UL").outcome()
    assert outcome == ((1, 2), (1, 0), "seat 2 made the last move, every flower is dead")
    losers = set()
    rng = Stream(b"last")
    for _ in range(20):
        state = start(5)
        while state.to_act():
            last = state.mover
            state = state.play({last: state.sample(last, rng)})
        outcome = state.outcome()
        assert outcome and outcome.ranks[last] == 2 and outcome.scores[last] == 0
        assert outcome.ranks[1 - last] == 1 and outcome.scores[1 - last] == 1
        losers.add(last)
    assert losers == {0, 1}


@pytest.mark.slow
def test_a_sample_finds_the_only_way_and_depends_on_nothing_but_the_position(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = Stream(b"only")
    for tries, bend in product((vine_moves.BLIND_TRIES, 0), BENDS):
        monkeypatch.setattr(vine_moves, "BLIND_TRIES", tries)
        for _ in range(15):
            state = start(7, bend)
            while state.to_act():
                last = state
                state = state.play({state.mover: state.sample(state.mover, rng)})
            moves = set(last.legal(last.mover))
            assert all(last.sample(last.mover, rng) in moves for _ in range(20))
            for seed in range(5):
                one, other = (
                    known.sample(known.mover, Stream(bytes([seed])))
                    for known in (last, with_fresh_end_test(last))
                )
                assert one == other


def test_the_careful_sample_gives_every_move_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vine_moves, "BLIND_TRIES", 0)
    state = play(start(5), "C3 L U", "B3 RD UR")
    rng = Stream(b"careful")
    assert {state.sample(state.mover, rng) for _ in range(3000)} == set(state.legal(state.mover))


def test_longest_holds() -> None:
    for size in (3, 5):
        bound = GAME.longest(GAME.settle({"size": str(size)}))
        rng = Stream(b"longest")
        for _ in range(30):
            state = start(size)
            while state.to_act():
                moves = [state.sample(state.mover, rng) for _ in range(4)]
                state = state.play({state.mover: min(moves, key=lambda move: len(move.one))})
            assert state.turn <= bound


def test_two_states_from_one_do_not_disturb_each_other() -> None:
    # What is known of living and dead flowers goes from state to state, and may be found out late.
    rng = Stream(b"late")
    for bend in BENDS:
        for _ in range(10):
            state = start(7, bend)
            while state.to_act():
                after = [state.play({state.mover: state.sample(state.mover, rng)}) for _ in range(4)]
                further = [one.play({one.mover: one.sample(one.mover, rng)}) for one in after if one.to_act()]
                for one in (*further, *after):
                    assert one.to_act() == with_fresh_end_test(one).to_act()
                state = after[0]


def test_the_picture_is_readable_without_colour() -> None:
    pictured = play(start(5), "C3 L R", "C2 DLU UUR").picture(None)
    assert picture_text(pictured).split("\n") == [
        "   1   2   3   4   5",
        "A  ·   ╔══[*]  ·   ·",
        "       ║",
        "B  ·   ║   ·   ·   ·",
        "       ║",
        "C [x] (x)──*───*   ·",
        "   ║   ║",
        "D  ╚═══╝   ·   ·   ·",
        "",
        "E  ·   ·   ·   ·   ·",
        "* flower, x dead flower",
        "( ) grown by the last move, [ ] its new flowers",
    ]
    assert len(picture_text(start(5).picture(0)).split("\n")) == 11
    assert picture_text(pictured, is_large=True).split("\n")[:10] == [
        "      1       2       3       4       5",
        "",
        "A     ·       ╔══════[*]      ·       ·",
        "              ║",
        "              ║",
        "              ║",
        "B     ·       ║       ·       ·       ·",
        "              ║",
        "              ║",
        "              ║",
    ]


@pytest.mark.parametrize("size", ["5", "7"])
def test_flowers_are_as_dead_as_if_no_other_position_had_been_looked_at(size: str) -> None:
    """Positions of several games, one after the other, forwards and then backwards."""
    games = [
        list(random_game(GAME, GAME.settle({"size": size, "bend": bend}), f"dead {number}"))
        for number, bend in enumerate(["excluded", "included"] * 3)
    ]
    states = [state for game in games for state in game]
    for state in (*states, *reversed(states)):
        assert isinstance(state, VineTreeState)
        position, fit = state.position, Fit(state.position.rules.board)
        flowers = members(position.flowers)
        alone = [flower for flower in flowers if not room_of(position, fit, flower, position.length(flower))]
        assert members(dead_flowers(position)) == alone


def test_vines_are_lines_from_flower_to_flower_with_their_bends() -> None:
    board = play(start(5), "C3 L R", "C2 DLU UUR").picture(None)[0]
    assert isinstance(board, Plane)
    vines = {mark.title: mark for mark in board.marks if isinstance(mark, Trace)}
    assert {title: (len(vine.points), vine.fresh) for title, vine in vines.items()} == {
        "vine of seat 1 from C2 to C3": (2, False),
        "vine of seat 1 from C3 to C4": (2, False),
        "vine of seat 2 from A3 to C2": (3, True),
        "vine of seat 2 from C1 to C2": (4, True),
    }
    places = {mark.title: (mark.x, mark.y) for mark in board.ground if isinstance(mark, Mark)}
    bends = [places[name] for name in ("C2", "A2", "A3")]
    assert {vine.paint: vine.dashes is None for vine in vines.values()} == {"seat1": True, "seat2": False}
    assert list(vines["vine of seat 2 from A3 to C2"].points) == bends


def test_dead_flowers_are_unlike_living_ones_in_shape_too() -> None:
    board = play(start(5), "C3 L R", "C2 DLU UUR").picture(None)[0]
    assert isinstance(board, Plane)
    marks = [mark for mark in board.marks if isinstance(mark, Mark)]
    assert [mark.title for mark in marks] == [
        *("flower at A3, length 1", "dead flower at C1", "dead flower at C2"),
        *("flower at C3, length 2", "flower at C4, length 3"),
        *("grown by the last move: C2", "new flower: A3", "new flower: C1"),
    ]
    assert marks[0].symbol != marks[1].symbol
    assert [mark.paint for mark in marks[:5]] == ["seat2", "dead", "dead", "flower", "seat1"], "who grew them"
    assert len({marks[number].symbol for number in (0, 3, 4)}) == 3, "in shape too"


def test_the_flowers_of_each_seat_are_counted_in_drawings() -> None:
    rows = [row for row in play(start(5), "C3 L R", "C2 DLU UUR").picture(None) if isinstance(row, Row)]
    counted = ["".join(span.caption or "" for span in row.spans) for row in rows[:2]]
    assert counted == [" 1 living,  1 dead", " 1 living,  1 dead"]
    assert picture_text(tuple(rows[:2])) == ""


class SlowFit:
    """Whether vines fit, by way of all vines there are."""

    def __init__(self, size: int) -> None:
        self.board = SquareBoard.of_size(size)

    def paths(self, room: int, head: int, steps: int) -> set[int]:
        """The cells of every path out of a head."""
        if steps == 0:
            return {0}
        cell = head.bit_length() - 1
        nexts = [1 << cell + step for step in self.board.steps.values() if cell + step >= 0]
        return {
            path | near for near in nexts if near & room for path in self.paths(room ^ near, near, steps - 1)
        }

    def two(self, room: int, one: int, other: int, steps: int, other_steps: int) -> bool:
        others = self.paths(room, other, other_steps)
        return any(not path & beside for path in self.paths(room, one, steps) for beside in others)


@pytest.mark.parametrize("size", [4, 5])
def test_vines_fit_where_trying_all_of_them_finds_some(size: int) -> None:
    slow, rng = SlowFit(size), Stream(b"fit" + bytes([size]))
    cells = list(slow.board.names)
    fitted = 0
    for _ in range(1500):
        few = rng.below(size * size)
        room = 0
        for _ in range(few + size):
            room |= 1 << rng.choice(cells)
        one, other = (1 << rng.choice(cells) for _ in range(2))
        if one == other:
            continue
        room &= ~(one | other)
        steps, other_steps = rng.below(7), rng.below(7)
        found = Fit(slow.board).two(room, one, other, steps, other_steps)
        assert (found is not None) == slow.two(room, one, other, steps, other_steps)
        if found:
            fitted += 1
            assert found[0] in slow.paths(room, one, steps) and not found[0] & found[1]
            assert found[1] in slow.paths(room, other, other_steps)
    assert 300 < fitted < 1200


def hard_positions() -> list[VineTreeState]:
    games = (line.split(" ", 2) for line in POSITIONS.read_text().splitlines())
    return [play(start(int(size), bend), *moves.split(", ")) for size, bend, moves in games]


@pytest.mark.slow
def test_the_end_test_is_no_long_search_in_the_hardest_positions_known() -> None:
    class CountingFit(Fit):
        entered = 0

        def one(self, room: int, head: int, steps: int) -> int:
            self.entered += 1
            return super().one(room, head, steps)

    efforts = []
    for state in hard_positions():
        fit = CountingFit(state.position.rules.board)
        assert (search(state.position, 0, fit).life is None) == state.over
        efforts.append(fit.entered)
    assert len(efforts) >= 20 and 1000 < max(efforts) < 20_000


@pytest.mark.slow
def test_the_hardest_positions_known_end_as_trying_all_vines_says() -> None:
    for state in hard_positions():
        board = state.position.rules.board
        slow = SlowFit(board.size)
        alive = []
        for cell in board.names:
            if state.position.flowers >> cell & 1:
                near = [1 << cell + step for step in board.steps.values() if cell + step >= 0]
                for one, other in combinations([side for side in near if side & state.position.room], 2):
                    steps = state.position.length(cell) - 1
                    if slow.two(state.position.room & ~one & ~other, one, other, steps, steps):
                        alive.append(cell)
        assert bool(alive) == bool(state.to_act())
