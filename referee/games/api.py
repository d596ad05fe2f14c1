"""What a game is to the referee: pure, immutable values that know nothing of bots, clocks or files.

A `Game` is the rules under a name; a `State` is a position with all its history. The referee asks a
state who acts, reads each answer with `read`, and applies them together with `play`. The interface holds
games in turn and games in which several seats submit at once, open games and games with hidden
information, chance, one to four seats, and seats that leave while the others play on.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from referee.core.errors import GameOptionError
from referee.core.seeds import Random
from referee.core.text import meant, shown
from referee.core.units import TimeControl
from referee.games.picture import Picture, parts_of_picture

Seat = int
"""A place at the table, counted from 0 in code; people and bots read it counted from 1."""

CHANCE: Seat = -1
"""The actor at a chance event whose outcome is drawn for this game alone."""

MAX_SEATS = 4
"""How many seats a game can have: pictures, pages and tables have colours and columns for so many."""

SHARED_CHANCE: Seat = -2
"""The actor at a chance event whose outcome is the same in every game of an encounter, so that seats are
swapped under equal conditions; for a seat that plays alone it is the same for all bots.
"""

M = TypeVar("M")
"""A game's own type of a move; hashable."""

Options = Mapping[str, int | str]
"""The values of all options of a game."""


class Refusal(Exception):
    """Base of the two ways in which an answer can be wrong: `reason` is a word, `sentence` is for people."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


class NotAMove(Refusal):
    """The text is not a move of this game in any position."""

    def __init__(self, expected: str) -> None:
        super().__init__("not-a-move", f"not a move, expected {expected}")


class Illegal(Refusal):
    """The move is not allowed in this position."""


class BadChance(ValueError):
    """A recorded chance outcome that is not possible here."""


NOTHING_TO_DRAW = "chance has nothing to decide here"


class Outcome(NamedTuple):
    """The outcome of a finished game."""

    ranks: tuple[int, ...]
    """By seat, 1 is best; tied seats share the best of their places (1, 1 is a draw of two). A seat that
    plays alone has won with 1 and lost with 2.
    """
    scores: tuple[int, ...]
    """By seat, in the game's own unit."""
    sentence: str
    """The reason, for people, seats counted from 1."""


class Option(Protocol):
    """An option of a game: its name, its default, and how its value is read."""

    @property
    def name(self) -> str:
        """The key under which it is given."""

    @property
    def meaning(self) -> str:
        """A short description, for people."""

    @property
    def default(self) -> int | str | None:
        """The default; None where it depends on other options."""

    @property
    def default_text(self) -> str:
        """The default, for people."""

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""

    def read(self, text: str) -> int | str:
        """The value of a text. Raises `GameOptionError`."""


@dataclass(frozen=True, slots=True)
class NumberOption:
    """An option that is a whole number."""

    name: str
    low: int
    high: int
    default: int | None
    """The default; None where it depends on other options."""
    meaning: str

    @property
    def default_text(self) -> str:
        """The default, for people."""
        return "depends" if self.default is None else str(self.default)

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""
        return f"{self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The value of a text. Raises `GameOptionError`."""
        # Not int() alone: it accepts signs, underscores and the digits of every script.
        if text.isascii() and text.isdigit() and len(text) <= 9 and str(int(text)) == text:
            value = int(text)
            if self.low <= value <= self.high:
                return value
        raise GameOptionError(
            f"option `{self.name}` is `{shown(text, 80)}`, expected a number from {self.values_text}"
        )


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """An option that is one of some words; the first is the default."""

    name: str
    values: tuple[str, ...]
    meaning: str

    @property
    def default(self) -> str:
        """The first value."""
        return self.values[0]

    @property
    def default_text(self) -> str:
        """The default, for people."""
        return self.default

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""
        return " or ".join(self.values)

    def read(self, text: str) -> str:
        """The value of a text. Raises `GameOptionError`."""
        if text in self.values:
            return text
        raise GameOptionError(f"option `{self.name}` is `{shown(text, 80)}`, expected {self.values_text}")


LOOKED_AT = 20_000
"""How many legal moves are looked at: some positions have millions, and these take a tenth of a second."""


class Chosen(NamedTuple, Generic[M]):
    """What can follow some parts of a move, see `State.chosen`."""

    next: Sequence[str]
    """The parts that some legal move has besides, in alphabetical order."""
    moves: Sequence[M]
    """The legal moves that have these parts and no others."""
    left: int | None
    """How many legal moves have these parts; None where there are very many, or counting is expensive."""


_WORDS = re.compile("[A-Za-z0-9]+")


class State(ABC, Generic[M]):
    """A position with its history. Immutable: `play`, `chance` and `drop` return a new one."""

    __slots__ = ()

    @abstractmethod
    def to_act(self) -> tuple[Seat, ...]:
        """Returns who acts: a seat, several at once, `(CHANCE,)`, `(SHARED_CHANCE,)`, or nobody when the game
        is over.
        """

    @abstractmethod
    def read(self, seat: Seat, text: str) -> M:
        """The move that a text means. Raises `NotAMove` or `Illegal`, with the first reason that applies.

        Extra blanks before, after and between the parts of a move are ignored, see `parts_of`.
        """

    @abstractmethod
    def write(self, move: M) -> str:
        """The canonical spelling of a move."""

    @abstractmethod
    def play(self, moves: Mapping[Seat, M]) -> State[M]:
        """The position after one legal move of every seat that acts."""

    @abstractmethod
    def legal(self, seat: Seat) -> Iterator[M]:
        """The legal moves, lazily, in an order that depends on nothing but the position."""

    def any_legal(self, seat: Seat) -> bool:
        """Whether there is a legal move."""
        return next(self.legal(seat), None) is not None

    def count(self, seat: Seat) -> int | None:
        """Counts the legal moves; None where counting is expensive; if not None, `pick` must be cheap."""
        return None

    def pick(self, seat: Seat, numbers: Sequence[int]) -> list[M]:
        """The legal moves with these numbers, counted from 0 in the order of `legal`."""
        legal = list(islice(self.legal(seat), max(numbers, default=-1) + 1))
        return [legal[number] for number in numbers]

    @abstractmethod
    def sample(self, seat: Seat, rng: Random) -> M:
        """A random legal move; each has a positive probability. Only where there is one.

        Openings are drawn with it, and drawn again to verify them: if the same numbers give another move than
        before, openings in earlier records no longer verify.
        """

    def default(self, seat: Seat) -> M | None:
        """Returns the move that is submitted for a seat whose time is up; None where the seat then loses."""
        return None

    def draw(self, rng: Random) -> str:
        """A random chance outcome, as text that `chance` takes. Only where chance acts."""
        raise BadChance(NOTHING_TO_DRAW)

    def chance(self, text: str) -> State[M]:
        """The position after a chance outcome. Raises `BadChance`."""
        raise BadChance(NOTHING_TO_DRAW)

    def playout(self, rng: Random) -> Outcome:
        """The outcome when all seats play on at random, as `sample` draws, and chance too. A game may have a
        faster way to the same outcome.
        """
        state = self
        while acting := state.to_act():
            if acting[0] < 0:
                state = state.chance(state.draw(rng))
            else:
                state = state.play({seat: state.sample(seat, rng) for seat in acting})
        outcome = state.outcome()
        assert outcome is not None, "nobody is to act"
        return outcome

    def reshuffled(self, rng: Random) -> State[M]:
        """The same position with what chance has decided and no seat has seen decided anew."""
        return self

    @abstractmethod
    def drop(self, seats: Iterable[Seat]) -> State[M]:
        """The position after these seats are retired together, by a fault or a resignation."""

    @abstractmethod
    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """All news of a seat so far; later positions only add lines. None is a spectator who sees all."""

    def lead(self, seat: Seat) -> int | None:
        """How far a seat is ahead of the best of the others, below 0 where it is behind, in what
        `Game.counted` names: a fact, not a chance. It follows from what every seat has seen. None where
        nothing is counted, and for a seat that is out or without others.
        """
        return None

    def key(self) -> Hashable | None:
        """What the rest of the game depends on, and nothing else: positions with the same key go on alike,
        whatever led to them. A search remembers by it what it has found. None where there is no such thing.
        """
        return None

    def between(self) -> Sequence[State[M]]:
        """The positions on the way from the last move or outcome of chance to this one, where something then
        happened by itself, one after the other, such as tiles that were drawn: pages show them one by one.
        """
        return ()

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """The outcome; None while the game is not over."""

    @abstractmethod
    def picture(self, seat: Seat | None) -> Picture:
        """The position as a seat sees it; None is a spectator who sees all."""

    def parts(self, move: M) -> tuple[str, ...]:
        """What a person may choose of a move, by clicking on marks of the picture that have it as their
        `part`; by default the words of its text, which consist of letters and digits.
        """
        return tuple(_WORDS.findall(self.write(move)))

    def candidates(self, seat: Seat, parts: Sequence[str]) -> Iterable[M]:
        """Legal moves, with all that have these parts. A game with many moves may have fewer of them here."""
        return self.legal(seat)

    def chosen(self, seat: Seat, parts: Sequence[str]) -> Chosen[M]:
        """What can follow the parts that a person has chosen so far, in any order, as far as the first
        `LOOKED_AT` candidates show. A game that has another way may prescribe the order.
        """
        wanted = {*parts}
        shown = parts_of_picture(self.picture(seat)) - wanted
        after: set[str] = set()
        moves = []
        left = 0
        candidates = list(islice(self.candidates(seat, parts), LOOKED_AT))
        for move in candidates:
            of_move = self.parts(move)
            if wanted.issubset(of_move):
                left += 1
                besides = shown.intersection(of_move)
                after |= besides
                if not besides:
                    moves.append(move)
        return Chosen(sorted(after), moves, left if len(candidates) < LOOKED_AT else None)


Policy = Callable[[State[M], Seat, Random], M]
"""Chooses a legal move for a seat that acts. It is given the full position, so what it may look at where
information is hidden is its own affair.
"""


class Game(ABC, Generic[M]):
    """The rules of a game, under a name."""

    slug: ClassVar[str]
    name: ClassVar[str]
    rules: ClassVar[int]
    """Version of these rules, which stands in records."""
    is_open: ClassVar[bool]
    """Whether every seat sees everything."""
    common_panels: ClassVar[Literal["all", "others"]] = "all"
    """What everybody is shown of a panel about one seat: what all seats see of it, or all others."""
    seats_text: ClassVar[str] = "2"
    """How many can play, for people."""
    options: ClassVar[tuple[Option, ...]]
    clock: ClassVar[TimeControl]
    """The game's own time control."""
    summary: ClassVar[str]
    """The rules in short, for people."""
    notation: ClassVar[str]
    """How a move is written, for people."""
    counted: ClassVar[str] = ""
    """What `State.lead` counts, such as `captures`, for people; empty where there is no lead."""

    can_be_estimated: ClassVar[bool] = True
    """Whether estimates of who wins are worth anything before the end can be proved."""

    def policy(self) -> Policy[M] | None:
        """A quick way to play tolerably, with which games are played on to estimate who wins; None where that
        tells too little.
        """
        return None

    def settle(self, given: Mapping[str, str]) -> Options:
        """The values of all options, from those that are given. Raises `GameOptionError`, also if the
        game has more than `MAX_SEATS` seats with them.
        """
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                expected = meant(name, known)
                raise GameOptionError(f"`{self.slug}` has no option `{shown(name, 80)}`, expected {expected}")
        settled: dict[str, int | str] = {}
        for name, option in known.items():
            if name in given:
                settled[name] = option.read(given[name])
            elif option.default is not None:
                settled[name] = option.default
            else:
                settled[name] = self.default_of(name, settled)
        if not 1 <= (seats := self.seats(settled)) <= MAX_SEATS:
            raise GameOptionError(
                f"`{self.slug}` has {seats} seats with these options, expected 1 to {MAX_SEATS}"
            )
        return settled

    def default_of(self, name: str, settled: Options) -> int:
        """The default of an option that depends on the options before it."""
        raise NotImplementedError(name)

    def aim(self, options: Options) -> str:
        """What decides who wins, in a few words for people who see a result; empty where that goes without
        saying.
        """
        return ""

    def told(self, line: str) -> str:
        """A line of news in words, for people, seats counted from 1; the line itself where there are none."""
        return line

    def zone(self, options: Options, cell: str) -> str:
        """Where a cell lies, by its name in capitals: `corner`, `edge`, or empty where it is neither or no
        cell of the board, for sentences about where something happens on it.
        """
        return ""

    @abstractmethod
    def seats(self, options: Options) -> int:
        """Returns the number of seats under these options: 1 to `MAX_SEATS`."""

    @abstractmethod
    def longest(self, options: Options) -> int:
        """An upper bound of the moves of a game, of all seats together."""

    @abstractmethod
    def start(self, options: Options) -> State[M]:
        """The position before the first move."""

    @abstractmethod
    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> State[M]:
        """A random full position that is consistent with the news of a seat, for search. It is made from
        these lines alone, so it has no information that the seat lacks.

        Raises `ValueError` where no position is consistent with them.
        """


class OpenGame(Game[M]):
    """A game in turn with open information and no chance: its news are its moves."""

    is_open = True

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> State[M]:
        """The position itself."""
        return self.follow(self.start(options), seen)

    def follow(self, state: State[M], news: Iterable[str]) -> State[M]:
        """The position after more news, of which only the lines `move SEAT MOVE` change it."""
        for line in news:
            word, _, rest = line.partition(" ")
            if word == "move":
                number, _, text = rest.partition(" ")
                mover = int(number) - 1
                state = state.play({mover: state.read(mover, text)})
        return state


def parts_of(text: str) -> list[str]:
    """The parts of a move's text, none of them empty. Any number of blanks is accepted before, after and
    between them; other white space does not separate parts.
    """
    parts = text.split(" ")
    return [part for part in parts if part] if "" in parts else parts


def share_beaten(ranks: Sequence[int], seat: Seat) -> float:
    """The share of opponents that a seat beat, from 0 to 1, where a tie counts half. For a seat that plays
    alone, 1 if it has won, else 0.
    """
    own = ranks[seat]
    if len(ranks) == 1:
        return float(own == 1)
    return (sum(other > own for other in ranks) + (ranks.count(own) - 1) / 2) / (len(ranks) - 1)


def placing(seats: int, best: Iterable[Iterable[Seat]]) -> tuple[int, ...]:
    """Ranks from groups of seats, best group first; a group shares the best of its places."""
    ranks = [0] * seats
    place = 1
    for group in best:
        members = list(group)
        for seat in members:
            ranks[seat] = place
        place += len(members)
    return tuple(ranks)


def walkover(left: Collection[Seat], scores: tuple[int, ...]) -> Outcome:
    """The outcome of a game that ended because seats left: the remaining seats share the best place, the
    others the worst.
    """
    here = [seat for seat in range(len(scores)) if seat not in left]
    gone = " and ".join(f"seat {seat + 1}" for seat in sorted(left))
    return Outcome(placing(len(scores), [here, left]), scores, f"{gone} left the game")
