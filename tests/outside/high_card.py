"""High Card, a game from outside the package: all bid a card of a hidden hand for what a die shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.games.api import (
    CHANCE,
    NOTHING_TO_DRAW,
    SHARED_CHANCE,
    BadChance,
    Game,
    Illegal,
    NotAMove,
    NumberOption,
    Options,
    Outcome,
    Seat,
    State,
    placing,
)
from referee.games.picture import Picture, badge, row_of

CARDS = [str(card) for card in range(1, 31)]
DIE = [str(points) for points in range(1, 7)]
HAND = 6  # cards


@dataclass(frozen=True, slots=True)
class HighCardState(State[int]):
    """A position."""

    points: tuple[int, ...]  # by seat
    hands: tuple[frozenset[int], ...] = ()  # by seat; none before the deal
    prize: int = 0  # what the die shows; 0 before it is rolled
    left: frozenset[Seat] = frozenset()
    news: tuple[tuple[Seat | None, str], ...] = ()  # each line with the only seat that sees it, or None

    def then(self, *news: tuple[Seat | None, str], **changes: Any) -> HighCardState:
        """The next position."""
        return replace(self, news=(*self.news, *news), **changes)

    def here(self) -> tuple[Seat, ...]:
        """The seats that have not left."""
        return tuple(seat for seat in range(len(self.points)) if seat not in self.left)

    def to_act(self) -> tuple[Seat, ...]:
        """A roll, the deal, then bids and rolls in turn, until no cards or fewer than two seats are left."""
        here = self.here()
        if len(here) < 2 or (self.hands and not self.hands[here[0]]):
            return ()
        if self.prize and self.hands:
            return here
        return (CHANCE,) if self.prize or self.hands else (SHARED_CHANCE,)

    def draw(self, rng: Random) -> str:
        """What the die shows, or the shuffled deck."""
        if self.to_act() not in ((CHANCE,), (SHARED_CHANCE,)):
            raise BadChance(NOTHING_TO_DRAW)
        if not self.prize:
            return rng.choice(DIE)
        deck = [*CARDS]
        rng.shuffle(deck)
        return " ".join(deck)

    def chance(self, text: str) -> HighCardState:
        """Takes what `draw` gives."""
        if self.to_act() not in ((CHANCE,), (SHARED_CHANCE,)):
            raise BadChance(NOTHING_TO_DRAW)
        if not self.prize:
            if text not in DIE:
                raise BadChance("expected a number of the die")
            return self.then((None, f"die {text}"), prize=int(text))
        deck = text.split(" ")
        if sorted(deck) != sorted(CARDS):
            raise BadChance("expected all cards")
        hands = [deck[seat * HAND : (seat + 1) * HAND] for seat in range(len(self.points))]
        news = [
            (seat, f"hand {seat + 1} {' '.join(sorted(hand, key=int))}") for seat, hand in enumerate(hands)
        ]
        return self.then(*news, hands=tuple(frozenset(map(int, hand)) for hand in hands))

    def read(self, seat: Seat, text: str) -> int:
        """A card's number."""
        card = text.strip(" ")
        if card not in CARDS:
            raise NotAMove("a card from `1` to `30`")
        if int(card) not in self.hands[seat]:
            raise Illegal("not-in-hand", f"{card} is not in your hand")
        return int(card)

    def write(self, move: int) -> str:
        return str(move)

    def legal(self, seat: Seat) -> Iterator[int]:
        return iter(sorted(self.hands[seat]))

    def sample(self, seat: Seat, rng: Random) -> int:
        return rng.choice(sorted(self.hands[seat]))

    def default(self, seat: Seat) -> int:
        return min(self.hands[seat])

    def play(self, moves: Mapping[Seat, int]) -> HighCardState:
        """The highest card wins the prize, and all bids are shown. Who left has no move here."""
        winner = max(moves, key=lambda seat: moves[seat])
        points = tuple(have + self.prize * (seat == winner) for seat, have in enumerate(self.points))
        hands = tuple(hand - {moves.get(seat)} for seat, hand in enumerate(self.hands))
        bids = " ".join(str(moves.get(seat, "-")) for seat in range(len(hands)))
        return self.then((None, f"bids {bids}"), points=points, hands=hands, prize=0)

    def drop(self, seats: Iterable[Seat]) -> HighCardState:
        """The others go on as before; the hands of those who left stay hidden."""
        gone = frozenset(seats)
        line = f"left {' '.join(str(seat + 1) for seat in sorted(gone))}"
        return self.then((None, line), left=self.left | gone)

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """What all see, and the seat's own hand."""
        return tuple(line for only, line in self.news if seat is None or only in (None, seat))

    def outcome(self) -> Outcome | None:
        """Most points first; those who left share the last place."""
        if self.to_act():
            return None
        totals = sorted({*self.points}, reverse=True)
        groups = [[seat for seat in self.here() if self.points[seat] == total] for total in totals]
        ranks = placing(len(self.points), [*groups, self.left])
        return Outcome(ranks, self.points, f"points: {', '.join(map(str, self.points))}")

    def lead(self, seat: Seat) -> int | None:
        """In points."""
        others = [self.points[other] for other in self.here() if other != seat]
        return self.points[seat] - max(others) if others and seat not in self.left else None

    def picture(self, seat: Seat | None) -> Picture:
        """The prize, and below the name of each seat its cards, or only how many they are."""
        rows = [row_of(f"prize {self.prize or '-'}")]
        for owner, hand in enumerate(self.hands):
            cards = " ".join(map(str, sorted(hand))) if seat in (None, owner) else f"{len(hand)} hidden"
            name = badge(owner, f"seat {owner + 1}:")
            rows.append(row_of(name, f" {self.points[owner]} points, cards: {cards}", seat=owner))
        return tuple(rows)


class HighCard(Game[int]):
    """The rules."""

    slug = "highcard"
    name = "High Card"
    rules = 1
    is_open = False
    seats_text = "2 to 4"
    options = (NumberOption("players", 2, 4, 3, "seats"),)
    clock = TimeControl.parse("10s")
    summary = "A die shows the prize, and all bid a card of a hidden hand at once. The highest wins it."
    notation = "`7`: the number of a card."
    counted = "points"

    def seats(self, options: Options) -> int:
        return int(options["players"])

    def longest(self, options: Options) -> int:
        return HAND * self.seats(options)

    def start(self, options: Options) -> HighCardState:
        return HighCardState((0,) * self.seats(options))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> HighCardState:
        """Deals at random what the seat has not seen, and plays the news again with this deck."""
        news = [line.split(" ") for line in seen]
        bids = [cards for word, *cards in news if word == "bids"]
        hands = [[bid[other] for bid in bids if bid[other] != "-"] for other in range(self.seats(options))]
        hands[seat] = next((words[2:] for words in news if words[0] == "hand"), [])
        unseen = [card for card in CARDS if not any(card in hand for hand in hands)]
        rng.shuffle(unseen)
        deck = [card for hand in hands for card in hand + [unseen.pop() for _ in range(HAND - len(hand))]]
        state = self.start(options)
        for word, *words in news:
            if word == "die":
                state = state.chance(words[0])
            elif word == "hand":
                state = state.chance(" ".join(deck + unseen))
            elif word == "bids":
                state = state.play({other: int(card) for other, card in enumerate(words) if card != "-"})
            else:
                state = state.drop(int(number) - 1 for number in words)
        return state


GAME = HighCard()
