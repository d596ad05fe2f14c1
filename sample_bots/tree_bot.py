"""Plays The Tree one tile deep: rates the tree after each move, for its own hand and for the others'.

It keeps the tree and its hand from the news. It prefers moves that give an extra turn that it can use, a tree
on which much of its own hand and little of the unseen tiles fits, and to lay tiles that rarely fit.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from referee.protocol.bot import Game, play

Tile = tuple[int, int]  # the lower symbol first
TILES = [(low, high) for low in range(8) for high in range(low, 8)]

# The weights for rating a move.
AGAIN = 3.0  # an extra turn with a legal move
DRAW = 2.0  # subtracted where it will have to draw a tile
OWN = 4.0  # the share of its own hand that fits somewhere
OTHERS = 2.0  # subtracted: the share of the unseen tiles that fits somewhere
RARE = 1.3  # each ring that the tile lacks: symbols with few rings fit on few others


class Move(NamedTuple):
    """A tile in its orientation, and the cell of its left half."""

    left: int
    right: int
    x: int
    y: int

    @property
    def tile(self) -> Tile:
        return min(self.left, self.right), max(self.left, self.right)

    def __str__(self) -> str:
        return f"{self.left}-{self.right}@{self.x},{self.y}"


def read_tile(text: str) -> Tile:
    return int(text[0]), int(text[2])


def read_move(text: str) -> Move:
    tile, _, cell = text.partition("@")
    x, _, y = cell.partition(",")
    return Move(*read_tile(tile), int(x), int(y))


@cache
def symbols(below: int | None, above: int | None) -> frozenset[int]:
    """The symbols that fit between two halves; either can be missing."""
    found = set(range(8))
    if below is not None:
        found &= {below | ring for ring in (1, 2, 4) if not below & ring}
    if above is not None:
        found &= {above & ~ring for ring in (1, 2, 4) if above & ring}
    return frozenset(found)


@cache
def tiles(left: frozenset[int], right: frozenset[int]) -> frozenset[Tile]:
    """The tiles with one of these symbols on the left and one of those on the right."""
    return frozenset((min(one, other), max(one, other)) for one in left for other in right)


class Table:
    """What this seat knows of a deal."""

    def __init__(self, supply: int) -> None:
        self.supply = supply  # the number of tiles in it
        self.halves: dict[tuple[int, int], int] = {}
        self.hand: set[Tile] = set()
        self.unseen = set(TILES)  # in other hands or in the supply

    def hear(self, kind: str, rest: list[str]) -> None:
        """Follows a line of news."""
        if kind in ("opened", "move"):
            move = read_move(rest[1])
            self.put(move)
            self.hand.discard(move.tile)
            self.unseen.discard(move.tile)
        elif kind in ("hand", "drew"):
            # Which tile another seat drew is not reported.
            self.hand |= {read_tile(text) for text in rest[1:]}
            self.unseen -= self.hand
            self.supply -= kind == "drew"

    def put(self, move: Move) -> None:
        self.halves[move.x, move.y] = move.left
        self.halves[move.x + 1, move.y] = move.right

    def spots(self) -> dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]]:
        """The cells for the left half of a tile, with the symbols that fit on its left and on its right."""
        get = self.halves.get
        found = {}
        for x, y in self.halves:
            # Of the two cells that could hold a tile over a half, only one is on the brick pattern.
            x, y = x - (x + y + 1) % 2, y + 1
            if (x, y) not in self.halves:
                left = symbols(get((x, y - 1)), get((x, y + 1)))
                found[x, y] = left, symbols(get((x + 1, y - 1)), get((x + 1, y + 1)))
        return found

    def moves(self) -> Iterator[Move]:
        for (x, y), (lefts, rights) in self.spots().items():
            for low, high in sorted(tiles(lefts, rights) & self.hand):
                for left, right in {(low, high), (high, low)}:
                    if left in lefts and right in rights:
                        yield Move(left, right, x, y)

    def worth(self, move: Move, alone: bool) -> float:
        """The value of the table after a move; more is better."""
        down, up = ([(move.x + dx, move.y + dy) in self.halves for dx in (0, 1)] for dy in (-1, 1))
        again, hand = all(down) or any(up), self.hand - {move.tile}
        self.put(move)
        fitting = {tile for spot in self.spots().values() for tile in tiles(*spot)}
        del self.halves[move.x, move.y], self.halves[move.x + 1, move.y]
        own = len(hand & fitting) / max(1, len(hand))
        others = len(self.unseen & fitting) / max(1, len(self.unseen))
        rings = move.left.bit_count() + move.right.bit_count()
        value = OWN * own + RARE * (6 - rings) - (0 if alone else OTHERS * others)
        if again and own:
            value += AGAIN
        elif (again or alone) and not own and self.supply:
            value -= DRAW
        return value


table = Table(0)


def choose(game: Game) -> str:
    global table
    for line in game.fresh:
        kind, *rest = line.split()
        if kind == "deal":
            table = Table(int(rest[1]))
        table.hear(kind, rest)
    moves = sorted(table.moves())
    game.random.shuffle(moves)
    worths = {move: table.worth(move, alone=game.seats == 1) for move in moves}
    best = max(moves, key=worths.__getitem__)
    game.info(f"score {worths[best]:.1f} of {len(moves)} moves")
    return str(best)


play(choose, only="thetree")
