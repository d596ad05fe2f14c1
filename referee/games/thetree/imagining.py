"""A random full position that fits a seat's news. Pure.

From what the seat observed follows in which places each hidden tile can have been; there they are dealt anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from referee.core.seeds import Random
from referee.core.value import value
from referee.games.api import Refusal, Seat
from referee.games.thetree.state import TreeState, lines_of
from referee.games.thetree.table import TableEvent, TreeTable
from referee.games.thetree.tree import DOUBLES, HAND, NAMES, TILES, Laying, Tree, tiles_of
from referee.games.trail import Audience, Heard, Trail, TrailLines

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
    rules = start.table.rules
    try:
        observed = _observed(rules.players, rules.deals, rules.only_first, seat, lines)
        if observed.table is not None:
            return observed.again(start, observed.table, rng)
        state = _replayed(start, observed.deals, seat, lines, rng)
    except (Refusal, LookupError, ValueError) as error:
        raise ValueError("no position is consistent with the news") from error
    if not state.table.out and observed.deals:  # that a seat had a move when it left is only found by playing
        observed.keep(state)
    return state


def _replayed(
    start: TreeState, hidden_deals: Sequence[_HiddenDeal], seat: Seat, lines: TrailLines, rng: Random
) -> TreeState:
    """The observed game, played from its start and compared with the news."""
    begins = [at for at, line in enumerate(lines) if line.startswith("deal ")]
    state = _played(start, seat, lines[: min(begins, default=len(lines))], 0)
    for hidden_deal, begin, end in zip(hidden_deals, begins, [*begins[1:], len(lines)], strict=True):
        state = _dealt(state, hidden_deal, lines[:end], begin, rng)
    return state


def _dealt(
    state: TreeState, hidden_deal: _HiddenDeal, lines: TrailLines, begin: int, rng: Random
) -> TreeState:
    """The position after one more deal. Raises `Refusal` or `ValueError` for impossible lines."""
    # A seat that is to move, or was when it left, has a move; this can only be checked by playing.
    for _ in range(TRIES):
        with suppress(_NoMove):
            dealt = state.chance(" ".join(NAMES[tile] for tile in hidden_deal.order(rng)))
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


@value
class _Earlier(Trail):
    """What happened in a game before its last move or deal."""

    events: Sequence[TableEvent]
    before: TreeState
    heard: Heard

    def told(self, audience: Audience) -> TrailLines:
        """The news of it."""
        return lines_of(self.events, audience)


@dataclass(slots=True)
class _Observed:
    """A game as a seat observed it."""

    deals: tuple[_HiddenDeal, ...]
    table: TreeTable | None = None
    """The table after one of all possible deals of the hidden tiles, which was played and compared with the
    news.
    """
    events: tuple[list[TableEvent], ...] = ()
    """What happened with it, deal by deal."""

    def keep(self, state: TreeState) -> None:
        """Keeps a position that was played."""
        node: Trail | None = state
        events: list[list[TableEvent]] = [[]]
        while isinstance(node, TreeState):
            events[0][:0] = node.table.events
            if events[0] and events[0][0][0] == "deal":
                events.insert(0, [])
            node = node.before
        self.table, self.events = state.table, tuple(events[1:])

    def again(self, start: TreeState, table: TreeTable, rng: Random) -> TreeState:
        """The position after another deal. Only hands and supply differ, so nothing has to be played."""
        found: list[TableEvent] = []
        hands, supply = start.table.hands, start.table.supply
        is_asked = not table.over and table.acting >= 0
        for hidden_deal, events in zip(self.deals, self.events, strict=True):
            for _ in range(TRIES):
                order = iter(hidden_deal.order(rng))
                dealt, held = _with_order(events, order, hands)
                if not is_asked or events is not self.events[-1] or held[table.acting] & table.tree.fits():
                    break
            else:
                raise ValueError("a seat that was asked has no move")
            found += dealt
            hands, supply = held, tuple(order)
        own = len(found) - len(table.events)
        after = replace(table, hands=hands, supply=supply, events=found[own:])
        return TreeState(after, _Earlier(found[:own], start, {}), {})


def _with_order(
    events: Sequence[TableEvent], order: Iterator[int], hands: Sequence[int]
) -> tuple[list[TableEvent], list[int]]:
    """The events of a deal with tiles in another order, and the hands at their end; what is left of the order
    is the supply.
    """
    found, held = [], list(hands)
    for event in events:
        word, seat, what = event
        if word == "hand":
            what = held[seat] = sum([1 << tile for tile in islice(order, HAND)])
            event = word, seat, what
        elif word == "drew":
            what = next(order)
            held[seat] |= 1 << what
            event = (word, seat, what)
        elif word in ("opened", "move"):
            held[seat] &= ~(1 << what.tile)
        found.append(event)
    return found, held


@dataclass(frozen=True, slots=True)
class _HiddenDeal:
    """A deal, with the tiles that are or were hidden from the seat, and the places they came from."""

    deal: Deal
    tiles: tuple[int, ...]
    places: int
    fits: tuple[int, ...]  # by tile, the numbers of the places where it can have been, as a set
    dealing: tuple[int, ...]
    """In the order of dealing, the number of a place, or −1 less the tile, where it is known."""

    @classmethod
    def of(cls, deal: Deal) -> _HiddenDeal:
        places: list[TilePlace] = []
        dealing: list[int] = []
        dealt = [TilePlace(seat, -1) for seat in deal.playing for _ in range(HAND)]
        hand = tiles_of(deal.hand)
        for place in (*dealt, *deal.draws):
            if place in deal.drawn:
                dealing.append(-1 - deal.drawn[place])
            elif place.seat == deal.seat:
                dealing.append(-1 - next(hand))
            else:
                dealing.append(len(places))
                places.append(place)
        tiles = tuple(tile for tile in range(len(TILES)) if not deal.is_own(tile))
        dealing += range(len(places), len(tiles))
        places += [TilePlace(SUPPLY, -1)] * (len(tiles) - len(places))
        fits = tuple(
            sum(deal.possible(tile, place) << at for at, place in enumerate(places))
            for tile in range(len(TILES))
        )
        return cls(deal, tiles, len(places), fits, tuple(dealing))

    def order(self, rng: Random) -> list[int]:
        """A random consistent order of all tiles for dealing. Raises `ValueError` where there is none."""
        lies = _mixed(self.tiles, self.places, self.fits, rng)
        return [lies[place] if place >= 0 else -1 - place for place in self.dealing]


@lru_cache(maxsize=8)  # a search repeats the same call
def _observed(players: int, deals: int, only_first: bool, seat: Seat, seen: TrailLines) -> _Observed:
    return _Observed(tuple(map(_HiddenDeal.of, read(players, seat, seen))))


def _mixed(tiles: Sequence[int], places: int, fits: Sequence[int], rng: Random) -> list[int]:
    """A tile for every place: a first assignment by augmenting paths, then random swaps."""
    order = list(range(places))
    rng.shuffle(order)
    mixed = list(tiles)
    rng.shuffle(mixed)
    lies = [_NOTHING] * places
    free = dict.fromkeys(order)

    def find(tile: int, tried: set[int]) -> bool:
        fitting = fits[tile]
        for at in free:
            if fitting >> at & 1:
                lies[at] = tile
                del free[at]
                return True
        for at in order:
            if fitting >> at & 1 and at not in tried:
                tried.add(at)
                if find(lies[at], tried):
                    lies[at] = tile
                    return True
        return False

    if not all(find(tile, set()) for tile in mixed):
        raise ValueError("no position is consistent with the news")
    below, pairs = rng.below, places * places
    for _ in range(SWAPS if places > 1 else 0):
        one, other = divmod(below(pairs), places)
        a, b = lies[one], lies[other]
        if fits[a] >> other & fits[b] >> one & 1:
            lies[one], lies[other] = b, a
    return lies
