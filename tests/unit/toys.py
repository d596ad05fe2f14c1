"""Small games that have what Blooms lacks: chance, its own and shared, all at once, defaults, three seats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.games.api import (
    CHANCE,
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
from referee.games.picture import Picture, row_of


class BidState(State[int]):
    """A prize is drawn, all seats bid 1 to 5 at once, the highest bid wins the prize if it is alone.

    No seat may bid the same twice in a row. Two rounds. A seat whose time is up bids 1, if it may.
    """

    def __init__(
        self, seats: int, prizes: tuple[int, ...] = (), bids: tuple[tuple[int, ...], ...] = ()
    ) -> None:
        self.seats = seats
        self.prizes = prizes
        self.bids = bids
        self.here = frozenset(range(seats))
        self.left: tuple[tuple[Seat, ...], ...] = ()

    def _next(self, prizes: tuple[int, ...], bids: tuple[tuple[int, ...], ...]) -> BidState:
        state = BidState(self.seats, prizes, bids)
        state.here, state.left = self.here, self.left
        return state

    def to_act(self) -> tuple[Seat, ...]:
        if self.outcome():
            return ()
        return (CHANCE,) if len(self.prizes) == len(self.bids) else tuple(sorted(self.here))

    def read(self, seat: Seat, text: str) -> int:
        if text not in {"1", "2", "3", "4", "5"}:
            raise NotAMove("a number from 1 to 5")
        if self.bids and self.bids[-1][seat] == int(text):
            raise Illegal("again", f"you bid {text} before")
        return int(text)

    def write(self, move: int) -> str:
        return str(move)

    def play(self, moves: Mapping[Seat, int]) -> BidState:
        assert set(moves) == self.here
        return self._next(self.prizes, (*self.bids, tuple(moves.get(seat, 0) for seat in range(self.seats))))

    def legal(self, seat: Seat) -> Iterator[int]:
        return (bid for bid in range(1, 6) if not (self.bids and self.bids[-1][seat] == bid))

    def sample(self, seat: Seat, rng: Random) -> int:
        return rng.choice(list(self.legal(seat)))

    def default(self, seat: Seat) -> int | None:
        return next(self.legal(seat))

    def draw(self, rng: Random) -> str:
        return f"prize {1 + rng.below(9)}"

    def chance(self, text: str) -> BidState:
        if text not in {f"prize {n}" for n in range(1, 10)}:
            raise BadChance(f"`{text}` is no prize")
        return self._next((*self.prizes, int(text[6:])), self.bids)

    def drop(self, seats: Iterable[Seat]) -> BidState:
        state = self._next(self.prizes, self.bids)
        state.here = self.here - set(seats)
        state.left = (*self.left, tuple(seats))
        return state

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        lines: list[str] = []
        for number, prize in enumerate(self.prizes):
            lines.append(f"prize {prize}")
            if number < len(self.bids):
                lines.append("bids " + " ".join(map(str, self.bids[number])))
        return tuple(lines)

    def scores(self) -> tuple[int, ...]:
        won = [0] * self.seats
        for prize, bids in zip(self.prizes, self.bids, strict=False):
            if bids.count(max(bids)) == 1:
                won[bids.index(max(bids))] += prize
        return tuple(won)

    def outcome(self) -> Outcome | None:
        if len(self.here) > 1 and len(self.bids) < 2:
            return None
        scores = self.scores()
        order = sorted({scores[seat] for seat in self.here}, reverse=True)
        groups = [[seat for seat in self.here if scores[seat] == score] for score in order]
        ranks = placing(self.seats, [*groups, *reversed(self.left)])
        return Outcome(ranks, scores, "two rounds are played")

    def picture(self, seat: Seat | None) -> Picture:
        return tuple(row_of(line) for line in self.seen(seat))


class Bid(Game[int]):
    slug = "bid"
    name = "Bid"
    rules = 1
    is_open = True
    options = (NumberOption("players", 2, 4, 2, "seats"),)
    clock = TimeControl.parse("1s")
    summary = "Bid."
    notation = "`3`"

    def seats(self, options: Options) -> int:
        return int(options["players"])

    def longest(self, options: Options) -> int:
        return 2 * self.seats(options)

    def start(self, options: Options) -> BidState:
        return BidState(self.seats(options))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> BidState:
        raise NotImplementedError


@dataclass(frozen=True)
class TakeState(State[int]):
    """Chance that is shared decides how many stones there are, 3 to 9; two seats take 1 to 3 in turn.

    Who takes the last one wins. With the option `rain`, chance adds a stone or none after so many moves.
    """

    rain: int
    stones: int = -1
    """-1 before chance has decided."""
    moves: tuple[int, ...] = ()
    rained: bool = False

    def to_act(self) -> tuple[Seat, ...]:
        if self.stones < 0:
            return (SHARED_CHANCE,)
        if not self.stones:
            return ()
        waiting = self.rain and len(self.moves) == self.rain and not self.rained
        return (CHANCE,) if waiting else (len(self.moves) % 2,)

    def read(self, seat: Seat, text: str) -> int:
        if text not in {"1", "2", "3"}:
            raise NotAMove("a number from 1 to 3")
        if int(text) > self.stones:
            raise Illegal("too-many", f"there are {self.stones} stones")
        return int(text)

    def write(self, move: int) -> str:
        return str(move)

    def play(self, moves: Mapping[Seat, int]) -> TakeState:
        (taken,) = moves.values()
        return replace(self, stones=self.stones - taken, moves=(*self.moves, taken))

    def legal(self, seat: Seat) -> Iterator[int]:
        return iter(range(1, min(3, self.stones) + 1))

    def sample(self, seat: Seat, rng: Random) -> int:
        return 1 + rng.below(min(3, self.stones))

    def draw(self, rng: Random) -> str:
        return str(3 + rng.below(7) if self.stones < 0 else rng.below(2))

    def chance(self, text: str) -> TakeState:
        if text not in "0123456789":
            raise BadChance(f"`{text}` is no number of stones")
        if self.stones < 0:
            return replace(self, stones=int(text))
        return replace(self, stones=self.stones + int(text), rained=True)

    def drop(self, seats: Iterable[Seat]) -> TakeState:
        return replace(self, stones=0)

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        moves = (f"move {number % 2 + 1} {taken}" for number, taken in enumerate(self.moves))
        return () if self.stones < 0 else ("stones", *moves)

    def outcome(self) -> Outcome | None:
        if self.stones:
            return None
        winner = (len(self.moves) - 1) % 2
        return Outcome((1 + winner, 2 - winner), (0, 0), "the last stone is taken")

    def picture(self, seat: Seat | None) -> Picture:
        return (row_of(str(self.stones)),)


class Take(Game[int]):
    slug = "take"
    name = "Take"
    rules = 1
    is_open = True
    options = (NumberOption("rain", 0, 9, 0, "moves before it rains"),)
    clock = TimeControl.parse("1s")
    summary = "Take."
    notation = "`3`"

    def seats(self, options: Options) -> int:
        return 2

    def longest(self, options: Options) -> int:
        return 10

    def start(self, options: Options) -> TakeState:
        return TakeState(int(options["rain"]))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> TakeState:
        raise NotImplementedError
