"""The Tree, against its rules and against a second, slow implementation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, cast

import pytest

from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.events import Ending, Moved, Retired
from referee.gameplay.loop import play as play_match
from referee.gameplay.loop import seeded_dice
from referee.gameplay.terms import Terms, Verdict
from referee.games import GAMES
from referee.games.api import CHANCE, SHARED_CHANCE, BadChance, Outcome, Refusal, State
from referee.games.picture import Circle, Mark, Plane, Row
from referee.games.thetree.imagining import _observed
from referee.games.thetree.state import TreeState
from referee.games.thetree.table import TreeTable
from referee.kit import Quick
from tests.rules.positions import play
from tests.rules.random_play import quick_first
from tests.unit.scripted import Bot, Events, Said, ScriptedWire, puppet

GAME = GAMES["thetree"]

Tile = tuple[int, int]
"""The lower symbol first."""

Cell = tuple[int, int]

GAMES_EACH = 30

TILES = [(low, high) for low in range(8) for high in range(low, 8)]

# Written out by hand: no arithmetic that could be wrong in the same way twice.
ONE_RING_MORE = {0: (1, 2, 4), 1: (3, 5), 2: (3, 6), 3: (7,), 4: (5, 6), 5: (7,), 6: (7,), 7: ()}


def numbers(text: str) -> tuple[int, int, int, int]:
    tile, _, cell = text.partition("@")
    left, right = tile.split("-")
    x, y = cell.split(",")
    return int(left), int(right), int(x), int(y)


class Slow:
    """The rules again: cells to symbols, and every tile tried both ways round on every cell."""

    def __init__(self, players: int, deals: int = 10, places: str = "all") -> None:
        self.deals_left = 1 if players == 1 else deals
        self.places = places
        self.free = list(range(1, players + 1))
        """Places that nobody has taken."""
        self.ranks = [0] * players
        self.playing = list(range(players))
        self.finished: list[int] = []
        self.hands: list[list[Tile]] = [[] for _ in range(players)]
        self.supply: list[Tile] = []
        self.tree: dict[Cell, int] = {}
        self.passed: set[int] = set()
        self.mover: int | None = None
        """None: the tiles are to be dealt, or the game is over."""
        self.moves: set[str] = set()
        """The legal ones of the mover."""
        self.news: list[tuple[int | None, str, str]] = []
        """Whom a line is about, what that seat is told, and what the others are told."""

    def tell(self, line: str) -> None:
        self.news.append((None, line, line))

    def seen(self, seat: int | None) -> list[str]:
        lines = [own if seat in (None, about) or about is None else other for about, own, other in self.news]
        return [line for line in lines if line]

    @property
    def over(self) -> bool:
        return not self.playing

    def after(self, seat: int) -> int:
        while (seat := (seat + 1) % len(self.hands)) not in self.playing:
            pass
        return seat

    def take_best(self, seats: list[int]) -> None:
        for seat in seats:
            self.ranks[seat] = self.free[0]
            self.playing.remove(seat)
        del self.free[: len(seats)]

    def take_worst(self, seats: list[int]) -> None:
        for seat in seats:
            self.ranks[seat] = self.free[-len(seats)]
            self.playing.remove(seat)
        del self.free[-len(seats) :]

    def deal(self, tiles: list[Tile]) -> None:
        self.deals_left -= 1
        self.tree, self.passed, left = {}, set(), list(tiles)
        for seat in self.playing:
            self.hands[seat], left = left[:9], left[9:]
        self.supply = left
        number = sum(line.startswith("deal ") for _, line, _ in self.news) + 1
        self.tell(f"deal {number} {len(left)}")
        for seat in self.playing:
            hand = " ".join(f"{low}-{high}" for low, high in sorted(self.hands[seat]))
            self.news.append((seat, f"hand {seat + 1} {hand}", ""))
        held = {tile: seat for seat in self.playing for tile in self.hands[seat]}
        doubles = [tile for tile in held if tile[0] == tile[1]]
        tile = min(doubles or held)
        self.hands[held[tile]].remove(tile)
        self.tree = {(0, 0): tile[0], (1, 0): tile[1]}
        self.tell(f"opened {held[tile] + 1} {tile[0]}-{tile[1]}@0,0")
        self.begin(self.after(held[tile]))

    def begin(self, seat: int) -> None:
        """The turns from this seat's on, until one has a choice."""
        self.mover = seat
        while not (moves := self.legal(seat)):
            if self.supply:
                low, high = self.supply.pop(0)
                self.hands[seat].append((low, high))
                self.passed = set()
                self.news.append((seat, f"drew {seat + 1} {low}-{high}", f"drew {seat + 1}"))
            else:
                self.passed.add(seat)
                self.tell(f"passed {seat + 1}")
                if self.block():
                    return
            self.mover = seat = self.after(seat)
        self.moves = moves

    def block(self) -> bool:
        if not self.passed.issuperset(self.playing):
            return False
        self.mover = None
        self.tell("blocked")
        if len(self.ranks) == 1:
            self.take_best([0])
            self.ranks = [2]
        elif self.finished or not self.deals_left:
            self.take_best(list(self.playing))
        return True

    def no_place(self, x: int, y: int) -> str:
        if (x, y) in self.tree or (x + 1, y) in self.tree:
            return "occupied"
        if x % 2 != y % 2:
            return "off-pattern"
        if y < 1 or ((x, y - 1) not in self.tree and (x + 1, y - 1) not in self.tree):
            return "rests-on-nothing"
        return ""

    def misfit(self, left: int, right: int, x: int, y: int) -> str:
        for where, below, above in (
            ("below left", self.tree.get((x, y - 1)), left),
            ("below right", self.tree.get((x + 1, y - 1)), right),
            ("above left", left, self.tree.get((x, y + 1))),
            ("above right", right, self.tree.get((x + 1, y + 1))),
        ):
            if below is not None and above is not None and above not in ONE_RING_MORE[below]:
                return f"rings {where}"
        return ""

    def why_not(self, seat: int, left: int, right: int, x: int, y: int) -> str:
        """The reason that is told; empty for a legal move."""
        if (min(left, right), max(left, right)) not in self.hands[seat]:
            return "not-in-hand"
        return self.no_place(x, y) or self.misfit(left, right, x, y)

    def legal(self, seat: int) -> set[str]:
        # Only cells over some half; that nothing else is accepted is tested on a window of cells.
        cells = {(x - dx, y + 1) for x, y in self.tree for dx in (0, 1)}
        return {
            f"{left}-{right}@{x},{y}"
            for x, y in cells
            if not self.no_place(x, y)
            for low, high in self.hands[seat]
            for left, right in ((low, high), (high, low))
            if not self.misfit(left, right, x, y)
        }

    def again(self, x: int, y: int) -> bool:
        """Whether a tile here gives an extra turn."""
        both_rest = (x, y - 1) in self.tree and (x + 1, y - 1) in self.tree
        return both_rest or (x, y + 1) in self.tree or (x + 1, y + 1) in self.tree

    def play(self, text: str) -> None:
        assert self.mover is not None and text in self.moves
        seat = self.mover
        left, right, x, y = numbers(text)
        self.hands[seat].remove((min(left, right), max(left, right)))
        self.tree |= {(x, y): left, (x + 1, y): right}
        self.passed = set()
        self.tell(f"move {seat + 1} {text}")
        if self.hands[seat]:
            self.begin(seat if self.again(x, y) else self.after(seat))
            return
        self.tell(f"finished {seat + 1}")
        self.finished.append(seat)
        self.take_best([seat])
        if self.places == "first" or len(self.playing) == 1:
            self.take_best(list(self.playing))
        if self.over:
            self.mover = None
        else:
            self.begin(self.after(seat))

    def drop(self, seats: list[int]) -> None:
        self.take_worst(sorted(seats))
        self.tell(f"out {' '.join(str(seat + 1) for seat in sorted(seats))}")
        if len(self.ranks) == 1:
            self.ranks = [2]
        if len(self.playing) == 1:
            self.take_best(list(self.playing))
        if self.over:
            self.mover = None
        elif self.mover in seats:
            if self.passed and self.block():
                return
            self.begin(self.after(self.mover))

    def scores(self) -> list[int]:
        return [len(hand) for hand in self.hands]


def name(tile: Tile) -> str:
    return f"{tile[0]}-{tile[1]}"


def tile_of(text: str) -> Tile:
    return int(min(text[0], text[2])), int(max(text[0], text[2]))


def in_order(hands: Iterable[str], supply: str = "") -> str:
    """A dealing order from what some hands and the supply begin with; what is left open gets the highest
    tiles that are nowhere else.
    """
    wanted = [hand.split() for hand in hands]
    fixed = {tile for part in [*wanted, supply.split()] for tile in part}
    rest = [name(tile) for tile in reversed(TILES) if name(tile) not in fixed]
    for hand in wanted:
        while len(hand) < 9:
            hand.append(rest.pop(0))
    return " ".join([*(tile for hand in wanted for tile in hand), *supply.split(), *rest])


def start(players: int = 2, **options: object) -> State[Any]:
    given = {"players": players, **options}
    return GAME.start(GAME.settle({key: str(value) for key, value in given.items()}))


def dealt(*hands: str, supply: str = "", **options: object) -> State[Any]:
    return start(len(hands), **options).chance(in_order(hands, supply))


def legal(state: State[Any]) -> list[str]:
    return [state.write(move) for move in state.legal(state.to_act()[0])]


def told(state: State[Any], since: State[Any]) -> list[str]:
    """All that happened between two positions."""
    return list(state.seen(None)[len(since.seen(None)) :])


def refused(state: State[Any], text: str, seat: int = 0) -> Refusal:
    with pytest.raises(Refusal) as caught:
        state.read(seat, text)
    return caught.value


def shuffled(rng: Stream) -> list[Tile]:
    tiles = list(TILES)
    rng.shuffle(tiles)
    return tiles


def random_states(rng: Stream, **options: object) -> Iterable[State[Any]]:
    """The positions of a random game."""
    state = start(**options)  # type: ignore[arg-type]
    while acting := state.to_act():
        if acting[0] < 0:
            state = state.chance(" ".join(map(name, shuffled(rng))))
        else:
            state = state.play({acting[0]: state.sample(acting[0], rng)})
        yield state


def found(wanted: Callable[[State[Any]], bool], **options: object) -> State[Any]:
    """The first position of random games that is as wanted."""
    rng = Stream(b"found")
    for _ in range(2000):
        for state in random_states(rng, **options):
            if wanted(state):
                return state
    raise AssertionError("no such position")


# --- Against the slow implementation --------------------------------------------------------------------

TABLES = [(1, 1, "all"), (1, 1, "first")]
TABLES += [
    (players, deals, places) for deals in (2, 1, 10) for players in (2, 3, 4) for places in ("all", "first")
]


def assert_same(state: State[Any], slow: Slow, solitaire: bool) -> None:
    assert list(state.seen(None)) == slow.seen(None)
    outcome = state.outcome()
    if slow.over:
        assert state.to_act() == () and outcome
        assert (list(outcome.ranks), list(outcome.scores)) == (slow.ranks, slow.scores())
        return
    assert outcome is None
    if slow.mover is None:
        assert state.to_act() == (SHARED_CHANCE if solitaire else CHANCE,)
        return
    assert state.to_act() == (slow.mover,)
    moves = legal(state)
    assert len(moves) == len(set(moves)) and set(moves) == slow.moves
    assert state.any_legal(slow.mover)


def random_game(rng: Stream, table: tuple[int, int, str], leaving: int) -> Counter[str]:
    """One game in both; about every `leaving`th move somebody leaves instead. Counts what happened."""
    players, deals, places = table
    state, slow = start(players, deals=deals, places=places), Slow(players, deals, places)
    while True:
        assert_same(state, slow, players == 1)
        if slow.over:
            break
        # Between two deals nobody is asked, so nobody can leave.
        if leaving and (slow.mover is not None or not slow.news) and not rng.below(leaving):
            seats = list(slow.playing)
            rng.shuffle(seats)
            seats = seats[: 1 + (rng.below(4) == 0)]
            state = state.drop(seats)
            slow.drop(seats)
        elif slow.mover is None:
            tiles = shuffled(rng)
            state = state.chance(" ".join(map(name, tiles)))
            slow.deal(tiles)
        else:
            text = rng.choice(sorted(slow.moves))
            state = play(state, text)
            slow.play(text)
    for seat in range(players):
        assert list(state.seen(seat)) == slow.seen(seat)
    return Counter(line.split()[0] for line in slow.seen(None)) + Counter(
        again=slow.seen(None).count("blocked") and sum(line[:4] == "deal" for line in slow.seen(None)) > 1,
        shared=len(set(slow.ranks)) < players,
    )


@pytest.mark.parametrize("table", quick_first(TABLES[1:] + TABLES[:1], 1))
def test_random_games_go_as_in_the_slow_implementation(table: tuple[int, int, str]) -> None:
    rng = Stream(f"thetree {table}".encode())
    happened: Counter[str] = Counter()
    for number in range(GAMES_EACH):
        happened += random_game(rng, table, leaving=(0, 60, 12)[number % 3])
    words = {"deal", "hand", "opened", "move", "passed", "blocked", "finished", "out"}
    assert words <= set(happened), "what did not happen was not compared"
    assert table[0] == 1 or table[1] > 1 or "shared" in happened
    assert table[1] == 1 or "again" in happened


def test_the_slow_implementation_has_the_tiles_and_rings_of_the_page() -> None:
    assert len(TILES) == len(set(TILES)) == 36
    for below, fitting in ONE_RING_MORE.items():
        assert fitting == tuple(s for s in range(8) if s & below == below and (s ^ below).bit_count() == 1)


def as_told(state: State[Any], players: int) -> Slow:
    """The tree and the hands as the news has them."""
    slow = Slow(players)
    for line in state.seen(None):
        word, *rest = line.split()
        seat = int(rest[0]) - 1 if rest else 0
        if word == "deal":
            slow.tree, slow.supply = {}, TILES[: int(rest[1])]
        elif word == "hand":
            slow.hands[seat] = [tile_of(text) for text in rest[1:]]
        elif word == "drew":
            slow.hands[seat].append(tile_of(rest[1]))
            slow.supply = slow.supply[1:]
        elif word in ("opened", "move"):
            left, right, x, y = numbers(rest[1])
            slow.hands[seat].remove(tile_of(rest[1]))
            slow.tree |= {(x, y): left, (x + 1, y): right}
    return slow


@pytest.mark.slow
def test_just_the_legal_moves_are_accepted_and_the_first_reason_is_told() -> None:
    rng = Stream(b"window")
    told_reasons: Counter[str] = Counter()
    for players in (1, 2, 3, 4):
        positions = [state for state in random_states(rng, players=players) if (*state.to_act(), -1)[0] >= 0]
        for state in positions[:: max(1, len(positions) // 4)]:
            seat, slow, accepted = state.to_act()[0], as_told(state, players), []
            xs, ys = ([cell[axis] for cell in slow.tree] for axis in (0, 1))
            for x, y in product(range(min(xs) - 3, max(xs) + 3), range(-2, max(ys) + 3)):
                for left, right in product(range(8), repeat=2):
                    text = f"{left}-{right}@{x},{y}"
                    expected = slow.why_not(seat, left, right, x, y)
                    try:
                        accepted.append(state.write(state.read(seat, text)))
                        assert not expected, text
                    except Refusal as refusal:
                        reason, _, contact = expected.partition(" ")
                        assert refusal.reason == reason and contact in refusal.sentence, text
                    told_reasons[expected] += 1
            assert sorted(accepted) == sorted(legal(state))
    # Legal ones, the four reasons before `rings`, and `rings` of each contact.
    assert len(told_reasons) == 9 and min(told_reasons.values()) >= 5


# --- What is a move ---------------------------------------------------------------------------------------

NO_MOVES = [
    *(
        "",
        "resign",
        "pass",
        "draw",
        "5-1",
        "5-1@",
        "@3,3",
        "5-1@3",
        "5-1@3,",
        "5-1@,3",
        "5-1@3,3,1",
        "5-1@3;3",
    ),
    *("5-1@3,3 x", "5-1@3,3 5-1@3,3", "5 1@3,3", "51@3,3", "5 - 1@3,3", "5-1 @3,3", "5-1@3, 3", "5-1@- 3,3"),
    *("5-1@+3,3", "5-1@3,+3", "5-1@-0,2", "5-1@3,-0", "5-1@03,3", "5-1@3,03", "5-1@-03,3", "5-1@--3,3"),
    *("05-1@3,3", "5-01@3,3", "-5-1@3,3", "5--1@3,3", "+5-1@3,3", "5-8@3,3", "8-8@0,2", "10-1@3,3"),
    *(
        "5-1@3.0,3",
        "5-1@1e1,2",
        "5-1@0x3,3",
        "5-1@3_0,2",
        "5-1@3,3\0",
        "5-1@3,3\n",
        "\n5-1@3,3",
        "5-1@3,3\u2028",
    ),
    *("５-1@3,3", "5-1@３,3", "5–1@3,3", "5-1＠3,3", "5-1@−3,3", "\u202e5-1@3,3", "5-1@3,3" * 500, "\x1b[2J"),
]


def test_what_is_no_move() -> None:
    expect_reasons(dealt("0-0", "1-5"), dict.fromkeys(NO_MOVES, "not-a-move"))


def expect_reasons(state: State[Any], reasons: dict[str, str]) -> None:
    """Why these texts are refused of the second seat, in sentences that can be shown."""
    refusals = {text: refused(state, text, 1) for text in reasons}
    assert {text: refusal.reason for text, refusal in refusals.items()} == reasons
    sentences = [refusal.sentence for refusal in refusals.values()]
    assert [one for one in sentences if not one.isprintable() or len(one) >= 200] == []


HUGE = "9" * 4000

REASONS = [
    ("5-1@0,0", "not-in-hand"),  # and occupied
    ("6-0@9,0", "not-in-hand"),
    (f"1-1@{HUGE},1", "not-in-hand"),
    ("4-1@0,0", "occupied"),
    ("4-1@1,0", "occupied"),  # and off the pattern
    ("4-1@-1,0", "occupied"),
    ("4-1@2,1", "off-pattern"),  # and on nothing
    ("4-1@2,-1", "off-pattern"),
    (f"4-1@-{HUGE},2", "off-pattern"),
    ("4-1@2,0", "rests-on-nothing"),
    ("4-1@-2,0", "rests-on-nothing"),
    ("4-1@0,-2", "rests-on-nothing"),
    ("4-1@1,-1", "rests-on-nothing"),
    ("4-1@3,1", "rests-on-nothing"),
    ("4-1@0,2", "rests-on-nothing"),
    (f"4-1@{HUGE},{HUGE}", "rests-on-nothing"),
    (f"4-1@1,-{HUGE}", "rests-on-nothing"),
    ("3-6@1,1", "rings"),
    ("3-6@-1,1", "rings"),
]


def test_reasons_in_their_order() -> None:
    expect_reasons(dealt("0-0", "1-4 3-6 1-7 2-7"), dict(REASONS))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[4:],
        lambda text: f"{text} 0-0",
        lambda text: f"{text} ",
        lambda text: text.replace("6-7", "7-6"),
        lambda text: text.replace("6-7", "6-6"),
        lambda text: text.replace("6-7", "6-8"),
        lambda text: text.replace(" ", ",", 1),
        lambda text: text.upper().replace("-", "_"),
    ],
)
def test_what_cannot_be_dealt(spoil: Callable[[str], str]) -> None:
    with pytest.raises(BadChance):
        start().chance(spoil(in_order(["", ""])))


# --- The opening --------------------------------------------------------------------------------------------

NO_DOUBLES = " ".join(name(tile) for tile in TILES if tile[0] == tile[1])


def test_the_lowest_double_opens_and_the_next_seat_begins() -> None:
    low = "0-0 1-1 0-1 0-2"
    tables: list[tuple[tuple[str, ...], str, int]] = [
        (("6-7 3-3", "2-2 1-2"), "opened 2 2-2@0,0", 0),
        (("2-2 1-2", "4-5 3-3"), "opened 1 2-2@0,0", 1),
        (("5-6", "2-2", "3-3 1-2"), "opened 2 2-2@0,0", 2),
        (("3-3", "4-4 1-3", "2-2 1-2"), "opened 3 2-2@0,0", 0),
    ]
    for hands, opened, begins in tables:
        # The seat that begins is given a tile that fits, 6 on 2.
        fitting = [f"{hand} 2-6" if seat == begins else hand for seat, hand in enumerate(hands)]
        state = dealt(*fitting, supply=low)
        assert told(state, start())[-1] == opened and state.to_act() == (begins,)


def test_without_a_double_the_lowest_tile_opens_the_smaller_symbol_first() -> None:
    supply = f"{NO_DOUBLES} 0-1 0-2 0-3 0-4 0-5 0-6"
    state = dealt("1-2 1-3 1-4", "0-7 6-7", supply=supply)
    assert told(state, start())[-1] == "opened 2 0-7@0,0" and state.to_act() == (0,)
    state = dealt("1-3 1-4", "1-2 2-3", supply=f"{supply} 0-7")
    assert told(state, start())[3] == "opened 2 1-2@0,0" and state.to_act() == (0,)
    # A tile with a zero is lower than one without, but a double is laid before it.
    state = dealt("6-6 0-7", "0-1 4-7", supply=NO_DOUBLES.replace("6-6 ", ""))
    assert told(state, start())[3] == "opened 1 6-6@0,0"


def test_a_seat_alone_opens_and_begins() -> None:
    state = dealt("0-0 0-1")
    assert told(state, start(1))[0] == "deal 1 27" and state.to_act() == (0,)
    assert len(state.seen(0)) == 3 and "1-0@1,1" in legal(state)


def test_chance_is_shared_only_where_a_seat_plays_alone() -> None:
    # Two seats that met the same tiles twice would know each other's hands.
    assert [start(n).to_act() for n in (1, 2, 3, 4)] == [(SHARED_CHANCE,), (CHANCE,), (CHANCE,), (CHANCE,)]
    rng = Stream(b"draw")
    assert start().chance(start().draw(rng)).seen(None)[0] == "deal 1 18"


# --- Extra turns --------------------------------------------------------------------------------------------

LEFT_BRANCH = ("0-1@-1,1", "4-1@-2,2", "3-7@-1,3")
"""On 0-0: to the left, and back over the hole at (0, 2), whose left half lies on 1 and under 7."""


def test_resting_on_two_gives_one_extra_turn() -> None:
    state = play(dealt("0-0 0-1", "2-7 5-6 0-4"), "2-7@1,1")
    assert state.to_act() == (0,), "a tile that rests on one gives none"
    state = play(state, "0-1@-1,1", "5-6@0,2")
    assert state.to_act() == (1,)
    assert play(state, "0-4@-2,2").to_act() == (0,)


def test_being_pushed_under_a_tile_gives_one_extra_turn() -> None:
    state = play(dealt("0-0 1-4 5-6 6-7", "0-1 3-7"), *LEFT_BRANCH)
    assert state.to_act() == (0,)
    state = play(state, "5-6@0,2")
    assert state.to_act() == (0,), "its right half rests on nothing, but a tile lies over the left one"
    assert play(state, "7-6@1,3").to_act() == (1,)


def test_only_one_extra_turn_if_it_rests_on_two_and_lies_under_one() -> None:
    state = play(dealt("0-0 1-4 2-7", "0-1 3-7 5-6 5-7"), *LEFT_BRANCH, "2-7@1,1", "5-6@0,2")
    assert state.to_act() == (1,)
    assert play(state, "7-5@1,3").to_act() == (0,)


def test_an_extra_turn_may_give_another() -> None:
    state = dealt("0-0 1-4 4-7", "0-1 2-5 5-6 3-7 2-4")
    state = play(state, "0-1@-1,1", "4-1@-2,2", "2-5@1,1", "7-4@2,2")
    for text in ("5-6@0,2", "3-7@-1,3"):
        state = play(state, text)
        assert state.to_act() == (1,)


def mirror(text: str) -> str:
    left, right, x, y = numbers(text)
    return f"{right}-{left}@{-x},{y}"


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("over", "text", "contact"),
    [
        ("3-6@-1,3", "2-6@0,2", "below left"),  # and above left
        ("3-6@-1,3", "5-4@0,2", "below right"),  # and above left
        ("3-6@-1,3", "5-6@0,2", "above left"),
        ("3-6@-1,3", "3-3@0,2", "above left"),
        ("3-7@-1,3", "2-6@0,2", "below left"),
        ("3-7@-1,3", "5-6@0,2", ""),
    ],
)
def test_a_hole_is_checked_below_and_above(over: str, text: str, contact: str, mirrored: bool) -> None:
    moves = ["0-1@-1,1", "4-1@-2,2", over, "2-7@1,1", text]
    if mirrored:
        moves = [mirror(move) for move in moves]
        contact = contact.replace("left", "other").replace("right", "left").replace("other", "right")
    *before, last = moves
    # A seat that plays alone and holds all of it.
    state = play(dealt(" ".join(["0-0", *(name(tile_of(move)) for move in moves)])), *before)
    if contact:
        refusal = refused(state, last)
        assert refusal.reason == "rings" and contact in refusal.sentence
    else:
        assert last in legal(state)


# --- Drawing, passing, blocks -----------------------------------------------------------------------------

NO_SEVENS = "1-2 1-3 1-4 1-5 1-6 2-3"


def dead(players: int) -> str:
    """Tiles of which nobody can lay one: 7-7 opens, and all other doubles are in the supply."""
    mixed = [name(tile) for tile in TILES if tile[0] != tile[1]]
    return " ".join(["7-7", *mixed[: 9 * players - 1], *NO_DOUBLES.split()[:-1], *mixed[9 * players - 1 :]])


def test_an_extra_turn_without_a_move_draws_and_the_drawn_tile_waits() -> None:
    # Over 3-3 only a seven fits, and all other ends are sevens. Seat 2 has no other; it draws one.
    before = play(dealt("0-0 1-7 6-7", f"2-7 3-3 {NO_SEVENS} 2-4", supply="0-7"), "2-7@1,1", "7-1@-1,1")
    state = play(before, "3-3@0,2")
    assert told(state, before) == ["move 2 3-3@0,2", "drew 2 0-7"]
    assert state.seen(0)[-1] == "drew 2" and state.seen(1)[-1] == "drew 2 0-7"
    assert state.to_act() == (0,)
    assert "7-0@1,3" in legal(play(state, "6-7@-1,3"))


FOUR = ("0-0", "2-7 3-3 3-6 3-5 5-6 1-2 1-3 1-4 1-5", "1-7 0-7", "")
"""Seat 2 alone can lay a tile on 7-1 and 2-7, and on what it lays only a seven fits."""


def test_with_an_empty_supply_it_passes_and_a_laid_tile_lets_all_begin_again() -> None:
    state = play(dealt(*FOUR), "2-7@1,1")
    assert told(state, start(4))[0] == "deal 1 0"
    state, before = play(state, "7-1@-1,1"), state
    assert told(state, before) == ["move 3 7-1@-1,1", "passed 4", "passed 1"] and state.to_act() == (1,)
    state, before = play(state, "3-3@0,2"), state
    # The extra turn is a pass, and that of seat 3 is not: the passes before do not count any more.
    assert told(state, before) == ["move 2 3-3@0,2", "passed 2"] and state.to_act() == (2,)


LOW = [name(tile) for tile in TILES if tile[0] != tile[1] < 7]
ONE_HAS_SEVENS = (
    "7-7 0-7 1-7 2-7 3-7 4-7 5-7 6-7",
    " ".join(LOW[:9]),
    " ".join(["6-6", *LOW[9:17]]),
)
"""Seat 3 opens with 6-6, on which only a seven fits; seat 1 has all of them, and begins."""


def test_seats_that_draw_one_after_another() -> None:
    before = dealt(*ONE_HAS_SEVENS, supply="0-0 1-1")
    assert before.to_act() == (0,)
    state = play(before, "7-6@1,1")
    assert told(state, before) == ["move 1 7-6@1,1", "drew 2 0-0", "drew 3 1-1"] and state.to_act() == (0,)
    assert state.seen(1)[-2:] == ("drew 2 0-0", "drew 3")
    # People see them one by one.
    assert isinstance(before, TreeState) and isinstance(state, TreeState)
    laid, drawn = state.between()
    assert told(laid, before) == ["move 1 7-6@1,1"]
    assert told(drawn, before) == ["move 1 7-6@1,1", "drew 2 0-0"]
    assert [one.table.hands[1].bit_count() for one in (laid, drawn, state)] == [9, 10, 10]
    assert [one.table.hands[2].bit_count() for one in (laid, drawn, state)] == [8, 8, 9]
    assert laid.table.supply == before.table.supply and drawn.table.supply == before.table.supply[1:]
    assert laid.seen(0) == before.seen(0) + ("move 1 7-6@1,1",) and laid.seen(2) == state.seen(2)[:-2]
    assert before.between() == [] and laid.table.tree is state.table.tree


@pytest.mark.parametrize(("players", "supply"), [(1, 27), (2, 18), (3, 9)])
def test_a_turn_with_the_last_tile_of_the_supply_is_no_pass(players: int, supply: int) -> None:
    state = start(players, deals=1).chance(dead(players))
    lines = [line.split()[0] for line in told(state, start(players))]
    expected = ["deal", *["hand"] * players, "opened", *["drew"] * supply, *["passed"] * players, "blocked"]
    assert lines == expected
    outcome = state.outcome()
    assert outcome and state.to_act() == ()
    assert sum(outcome.scores) == 35
    assert outcome.ranks == ((2,) if players == 1 else (1,) * players)


def test_a_blocked_game_is_dealt_anew_as_often_as_said() -> None:
    for deals in (1, 2, 5):
        state = start(2, deals=deals)
        for number in range(1, deals + 1):
            assert state.to_act() == (CHANCE,) and state.outcome() is None
            before, state = state, state.chance(dead(2))
            assert told(state, before)[0] == f"deal {number} 18" and state.seen(0)[-1] == "blocked"
        assert state.outcome() == Outcome((1, 1), (17, 18), state.outcome().sentence)  # type: ignore[union-attr]
        with pytest.raises(BadChance):
            state.chance(dead(2))


def test_a_new_deal_has_a_new_opening_and_an_empty_tree() -> None:
    state = start().chance(dead(2)).chance(in_order(["2-2 1-2", "0-0 0-1"]))
    assert state.to_act() == (0,) and set(as_told(state, 2).tree) == {(0, 0), (1, 0)}
    assert refused(state, "2-2@0,0").reason == "occupied"
    assert play(state, "2-1@-1,1").to_act() == (1,)


def test_a_pass_in_an_extra_turn_counts_for_the_block() -> None:
    def wanted(state: State[Any]) -> bool:
        lines = state.seen(None)
        if lines[-1] != "blocked" or lines[-4].split()[0] != "move":
            return False
        # The seat that laid the last tile passes first.
        return lines[-3].split()[1] == lines[-4].split()[1]

    state = found(wanted, players=2, deals=1)
    assert state.outcome() and state.seen(None)[-3].split()[1] != state.seen(None)[-2].split()[1]


def test_a_seat_that_is_out_is_not_dealt_again() -> None:
    state = dealt(*ONE_HAS_SEVENS, deals=2)
    assert state.to_act() == (0,)
    # The others draw all that is left, pass and are blocked.
    state, before = state.drop([0]), state
    lines = told(state, before)
    assert lines[0] == "out 1" and [line.split()[0] for line in lines[1:]] == [
        *["drew"] * 9,
        *["passed"] * 2,
        "blocked",
    ]
    assert state.to_act() == (CHANCE,)
    again, before = state.chance(in_order(["0-0 0-1", "1-1 1-2 0-2"])), state
    lines = told(again, before)
    assert [line.split()[:2] for line in lines[:3]] == [["deal", "2"], ["hand", "2"], ["hand", "3"]]
    assert lines[0] == "deal 2 18" and lines[3] == "opened 2 0-0@0,0" and again.to_act() == (2,)
    assert list(again.seen(0)[len(before.seen(0)) :]) == [lines[0], lines[3]]
    outcome = state.chance(dead(2)).outcome()
    assert outcome and outcome.ranks == (3, 1, 1) and outcome.scores == (9, 17, 18)


def test_seats_that_passed_are_blocked_when_the_last_that_could_move_leaves() -> None:
    state = play(dealt(*FOUR), "2-7@1,1", "7-1@-1,1")
    before, state = state, state.drop([1])
    # Seats 4 and 1 have passed already; nothing was laid or drawn since.
    assert told(state, before) == ["out 2", "passed 3", "blocked"]
    assert state.to_act() == (CHANCE,)


# --- The end --------------------------------------------------------------------------------------------

SOLO = ("0-1@-1,1", "0-2@-2,2", "0-4@-3,3", "3-1@-4,4", "0-7@-5,5", "5-1@-6,6", "2-7@1,1", "3-6@0,2")
"""On 0-0, all nine of a hand; the last rests on two."""


def test_alone_all_tiles_laid_is_a_win_also_by_a_tile_that_gives_an_extra_turn() -> None:
    hand = " ".join(["0-0", *(name(tile_of(text)) for text in SOLO)])
    state = play(dealt(hand), *SOLO[:-1])
    assert state.outcome() is None and state.to_act() == (0,)
    state, before = play(state, SOLO[-1]), state
    assert told(state, before) == ["move 1 3-6@0,2", "finished 1"] and state.to_act() == ()
    outcome = state.outcome()
    assert outcome and outcome.ranks == (1,) and outcome.scores == (0,)


def test_alone_leaving_is_a_loss_with_the_tiles_then_in_hand() -> None:
    state = play(dealt("0-0 0-1 0-2"), "1-0@1,1")
    assert state.to_act() == (0,) and state.outcome() is None
    outcome = state.drop([0]).outcome()
    assert outcome and outcome.ranks == (2,) and outcome.scores == (7,) and state.drop([0]).to_act() == ()
    outcome = start(1).drop([0]).outcome()
    assert (
        outcome
        and outcome.ranks == (2,)
        and outcome.scores == (0,)
        and outcome.sentence == "seat 1 left the game"
    )


def finishers(state: State[Any]) -> list[int]:
    return [int(line.split()[1]) - 1 for line in state.seen(None) if line.startswith("finished")]


def about_to_finish(state: State[Any], players: int) -> list[str]:
    """The moves of a seat that holds one tile that would give an extra turn, if it held another."""
    if (*state.to_act(), -1)[0] < 0 or len((slow := as_told(state, players)).hands[state.to_act()[0]]) > 1:
        return []
    return [text for text in legal(state) if slow.again(*numbers(text)[2:])]


@pytest.mark.slow
@pytest.mark.parametrize("places", ["first", pytest.param("all", marks=pytest.mark.slow)])
def test_who_finishes_has_no_extra_turn(places: str) -> None:
    before = found(lambda state: bool(about_to_finish(state, 3)), players=3, places=places)
    (seat,) = before.to_act()
    first = not finishers(before)
    state = play(before, about_to_finish(before, 3)[0])
    assert told(state, before)[1] == f"finished {seat + 1}"
    outcome = state.outcome()
    if places == "first":
        assert outcome and outcome.ranks == tuple(1 if other == seat else 2 for other in range(3))
        assert len(told(state, before)) == 2 and outcome.scores[seat] == 0
    elif first:
        assert seat not in state.to_act() and outcome is None
    else:
        assert outcome and sorted(outcome.ranks) == [1, 2, 3]


def test_all_play_on_for_the_other_places() -> None:
    for players in (2, 3, 4):
        state = found(
            lambda state: bool(state.outcome()) and "finished" in state.seen(None)[-1], players=players
        )
        outcome = state.outcome()
        order = finishers(state)
        assert outcome and len(order) == players - 1
        assert [outcome.ranks[seat] for seat in order] == list(range(1, players))
        assert sorted(outcome.ranks) == list(range(1, players + 1))
        (last,) = {*range(players)} - {*order}
        assert outcome.scores[last] == len(as_told(state, players).hands[last]) > 0


def test_a_block_after_somebody_has_finished_shares_the_places_behind() -> None:
    state = found(lambda state: bool(state.outcome()) and len(finishers(state)) == 1, players=3, deals=9)
    assert state.seen(None)[-1] == "blocked"
    outcome = state.outcome()
    assert outcome and sorted(outcome.ranks) == [1, 2, 2] and outcome.ranks[finishers(state)[0]] == 1
    # Four seats of which one is out: the two that are blocked share what lies between.
    rng, state = (
        Stream(b"between"),
        found(lambda state: len(finishers(state)) == 1 and state.outcome() is None, players=4),
    )
    (gone,) = state.to_act()
    state = state.drop([gone])
    while state.outcome() is None and "finished" not in state.seen(None)[-1]:
        state = state.play({state.to_act()[0]: state.sample(state.to_act()[0], rng)})
    outcome = state.outcome()
    assert outcome and outcome.ranks[gone] == 4 and outcome.ranks[finishers(state)[0]] == 1
    assert sorted(outcome.ranks) == ([1, 2, 2, 4] if state.seen(None)[-1] == "blocked" else [1, 2, 3, 4])


# --- Leaving --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaving", "ranks"),
    [
        ([[1], [0], [2]], (3, 4, 2, 1)),  # later is better
        ([[0, 3], [1]], (3, 2, 1, 3)),  # those that leave at once share
        ([[2], [0, 1]], (2, 2, 4, 1)),
        ([[0, 1, 2]], (2, 2, 2, 1)),
        ([[0, 1, 2, 3]], (1, 1, 1, 1)),
        ([[3], [0, 1, 2]], (1, 1, 1, 4)),
    ],
)
def test_places_of_seats_that_leave(leaving: list[list[int]], ranks: tuple[int, ...]) -> None:
    for begun, places in product((False, True), ("all", "first")):
        expect_places(leaving, ranks, begun, places)


def expect_places(leaving: list[list[int]], ranks: tuple[int, ...], begun: bool, places: str) -> None:
    state = dealt("0-0", "0-1 0-2", "", "", places=places) if begun else start(4, places=places)
    for seats in leaving:
        assert state.outcome() is None
        state = state.drop(seats)
        assert state.seen(None)[-1] == "out " + " ".join(str(seat + 1) for seat in seats) or begun
    outcome = state.outcome()
    assert outcome and outcome.ranks == ranks and state.to_act() == ()
    assert outcome.scores == ((8, 9, 9, 9) if begun else (0, 0, 0, 0))


def test_the_turn_of_a_seat_that_leaves_goes_to_the_next() -> None:
    state = dealt("0-0 1-7", "2-7 0-1", "4-7 0-2", "")
    assert state.to_act() == (1,)
    assert state.drop([1]).to_act() == (2,) and state.drop([0]).to_act() == (1,)
    assert play(state.drop([2]), "2-7@1,1").to_act() == (3,)
    # In an extra turn as well.
    state = dealt("0-0 0-2", "2-7 5-6 0-4", "0-1 6-7")
    state = play(state, "2-7@1,1", "0-1@-1,1", "0-2@-2,2", "5-6@0,2")
    assert state.to_act() == (1,) and state.drop([1]).to_act() == (2,)


def test_who_leaves_after_a_seat_has_finished_takes_the_worst_place() -> None:
    state = found(lambda state: len(finishers(state)) == 1 and state.outcome() is None, players=3)
    (seat,) = state.to_act()
    outcome = state.drop([seat]).outcome()
    assert outcome and outcome.ranks[seat] == 3 and outcome.ranks[finishers(state)[0]] == 1
    assert sorted(outcome.ranks) == [1, 2, 3]


# --- Through the real match -------------------------------------------------------------------------------

CLOCK = TimeControl.parse("1s+100s")


def lister(heard: list[str], used_us: int = 1000, moves: int = 1000, then: str | None = "") -> Bot:
    """Plays the first legal move of a list, so many times; then says something else, or nothing."""
    left = moves

    def bot(lines: list[str]) -> Iterable[Said]:
        nonlocal left
        heard.extend(lines)
        for at, line in enumerate(lines):
            word, *rest = line.split()
            if word == "ask" and left:
                yield used_us, f"list {rest[0]}\n".encode()
            elif word == "ask":
                yield from puppet(then)([line])
            elif word == "legal":
                left -= 1
                yield used_us, f"move {rest[0]} {lines[at + 1].split()[1]}\n".encode()
            else:
                yield from puppet()([line])

    return bot


def no_start(lines: list[str]) -> Iterable[Said]:
    """A bot from which nothing comes."""
    return ()


def match(seed: int, *bots: Bot, rejections: int = 10, **options: object) -> tuple[Verdict, Events]:
    settled = GAME.settle({"players": str(len(bots)), **{key: str(value) for key, value in options.items()}})
    names, controls = tuple("abcd"[: len(bots)]), (CLOCK,) * len(bots)
    terms = Terms("1", GAME, settled, names, controls, str(seed).encode(), b"shared", rejections=rejections)
    events = Events()
    return play_match(terms, ScriptedWire(*bots), seeded_dice(terms), events), events


def left(events: Events) -> list[tuple[int, Ending]]:
    return [(event.seat, event.ending) for event in events.all if isinstance(event, Retired)]


def test_clocks_run_on_in_the_next_deal() -> None:
    heard: list[str] = []
    verdict, _ = match(3, lister(heard, 1_500_000), *(lister([]) for _ in range(3)))
    second = heard.index("news deal 2 0")
    asks = [line.split()[1:] for line in heard if line.startswith("ask")]
    before = sum(line.startswith("ask") for line in heard[:second])
    # Half a second of each move is taken from the reserve, in the second deal as in the first.
    assert 0 < before < len(asks)
    assert asks == [[str(n), "1000", str(100_000 - 500 * (n - 1))] for n in range(1, len(asks) + 1)]
    assert "news blocked" in heard[: second + 1] and verdict.ending is Ending.RULES


def test_who_does_not_start_is_last_and_is_not_dealt() -> None:
    heard: list[list[str]] = [[], []]
    verdict, events = match(1, lister(heard[0]), no_start, lister(heard[1]))
    assert left(events) == [(1, Ending.START)] and verdict.rated and verdict.ending is Ending.RULES
    assert verdict.outcome.ranks[1] == 3 and verdict.outcome.ranks.count(3) == 1
    for lines in heard:
        news = [line for line in lines if line.startswith("news")]
        assert news[:2] == ["news out 2", "news deal 1 18"]
        assert not any(line.startswith(("news hand 2", "news drew 2", "news opened 2")) for line in news)


def test_two_that_do_not_start_share_the_last_place() -> None:
    verdict, events = match(1, lister([]), no_start, lister([]), no_start)
    assert left(events) == [(1, Ending.START), (3, Ending.START)] and verdict.ending is Ending.RULES
    assert verdict.outcome.ranks[1] == verdict.outcome.ranks[3] == 3
    verdict, events = match(1, no_start, no_start, lister([]), no_start)
    assert verdict.outcome.ranks == (2, 2, 1, 2) and verdict.rated and verdict.ending is Ending.START
    verdict, events = match(1, no_start, no_start, no_start)
    assert verdict.outcome.ranks == (1, 1, 1) and not verdict.rated


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize(
    ("then", "ending"),
    [
        ("resign {n}", Ending.RESIGNED),
        (None, Ending.TIME),
        ("0-0@0,0", Ending.ILLEGAL),
        ("move x{n} 0-0@0,0", Ending.PROTOCOL),
    ],
)
def test_who_leaves_in_the_middle_is_last_and_the_others_play_on(
    then: str | None, ending: Ending, players: int
) -> None:
    heard: list[list[str]] = [[] for _ in range(players)]
    bots = [lister(heard[0], moves=2, then=then), *(lister(lines) for lines in heard[1:])]
    verdict, events = match(5, *bots, rejections=1)
    assert left(events) == [(0, ending)] and verdict.ending is Ending.RULES
    assert verdict.outcome.ranks[0] == players and verdict.outcome.ranks.count(players) == 1
    at = next(at for at, event in enumerate(events.all) if isinstance(event, Retired))
    assert sum(isinstance(event, Moved) and event.seat == 0 for event in events.all[:at]) == 2
    assert any(isinstance(event, Moved) for event in events.all[at:])
    assert all(lines.count("news out 1") == 1 for lines in heard[1:])
    state = events.states[at]
    # What it held then is its score.
    assert verdict.outcome.scores[0] == len(as_told(state, players).hands[0])


def test_all_leave_but_one() -> None:
    bots = (lister([], moves=3, then="resign {n}"), no_start, lister([], moves=1, then=None), lister([]))
    verdict, events = match(6, *bots)
    assert left(events) == [(1, Ending.START), (2, Ending.TIME), (0, Ending.RESIGNED)]
    assert verdict.outcome.ranks == (2, 4, 3, 1) and verdict.ending is Ending.RESIGNED
    assert verdict.outcome.sentence == "seat 1 resigned"


def test_alone_in_a_match_leaving_is_a_loss() -> None:
    verdict, _ = match(1, lister([], moves=1, then="resign {n}"))
    assert verdict.outcome.ranks == (2,) and verdict.outcome.scores[0] > 0
    assert verdict.ending is Ending.RESIGNED


# --- What a seat may know ---------------------------------------------------------------------------------


def public(state: State[Any]) -> list[str]:
    """What everybody is told: without hands, and without what was drawn."""
    lines = [line.split() for line in state.seen(None)]
    return [" ".join(line[:2] if line[0] == "drew" else line) for line in lines if line[0] != "hand"]


@pytest.mark.slow
@pytest.mark.parametrize("players", quick_first([3, 1, 2, 4], 1))
def test_what_is_imagined_agrees_with_what_the_seat_has_seen(players: int) -> None:
    rng = Stream(f"imagine {players}".encode())
    options = GAME.settle({"players": str(players)})
    for _ in range(8):
        state, gone = start(players), set[int]()
        if players > 2 and rng.below(3) == 0:
            gone = {rng.below(players)}
            state = state.drop(gone)
        while acting := state.to_act():
            if acting[0] < 0:
                state = state.chance(state.draw(rng))
            elif rng.below(30) == 0:
                gone.add(acting[0])
                state = state.drop(acting)
            else:
                state = state.play({acting[0]: state.sample(acting[0], rng)})
            if not state.to_act() or rng.below(2):
                continue
            seat = rng.choice([seat for seat in range(players) if seat not in gone])
            imagined = GAME.imagine(options, seat, state.seen(seat), rng)
            assert imagined.seen(seat) == state.seen(seat) and imagined.to_act() == state.to_act()
            assert public(imagined) == public(state) and imagined.picture(seat) == state.picture(seat)
            assert_adds_up(imagined, state, players, seat)
    # It is a position like any other, and can be played to its end.
    while (acting := imagined.to_act()) and acting[0] >= 0:
        imagined = imagined.play({acting[0]: imagined.sample(acting[0], rng)})


@pytest.mark.parametrize(("players", "deals"), [(2, 1), (1, 1), (3, 4), (4, 6)])
def test_what_is_imagined_again_is_the_same_as_if_it_were_played(players: int, deals: int) -> None:
    """For news that are known nothing is played: hands and supply are made from the deal."""
    options = GAME.settle({"players": str(players), "deals": str(deals)})
    rng, dealt = Stream(f"again {players}".encode()), set[int]()
    for _ in range(3):
        state = start(players, deals=deals)
        while acting := state.to_act():
            if acting[0] < 0:
                state = state.chance(state.draw(rng))
            else:
                state = state.play({acting[0]: state.sample(acting[0], rng)})
            table = cast(TreeState, state).table
            if rng.below(8 * players):
                continue
            dealt.add(table.dealt)
            seat = rng.below(players)
            GAME.imagine(options, seat, state.seen(seat), rng)
            again = cast(TreeState, GAME.imagine(options, seat, state.seen(seat), Stream(b"same")))
            _observed.cache_clear()
            played = cast(TreeState, GAME.imagine(options, seat, state.seen(seat), Stream(b"same")))
            assert _observed.cache_info().misses == 1, "it was played anew"
            for audience in (None, *range(players)):
                assert again.seen(audience) == played.seen(audience)
                assert again.told(audience) == played.told(audience)
                assert again.picture(audience) == played.picture(audience)
            for name in TreeTable.__slots__:
                if name not in ("rules", "events"):
                    assert getattr(again.table, name) == getattr(played.table, name), name
            assert list(again.table.events) == list(played.table.events)
            assert again.playout(Quick(1)) == played.playout(Quick(1))
    assert max(dealt) > 1 or deals == 1


def assert_adds_up(imagined: State[Any], state: State[Any], players: int, seat: int) -> None:
    """Every tile is in one place, everybody holds as many as they do, and the own hand is the own hand."""
    if imagined.to_act()[0] < 0:
        return
    here, there = as_told(imagined, players), as_told(state, players)
    assert list(map(len, here.hands)) == list(map(len, there.hands))
    assert sorted(here.hands[seat]) == sorted(there.hands[seat]) and here.tree == there.tree
    lines = list(state.seen(None))
    newest = lines[max(at for at, line in enumerate(lines) if line.startswith("deal")) :]
    holders = [int(line.split()[1]) - 1 for line in newest if line.startswith("hand")]
    held = [tile for holder in holders for tile in here.hands[holder]]
    assert len(held) == len(set(held)) == len(TILES) - len(here.supply) - len(here.tree) // 2


def test_imagining_is_not_knowing() -> None:
    options, rng = GAME.settle({"players": "3"}), Stream(b"guess")
    state = dealt("0-0", "0-1 1-2", "")
    hands = {GAME.imagine(options, 1, state.seen(1), rng).seen(2)[1] for _ in range(30)}
    assert len(hands) == 30
    # What cannot be in a hand: seat 1 opened with 0-0, seat 3 had no move.
    state = dealt(*ONE_HAS_SEVENS, supply="0-0 1-1")
    state = play(state, "7-6@1,1")
    for _ in range(30):
        imagined = as_told(GAME.imagine(options, 1, state.seen(1), rng), 3)
        assert not any(7 in tile for tile in imagined.hands[2][:-1]), "it drew, so it had no seven"


@pytest.mark.parametrize(
    "lines",
    [
        ["deal 1 18", "hand 2 0-1 0-2 0-3 0-4 0-5 0-6 0-7 1-2 1-3", "opened 1 0-0@0,0", "move 2 1-4@5,5"],
        ["deal 1 18", "hand 2 0-0 0-2 0-3 0-4 0-5 0-6 0-7 1-2 1-3", "opened 1 1-1@0,0"],
        ["deal 1 18", "hand 2 0-1 0-2 0-3 0-4 0-5 0-6 0-7 1-2 1-3", "opened 1 0-0@0,0", "passed 2"],
    ],
)
def test_what_cannot_have_been_seen_is_not_imagined(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="is consistent"):
        GAME.imagine(GAME.settle({}), 1, lines, Stream(b""))


def test_tiles_are_marks_that_lie_as_in_a_brick_wall() -> None:
    tree, _, own, other, _ = play(dealt("0-0 0-1", "2-7 5-6"), "2-7@1,1").picture(0)
    assert isinstance(tree, Plane) and isinstance(own, Row) and isinstance(other, Row)
    tiles = [mark for mark in tree.marks if isinstance(mark, Mark) and mark.symbol]
    assert [(mark.title, mark.x, mark.y) for mark in tiles] == [
        ("tile 0-0 at 0,0", 1, 0),
        ("tile 2-7 at 1,1", 2, -1),
        ("laid last: 1,1", 2, -1),
    ]
    rings = [tile.symbol and sum(isinstance(shape, Circle) for shape in tile.symbol.shapes) for tile in tiles]
    assert rings == [0, 4, 0], "the circle, and the pip with both circles"
    assert "tile 0-1" in [span.title for span in own.spans]
    backs = [span.symbol for span in other.spans[1:] if span.symbol]
    assert len(backs) == 8 and len(set(backs)) == 1


def test_a_picture_shows_who_laid_a_tile_what_it_added_and_what_was_drawn() -> None:
    state = play(dealt("0-0 0-1", "2-7 5-6"), "2-7@1,1")
    tree = state.picture(None)[0]
    assert isinstance(tree, Plane)
    symbols = [mark.symbol.name for mark in tree.marks if isinstance(mark, Mark) and mark.symbol]
    assert symbols[0].startswith("tile 0-0 that added 00, laid by ") and len(symbols) == 3
    assert symbols[1] == "tile 2-7 that added 20, laid by 2"
    rng, seen = Stream(b"drawn"), 0
    while state.outcome() is None and state.to_act()[0] >= 0:
        seat = state.to_act()[0]
        state = state.play({seat: state.sample(seat, rng)})
        assert isinstance(state, TreeState)
        told = [line.split() for line in state.told(None) if line.startswith("drew")]
        for view in (None, 0, 1):
            rows = [row for row in state.picture(view) if isinstance(row, Row)]
            titles = [span.title for row in rows for span in row.spans if "just drawn" in span.title]
            known = [f"tile {tile}, just drawn" for _, owner, tile in told if view in (None, int(owner) - 1)]
            assert sorted(titles) == sorted(known + ["a tile just drawn"] * (len(told) - len(known)))
            seen += len(known)
    assert seen


def test_a_new_deal_is_of_all_tiles_also_those_of_a_seat_that_is_out() -> None:
    rng = Stream(b"new deal")
    for _ in range(50):
        state = start(3)
        state = state.chance(state.draw(rng)).drop([0])
        held = as_told(state, 3).hands[0]
        while state.outcome() is None and state.to_act()[0] >= 0:
            state = state.play({state.to_act()[0]: state.sample(state.to_act()[0], rng)})
        if state.outcome() is None:
            break
    state = state.chance(state.draw(rng))
    told = state.seen(None)[state.seen(None).index("blocked") :]
    assert "deal 2 18" in told, "two hands of nine, and the rest is the supply"
    outcome = state.drop([1]).outcome()
    assert outcome and outcome.scores[0] == len(held)


def test_news_have_words_for_people() -> None:
    said = {
        "deal 2 1": "deal 2: 1 tile in the supply",
        "hand 2 0-0 3-5": "seat 2 holds 0-0 and 3-5",
        "opened 2 0-0@0,0": "seat 2 opened with 0-0@0,0",
        "move 1 4-0@1,1": "seat 1 laid 4-0@1,1",
        "drew 3": "seat 3 drew a tile",
        "drew 3 3-4": "seat 3 drew 3-4",
        "passed 1": "seat 1 passed",
        "finished 4": "seat 4 finished",
        "out 2": "seat 2 is out",
        "out 1 3": "seats 1, 3 are out",
        "blocked": "the deal is blocked",
    }
    assert {line: GAMES["thetree"].told(line) for line in said} == said
