"""The Tree as numbers: a tile in its orientation is an action, then the slot where it goes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, Reading, acts, one_hot
from referee.games.api import Options, Seat
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import HAND, INDEX, TILES, Laying, Slot

_SYMBOLS = 8
_WAYS = _SYMBOLS * _SYMBOLS
_ROWS = len(TILES)
_COLUMNS = 2 * _ROWS
"""The tree rises by a row and by a column to either side with each tile at most."""
_SEATS = 4

_SLOTS = [(x, y) for y in range(1, _ROWS) for x in range(-y, y + 1, 2)]
"""All slots that a tile of some tree can lie in, from below and from the left."""
_PLACES: dict[Slot, int] = {slot: place for place, slot in enumerate(_SLOTS)}


class TheTreeEncoding(Encoding[TreeState]):
    """The first 64 actions are a tile in an orientation, 8 × the left symbol + the right one; the others are
    the slots, row by row from below, each row from the left.
    """

    def __init__(self, options: Options) -> None:
        self._seats = int(options["players"])
        self._deals = int(options["deals"])
        self._reading = Reading(partial(_KnownDeal, self._seats))
        self.actions = _WAYS + len(_SLOTS)
        each = "by seat, the seat's own first"
        self.parts = (
            ObservationPart(
                "tree",
                (4, _ROWS, _COLUMNS),
                "cells with a tile, and those with a pip, a small and a big circle; rows from the bottom, "
                f"with cell 0,0 in column {_ROWS - 1}",
            ),
            ObservationPart("hand", (len(TILES),), "the tiles in hand, lowest first"),
            ObservationPart("laid", (len(TILES),), "the tiles in the tree"),
            ObservationPart("tiles", (_SEATS,), f"number of tiles in hand, as a fraction of all; {each}"),
            ObservationPart("supply", (1,), "number of tiles in the supply, as a fraction of all"),
            ObservationPart("passed", (_SEATS,), f"who has passed since a tile was laid or drawn; {each}"),
            ObservationPart("finished", (_SEATS,), f"who has finished; {each}"),
            ObservationPart("out", (_SEATS,), f"who is out; {each}"),
            ObservationPart("deal", (1,), "deals so far, as a fraction of the maximum"),
            ObservationPart("chosen", (_WAYS,), "the tile of the unfinished move"),
            TO_ACT,
        )

    def legal(self, state: TreeState, seat: Seat, begun: Begun) -> list[Action]:
        """Tiles of the hand that fit somewhere, then the slots where the tile fits."""
        moves = state.legal(seat)
        if not begun:
            return sorted({_way(move) for move in moves})
        return sorted(_WAYS + _PLACES[move.x, move.y] for move in moves if _way(move) == begun[0])

    def move(self, state: TreeState, seat: Seat, begun: Begun) -> Laying | None:
        """A tile with its slot."""
        if len(begun) < 2:
            return None
        way, place = begun
        return Laying(*divmod(way, _SYMBOLS), *_SLOTS[place - _WAYS])

    def spelled(self, state: TreeState, seat: Seat, move: Laying) -> Begun:
        """The tile, then its slot."""
        return _way(move), _WAYS + _PLACES[move.x, move.y]

    def values(self, state: TreeState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """What follows from the news of the seat."""
        known = self._reading.known(seat, state.seen(seat))
        order = [(seat + number) % self._seats for number in range(self._seats)]

        def by_seat(values: Sequence[float]) -> list[float]:
            return [*(values[other] for other in order), *[0.0] * (_SEATS - self._seats)]

        return {
            "tree": known.tree,
            "hand": known.hand,
            "laid": known.laid,
            "tiles": by_seat([count / len(TILES) for count in known.tiles]),
            "supply": known.supply / len(TILES),
            "passed": by_seat(known.passed),
            "finished": by_seat(known.finished),
            "out": by_seat(known.out),
            "deal": known.deals / self._deals,
            "chosen": one_hot(begun[0] if begun else -1, _WAYS),
            "to_act": acts(state, seat),
        }


def _way(move: Laying) -> Action:
    return _SYMBOLS * move.left + move.right


class _KnownDeal:
    """What a seat knows of the deal in progress, from its news."""

    def __init__(self, seats: int, seat: Seat) -> None:
        self._seat = seat
        self.out = [0] * seats
        self.deals = 0
        self._deal(0)

    def _deal(self, supply: int) -> None:
        seats = len(self.out)
        self.tree = np.zeros((4, _ROWS, _COLUMNS), np.float32)
        self.hand, self.laid = ([0] * len(TILES) for _ in range(2))
        self.tiles = [0 if out else HAND for out in self.out]
        self.passed, self.finished = [0] * seats, [0] * seats
        self.supply = supply

    def hear(self, words: list[str]) -> None:
        seats = [int(word) - 1 for word in words[1:2]]
        match words:
            case ["deal", number, supply]:
                self.deals = int(number)
                self._deal(int(supply))
            case ["hand", _, *names]:
                for name in names:
                    self.hand[_tile(name)] = 1
            case ["opened" | "move", _, text]:
                self._lay(seats[0], Laying.parse(text))
            case ["drew", _, *names]:
                self.tiles[seats[0]] += 1
                self.supply -= 1
                self.passed = [0] * len(self.passed)
                for name in names:
                    self.hand[_tile(name)] = 1
            case ["passed", _]:
                self.passed[seats[0]] = 1
            case ["finished", _]:
                self.finished[seats[0]] = 1
            case ["out", *numbers]:
                for number in numbers:
                    self.out[int(number) - 1] = 1

    def _lay(self, seat: Seat, move: Laying) -> None:
        for x, symbol in ((move.x, move.left), (move.x + 1, move.right)):
            rings = (1, symbol & 1, symbol >> 1 & 1, symbol >> 2)
            self.tree[:, move.y, x + _ROWS - 1] = rings
        self.laid[move.tile] = 1
        self.tiles[seat] -= 1
        self.passed = [0] * len(self.passed)
        if seat == self._seat:
            self.hand[move.tile] = 0


def _tile(name: str) -> int:
    return INDEX[int(name[0]), int(name[2])]
