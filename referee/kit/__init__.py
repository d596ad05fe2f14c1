"""The game engines for bots in Python and for training: positions, what a seat knows of them, and playouts.

    from referee import kit

    position = kit.new("blooms", size=4, seed=7)
    while not position.is_over:
        position = position.play(position.sample(kit.Quick(7)))
    print(position.rewards())

What is here and in `docs/KIT.md` stays as it is within a major version. A bot that follows its game with a
`Follower` knows no more than it was told: where information is hidden, each position is one of the possible
ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from referee.core.seeds import Random
from referee.games import GAMES, VARIABLE, game_given, game_named
from referee.games.api import (
    BadChance,
    Game,
    Illegal,
    NotAMove,
    OpenGame,
    Options,
    Outcome,
    Policy,
    Refusal,
    Seat,
    State,
)
from referee.games.sampling import LegalMovesSample
from referee.kit.position import (
    Position,
    Quick,
    at_random,
    imagined,
    playout,
    rewards,
    seed_from,
    seed_of,
    settled,
    step,
)

__all__ = [
    "BadChance",
    "Follower",
    "Game",
    "Illegal",
    "LegalMovesSample",
    "NotAMove",
    "Outcome",
    "Policy",
    "Position",
    "Quick",
    "Random",
    "Refusal",
    "Seat",
    "State",
    "Told",
    "at_random",
    "game_played",
    "imagine",
    "new",
    "playout",
    "rewards",
    "step",
]

_NO_OPTIONS: Mapping[str, int | str] = {}


def new(
    slug: str,
    options: Mapping[str, int | str] = _NO_OPTIONS,
    *,
    seed: int | str | None = None,
    explicit_chance: bool = False,
    **more: int | str,
) -> Position:
    """The first position of a game, with options as a mapping or by name. The same seed gives the same
    chance; without one it is fresh. With `explicit_chance` nothing is drawn: the caller gives each outcome of
    chance.

    Raises `UsageError` for an unknown game, `GameOptionError` for options that it does not accept.
    """
    game, values = _game_with(slug, {**options, **more})
    return settled(game, values, game.start(values), None if explicit_chance else seed_of(seed))


def imagine(
    slug: str,
    seat: Seat,
    news: Sequence[str],
    rng: Random,
    options: Mapping[str, int | str] = _NO_OPTIONS,
    **more: int | str,
) -> Position:
    """A random position that agrees with the news of a seat, counted from 0, as its bot got them.

    Raises `ValueError` where none is found, `UsageError` and `GameOptionError` as `new` does.
    """
    game, values = _game_with(slug, {**options, **more})
    return imagined(game, values, seat, news, rng)


def _game_with(slug: str, options: Mapping[str, int | str]) -> tuple[Game[Any], Options]:
    game = game_played(slug)
    return game, game.settle({name: str(value) for name, value in options.items()})


class Told(Protocol):
    """What a bot knows of its game; `referee.protocol.bot.Game` is one implementation."""

    slug: str
    seat: int
    """Counted from 1."""
    options: dict[str, str]
    news: list[str]
    """All news of the game, oldest first."""


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

    @property
    def seat(self) -> Seat:
        """The bot's seat, counted from 0 as positions do."""
        return self._told.seat - 1

    def state(self) -> State[Any]:
        """The position itself in an open game; else a random position that agrees with the news, a new one at
        each call. Raises `ValueError` where none is found.
        """
        news = self._told.news
        if not isinstance(self.game, OpenGame):
            return self.game.imagine(self._options, self.seat, news, self._rng)
        self._state = self.game.follow(self._state, news[self._followed :])
        self._followed = len(news)
        return self._state

    def position(self) -> Position:
        """The same as a `Position`; chance to come is drawn from the random numbers of this object."""
        return settled(self.game, self._options, self.state(), seed_from(self._rng))
