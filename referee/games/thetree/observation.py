"""What a seat observed of each deal, and which places each tile can have been in. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.games.api import Seat
from referee.games.thetree.tiles import DOUBLES, NAMES
from referee.games.thetree.tree import Laying, Tree

SUPPLY: Seat = -1


class TilePlace(NamedTuple):
    """Where a tile was dealt to: a hand, or the supply, perhaps until a seat drew it."""

    seat: Seat
    since: int  # the event at which it was drawn, -1 for the deal


@dataclass(frozen=True, slots=True)
class Deal:
    """What a seat observed of one deal.

    A seat that drew or passed had no tile that fitted anywhere. So a tile that would have fitted was not in
    its hand then, and a tile that it laid later and that would have fitted was drawn since.
    """

    seat: Seat
    playing: tuple[Seat, ...]
    hand: int  # what the seat was dealt, as a set of tiles
    draws: tuple[TilePlace, ...]
    drawn: Mapping[TilePlace, int]  # the tiles that it drew itself
    laid: Mapping[int, tuple[Seat, int]]  # by tile, the seat that laid it, and the event
    stuck: tuple[tuple[Seat, int, int], ...]
    """Seats that had no move, each with the event and the tiles that would have fitted."""
    opening: int
    events: int

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
    readers: list[_DealReader] = []
    for line in seen:
        words = line.split(" ")
        if words[0] == "out":
            playing = tuple(other for other in playing if str(other + 1) not in words[1:])
        elif words[0] == "deal":
            readers.append(_DealReader(seat, playing))
        elif words[0] != "blocked":
            readers[-1].take(words)
    return tuple(reader.deal() for reader in readers)


@dataclass(slots=True)
class _DealReader:
    """Parses the lines of one deal."""

    seat: Seat
    playing: tuple[Seat, ...]
    hand: int = 0
    draws: list[TilePlace] = field(default_factory=list)
    drawn: dict[TilePlace, int] = field(default_factory=dict)
    laid: dict[int, tuple[Seat, int]] = field(default_factory=dict)
    stuck: list[tuple[Seat, int, int]] = field(default_factory=list)
    opening: int = 0
    events: int = 0
    tree: Tree = field(default_factory=lambda: Tree({}, {}))

    def take(self, words: list[str]) -> None:
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
                    self.tree = self.tree.laid(move)
            case "drew" | "passed":
                self.stuck.append((seat, event, self.tree.fits()))
                if words[0] == "drew":
                    self.draws.append(TilePlace(seat, event))
                if len(words) > 2:
                    self.drawn[self.draws[-1]] = NAMES.index(words[2])

    def deal(self) -> Deal:
        return Deal(
            seat=self.seat,
            playing=self.playing,
            hand=self.hand,
            draws=tuple(self.draws),
            drawn=self.drawn,
            laid=self.laid,
            stuck=tuple(self.stuck),
            opening=self.opening,
            events=self.events,
        )
