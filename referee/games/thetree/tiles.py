"""The tiles of The Tree: their symbols, which symbol may lie on which, and sets of tiles. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.api import Seat

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
