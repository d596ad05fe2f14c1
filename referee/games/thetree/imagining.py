"""A random full position that is consistent with the news of a seat: hidden tiles are dealt anew. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from referee.core.seeds import Random
from referee.games.api import Refusal, Seat
from referee.games.thetree.observation import SUPPLY, Deal, TilePlace, read
from referee.games.thetree.state import TreeState
from referee.games.thetree.tiles import HAND, NAMES, TILES, tiles_of
from referee.games.trail import TrailLines

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
        hidden_deals = _hidden_deals(start.rules.players, seat, lines)
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
            state = state.play({state.acting: state.read(state.acting, words[2])})
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
