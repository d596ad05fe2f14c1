"""High Card, a game from outside the package: hidden hands, both play a card at once, the higher wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.games.api import (
    CHANCE,
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
    walkover,
)
from referee.games.picture import Picture, row_of

CARDS = tuple(range(1, 21))
"""The deck; what is not dealt stays hidden to the end."""


@dataclass(frozen=True, slots=True)
class HighCardState(State[int]):
    """A position: the hands, what was played, and who left."""

    size: int
    """How many cards a hand has at first."""
    hands: tuple[frozenset[int], ...] = ()
    played: tuple[tuple[int, int], ...] = ()
    left: frozenset[Seat] = frozenset()

    @property
    def points(self) -> tuple[int, int]:
        """How many rounds each seat has won."""
        return sum(a > b for a, b in self.played), sum(b > a for a, b in self.played)

    def to_act(self) -> tuple[Seat, ...]:
        """Chance deals; then both act at once."""
        if self.left or len(self.played) == self.size:
            return ()
        return (0, 1) if self.hands else (CHANCE,)

    def draw(self, rng: Random) -> str:
        """The shuffled deck."""
        if self.hands or self.left:
            raise BadChance("nothing to deal")
        deck = list(CARDS)
        rng.shuffle(deck)
        return " ".join(map(str, deck))

    def chance(self, text: str) -> HighCardState:
        """Deals the first cards to seat 1, and the next to seat 2."""
        words = text.split(" ")
        if self.hands or self.left or sorted(words) != sorted(map(str, CARDS)):
            raise BadChance("expected the cards of a deck")
        deck = [int(word) for word in words]
        return replace(self, hands=(frozenset(deck[: self.size]), frozenset(deck[self.size : 2 * self.size])))

    def read(self, seat: Seat, text: str) -> int:
        """The number of a card."""
        word = text.strip(" ")
        if not (word.isascii() and word.isdigit() and len(word) <= 2 and word[0] != "0"):
            raise NotAMove("a card such as `7`")
        if int(word) not in self.hands[seat]:
            raise Illegal("not-in-hand", "not in your hand")
        return int(word)

    def write(self, move: int) -> str:
        """The number of the card."""
        return str(move)

    def play(self, moves: Mapping[Seat, int]) -> HighCardState:
        """Both cards are laid open."""
        hands = tuple(hand - {moves[seat]} for seat, hand in enumerate(self.hands))
        return replace(self, hands=hands, played=(*self.played, (moves[0], moves[1])))

    def legal(self, seat: Seat) -> Iterator[int]:
        """The hand, lowest card first."""
        return iter(sorted(self.hands[seat]))

    def sample(self, seat: Seat, rng: Random) -> int:
        """Any card of the hand."""
        return rng.choice(sorted(self.hands[seat]))

    def default(self, seat: Seat) -> int:
        """The lowest card."""
        return min(self.hands[seat])

    def drop(self, seats: Iterable[Seat]) -> HighCardState:
        """Ends the game."""
        return replace(self, left=self.left | frozenset(seats))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The seat's own hand as it was dealt, and the cards that were played."""
        lines = []
        for owner, hand in enumerate(self.hands):
            if seat in (None, owner):
                dealt = hand | {cards[owner] for cards in self.played}
                lines.append(f"hand {owner + 1} {' '.join(map(str, sorted(dealt)))}")
        return (*lines, *(f"played {one} {two}" for one, two in self.played))

    def outcome(self) -> Outcome | None:
        """Who won more rounds, or stayed."""
        if self.left:
            return walkover(self.left, self.points)
        if self.to_act():
            return None
        one, two = self.points
        order = [[0, 1]] if one == two else [[0], [1]] if one > two else [[1], [0]]
        return Outcome(placing(2, order), self.points, f"rounds won: {one} and {two}")

    def picture(self, seat: Seat | None) -> Picture:
        """The points, and the hand of the seat; a spectator sees both."""
        shown = [
            " ".join(map(str, sorted(hand))) if seat in (None, owner) else f"{len(hand)} cards"
            for owner, hand in enumerate(self.hands)
        ]
        return (row_of(f"points {self.points[0]} {self.points[1]}"), *(row_of(line) for line in shown))


class HighCard(Game[int]):
    """The rules."""

    slug = "highcard"
    name = "High Card"
    rules = 1
    is_open = False
    options = (NumberOption("size", 2, 7, 7, "cards in a hand"),)
    clock = TimeControl.parse("10s")
    summary = "Both play a card of a hidden hand at once, and the higher one wins the round."
    notation = "the card's number, such as `7`"

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def longest(self, options: Options) -> int:
        """A card for each turn of a seat."""
        return 2 * int(options["size"])

    def start(self, options: Options) -> HighCardState:
        """Before the deal."""
        return HighCardState(int(options["size"]))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> HighCardState:
        """Deals the other seat's remaining cards anew, from those that the seat has not seen."""
        state = self.start(options)
        if not seen:
            return state
        own = frozenset(map(int, seen[0].split()[2:]))
        played = tuple((int(one), int(two)) for one, two in (line.split()[1:] for line in seen[1:]))
        shown = frozenset(cards[1 - seat] for cards in played)
        hidden = sorted(set(CARDS) - own - shown)
        rng.shuffle(hidden)
        rest = frozenset(hidden[: state.size - len(played)])
        hands = {seat: own - {cards[seat] for cards in played}, 1 - seat: rest}
        return replace(state, hands=(hands[0], hands[1]), played=played)


GAME = HighCard()
