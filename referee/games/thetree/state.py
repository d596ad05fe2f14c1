"""The positions of The Tree: whose turn it is, what can be laid, what follows, and the news. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from referee.core.seeds import Random
from referee.core.text import shown
from referee.games.api import (
    CHANCE,
    NOTHING_TO_DRAW,
    SHARED_CHANCE,
    BadChance,
    Illegal,
    Outcome,
    Seat,
    State,
    placing,
)
from referee.games.picture import Picture
from referee.games.thetree.picture import picture
from referee.games.thetree.tree import HAND, NAMES, TILES, Laying, Tree, opening, tiles_of
from referee.games.trail import Audience, Trail, TrailLines

ALL_LAID = "seat 1 has laid all its tiles"  # how a seat that plays alone wins


@dataclass(frozen=True, slots=True)
class TreeRules:
    """What the states of one game share."""

    players: int
    deals: int
    only_first: bool  # whether the game is over when a seat has finished


@dataclass(frozen=True, slots=True, eq=False)
class TreeState(State[Laying]):
    """A position: the tree, the hands, the supply, who has finished and who is out."""

    rules: TreeRules
    acting: Seat  # the seat whose turn it is; chance before a deal
    tree: Tree
    hands: tuple[int, ...]
    supply: tuple[int, ...] = ()  # the next tile first
    dealt: int = 0  # the number of deals so far
    finished: tuple[Seat, ...] = ()  # the seats that have finished, in order
    out: tuple[tuple[Seat, ...], ...] = ()
    """The seats that left, in order; those that left at once are in one group."""
    passed: frozenset[Seat] = frozenset()  # the seats that have passed since a tile was last laid or drawn
    over: bool = False
    last: Laying | None = None  # the tile that was laid last
    trail: Trail = field(default_factory=Trail)

    @classmethod
    def begun(cls, rules: TreeRules) -> TreeState:
        """The position before the first deal."""
        acting = CHANCE if rules.players > 1 else SHARED_CHANCE
        return cls(rules, acting, Tree({}, {}), (0,) * rules.players)

    def in_play(self) -> list[Seat]:
        """The seats that have neither finished nor left."""
        gone = {*self.finished, *self._left()}
        return [seat for seat in range(self.rules.players) if seat not in gone]

    def _left(self) -> list[Seat]:
        return [seat for seats in self.out for seat in seats]

    def to_act(self) -> tuple[Seat, ...]:
        """The seat whose turn it is, chance before a deal, or nobody."""
        return () if self.over else (self.acting,)

    def read(self, seat: Seat, text: str) -> Laying:
        """`LEFT-RIGHT@X,Y`."""
        text = text.strip(" ")
        move = Laying.parse(text)
        if not self.hands[seat] >> move.tile & 1:
            raise Illegal("not-in-hand", f"{move.left}-{move.right} is not in your hand")
        self.tree.check(move, text.partition("@")[2])
        return move

    def write(self, move: Laying) -> str:
        """`LEFT-RIGHT@X,Y`."""
        return str(move)

    def play(self, moves: Mapping[Seat, Laying]) -> TreeState:
        """Lays a tile; the next seat that can move is to act."""
        seat = self.acting
        move = moves[seat]
        hand = self.hands[seat] & ~(1 << move.tile)
        hands = (*self.hands[:seat], hand, *self.hands[seat + 1 :])
        finished = self.finished if hand else (*self.finished, seat)
        # Search plays many moves, and `replace` takes several times as long.
        state = TreeState(
            *(self.rules, seat, self.tree.laid(move), hands, self.supply, self.dealt, finished, self.out),
            *(frozenset(), False, move, self.trail),
        )
        told = [f"move {seat + 1} {move}"]
        if hand and state.tree.gives_extra_turn(move.x, move.y):
            return state._turn_of(seat, told)
        if not hand:
            told.append(f"finished {seat + 1}")
        return state._turn_of(state._after(seat), told)

    def _after(self, seat: Seat) -> Seat:
        """The next seat in play; any seat if none is in play."""
        playing = self.in_play()
        return next((other for other in playing if other > seat), playing[0] if playing else seat)

    def _turn_of(self, seat: Seat, told: Sequence[str]) -> TreeState:
        """The position when it is a seat's turn, after the news `told`. Seats that cannot lay a tile draw or
        pass automatically.
        """
        hands, supply, passed = self.hands, self.supply, self.passed
        lines_told = list(told)
        private: dict[int, tuple[Seat, str]] = {}
        playing = self.in_play()
        over = self._is_decided(playing)
        fits = self.tree.fits()
        while not over:
            if passed.issuperset(playing):
                lines_told.append("blocked")
                over = bool(self.finished) or self.dealt == self.rules.deals
                seat = CHANCE  # another deal, unless the game is over
                break
            if hands[seat] & fits:
                break
            if supply:
                hands = (*hands[:seat], hands[seat] | 1 << supply[0], *hands[seat + 1 :])
                private[len(lines_told)] = (seat, f" {NAMES[supply[0]]}")
                lines_told.append(f"drew {seat + 1}")
                supply = supply[1:]
            else:
                lines_told.append(f"passed {seat + 1}")
                passed |= {seat}
            seat = self._after(seat)
        trail = Trail(self.trail, partial(_lines, tuple(lines_told), private))
        return TreeState(
            *(self.rules, seat, self.tree, hands, supply, self.dealt, self.finished, self.out),
            *(passed, over, self.last, trail),
        )

    def _is_decided(self, playing: Sequence[Seat]) -> bool:
        """Whether the places of all seats are known."""
        alone = len(playing) == 1 and self.rules.players > 1
        return not playing or alone or (bool(self.finished) and self.rules.only_first)

    def legal(self, seat: Seat) -> Iterator[Laying]:
        """All legal moves, row by row from below, each row from the left, lowest tile first."""
        hand = self.hands[seat]
        for x, y in sorted(self.tree.spots, key=lambda slot: (slot[1], slot[0])):
            spot = self.tree.spots[x, y]
            for tile in tiles_of(spot.tiles & hand):
                for left, right in spot.ways(tile):
                    yield Laying(left, right, x, y)

    def any_legal(self, seat: Seat) -> bool:
        """Whether there is a legal move."""
        return bool(self.hands[seat] & self.tree.fits())

    def sample(self, seat: Seat, rng: Random) -> Laying:
        """A random legal move, uniform over tiles and places, then over orientations."""
        hand = self.hands[seat]
        found = [(slot, spot) for slot, spot in self.tree.spots.items() if spot.tiles & hand]
        number = rng.below(sum((spot.tiles & hand).bit_count() for _, spot in found))
        for (x, y), spot in sorted(found):
            tiles = spot.tiles & hand
            if number < tiles.bit_count():
                tile = list(tiles_of(tiles))[number]
                return Laying(*rng.choice(spot.ways(tile)), x, y)
            number -= tiles.bit_count()
        raise ValueError("there is no legal move")

    def draw(self, rng: Random) -> str:
        """A random order of all tiles for dealing."""
        if self.acting >= 0 or self.over:
            raise BadChance(NOTHING_TO_DRAW)
        tiles = list(NAMES)
        rng.shuffle(tiles)
        return " ".join(tiles)

    def chance(self, text: str) -> TreeState:
        """Deals nine tiles to each seat in play, in the order of seats; the rest is the supply. The lowest
        double, or else the lowest tile, of all hands is laid.
        """
        if self.acting >= 0 or self.over:
            raise BadChance(NOTHING_TO_DRAW)
        names = text.split(" ")
        if sorted(names) != sorted(NAMES):
            raise BadChance(f"`{shown(text, 80)}` is not a permutation of all tiles")
        tiles = [NAMES.index(name) for name in names]
        playing = self.in_play()
        dealt = [0] * self.rules.players
        for seat in playing:
            dealt[seat] = sum(1 << tile for tile in tiles[:HAND])
            del tiles[:HAND]
        tile, opener = opening(dealt)
        # The hand of a seat that is out stays out of the game.
        hands = [dealt[seat] if seat in playing else hand for seat, hand in enumerate(self.hands)]
        hands[opener] &= ~(1 << tile)
        state = replace(
            self,
            tree=Tree.begun(tile),
            hands=tuple(hands),
            supply=tuple(tiles),
            dealt=self.dealt + 1,
            finished=(),
            passed=frozenset(),
            last=Laying(*TILES[tile], 0, 0),
            trail=Trail(self.trail, partial(_deal_lines, self.dealt + 1, tuple(dealt), len(tiles))),
        )
        return state._turn_of(state._after(opener), [f"opened {opener + 1} {state.last}"])

    def drop(self, seats: Iterable[Seat]) -> TreeState:
        """The position with these seats out; the others play on."""
        leaving = tuple(sorted(set(seats) & set(self.in_play())))
        state = replace(self, out=(*self.out, leaving))
        told = ["out " + " ".join(str(seat + 1) for seat in leaving)] if leaving else []
        if self.acting < 0:  # before a deal
            over = len(state.in_play()) < min(2, self.rules.players)
            return replace(state, over=over, trail=Trail(self.trail, partial(_lines, tuple(told), {})))
        return state._turn_of(self._after_those(leaving), told)

    def _after_those(self, leaving: tuple[Seat, ...]) -> Seat:
        """Whose turn it is when these seats leave."""
        remaining = [seat for seat in self.in_play() if seat not in leaving]
        if self.acting in remaining or not remaining:
            return self.acting
        return next((seat for seat in remaining if seat > self.acting), remaining[0])

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/thetree.md` describes."""
        return self.trail.lines(seat)

    def between(self) -> list[TreeState]:
        """The position before each tile that was drawn."""
        told = self.trail.own(None)
        hands, supply = list(self.hands), self.supply
        found: list[TreeState] = []
        for at in reversed(range(len(told))):
            match told[at].split():
                case ["drew", number, tile]:
                    seat, drawn = int(number) - 1, NAMES.index(tile)
                    hands[seat] &= ~(1 << drawn)
                    supply = (drawn, *supply)
                    trail = self.trail.until(at)
                    found.append(
                        replace(self, acting=seat, hands=tuple(hands), supply=supply, over=False, trail=trail)
                    )
        return found[::-1]

    def outcome(self) -> Outcome | None:
        """Places in the order of finishing; seats still in play share the next one; the first seat to leave
        is last.
        """
        if not self.over:
            return None
        scores = tuple(hand.bit_count() for hand in self.hands)
        if self.rules.players == 1:
            left = f"{scores[0]} tiles are left in hand" if scores[0] != 1 else "1 tile is left in hand"
            if self.finished:
                return Outcome((1,), scores, ALL_LAID)
            sentence = "seat 1 left the game" if self.out else f"seat 1 is at its end, {left}"
            return Outcome((2,), scores, sentence)
        playing = self.in_play()
        groups = [*([seat] for seat in self.finished), playing, *reversed(self.out)]
        ranks = placing(self.rules.players, groups)
        return Outcome(ranks, scores, self._sentence(playing))

    def _sentence(self, playing: list[Seat]) -> str:
        parts = []
        if self.finished:
            order = ", ".join(str(seat + 1) for seat in self.finished)
            parts.append(
                f"finished in this order: seats {order}" if self.finished[1:] else f"seat {order} finished"
            )
        if len(playing) > 1 and not (self.finished and self.rules.only_first):
            parts.append("the deal is blocked" if self.finished else f"deal {self.dealt} is blocked")
        if gone := sorted(seat + 1 for seat in self._left()):
            parts.append(f"out: seats {', '.join(map(str, gone))}" if gone[1:] else f"seat {gone[0]} is out")
        return "; ".join(parts)

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
        for line in self.trail.own(seat):
            match line.split():
                case ["drew", number, *tile]:
                    drawn.setdefault(int(number) - 1, []).append("".join(tile))
        return picture(self.tree, laid, self.hands, drawn, self._left(), len(self.supply), seat)


# --- The news ----------------------------------------------------------------------------------------------


def _deal_lines(number: int, hands: tuple[int, ...], supply: int, audience: Audience) -> TrailLines:
    """The news of a deal: the number of tiles in the supply, and the hands that the audience may see."""
    told = [f"deal {number} {supply}"]
    for seat, hand in enumerate(hands):
        if hand and audience in (None, seat):
            told.append(f"hand {seat + 1} {' '.join(NAMES[tile] for tile in tiles_of(hand))}")
    return tuple(told)


def _lines(told: TrailLines, private: Mapping[int, tuple[Seat, str]], audience: Audience) -> TrailLines:
    """Lines for an audience, with the private part appended to lines of its own seat."""
    if not private:
        return told
    found = list(told)
    for number, (seat, more) in private.items():
        if audience in (None, seat):
            found[number] += more
    return tuple(found)
