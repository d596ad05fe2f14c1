"""What a bot was told of its game, followed as a position of the engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from referee.core.seeds import Random
from referee.games import GAMES, game_given, game_named
from referee.games.api import Game, OpenGame, Seat, State
from referee.games.outside import VARIABLE
from referee.kit.position import Position, seed_from, settled


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
