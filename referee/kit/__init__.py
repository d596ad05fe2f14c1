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

from collections.abc import Mapping, Sequence
from typing import Any

from referee.core.seeds import Random
from referee.games.api import BadChance, Game, Illegal, NotAMove, Options, Outcome, Refusal, Seat, State
from referee.games.sampling import LegalMovesSample
from referee.kit.following import Follower, Told, game_played
from referee.kit.numbers import Quick
from referee.kit.playouts import Policy, at_random, playout, rewards, step
from referee.kit.position import Position, imagined, seed_of, settled

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
