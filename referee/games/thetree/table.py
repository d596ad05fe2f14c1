"""What lies on the table, and the order of turns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from referee.core.seeds import Random
from referee.core.value import made, value
from referee.games.api import CHANCE, SHARED_CHANCE, Seat
from referee.games.thetree.tree import HAND, INDEX, TILES, Laying, Tree, opening


@value
class TreeRules:
    """What the positions of one game share."""

    players: int
    deals: int
    only_first: bool  # whether the game is over when a seat has finished


_NOBODY: frozenset[Seat] = frozenset()

TableEvent = tuple[str, int, Any]
"""Something that happened, as the news have it: a word, a seat, and what else is told of it."""


@dataclass(slots=True, eq=False)
class TreeTable:
    """All that decides how a game goes on. It changes in place: a playout has one of its own, and a position
    has one that is never changed again.
    """

    rules: TreeRules
    acting: Seat  # the seat whose turn it is; chance before a deal
    tree: Tree
    hands: list[int]
    supply: tuple[int, ...]  # the next tile first
    dealt: int  # the number of deals so far
    playing: tuple[Seat, ...]  # the seats that have neither finished nor left
    finished: tuple[Seat, ...]  # the seats that have finished, in order
    out: tuple[tuple[Seat, ...], ...]
    """The seats that left, in order; those that left at once are in one group."""
    passed: frozenset[Seat]  # the seats that have passed since a tile was last laid or drawn
    over: bool
    last: Laying | None  # the tile that was laid last
    events: Sequence[TableEvent]  # what happened since the move, outcome of chance or leaving before this

    @classmethod
    def begun(cls, rules: TreeRules) -> TreeTable:
        """The table before the first deal."""
        acting = CHANCE if rules.players > 1 else SHARED_CHANCE
        hands, playing = [0] * rules.players, tuple(range(rules.players))
        return cls(rules, acting, Tree({}, {}, {}), hands, (), 0, playing, (), (), _NOBODY, False, None, ())

    def copy(self) -> TreeTable:
        """Another table that is the same."""
        return TreeTable(
            self.rules,
            self.acting,
            self.tree.copy(),
            self.hands.copy(),
            self.supply,
            self.dealt,
            self.playing,
            self.finished,
            self.out,
            self.passed,
            self.over,
            self.last,
            self.events,
        )

    def left(self) -> list[Seat]:
        """The seats that left."""
        return [seat for seats in self.out for seat in seats]

    def sample(self, rng: Random) -> Laying:
        """A random legal move, uniform over tiles and places, then over orientations."""
        hand = self.hands[self.acting]
        total = 0
        found = []
        for slot, tiles in self.tree.open.items():
            if tiles := tiles & hand:
                found.append((slot, tiles))
                total += tiles.bit_count()
        found.sort()
        number = rng.below(total)
        for slot, tiles in found:
            count = tiles.bit_count()
            if number >= count:
                number -= count
                continue
            for _ in range(number):
                tiles &= tiles - 1
            ways = self.tree.spots[slot].ways((tiles & -tiles).bit_length() - 1)
            move: Laying = made(Laying, rng.choice(ways) + slot)
            return move
        raise ValueError("there is no legal move")

    def lay(self, move: Laying) -> None:
        """Lays a tile of the seat whose turn it is; the next seat that can move is to act."""
        seat = self.acting
        hand = self.hands[seat] = self.hands[seat] & ~(1 << INDEX[move[:2]])
        is_extra = self.tree.lay(move)
        self.last = move
        self.passed = _NOBODY
        events: list[TableEvent] = [("move", seat, move)]
        if not hand:
            events.append(("finished", seat, None))
            self.finished += (seat,)
            self.playing = tuple(other for other in self.playing if other != seat)
        self._turn_of(seat if is_extra and hand else self._after(seat), events)

    def deal(self, tiles: Sequence[int]) -> None:
        """Deals nine tiles to each seat in play, in the order of seats; the rest is the supply. The lowest
        double, or else the lowest tile, of all hands is laid.
        """
        left = self.left()
        playing = tuple(seat for seat in range(self.rules.players) if seat not in left)
        dealt = [0] * self.rules.players
        for number, seat in enumerate(playing):
            dealt[seat] = sum(1 << tile for tile in tiles[number * HAND : (number + 1) * HAND])
        tile, opener = opening(dealt)
        # The hand of a seat that is out stays out of the game.
        self.hands = [dealt[seat] if seat in playing else hand for seat, hand in enumerate(self.hands)]
        self.hands[opener] &= ~(1 << tile)
        self.tree = Tree.begun(tile)
        self.supply = tuple(tiles[len(playing) * HAND :])
        self.dealt += 1
        self.playing, self.finished, self.passed = playing, (), _NOBODY
        self.last = Laying(*TILES[tile], 0, 0)
        events: list[TableEvent] = [("deal", self.dealt, len(self.supply))]
        events += [("hand", seat, dealt[seat]) for seat in playing]
        events.append(("opened", opener, self.last))
        self._turn_of(self._after(opener), events)

    def leave(self, seats: Iterable[Seat]) -> None:
        """These seats leave together; the others play on."""
        leaving = tuple(sorted(set(seats) & set(self.playing)))
        self.out = (*self.out, leaving)
        self.playing = tuple(seat for seat in self.playing if seat not in leaving)
        events: list[TableEvent] = [("out", -1, leaving)] if leaving else []
        if self.acting < 0:  # before a deal
            self.over = len(self.playing) < min(2, self.rules.players)
            self.events = events
        else:
            later = [seat for seat in self.playing if seat >= self.acting]
            self._turn_of((*later, *self.playing, self.acting)[0], events)

    def _after(self, seat: Seat) -> Seat:
        """The next seat in play; any seat if none is in play."""
        for other in self.playing:
            if other > seat:
                return other
        return self.playing[0] if self.playing else seat

    def _turn_of(self, seat: Seat, events: list[TableEvent]) -> None:
        """It is a seat's turn, after these events. Who cannot lay a tile draws or passes automatically."""
        playing, hands = self.playing, self.hands
        alone = len(playing) == 1 and self.rules.players > 1
        self.over = not playing or alone or bool(self.finished and self.rules.only_first)
        self.events = events
        if not self.over:
            fits = self.tree.fits()
            while True:
                if hands[seat] & fits:
                    self.acting = seat
                    return
                if self.passed.issuperset(playing):
                    break
                if self.supply:
                    tile = self.supply[0]
                    hands[seat] |= 1 << tile
                    self.supply = self.supply[1:]
                    events.append(("drew", seat, tile))
                else:
                    events.append(("passed", seat, None))
                    self.passed |= {seat}
                seat = self._after(seat)
            events.append(("blocked", -1, None))
            self.over = bool(self.finished) or self.dealt == self.rules.deals
            seat = CHANCE  # another deal, unless the game is over
        self.acting = seat
