"""Positions of any game, for search: what is legal, what follows, playouts, and fast random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from typing import Any, TypeVar

from referee.core.seeds import Random, Stream, derive, fresh_seed
from referee.core.value import value
from referee.games.api import Game, Options, Outcome, Policy, Seat, State, share_beaten
from referee.games.sampling import LegalMovesSample, legal_moves

T = TypeVar("T")


class Quick:
    """Random numbers for search, about ten times as fast as a `Stream`: the generator of Python's `random`.

    Numbers below *n* are uniform except for a bias of at most *n* in 2 to the 53, and the numbers that a seed
    gives may change with the version of Python.
    """

    def __init__(self, source: random.Random | int | str) -> None:
        """From a generator, such as `game.random` of a bot, or from a seed."""
        if not isinstance(source, random.Random):
            source = random.Random(source)
        self._random = source.random
        self._shuffle = source.shuffle

    def below(self, n: int) -> int:
        """A number from 0 to n - 1. Raises `ValueError` for n < 1."""
        if n < 1:
            raise ValueError(f"below({n})")
        return int(self._random() * n)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        # As `below`, which a second call would take as long as the rest.
        return items[int(self._random() * len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place."""
        self._shuffle(items)


M = TypeVar("M")

_NO_MOVES: Mapping[Seat, Any] = {}


def at_random(state: State[M], seat: Seat, rng: Random) -> M:
    """The policy that plays at random, as the game's `sample` does."""
    return state.sample(seat, rng)


def step(
    state: State[M], rng: Random, moves: Mapping[Seat, M] = _NO_MOVES, policy: Policy[M] = at_random
) -> State[M]:
    """The next position: seats in `moves` play that move, other seats by the policy, chance at random.

    The game must not be over.
    """
    acting = state.to_act()
    if acting[0] < 0:
        return state.chance(state.draw(rng))
    return state.play({seat: moves[seat] if seat in moves else policy(state, seat, rng) for seat in acting})


def playout(state: State[M], rng: Random, policy: Policy[M] = at_random) -> Outcome:
    """The outcome of the game when all seats play on by a policy, at random if none is given."""
    if policy is at_random:
        return state.playout(rng)
    while (outcome := state.outcome()) is None:
        state = step(state, rng, policy=policy)
    return outcome


def rewards(outcome: Outcome) -> tuple[float, ...]:
    """The reward of each seat, from −1 to 1: 1 for the first place, −1 for the last, evenly between, and
    tied seats share the mean of their places. A seat that plays alone gets 1 or −1.
    """
    return tuple(2 * share_beaten(outcome.ranks, seat) - 1 for seat in range(len(outcome.ranks)))


@value
class Position:
    """A position of a game, with its rules and its whole history. Immutable: `play` and `chance` give new
    ones, so keeping a position is keeping a reference. Seats are counted from 0.

    A position is equal only to itself.
    """

    game: Game[Any]
    options: Options
    """The values of all options."""
    state: State[Any]
    """The position as the engine has it, for code that has to be as fast as possible."""
    seed: bytes | None = None
    """What chance is drawn from, by itself; None where chance is left to the caller."""
    drawn: int = 0
    """How often chance was drawn by itself so far."""

    def __repr__(self) -> str:
        return f"<Position of {self.game.slug}, to act: {self.to_act()}>"

    def __str__(self) -> str:
        return self.picture()

    @property
    def seats(self) -> int:
        """How many seats play."""
        return self.game.seats(self.options)

    # --- Who acts, and with which moves ---

    def to_act(self) -> tuple[Seat, ...]:
        """The seats that act now: one, or several at once; none when the game is over. Where chance is left
        to the caller and has to decide something, a single negative number.
        """
        return self.state.to_act()

    @property
    def turn(self) -> Seat:
        """The seat that acts. Raises `ValueError` where not exactly one seat does."""
        return self._seat(None)

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return not self.state.to_act()

    @property
    def is_chance(self) -> bool:
        """Whether chance has to decide something before a seat acts."""
        acting = self.state.to_act()
        return bool(acting) and acting[0] < 0

    def _seat(self, seat: Seat | None) -> Seat:
        """The seat that is meant: the only one that acts where none is named."""
        acting = self.state.to_act()
        if seat is None and len(acting) == 1 and acting[0] >= 0:
            return acting[0]
        if seat is None or seat not in acting or seat < 0:
            raise ValueError(f"`seat` is {seat}, expected one of the seats to act: {acting}")
        return seat

    def legal(self, seat: Seat | None = None) -> Iterator[Any]:
        """The legal moves of the seat that acts, one by one: there may be millions."""
        return self.state.legal(self._seat(seat))

    def legal_texts(self, seat: Seat | None = None) -> Iterator[str]:
        """The legal moves as a bot writes them."""
        return map(self.state.write, self.legal(seat))

    def count(self, seat: Seat | None = None) -> int | None:
        """Counts the legal moves; None where counting means listing them."""
        return self.state.count(self._seat(seat))

    def sample(self, rng: Random, seat: Seat | None = None) -> Any:
        """A random legal move."""
        return self.state.sample(self._seat(seat), rng)

    def some_legal(self, most: int, rng: Random, seat: Seat | None = None) -> LegalMovesSample[Any]:
        """All legal moves if they are at most `most`, else as many different ones, drawn at random; never
        more than 2,000. Its `moves` are the moves, `total` is their number or None, `sampled` whether there
        are more.
        """
        return legal_moves(self.state, self._seat(seat), most, rng)

    def read(self, text: str, seat: Seat | None = None) -> Any:
        """The move that a text means. Raises `NotAMove` or `Illegal`."""
        return self.state.read(self._seat(seat), text)

    def write(self, move: Any) -> str:
        """A move as a bot writes it."""
        return self.state.write(move)

    # --- What follows ---

    def play(self, moves: Any) -> Position:
        """The position after a move of the seat that acts, or, where several act at once, after a mapping of
        seats to moves. A move is a legal one as `legal` gives it, which is not checked again, or a text,
        which is. Raises `NotAMove` or `Illegal` for a text, `ValueError` for the wrong seats.
        """
        given = moves if isinstance(moves, Mapping) else {self.turn: moves}
        if set(given) != set(self.state.to_act()) or self.is_chance:
            raise ValueError(
                f"the seats to act are {self.state.to_act()}, but the moves are for seats {tuple(given)}"
            )
        read = self.state.read
        played = {seat: read(seat, move) if isinstance(move, str) else move for seat, move in given.items()}
        return self._followed_by(self.state.play(played))

    def draw(self, rng: Random) -> str:
        """A random outcome of chance, as text, where chance is left to the caller."""
        return self.state.draw(rng)

    def chance(self, text: str) -> Position:
        """The position after an outcome of chance. Raises `BadChance`."""
        return self._followed_by(self.state.chance(text))

    def drop(self, seats: Iterable[Seat]) -> Position:
        """The position after these seats left the game together, as after a fault or when they resign."""
        return self._followed_by(self.state.drop(seats))

    def _followed_by(self, state: State[Any]) -> Position:
        return settled(self.game, self.options, state, self.seed, self.drawn)

    # --- What a seat knows ---

    def news(self, seat: Seat | None) -> tuple[str, ...]:
        """All lines of news that a seat got so far, as its bot would; None is a spectator who sees all."""
        return self.state.seen(seat)

    def imagine(self, seat: Seat, rng: Random) -> Position:
        """A random position that agrees with all that a seat knows. It is made from the seat's news alone;
        in an open game it is the position itself. Raises `ValueError` where none is found.
        """
        return imagined(self.game, self.options, seat, self.news(seat), rng, self.seed is None)

    def picture(self, seat: Seat | None = None) -> str:
        """The position as text, as a seat sees it; None is a spectator who sees all."""
        # Only when it is used: what draws pictures takes longer to import than the engines.
        from referee.viewing.characters import picture_text

        return picture_text(self.state.picture(seat))

    def svg(self, seat: Seat | None = None) -> str:
        """The same as a drawing: a whole SVG file. It is light, but dark within a page that is."""
        from referee.viewing.palette import own_style
        from referee.viewing.svg import Layout

        picture, outcome = self.state.picture(seat), self.outcome()
        said = outcome.sentence if outcome else ""
        return Layout.of([picture]).svg(picture, own_style(), self.game.name, said)

    def _repr_svg_(self) -> str:
        """The drawing, for notebooks."""
        return self.svg()

    def _repr_html_(self) -> str:
        """The drawing as a part of the page, whose colours it takes; as an image it could not."""
        return self.svg()

    # --- How it ends ---

    def outcome(self) -> Outcome | None:
        """The ranks and scores by seat, and a sentence; None while the game is not over."""
        return self.state.outcome()

    def rewards(self) -> tuple[float, ...] | None:
        """The reward of each seat, from −1 to 1, as `kit.rewards` has it; None while the game is not over."""
        outcome = self.state.outcome()
        return None if outcome is None else rewards(outcome)

    def playout(self, rng: Random, policy: Policy[Any] = at_random) -> Outcome:
        """The outcome when all seats play on by a policy, at random if none is given, and chance is drawn
        from `rng`.
        """
        return playout(self.state, rng, policy)


def settled(
    game: Game[Any], options: Options, state: State[Any], seed: bytes | None, drawn: int = 0
) -> Position:
    """The position of a state, with chance drawn from the seed until a seat acts, if there is a seed."""
    while seed is not None and (acting := state.to_act()) and acting[0] < 0:
        state = state.chance(state.draw(Stream(derive(seed, "kit", str(drawn)))))
        drawn += 1
    return Position(game, options, state, seed, drawn)


def imagined(
    game: Game[Any],
    options: Options,
    seat: Seat,
    news: Sequence[str],
    rng: Random,
    explicit_chance: bool = False,
) -> Position:
    """A random position that agrees with the news of a seat; chance to come is drawn from `rng` too."""
    state = game.imagine(options, seat, news, rng)
    return settled(game, options, state, None if explicit_chance else seed_from(rng))


def seed_of(seed: int | str | None) -> bytes:
    """The seed of a game as bytes: fresh randomness where there is none."""
    return fresh_seed() if seed is None else str(seed).encode()


def seed_from(rng: Random) -> bytes:
    """A seed that is drawn from random numbers."""
    return str(rng.below(1 << 53)).encode()
