"""The positions: whose turn it is, what can be laid, what follows, and the news. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from referee.core.seeds import Random
from referee.core.text import shown
from referee.core.value import value
from referee.games.api import (
    NOTHING_TO_DRAW,
    BadChance,
    Illegal,
    Outcome,
    Seat,
    State,
    placing,
)
from referee.games.picture import Picture
from referee.games.thetree.picture import picture
from referee.games.thetree.table import TableEvent, TreeRules, TreeTable
from referee.games.thetree.tree import NAMES, TILES, Laying, tiles_of
from referee.games.trail import Audience, Heard, Trail, TrailLines

ALL_LAID = "seat 1 has laid all its tiles"  # how a seat that plays alone wins


@value
class TreeState(State[Laying], Trail):
    """A position."""

    table: TreeTable
    before: Trail | None
    heard: Heard

    @classmethod
    def begun(cls, rules: TreeRules) -> TreeState:
        """The position before the first deal."""
        return cls(TreeTable.begun(rules), None, {})

    def to_act(self) -> tuple[Seat, ...]:
        """The seat whose turn it is, chance before a deal, or nobody."""
        return () if self.table.over else (self.table.acting,)

    def read(self, seat: Seat, text: str) -> Laying:
        """`LEFT-RIGHT@X,Y`."""
        text = text.strip(" ")
        move = Laying.parse(text)
        if not self.table.hands[seat] >> move.tile & 1:
            raise Illegal("not-in-hand", f"{move.left}-{move.right} is not in your hand")
        self.table.tree.check(move, text.partition("@")[2])
        return move

    def write(self, move: Laying) -> str:
        """`LEFT-RIGHT@X,Y`."""
        return str(move)

    def play(self, moves: Mapping[Seat, Laying]) -> TreeState:
        """Lays a tile; the next seat that can move is to act."""
        table = self.table.copy()
        table.lay(moves[table.acting])
        return TreeState(table, self, {})

    def legal(self, seat: Seat) -> Iterator[Laying]:
        """All legal moves, row by row from below, each row from the left, lowest tile first."""
        hand = self.table.hands[seat]
        for x, y in sorted(self.table.tree.spots, key=lambda slot: (slot[1], slot[0])):
            spot = self.table.tree.spots[x, y]
            for tile in tiles_of(spot.tiles & hand):
                for left, right in spot.ways(tile):
                    yield Laying(left, right, x, y)

    def parts(self, move: Laying) -> tuple[str, ...]:
        """The tile, as it stands in the hand."""
        return (NAMES[move.tile],)

    def any_legal(self, seat: Seat) -> bool:
        """Whether there is a legal move."""
        return bool(self.table.hands[seat] & self.table.tree.fits())

    def sample(self, seat: Seat, rng: Random) -> Laying:
        """A random legal move, uniform over tiles and places, then over orientations."""
        return self.table.sample(rng)

    def playout(self, rng: Random) -> Outcome:
        """As by `sample` and `play`, but in place."""
        table = self.table.copy()
        while not table.over:
            if table.acting < 0:
                table.deal(_drawn(rng))
            else:
                table.lay(table.sample(rng))
        outcome = TreeState(table, None, {}).outcome()
        assert outcome is not None
        return outcome

    def draw(self, rng: Random) -> str:
        """A random order of all tiles for dealing."""
        if self.table.acting >= 0 or self.table.over:
            raise BadChance(NOTHING_TO_DRAW)
        return " ".join(NAMES[tile] for tile in _drawn(rng))

    def chance(self, text: str) -> TreeState:
        """Deals nine tiles to each seat in play, in the order of seats; the rest is the supply. The lowest
        double, or else the lowest tile, of all hands is laid.
        """
        if self.table.acting >= 0 or self.table.over:
            raise BadChance(NOTHING_TO_DRAW)
        names = text.split(" ")
        if sorted(names) != sorted(NAMES):
            raise BadChance(f"`{shown(text, 80)}` is not a permutation of all tiles")
        table = self.table.copy()
        table.deal([NAMES.index(name) for name in names])
        return TreeState(table, self, {})

    def reshuffled(self, rng: Random) -> TreeState:
        """With the supply in another order."""
        table, supply = self.table.copy(), list(self.table.supply)
        rng.shuffle(supply)
        table.supply = tuple(supply)
        return TreeState(table, self.before, {})

    def drop(self, seats: Iterable[Seat]) -> TreeState:
        """The position with these seats out; the others play on."""
        table = self.table.copy()
        table.leave(seats)
        return TreeState(table, self, {})

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/thetree.md` describes."""
        return self.lines(seat)

    def told(self, audience: Audience) -> TrailLines:
        """What happened since the position before, as far as the audience may know it."""
        return lines_of(self.table.events, audience)

    def between(self) -> list[TreeState]:
        """The position before each tile that was drawn."""
        table = self.table
        hands, supply = table.hands, table.supply
        found: list[TreeState] = []
        for at in reversed(range(len(table.events))):
            word, seat, tile = table.events[at]
            if word == "drew":
                hands = hands.copy()
                hands[seat] &= ~(1 << tile)
                supply = (tile, *supply)
                earlier = replace(
                    table, acting=seat, hands=hands, supply=supply, over=False, events=table.events[:at]
                )
                found.append(TreeState(earlier, self.before, {}))
        return found[::-1]

    def outcome(self) -> Outcome | None:
        """Places in the order of finishing; seats still in play share the next one; the first seat to leave
        is last.
        """
        table = self.table
        if not table.over:
            return None
        scores = tuple(hand.bit_count() for hand in table.hands)
        if table.rules.players == 1:
            left = f"{scores[0]} tiles are left in hand" if scores[0] != 1 else "1 tile is left in hand"
            if table.finished:
                return Outcome((1,), scores, ALL_LAID)
            sentence = "seat 1 left the game" if table.out else f"seat 1 is at its end, {left}"
            return Outcome((2,), scores, sentence)
        groups = [*([seat] for seat in table.finished), table.playing, *reversed(table.out)]
        return Outcome(placing(table.rules.players, groups), scores, self._sentence())

    def _sentence(self) -> str:
        parts = []
        table = self.table
        finished = table.finished
        if finished:
            order = ", ".join(str(seat + 1) for seat in finished)
            several = f"finished in this order: seats {order}"
            parts.append(several if finished[1:] else f"seat {order} finished")
        if len(table.playing) > 1 and not (finished and table.rules.only_first):
            parts.append("the deal is blocked" if finished else f"deal {table.dealt} is blocked")
        if gone := sorted(seat + 1 for seat in table.left()):
            parts.append(f"out: seats {', '.join(map(str, gone))}" if gone[1:] else f"seat {gone[0]} is out")
        return "; ".join(parts)

    def lead(self, seat: Seat) -> int | None:
        """By how many tiles its hand is smaller than the smallest other hand of a seat that has not left; all
        see how many tiles a hand has.
        """
        out = self.table.left()
        tiles = {other: hand.bit_count() for other, hand in enumerate(self.table.hands) if other not in out}
        own = tiles.pop(seat, None)
        return min(tiles.values()) - own if tiles and own is not None else None

    def picture(self, seat: Seat | None) -> Picture:
        """The tree with who laid its tiles, and the hands as far as the seat knows them."""
        laid: dict[Laying, Seat] = {}
        for line in self.seen(seat):
            match line.split():
                case ["move" | "opened", number, text]:
                    laid[Laying.parse(text)] = int(number) - 1
                case ["deal", *_]:
                    laid.clear()
        drawn: dict[Seat, list[str]] = {}
        for line in self.told(seat):
            match line.split():
                case ["drew", number, *tile]:
                    drawn.setdefault(int(number) - 1, []).append("".join(tile))
        table = self.table
        return picture(table.tree, laid, table.hands, drawn, table.left(), len(table.supply), seat)


_TURN, _RING, _LUCK = (
    6,
    1,
    4,
)  # what a turn, a ring that a tile lacks, and luck at most count for a quick move


def quick_move(state: TreeState, seat: Seat, rng: Random) -> Laying:
    """A legal move that a hasty player might make: it gives another turn, or its tile has few rings, as few
    tiles fit on more.
    """
    tree = state.table.tree
    return max(
        state.legal(seat),
        key=lambda move: (
            _TURN * tree.gives_turn(move.x, move.y)
            - _RING * (move.left.bit_count() + move.right.bit_count())
            + rng.below(_LUCK)
        ),
    )


def _drawn(rng: Random) -> list[int]:
    """All tiles in random order."""
    tiles = list(range(len(TILES)))
    rng.shuffle(tiles)
    return tiles


def lines_of(events: Iterable[TableEvent], audience: Audience) -> TrailLines:
    """The news of events for an audience."""
    return tuple(line for event in events for line in _lines(event, audience))


def _lines(event: TableEvent, audience: Audience) -> Iterator[str]:
    """The news of an event for an audience."""
    word, seat, what = event
    knows = audience in (None, seat)
    match word:
        case "deal":
            yield f"deal {seat} {what}"
        case "hand":
            if knows:
                yield f"hand {seat + 1} {' '.join(NAMES[tile] for tile in tiles_of(what))}"
        case "drew":
            yield f"drew {seat + 1} {NAMES[what]}" if knows else f"drew {seat + 1}"
        case "out":
            yield f"out {' '.join(str(other + 1) for other in what)}"
        case "blocked":
            yield word
        case _:
            yield f"{word} {seat + 1}" if what is None else f"{word} {seat + 1} {what}"
