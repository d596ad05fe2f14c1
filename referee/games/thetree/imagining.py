"""A random full position of The Tree that is consistent with the news of a seat. Pure.

From what the seat observed follows in which places each hidden tile can have been; there they are dealt anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from referee.core.seeds import Random
from referee.games.api import Refusal, Seat
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import DOUBLES, HAND, NAMES, TILES, Laying, Tree, tiles_of
from referee.games.trail import TrailLines

SUPPLY: Seat = -1


class TilePlace(NamedTuple):
    """Where a tile was dealt to: a hand, or the supply, perhaps until a seat drew it."""

    seat: Seat
    since: int  # the event at which it was drawn, -1 for the deal


@dataclass(slots=True)
class Deal:
    """What a seat observed of one deal, line by line.

    A seat that drew or passed had no tile that fitted anywhere. So a tile that would have fitted was not in
    its hand then, and a tile that it laid later and that would have fitted was drawn since.
    """

    seat: Seat
    playing: tuple[Seat, ...]
    hand: int = 0  # what the seat was dealt, as a set of tiles
    draws: list[TilePlace] = field(default_factory=list)
    drawn: dict[TilePlace, int] = field(default_factory=dict)  # the tiles that it drew itself
    laid: dict[int, tuple[Seat, int]] = field(default_factory=dict)
    """By tile, the seat that laid it, and the event."""
    stuck: list[tuple[Seat, int, int]] = field(default_factory=list)
    """Seats that had no move, each with the event and the tiles that would have fitted."""
    opening: int = 0
    events: int = 0
    tree: Tree = field(default_factory=lambda: Tree({}, {}, {}))

    def take(self, words: list[str]) -> None:
        """Takes the words of the next line."""
        seat, event = int(words[1]) - 1, self.events
        self.events += 1
        match words[0]:
            case "hand":
                self.hand = sum(1 << NAMES.index(name) for name in words[2:])
            case "opened" | "move":
                move = Laying.parse(words[2])
                self.laid[move.tile] = (seat, event)
                if words[0] == "opened":
                    self.opening, self.tree = move.tile, Tree.begun(move.tile)
                else:
                    self.tree.lay(move)
            case "drew" | "passed":
                self.stuck.append((seat, event, self.tree.fits()))
                if words[0] == "drew":
                    self.draws.append(TilePlace(seat, event))
                if len(words) > 2:
                    self.drawn[self.draws[-1]] = NAMES.index(words[2])

    def is_own(self, tile: int) -> bool:
        """Whether the seat itself was dealt a tile or drew it."""
        return bool(self.hand >> tile & 1) or tile in self.drawn.values()

    def possible(self, tile: int, place: TilePlace) -> bool:
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


def read(players: int, seat: Seat, seen: Sequence[str]) -> tuple[Deal, ...]:
    """The observations, deal by deal. Raises `ValueError` or `LookupError` for impossible lines."""
    playing = tuple(range(players))
    deals: list[Deal] = []
    for line in seen:
        words = line.split(" ")
        if words[0] == "out":
            playing = tuple(other for other in playing if str(other + 1) not in words[1:])
        elif words[0] == "deal":
            deals.append(Deal(seat, playing))
        elif words[0] != "blocked":
            deals[-1].take(words)
    return tuple(deals)


_NOTHING = -1

SWAPS = 200  # random swaps of hidden tiles after a first consistent deal is found

TRIES = 1000  # deals that are tried until the seat to move has a move


def imagined(start: TreeState, seat: Seat, seen: Sequence[str], rng: Random) -> TreeState:
    """The observed game, with hidden tiles dealt at random so that all moves, draws and passes in the news
    are possible. Raises `ValueError` where there is no such deal.
    """
    lines = tuple(seen)
    begins = [at for at, line in enumerate(lines) if line.startswith("deal ")]
    try:
        hidden_deals = _hidden_deals(start.table.rules.players, seat, lines)
        state = _played(start, seat, lines[: min(begins, default=len(lines))], 0)
        for hidden_deal, begin, end in zip(hidden_deals, begins, [*begins[1:], len(lines)], strict=True):
            state = _dealt(state, hidden_deal, lines[:end], begin, rng)
    except (Refusal, LookupError, ValueError) as error:
        raise ValueError("no position is consistent with the news") from error
    return state


def _dealt(
    state: TreeState, hidden_deal: _HiddenDeal, lines: TrailLines, begin: int, rng: Random
) -> TreeState:
    """The position after one more deal. Raises `Refusal` or `ValueError` for impossible lines."""
    # A seat that is to move, or was when it left, has a move; this can only be checked by playing.
    for _ in range(TRIES):
        with suppress(_NoMove):
            dealt = state.chance(hidden_deal.order(rng))
            return _played(dealt, hidden_deal.deal.seat, lines, begin + 1)
    raise ValueError("a seat that was asked has no move")


class _NoMove(Exception):
    """This deal of the hidden tiles is inconsistent: a seat that was asked could not have moved."""


def _played(state: TreeState, seat: Seat, lines: TrailLines, at: int) -> TreeState:
    """The position after the news from a line on. Raises `_NoMove`, or `Refusal` or `ValueError` for
    impossible lines.
    """
    for number in range(at, len(lines)):
        words = lines[number].split(" ")
        if words[0] == "move":
            acting = state.table.acting
            state = state.play({acting: state.read(acting, words[2])})
        elif words[0] == "out":
            _compare(state.seen(seat), lines[:number])
            state = state.drop(int(text) - 1 for text in words[1:])
    _compare(state.seen(seat), lines)
    return state


def _compare(found: TrailLines, told: TrailLines) -> None:
    """Raises `ValueError` or `_NoMove` where the news of a position differ from those of the seat."""
    if found[: len(told)] != told:
        raise ValueError("the game continues differently from the news")
    if len(found) > len(told):
        raise _NoMove


@dataclass(frozen=True, slots=True)
class _HiddenDeal:
    """A deal, with the tiles that are or were hidden from the seat, and the places they came from."""

    deal: Deal
    tiles: tuple[int, ...]
    places: tuple[TilePlace, ...]
    fits: tuple[tuple[bool, ...], ...]  # by tile and place, whether the tile can have been there

    @classmethod
    def of(cls, deal: Deal) -> _HiddenDeal:
        others = [seat for seat in deal.playing if seat != deal.seat]
        places = [TilePlace(seat, -1) for seat in others for _ in range(HAND)]
        places += [place for place in deal.draws if place.seat != deal.seat]
        tiles = tuple(tile for tile in range(len(TILES)) if not deal.is_own(tile))
        places += [TilePlace(SUPPLY, -1)] * (len(tiles) - len(places))
        fits = tuple(tuple(deal.possible(tile, place) for place in places) for tile in range(len(TILES)))
        return cls(deal, tiles, tuple(places), fits)

    def order(self, rng: Random) -> str:
        """A random consistent order of all tiles for dealing. Raises `ValueError` where there is none."""
        deal = self.deal
        lies = _mixed(self.tiles, len(self.places), self.fits, rng)
        found: dict[TilePlace, list[int]] = {}
        for place, tile in zip(self.places, lies, strict=True):
            found.setdefault(place, []).append(tile)
        dealt: list[int] = []
        for seat in deal.playing:
            dealt += tiles_of(deal.hand) if seat == deal.seat else found[TilePlace(seat, -1)]
        for place in deal.draws:
            dealt.append(deal.drawn[place] if place in deal.drawn else found[place][0])
        dealt += found.get(TilePlace(SUPPLY, -1), [])
        return " ".join(NAMES[tile] for tile in dealt)


@lru_cache(maxsize=8)  # a search repeats the same call
def _hidden_deals(players: int, seat: Seat, seen: TrailLines) -> tuple[_HiddenDeal, ...]:
    return tuple(map(_HiddenDeal.of, read(players, seat, seen)))


def _mixed(tiles: Sequence[int], places: int, fits: Sequence[Sequence[bool]], rng: Random) -> list[int]:
    """A tile for every place: a first assignment by augmenting paths, then random swaps."""
    order = list(range(places))
    rng.shuffle(order)
    mixed = list(tiles)
    rng.shuffle(mixed)
    lies = [_NOTHING] * places

    def find(tile: int, tried: set[int]) -> bool:
        for at in order:
            if fits[tile][at] and at not in tried:
                tried.add(at)
                if lies[at] == _NOTHING or find(lies[at], tried):
                    lies[at] = tile
                    return True
        return False

    if not all(find(tile, set()) for tile in mixed):
        raise ValueError("no position is consistent with the news")
    for _ in range(SWAPS if places > 1 else 0):
        one, other = rng.below(places), rng.below(places)
        if fits[lies[one]][other] and fits[lies[other]][one]:
            lies[one], lies[other] = lies[other], lies[one]
    return lies
