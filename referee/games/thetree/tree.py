"""The tree and its tiles: which symbol may lie on which, where tiles fit, and how moves are written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from referee.core.computed import Computed
from referee.core.text import shown
from referee.games.api import Illegal, NotAMove, Seat

HAND = 9  # tiles dealt to a seat

SYMBOLS = range(8)  # sets of rings: the pip is worth 1, the small circle 2, the big circle 4

TILES = tuple((low, high) for low in SYMBOLS for high in range(low, 8))
"""All tiles, from the lowest to the highest. A hand is a set of them, an integer with bit *i* for tile *i*.
"""

INDEX = {tile: number for number, tile in enumerate(TILES)}
INDEX.update({(high, low): number for (low, high), number in tuple(INDEX.items())})
"""Tile numbers by both orders of the symbols."""

NAMES = tuple(f"{low}-{high}" for low, high in TILES)
DOUBLES = sum(1 << INDEX[symbol, symbol] for symbol in SYMBOLS)

ANY = 0xFF  # all symbols, as a set

ABOVE = tuple(sum(1 << (below | ring) for ring in (1, 2, 4) if not below & ring) for below in SYMBOLS)
"""By symbol, the set of symbols that may lie on it: the same rings and one more."""

BELOW = tuple(sum(1 << (above & ~ring) for ring in (1, 2, 4) if above & ring) for above in SYMBOLS)
"""By symbol, the set of symbols that it may lie on."""


def tiles_of(hand: int) -> Iterator[int]:
    """The tiles of a hand, lowest first."""
    while hand:
        low = hand & -hand
        yield low.bit_length() - 1
        hand ^= low


def opening(hands: Sequence[int]) -> tuple[int, Seat]:
    """The tile that opens a deal, and the seat that lays it."""
    all_hands = 0
    for hand in hands:
        all_hands |= hand
    lowest = all_hands & DOUBLES or all_hands
    tile = next(tiles_of(lowest))
    return tile, next(seat for seat, hand in enumerate(hands) if hand >> tile & 1)


_MOVE = re.compile(r"([0-7])-([0-7])@(0|-?[1-9][0-9]*),(0|-?[1-9][0-9]*)")
_DIGITS = 9  # digits of a coordinate that are used; any longer one is outside of every possible tree

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

    @classmethod
    def parse(cls, text: str) -> Laying:
        """Parses `LEFT-RIGHT@X,Y`. Raises `NotAMove`."""
        match = _MOVE.fullmatch(text)
        if not match:
            raise NotAMove(_FORM)
        return cls(int(match[1]), int(match[2]), _coordinate(match[3]), _coordinate(match[4]))

    @property
    def tile(self) -> int:
        """Its number among all tiles."""
        return INDEX[self.left, self.right]


def _coordinate(text: str) -> int:
    """The value of a coordinate; a long one is cut, but keeps its last digit, and so its parity."""
    if len(text) <= _DIGITS:
        return int(text)
    return int(text[: _DIGITS - 1] + text[-1])


class Spot(NamedTuple):
    """An empty slot that rests on a tile, and what may lie in it."""

    left: int  # the symbols that fit on the left, as a set
    right: int
    tiles: int  # the tiles that fit in either orientation, as a set

    def ways(self, tile: int) -> tuple[tuple[int, int], ...]:
        """The orientations in which a tile fits."""
        return _WAYS[self.left, self.right, tile]


def _ways(place: tuple[int, int, int]) -> tuple[tuple[int, int], ...]:
    left, right, tile = place
    low, high = TILES[tile]
    ways = [(low, high)] if low == high else [(low, high), (high, low)]
    return tuple((one, other) for one, other in ways if left >> one & right >> other & 1)


_WAYS = Computed(_ways)
"""The orientations in which a tile fits, by the symbols that fit on the left and the right, and the tile."""


def _spot(symbols: tuple[int, int]) -> Spot:
    left, right = symbols
    tiles = 0
    for number, (one, other) in enumerate(TILES):
        if (left >> one & right >> other | left >> other & right >> one) & 1:
            tiles |= 1 << number
    return Spot(left, right, tiles)


_SPOTS = Computed(_spot)
"""Spots by the symbols that fit on the left and on the right; only some dozens are possible."""


class Tree(NamedTuple):
    """The tiles laid, and the slots for further tiles. It changes in place."""

    tiles: dict[Slot, tuple[int, int]]
    spots: dict[Slot, Spot]
    open: dict[Slot, int]
    """The slots in which any tile fits, with these tiles as a set."""

    @classmethod
    def begun(cls, tile: int) -> Tree:
        """The tree of one tile at (0, 0)."""
        tree = cls({}, {}, {})
        tree.lay(Laying(*TILES[tile], 0, 0))
        return tree

    def copy(self) -> Tree:
        """Another tree that is the same."""
        return Tree(self.tiles.copy(), self.spots.copy(), self.open.copy())

    def lay(self, move: Laying) -> bool:
        """Lays a tile. Returns whether it gives an extra turn: it rests on two tiles, or lies under one."""
        left, right, x, y = move
        tiles, spots, open_slots = self
        tiles[x, y] = (left, right)
        spots.pop((x, y), None)
        open_slots.pop((x, y), None)
        # Only slots that touch the new tile change: two above it, and two holes below.
        rests, is_covered = 0, False
        for slot, fits_left, fits_right in (
            ((x - 1, y + 1), ANY, ABOVE[left]),
            ((x + 1, y + 1), ABOVE[right], ANY),
            ((x - 1, y - 1), ANY, BELOW[left]),
            ((x + 1, y - 1), BELOW[right], ANY),
        ):
            if slot in tiles:
                if slot[1] > y:
                    is_covered = True
                else:
                    rests += 1
                continue
            if spot := spots.get(slot):
                spot = _SPOTS[spot[0] & fits_left, spot[1] & fits_right]
            elif slot[1] > y:
                spot = _SPOTS[_under(tiles, slot, fits_left, fits_right)]
            else:
                continue
            spots[slot] = spot
            if fitting := spot[2]:
                open_slots[slot] = fitting
            else:
                open_slots.pop(slot, None)
        return is_covered or rests == 2

    def gives_turn(self, x: int, y: int) -> bool:
        """Whether a tile in an empty slot gives an extra turn."""
        tiles = self.tiles
        above = (x - 1, y + 1) in tiles or (x + 1, y + 1) in tiles
        return above or ((x - 1, y - 1) in tiles and (x + 1, y - 1) in tiles)

    def fits(self) -> int:
        """The tiles that can be laid somewhere, as a set."""
        found = 0
        for tiles in self.open.values():
            found |= tiles
        return found

    def check(self, move: Laying, where: str) -> None:
        """Raises `Illegal` with the first reason why a tile cannot lie there; `where` is how the bot wrote
        its place.
        """
        left, right, x, y = move
        for cell in (x, x + 1):
            if (cell, y) in self.tiles or (cell - 1, y) in self.tiles:
                raise Illegal("occupied", f"a tile lies on {cell},{y}")
        where = shown(where, 40)
        if (x + y) % 2:
            raise Illegal(
                "off-pattern", f"{where} is off the brick pattern, where x and y are both even or both odd"
            )
        if (x, y) not in self.spots:
            raise Illegal("rests-on-nothing", f"at {where} the tile would rest on nothing")
        for symbol, near, half, place in (
            (left, (x - 1, y - 1), 1, "below left"),
            (right, (x + 1, y - 1), 0, "below right"),
            (left, (x - 1, y + 1), 1, "above left"),
            (right, (x + 1, y + 1), 0, "above right"),
        ):
            if near in self.tiles:
                other = self.tiles[near][half]
                above, below = (symbol, other) if near[1] < y else (other, symbol)
                if not ABOVE[below] >> above & 1:
                    raise Illegal("rings", f"the rings do not fit {place}: {above} cannot lie on {below}")


def _under(tiles: Mapping[Slot, tuple[int, int]], slot: Slot, left: int, right: int) -> tuple[int, int]:
    """Those of some symbols that fit on the left and on the right of a slot under the tiles above it, each of
    which touches one half.
    """
    x, y = slot
    if tile := tiles.get((x - 1, y + 1)):
        left &= BELOW[tile[1]]
    if tile := tiles.get((x + 1, y + 1)):
        right &= BELOW[tile[0]]
    return left, right
