"""The Tree, by Néstor Romeral Andrés: lay tiles so that each symbol has one ring more than the one below.

One to four seats, hidden hands. The notation, the options and the order of reasons are those of
`protocol/games/thetree.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

from referee.core.errors import GameOptionError
from referee.core.rng import Random
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.games.api import (
    CHANCE,
    NOTHING_TO_DRAW,
    SHARED_CHANCE,
    BadChance,
    ChoiceOption,
    Game,
    Illegal,
    NotAMove,
    NumberOption,
    Options,
    Outcome,
    Picture,
    Refusal,
    Seat,
    Span,
    State,
    placing,
)
from referee.games.trail import Audience, Lines, Trail

HAND = 9
"""Tiles dealt to a seat."""

SYMBOLS = range(8)
"""Sets of rings: the pip is worth 1, the small circle 2, the big circle 4."""

TILES = tuple((low, high) for low in SYMBOLS for high in range(low, 8))
"""From the lowest to the highest. A hand is a set of them, an integer with bit *i* for tile *i*."""

INDEX = {tile: number for number, tile in enumerate(TILES)}
INDEX.update({(high, low): number for (low, high), number in tuple(INDEX.items())})
"""By both orders of the symbols."""

NAMES = tuple(f"{low}-{high}" for low, high in TILES)
DOUBLES = sum(1 << INDEX[symbol, symbol] for symbol in SYMBOLS)

ANY = 0xFF
"""All symbols, as a set."""

ABOVE = tuple(sum(1 << (below | ring) for ring in (1, 2, 4) if not below & ring) for below in SYMBOLS)
"""What may lie on a symbol: the same rings and one more."""

BELOW = tuple(sum(1 << (above & ~ring) for ring in (1, 2, 4) if above & ring) for above in SYMBOLS)
"""What a symbol may lie on."""

_INKS = ("bright_red", "bright_blue", "bright_green", "bright_yellow")
_RINGS = tuple(
    "".join(mark if symbol & ring else " " for ring, mark in ((1, "."), (2, "o"), (4, "O")))
    for symbol in SYMBOLS
)
_MOVE = re.compile(r"([0-7])-([0-7])@(0|-?[1-9][0-9]*),(0|-?[1-9][0-9]*)")
_DIGITS = 9
"""Of a coordinate; what has more is as far from any tree as the largest of these."""

_FORM = "a tile and where its left half goes, such as `5-1@3,3`"

Slot = tuple[int, int]
"""Where a tile can lie: x and y of its left half, both even or both odd, as in a brick wall."""


class Laying(NamedTuple):
    """A move: the symbols from left to right, and the cell of the left one."""

    left: int
    right: int
    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.left}-{self.right}@{self.x},{self.y}"


class Spot(NamedTuple):
    """An empty slot that rests on something: what may lie in it."""

    left: int
    """Symbols that fit on the left, as a set."""
    right: int
    tiles: int
    """The tiles that fit, one way round or the other."""


@cache
def _spot(left: int, right: int) -> Spot:
    """There are only some dozens of them."""
    tiles = 0
    for number, (one, other) in enumerate(TILES):
        if (left >> one & right >> other | left >> other & right >> one) & 1:
            tiles |= 1 << number
    return Spot(left, right, tiles)


class Tree(NamedTuple):
    """The tiles that lie, and where the next ones can."""

    tiles: dict[Slot, tuple[int, int]]
    spots: dict[Slot, Spot]

    @classmethod
    def begun(cls, tile: int) -> Tree:
        """With its first tile at (0, 0)."""
        return cls({}, {}).laid(Laying(*TILES[tile], 0, 0))

    def laid(self, move: Laying) -> Tree:
        """With one tile more."""
        tiles = dict(self.tiles)
        tiles[move.x, move.y] = (move.left, move.right)
        spots = dict(self.spots)
        spots.pop((move.x, move.y), None)
        # Only the slots that touch the new tile know something new: two above it, and two holes below.
        for x in (move.x - 1, move.x + 1):
            for slot in ((x, move.y + 1), (x, move.y - 1)):
                if slot not in tiles and (slot[1] > move.y or slot in spots):
                    spots[slot] = _spot(*_fitting(tiles, *slot))
        return Tree(tiles, spots)

    def fits(self) -> int:
        """All tiles that can be laid somewhere."""
        found = 0
        for spot in self.spots.values():
            found |= spot.tiles
        return found

    def gives_extra_turn(self, x: int, y: int) -> bool:
        """Whether the tile in this slot rests on two tiles, or lies under one."""
        tiles = self.tiles
        if (x - 1, y - 1) in tiles and (x + 1, y - 1) in tiles:
            return True
        return (x - 1, y + 1) in tiles or (x + 1, y + 1) in tiles


def _fitting(tiles: Mapping[Slot, tuple[int, int]], x: int, y: int) -> tuple[int, int]:
    """The symbols that fit on the left and on the right of a slot. Each half touches one tile below and
    one above.
    """
    left = right = ANY
    if tile := tiles.get((x - 1, y - 1)):
        left &= ABOVE[tile[1]]
    if tile := tiles.get((x - 1, y + 1)):
        left &= BELOW[tile[1]]
    if tile := tiles.get((x + 1, y - 1)):
        right &= ABOVE[tile[0]]
    if tile := tiles.get((x + 1, y + 1)):
        right &= BELOW[tile[0]]
    return left, right


class Rules(NamedTuple):
    """What the states of one game share."""

    players: int
    deals: int
    only_first: bool
    """Whether the game is over when a seat has finished."""


class TreeState(State[Laying]):
    """A position: the tree, the hands, the supply, who has finished and who is out."""

    __slots__ = (
        *("acting", "dealt", "finished", "hands", "last", "out", "over", "passed", "rules"),
        *("supply", "trail", "tree"),
    )

    def __init__(
        self,
        rules: Rules,
        tree: Tree,
        hands: tuple[int, ...],
        supply: tuple[int, ...],
        dealt: int,
        finished: tuple[Seat, ...] = (),
        out: tuple[tuple[Seat, ...], ...] = (),
        trail: Trail | None = None,
    ) -> None:
        self.rules = rules
        self.tree = tree
        self.hands = hands
        self.supply = supply
        """The next tile first."""
        self.dealt = dealt
        """How often the tiles were dealt."""
        self.finished = finished
        """In order."""
        self.out = out
        """Those that left, in order, those that left at once together."""
        self.trail = trail or Trail()
        self.acting: Seat = CHANCE if rules.players > 1 else SHARED_CHANCE
        self.passed: frozenset[Seat] = frozenset()
        """Who has passed since a tile was last laid or drawn."""
        self.over = False
        self.last: Laying | None = None
        """What was laid last."""

    def in_play(self) -> list[Seat]:
        """The seats that have neither finished nor left."""
        gone = {*self.finished, *(seat for seats in self.out for seat in seats)}
        return [seat for seat in range(self.rules.players) if seat not in gone]

    def _copy(self, tree: Tree, hands: tuple[int, ...], finished: tuple[Seat, ...]) -> TreeState:
        state = TreeState(self.rules, tree, hands, self.supply, self.dealt, finished, self.out, self.trail)
        state.last = self.last
        return state

    def to_act(self) -> tuple[Seat, ...]:
        """The seat whose turn it is, chance before a deal, or nobody."""
        return () if self.over else (self.acting,)

    def read(self, seat: Seat, text: str) -> Laying:
        """`LEFT-RIGHT@X,Y`."""
        match = _MOVE.fullmatch(text.strip(" "))
        if not match:
            raise NotAMove(_FORM)
        left, right = int(match[1]), int(match[2])
        x, y = _coordinate(match[3]), _coordinate(match[4])
        tiles = self.tree.tiles
        if not self.hands[seat] >> INDEX[left, right] & 1:
            raise Illegal("not-in-hand", f"{left}-{right} is not in your hand")
        for cell in (x, x + 1):
            if (cell, y) in tiles or (cell - 1, y) in tiles:
                raise Illegal("occupied", f"a tile lies on {cell},{y}")
        where = shown(f"{match[3]},{match[4]}", 40)
        if (x + y) % 2:
            raise Illegal(
                "off-pattern", f"{where} is off the brick pattern, where x and y are both even or both odd"
            )
        if (x, y) not in self.tree.spots:
            raise Illegal("rests-on-nothing", f"at {where} the tile would rest on nothing")
        for symbol, near, half, place in (
            (left, (x - 1, y - 1), 1, "below left"),
            (right, (x + 1, y - 1), 0, "below right"),
            (left, (x - 1, y + 1), 1, "above left"),
            (right, (x + 1, y + 1), 0, "above right"),
        ):
            if near in tiles:
                other = tiles[near][half]
                above, below = (symbol, other) if near[1] < y else (other, symbol)
                if not ABOVE[below] >> above & 1:
                    raise Illegal("rings", f"the rings do not fit {place}: {above} cannot lie on {below}")
        return Laying(left, right, x, y)

    def write(self, move: Laying) -> str:
        """`LEFT-RIGHT@X,Y`."""
        return str(move)

    def play(self, moves: Mapping[Seat, Laying]) -> TreeState:
        """Lay a tile, and go on to the next seat that can."""
        seat = self.acting
        move = moves[seat]
        tree = self.tree.laid(move)
        hand = self.hands[seat] & ~(1 << INDEX[move.left, move.right])
        hands = (*self.hands[:seat], hand, *self.hands[seat + 1 :])
        state = self._copy(tree, hands, self.finished if hand else (*self.finished, seat))
        state.last = move
        told = [f"move {seat + 1} {move}"]
        if hand and tree.gives_extra_turn(move.x, move.y):
            return state._begin_turns(seat, told)
        if not hand:
            told.append(f"finished {seat + 1}")
        return state._begin_turns(state._after(seat), told)

    def _after(self, seat: Seat) -> Seat:
        """The seat whose turn comes after one's; any, if nobody is left."""
        playing = self.in_play()
        return next((other for other in playing if other > seat), playing[0] if playing else seat)

    def _begin_turns(self, seat: Seat, told: list[str]) -> TreeState:
        """Makes the turns of seats that cannot lay a tile, from `seat` on: the referee does that by itself.

        Changes this position, which nobody has seen yet, and returns it.
        """
        private: dict[int, tuple[Seat, str]] = {}
        fits = self.tree.fits()
        self.acting = seat
        while not self._ends(told):
            if self.hands[self.acting] & fits:
                break
            seat = self.acting
            if self.supply:
                tile, self.supply = self.supply[0], self.supply[1:]
                self.hands = (*self.hands[:seat], self.hands[seat] | 1 << tile, *self.hands[seat + 1 :])
                private[len(told)] = (seat, f" {NAMES[tile]}")
                told.append(f"drew {seat + 1}")
            else:
                told.append(f"passed {seat + 1}")
                self.passed |= {seat}
            self.acting = self._after(seat)
        self.trail = Trail(self.trail, partial(_news, tuple(told), private))
        return self

    def _ends(self, told: list[str]) -> bool:
        """Whether the game or the deal is at its end."""
        playing = self.in_play()
        solitaire = self.rules.players == 1
        if not playing or (len(playing) == 1 and not solitaire) or (self.finished and self.rules.only_first):
            self.over = True
        elif self.passed.issuperset(playing):
            told.append("blocked")
            self.over = bool(self.finished) or self.dealt == self.rules.deals
            self.acting = CHANCE  # another deal, if it is not over
            return True
        return self.over

    def legal(self, seat: Seat) -> Iterator[Laying]:
        """Row by row from below, each from the left, the lowest tile first."""
        hand = self.hands[seat]
        for x, y in sorted(self.tree.spots, key=lambda slot: (slot[1], slot[0])):
            spot = self.tree.spots[x, y]
            for tile in _tiles(spot.tiles & hand):
                for left, right in _ways(spot, tile):
                    yield Laying(left, right, x, y)

    def any_legal(self, seat: Seat) -> bool:
        """Whether there is a legal move."""
        return bool(self.hands[seat] & self.tree.fits())

    def sample(self, seat: Seat, rng: Random) -> Laying:
        """Uniform over tiles and places, then over the ways round."""
        hand = self.hands[seat]
        found = [(slot, spot) for slot, spot in self.tree.spots.items() if spot.tiles & hand]
        number = rng.below(sum((spot.tiles & hand).bit_count() for _, spot in found))
        for (x, y), spot in sorted(found):
            tiles = spot.tiles & hand
            if number < tiles.bit_count():
                tile = list(_tiles(tiles))[number]
                return Laying(*rng.choice(_ways(spot, tile)), x, y)
            number -= tiles.bit_count()
        raise ValueError("there is no legal move")

    def draw(self, rng: Random) -> str:
        """All tiles in the order in which they are dealt."""
        if self.acting >= 0 or self.over:
            raise BadChance(NOTHING_TO_DRAW)
        tiles = list(NAMES)
        rng.shuffle(tiles)
        return " ".join(tiles)

    def chance(self, text: str) -> TreeState:
        """Nine tiles to each seat in play, in the order of seats, the rest is the supply; the lowest double
        or else the lowest tile of all hands is laid.
        """
        if self.acting >= 0 or self.over:
            raise BadChance(NOTHING_TO_DRAW)
        names = text.split(" ")
        if sorted(names) != sorted(NAMES):
            raise BadChance(f"`{shown(text, 80)}` is not all tiles in some order")
        tiles = [NAMES.index(name) for name in names]
        playing = self.in_play()
        dealt = [0] * self.rules.players
        for seat in playing:
            dealt[seat] = sum(1 << tile for tile in tiles[:HAND])
            del tiles[:HAND]
        tile, opener = opening(dealt)
        # What a seat that is out had in hand stays aside.
        hands = [dealt[seat] if seat in playing else hand for seat, hand in enumerate(self.hands)]
        hands[opener] &= ~(1 << tile)
        state = self._copy(Tree.begun(tile), tuple(hands), ())
        state.supply = tuple(tiles)
        state.dealt = self.dealt + 1
        state.last = Laying(*TILES[tile], 0, 0)
        state.trail = Trail(self.trail, partial(_deal_news, state.dealt, tuple(dealt), len(tiles)))
        return state._begin_turns(state._after(opener), [f"opened {opener + 1} {state.last}"])

    def drop(self, seats: Iterable[Seat]) -> TreeState:
        """The position with these seats out; the others play on."""
        leaving = tuple(sorted(set(seats) & set(self.in_play())))
        state = self._copy(self.tree, self.hands, self.finished)
        state.out = (*self.out, leaving)
        state.passed = self.passed
        told = ["out " + " ".join(str(seat + 1) for seat in leaving)] if leaving else []
        if self.acting < 0:  # before a deal
            state.over = len(state.in_play()) < min(2, self.rules.players)
            state.trail = Trail(self.trail, partial(_news, tuple(told), {}))
            return state
        return state._begin_turns(self._after_those(leaving), told)

    def _after_those(self, leaving: tuple[Seat, ...]) -> Seat:
        """Whose turn it is when these seats leave."""
        staying = [seat for seat in self.in_play() if seat not in leaving]
        if self.acting in staying or not staying:
            return self.acting
        return next((seat for seat in staying if seat > self.acting), staying[0])

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/thetree.md` describes."""
        return self.trail.lines(seat)

    def outcome(self) -> Outcome | None:
        """Places in the order of finishing; those still in play share the next; who left first is last."""
        if not self.over:
            return None
        scores = tuple(hand.bit_count() for hand in self.hands)
        if self.rules.players == 1:
            left = f"{scores[0]} tiles are left in hand" if scores[0] != 1 else "1 tile is left in hand"
            if self.finished:
                return Outcome((1,), scores, "all tiles are laid")
            sentence = "seat 1 left the game" if self.out else f"seat 1 is at its end, {left}"
            return Outcome((2,), scores, sentence)
        playing = self.in_play()
        groups = [*([seat] for seat in self.finished), playing, *reversed(self.out)]
        ranks = placing(self.rules.players, groups)
        return Outcome(ranks, scores, self._sentence(playing))

    def _sentence(self, playing: list[Seat]) -> str:
        parts = []
        if self.finished:
            order = ", ".join(str(seat + 1) for seat in self.finished)
            parts.append(
                f"finished in this order: seats {order}" if self.finished[1:] else f"seat {order} finished"
            )
        if len(playing) > 1 and not (self.finished and self.rules.only_first):
            parts.append("the deal is blocked" if self.finished else f"deal {self.dealt} is blocked")
        if gone := sorted(seat + 1 for seats in self.out for seat in seats):
            parts.append(f"out: seats {', '.join(map(str, gone))}" if gone[1:] else f"seat {gone[0]} is out")
        return "; ".join(parts)

    def picture(self, seat: Seat | None) -> Picture:
        """The tree with its rings, `.` the pip, `o` the small circle, `O` the big one; hands as far as the
        seat knows them.
        """
        lines = self._tree_lines()
        for number, hand in enumerate(self.hands):
            if seat in (None, number):
                held = " ".join(NAMES[tile] for tile in _tiles(hand)) or "none"
            else:
                held = f"{hand.bit_count()} tiles"
            where = " (out)" if any(number in seats for seats in self.out) else ""
            lines.append([Span(f"seat {number + 1}{where}: ", _INKS[number]), Span(held)])
        lines.append([Span(f"supply: {len(self.supply)} tiles", "bright_black")])
        return lines

    def _tree_lines(self) -> Picture:
        """Two lines of text a row, the top row first; a half is five characters wide."""
        tiles = self.tree.tiles
        lines: Picture = []
        if not tiles:
            return lines
        first = min(x for x, _ in tiles)
        for y in range(max(y for _, y in tiles), -1, -1):
            numbers, rings = [Span(f"{y:>3} ", "bright_black")], [Span("    ")]
            at = first
            for x in sorted(x for x, row in tiles if row == y):
                blank = Span(" " * (5 * (x - at)))
                left, right = tiles[x, y]
                new = self.last and (x, y) == (self.last.x, self.last.y)
                ink = "bright_white" if new else ""
                edge = "<>" if new else "[]"
                numbers += [blank, Span(f"{edge[0]} {left}    {right} {edge[1]}", ink)]
                rings += [blank, Span(f"{edge[0]}{_RINGS[left]}  {_RINGS[right]}{edge[1]}", ink)]
                at = x + 2
            lines += [numbers, rings]
        lines.append([Span(f"< > laid last; the leftmost half is at x = {first}", "bright_black")])
        return lines


def _coordinate(text: str) -> int:
    """A number, however long. The last digit is kept: it tells odd from even."""
    if len(text) <= _DIGITS:
        return int(text)
    return int(text[: _DIGITS - 1] + text[-1])


def opening(hands: Sequence[int]) -> tuple[int, Seat]:
    """The tile that opens a deal, and the seat that lays it."""
    everything = 0
    for hand in hands:
        everything |= hand
    lowest = everything & DOUBLES or everything
    tile = next(_tiles(lowest))
    return tile, next(seat for seat, hand in enumerate(hands) if hand >> tile & 1)


def _tiles(hand: int) -> Iterator[int]:
    """The tiles of a hand, lowest first."""
    while hand:
        low = hand & -hand
        yield low.bit_length() - 1
        hand ^= low


def _ways(spot: Spot, tile: int) -> list[tuple[int, int]]:
    """How a tile fits into a spot: one way round, the other, or both."""
    low, high = TILES[tile]
    ways = [(low, high)] if low == high else [(low, high), (high, low)]
    return [(left, right) for left, right in ways if spot.left >> left & spot.right >> right & 1]


def _deal_news(number: int, hands: tuple[int, ...], supply: int, audience: Audience) -> Lines:
    lines = [f"deal {number} {supply}"]
    for seat, hand in enumerate(hands):
        if hand and audience in (None, seat):
            lines.append(f"hand {seat + 1} {' '.join(NAMES[tile] for tile in _tiles(hand))}")
    return tuple(lines)


def _news(told: Lines, private: Mapping[int, tuple[Seat, str]], audience: Audience) -> Lines:
    """Lines for all; what is private of some of them stands behind it, for those who may know."""
    if not private:
        return told
    lines = list(told)
    for number, (seat, more) in private.items():
        if audience in (None, seat):
            lines[number] += more
    return tuple(lines)


# --- Imagining -----------------------------------------------------------------------------------------

SUPPLY: Seat = -1
NOTHING = -1

SWAPS = 200
"""Tries at mixing tiles that could as well lie elsewhere."""

TRIES = 1000
"""At dealing so that the seat that is to move has a move."""


class _Place(NamedTuple):
    """Where a tile may have been from the start: in a hand, or in the supply until somebody drew it."""

    seat: Seat
    since: int
    """The event by which it came there, -1 for the deal."""


class _Deal:
    """What a seat was told of one deal, and which tiles can have been where.

    A seat that drew or passed had no tile that fitted anywhere. So a tile that would have fitted was not in
    its hand then, and a tile that it laid later and that would have fitted was drawn since.
    """

    def __init__(self, me: Seat, playing: Sequence[Seat]) -> None:
        self.me = me
        self.playing = playing
        self.own = 0
        """All tiles that this seat was dealt or drew, as a set."""
        self.hand = 0
        """Those that it was dealt."""
        self.draws: list[_Place] = []
        self.drawn: dict[_Place, int] = {}
        """What it drew itself."""
        self.laid: dict[int, tuple[Seat, int]] = {}
        """By tile, who laid it, and the event."""
        self.stuck: list[tuple[Seat, int, int]] = []
        """Who had no move, the event, and the tiles that would have fitted."""
        self.opening = 0
        self.events = 0
        self.tree = Tree({}, {})

    def take(self, words: list[str]) -> None:
        """The next line of news."""
        seat, event = int(words[1]) - 1, self.events
        self.events += 1
        match words[0]:
            case "hand":
                self.hand = self.own = sum(1 << NAMES.index(name) for name in words[2:])
            case "opened" | "move":
                move = Laying(*map(int, _MOVE.fullmatch(words[2]).groups()))  # type: ignore[union-attr]
                tile = INDEX[move.left, move.right]
                self.laid[tile] = (seat, event)
                self.tree = Tree.begun(tile) if words[0] == "opened" else self.tree.laid(move)
                self.opening = tile if words[0] == "opened" else self.opening
            case "drew" | "passed":
                self.stuck.append((seat, event, self.tree.fits()))
                if words[0] == "drew":
                    self.draws.append(_Place(seat, event))
                if len(words) > 2:
                    self.drawn[self.draws[-1]] = NAMES.index(words[2])
                    self.own |= 1 << self.drawn[self.draws[-1]]

    def possible(self, tile: int, place: _Place) -> bool:
        """Whether a tile can have been in a place."""
        seat, gone = self.laid.get(tile, (None, self.events))
        if seat is not None and (place.seat != seat or place.since >= gone):
            return False
        if place.since < 0 and place.seat != SUPPLY and tile != self.opening:
            lower = tile < self.opening
            doubled = bool(DOUBLES >> self.opening & 1)
            if (lower and not doubled) or (DOUBLES >> tile & 1 and (lower or not doubled)):
                return False
        return not any(
            who == place.seat and place.since < event < gone and fits >> tile & 1
            for who, event, fits in self.stuck
        )

    def order(self, rng: Random) -> str:
        """All tiles in an order of dealing that agrees, at random. Raises `ValueError`."""
        tiles, places, fits = self._puzzle
        lies = _mixed(tiles, len(places), fits, rng)
        found: dict[_Place, list[int]] = {}
        for place, tile in zip(places, lies, strict=True):
            found.setdefault(place, []).append(tile)
        dealt: list[int] = []
        for seat in self.playing:
            dealt += _tiles(self.hand) if seat == self.me else found[_Place(seat, -1)]
        for place in self.draws:
            dealt.append(self.drawn[place] if place in self.drawn else found[place][0])
        dealt += found.get(_Place(SUPPLY, -1), [])
        return " ".join(NAMES[tile] for tile in dealt)

    @cached_property
    def _puzzle(self) -> tuple[list[int], list[_Place], list[list[bool]]]:
        """Tiles that are hidden or were, places they came from, and by both whether it is possible."""
        others = [seat for seat in self.playing if seat != self.me]
        places = [_Place(seat, -1) for seat in others for _ in range(HAND)]
        places += [place for place in self.draws if place.seat != self.me]
        tiles = [tile for tile in range(len(TILES)) if not self.own >> tile & 1]
        places += [_Place(SUPPLY, -1)] * (len(tiles) - len(places))
        fits = [[self.possible(tile, place) for place in places] for tile in range(len(TILES))]
        return tiles, places, fits


def _mixed(tiles: Sequence[int], places: int, fits: Sequence[Sequence[bool]], rng: Random) -> list[int]:
    """A tile for every place: first any that is possible, by augmenting paths, then swapped about."""
    order = list(range(places))
    rng.shuffle(order)
    mixed = list(tiles)
    rng.shuffle(mixed)
    lies = [NOTHING] * places

    def find(tile: int, tried: set[int]) -> bool:
        for at in order:
            if fits[tile][at] and at not in tried:
                tried.add(at)
                if lies[at] == NOTHING or find(lies[at], tried):
                    lies[at] = tile
                    return True
        return False

    if not all(find(tile, set()) for tile in mixed):
        raise ValueError("nothing agrees with what the seat was told")
    for _ in range(SWAPS if places > 1 else 0):
        one, other = rng.below(places), rng.below(places)
        if fits[lies[one]][other] and fits[lies[other]][one]:
            lies[one], lies[other] = lies[other], lies[one]
    return lies


@lru_cache(maxsize=8)  # a search asks again and again for the same
def _deals(players: int, seat: Seat, seen: Lines) -> tuple[_Deal, ...]:
    """What a seat was told, deal by deal."""
    playing = list(range(players))
    deals: list[_Deal] = []
    for line in seen:
        words = line.split(" ")
        if words[0] == "out":
            playing = [other for other in playing if str(other + 1) not in words[1:]]
        elif words[0] == "deal":
            deals.append(_Deal(seat, playing))
        elif words[0] != "blocked":
            deals[-1].take(words)
    return tuple(deals)


class TheTree(Game[Laying]):
    """The rules of The Tree."""

    slug = "thetree"
    name = "The Tree"
    rules = 1
    is_open = False
    seats_text = "1 to 4"
    options = (
        NumberOption("players", 1, 4, 2, "seats"),
        NumberOption("deals", 1, 100, None, "how often a blocked game is dealt; 10, or 1 with one player"),
        ChoiceOption("places", ("all", "first"), "play on for the other places, or stop at the first"),
    )
    clock = TimeControl.parse("60s+300s")
    summary = (
        "Each of one to four seats holds nine tiles of a double-seven set, hidden from the others. A\n"
        "symbol is a set of rings: the pip is worth 1, the small circle 2, the big circle 4. A tile is\n"
        "laid above others like a brick in a wall, so that every symbol has the rings of the symbol\n"
        "below and one more. A tile that rests on two, or is pushed into a hole, gives another turn. Who\n"
        "has no move draws a tile. Who has laid the last tile of its hand takes the best place. A seat\n"
        "that plays alone wins if it lays all of them."
    )
    notation = (
        "`5-1@3,3`: the symbols from left to right, and x and y of the left half. The first tile has its\n"
        "left half at 0,0; x and y are both even or both odd."
    )

    def settle(self, given: Mapping[str, str]) -> Options:
        """With one player there is one deal."""
        options = super().settle(given)
        if options["players"] == 1 and options["deals"] != 1:
            raise GameOptionError(f"option `deals` is `{options['deals']}`, expected 1 with one player")
        return options

    def default_of(self, name: str, settled: Options) -> int:
        """Ten deals, or one with one player."""
        return 1 if settled["players"] == 1 else 10

    def seats(self, options: Options) -> int:
        """As many as there are players."""
        return int(options["players"])

    def longest(self, options: Options) -> int:
        """Every tile but the first of every deal."""
        return int(options["deals"]) * (len(TILES) - 1)

    def start(self, options: Options) -> TreeState:
        """Before the first deal."""
        rules = Rules(int(options["players"]), int(options["deals"]), options["places"] == "first")
        return TreeState(rules, Tree({}, {}), (0,) * rules.players, (), 0)

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> TreeState:
        """Deals the tiles again so that all that was laid, drawn and passed could have happened."""
        deals = _deals(self.seats(options), seat, tuple(seen))
        # A seat that is to move, or was when it left, has a move; only trying makes sure of that.
        for _ in range(TRIES):
            with suppress(Refusal):
                if (found := self._played(options, seen, deals, rng)).seen(seat) == tuple(seen):
                    return found
        raise ValueError("nothing agrees with what the seat was told")

    def _played(
        self, options: Options, seen: Sequence[str], deals: Iterable[_Deal], rng: Random
    ) -> TreeState:
        """The game as it was seen, with the tiles dealt at random where they are hidden."""
        state = self.start(options)
        waiting = iter(deals)
        for line in seen:
            words = line.split(" ")
            if words[0] == "deal":
                state = state.chance(next(waiting).order(rng))
            elif words[0] == "move":
                state = state.play({state.acting: state.read(state.acting, words[2])})
            elif words[0] == "out":
                state = state.drop(int(number) - 1 for number in words[1:])
        return state
