"""What an encoding is: moves as numbers and positions as arrays, for training. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.games.api import Options, Seat, State

S = TypeVar("S", bound=State[Any])

Action = int
"""Part of a move, as a number from 0."""

Begun = tuple[Action, ...]
"""The actions of a move that is not complete yet."""

FloatArray = NDArray[np.float32]


class ObservationPart(NamedTuple):
    """A part of an observation."""

    name: str
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


class Encoding(ABC, Generic[S]):
    """Moves and positions of one game, under some options, as numbers.

    A move is one action or several in a row, so that a game with millions of moves has some hundreds of
    actions, the same ones in all positions. An observation is one array of numbers from 0 to 1, made of
    named parts, and holds nothing that its seat does not know.
    """

    actions: int
    """How many actions there are."""
    parts: tuple[ObservationPart, ...]
    """What an observation is made of, in this order."""

    @abstractmethod
    def __init__(self, options: Options) -> None:
        """For games with these options."""

    @abstractmethod
    def legal(self, state: S, seat: Seat, begun: Begun) -> list[Action]:
        """The actions with which a legal move of a seat that acts can go on, ascending; never none."""

    @abstractmethod
    def move(self, state: S, seat: Seat, begun: Begun) -> Any | None:
        """The move that these actions are; None while they are not a whole one. Each has to be legal."""

    @abstractmethod
    def spelled(self, state: S, seat: Seat, move: Any) -> Begun:
        """The actions that a legal move is made of; where several orders are possible, one of them."""

    @abstractmethod
    def values(self, state: S, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """The values of all parts, by name, as the seat knows them."""

    @property
    def size(self) -> int:
        """How many numbers an observation has."""
        return sum(part.size for part in self.parts)

    def observation(self, state: S, seat: Seat, begun: Begun = ()) -> FloatArray:
        """What a seat knows; `begun` is what it has begun of its move."""
        values = self.values(state, seat, begun)
        return np.concatenate([np.asarray(values[part.name], np.float32).ravel() for part in self.parts])

    def split(self, observation: FloatArray) -> dict[str, FloatArray]:
        """The parts of an observation, by name, each in its own shape."""
        found, at = {}, 0
        for part in self.parts:
            found[part.name] = observation[at : at + part.size].reshape(part.shape)
            at += part.size
        return found

    def mask(self, state: S, seat: Seat, begun: Begun = ()) -> NDArray[np.int8]:
        """1 for each action with which a legal move can go on, 0 for the others."""
        mask = np.zeros(self.actions, np.int8)
        mask[self.legal(state, seat, begun)] = 1
        return mask


class SeatKnowledge(Protocol):
    """What a seat knows, from its news."""

    def hear(self, words: list[str]) -> None:
        """Follows a line of news, split at its blanks."""


K = TypeVar("K", bound=SeatKnowledge)


class Reading(Generic[K]):
    """Reads the news of seats: lines that were read for the position before are not read again."""

    def __init__(self, begin: Callable[[Seat], K]) -> None:
        """`begin` gives what a seat knows before the first line."""
        self._begin = begin
        self._read: dict[Seat, tuple[tuple[str, ...], K]] = {}

    def known(self, seat: Seat, news: tuple[str, ...]) -> K:
        """What follows from all the news of a seat; it changes with the next call for this seat."""
        before, known = self._read.pop(seat, ((), None))
        if known is None or news[: len(before)] != before:
            before, known = (), self._begin(seat)
        for line in news[len(before) :]:
            known.hear(line.split(" "))
        self._read[seat] = news, known
        return known


TO_ACT = ObservationPart("to_act", (1,), "whether the seat is to act")


def acts(state: State[Any], seat: Seat) -> bool:
    """Whether a seat is to act, the value of `TO_ACT`."""
    return seat in state.to_act()


def plane(cells: int, rows: int, width: int, columns: int) -> NDArray[np.uint8]:
    """A set of cells of a board as an array of 0 and 1, where cells are numbered row by row and rows are
    `width` apart.
    """
    size = rows * width
    packed = np.frombuffer((cells & ((1 << size) - 1)).to_bytes((size + 7) // 8, "little"), np.uint8)
    return np.unpackbits(packed, bitorder="little")[:size].reshape(rows, width)[:, :columns]


def one_hot(index: int, size: int) -> list[int]:
    """A list with a 1 at an index; only zeros where the index is outside of it."""
    return [int(number == index) for number in range(size)]
