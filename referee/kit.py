"""The game engines for bots in Python and for training: the position as a bot knows it, and fast playouts.

    from referee.protocol.bot import Game, play
    from referee.kit import Follower, Quick

    def start(game):
        global follower, rng
        rng = Quick(game.random)
        follower = Follower(game, rng)

    def choose(game):
        state = follower.state()
        return state.write(state.sample(game.seat - 1, rng))

    play(choose, start)

It knows no more than the bot does: where information is hidden, each position is one of the possible ones.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, MutableSequence, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from referee.core.rng import Random
from referee.games import GAMES, game_given, game_named
from referee.games.api import Game, OpenGame, Outcome, Seat, State
from referee.games.outside import VARIABLE

T = TypeVar("T")

_NO_MOVES: Mapping[Seat, Any] = {}


class Told(Protocol):
    """What a bot knows of its game; `referee.protocol.bot.Game` is one implementation."""

    slug: str
    seat: int
    """Counted from 1."""
    options: dict[str, str]
    news: list[str]
    """All news of the game, oldest first."""


class Quick:
    """Random numbers for search, about ten times as fast as a `Stream`: the generator of Python's `random`.

    Numbers below *n* are uniform but for a bias of at most *n* in 2 to the 53, and the numbers that a seed
    gives may change with the version of Python.
    """

    def __init__(self, source: random.Random) -> None:
        self._random = source.random
        self._shuffle = source.shuffle

    def below(self, n: int) -> int:
        """A number from 0 to n - 1. Raises `ValueError` for n < 1."""
        if n < 1:
            raise ValueError(f"below({n})")
        return int(self._random() * n)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place."""
        self._shuffle(items)


def game_played(slug: str) -> Game[Any]:
    """The game that this bot plays: built in, installed, or from the file that the environment variable
    `REFEREE_GAME` names. Raises `UsageError`.
    """
    if slug not in GAMES and (named := os.environ.get(VARIABLE)):
        game = game_given(named, Path.cwd())
        if game.slug == slug:
            return game
    return game_named(slug)


class Follower:
    """The position of one game, as far as a bot can know it."""

    def __init__(self, told: Told, rng: Random) -> None:
        """Raises `UsageError` for an unknown game, `GameOptionError` for options that it does not accept."""
        self._told = told
        self._rng = rng
        self.game = game_played(told.slug)
        self._options = self.game.settle(told.options)
        self._state = self.game.start(self._options)
        self._followed = 0

    def state(self) -> State[Any]:
        """The position itself in an open game; else a random position that agrees with the news, a new one at
        each call. Raises `ValueError` where none is found.
        """
        news = self._told.news
        if not isinstance(self.game, OpenGame):
            return self.game.imagine(self._options, self._told.seat - 1, news, self._rng)
        self._state = self.game.follow(self._state, news[self._followed :])
        self._followed = len(news)
        return self._state


def step(state: State[Any], rng: Random, moves: Mapping[Seat, Any] = _NO_MOVES) -> State[Any]:
    """The next position: seats in `moves` play that move, other seats and chance act at random.

    The game must not be over.
    """
    acting = state.to_act()
    if acting[0] < 0:
        return state.chance(state.draw(rng))
    return state.play({seat: moves[seat] if seat in moves else state.sample(seat, rng) for seat in acting})


def playout(state: State[Any], rng: Random) -> Outcome:
    """The outcome of the game when it is played to its end at random."""
    while (outcome := state.outcome()) is None:
        state = step(state, rng)
    return outcome
