"""What is played, by whom and under what: all that decides a run but the answers of its bots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.bots import NAME, Bot
from referee.clock import TimeControl
from referee.errors import EnvironmentLacksError, RecordError, UsageError
from referee.fields import Fields
from referee.games import game_named
from referee.games.api import Game, Options
from referee.match import MARGIN_US, REJECTIONS, Terms
from referee.record import FORMAT
from referee.rng import derive, fresh_seed
from referee.schedule import Pairing, encounter_of
from referee.text import shown
from referee.wire import cpu

START_US = 10_000_000
"""A bot's start allowance: for its `hello`, and again for each `ready`."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot with what it gets of its own."""

    bot: Bot
    control: TimeControl
    fresh: bool = False
    """Whether it gets a new process for every game."""
    folder: str = "."
    """Where it runs, as the tournament file has it: a run may move with its file."""

    def check(self) -> None:
        """Raises `UsageError` where its program is not there, `EnvironmentLacksError` where its clock cannot
        be kept.
        """
        self.bot.check()
        if self.control.by_cpu and not cpu.AVAILABLE:
            raise EnvironmentLacksError(
                f"bot `{self.bot.name}`: the clock `{self.control}` counts computing time, which needs Linux"
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """A run's terms. Everything in it is in the first line of the run's records."""

    game: Game[Any]
    options: Options
    entrants: tuple[Entrant, ...]
    seed: str
    margin_us: int = MARGIN_US
    rejections: int = REJECTIONS
    start_us: int = START_US

    @property
    def names(self) -> tuple[str, ...]:
        """The bots', in the order they were given."""
        return tuple(entrant.bot.name for entrant in self.entrants)

    @property
    def seats(self) -> int:
        """How many sit at a table."""
        return self.game.seats(self.options)

    def entrant(self, name: str) -> Entrant:
        """The entrant of a name."""
        return next(entrant for entrant in self.entrants if entrant.bot.name == name)

    def terms(self, pairing: Pairing) -> Terms:
        """One game's."""
        return Terms(
            pairing.id,
            self.game,
            self.options,
            pairing.bots,
            tuple(self.entrant(name).control for name in pairing.bots),
            game_seed(self.seed, pairing.id),
            shared_seed(self.seed, pairing.id),
            self.margin_us,
            self.rejections,
        )

    def header(self) -> dict[str, Any]:
        """The plan as the first line of a file of records has it."""
        return {
            "kind": "tournament",
            "record": FORMAT,
            "game": self.game.slug,
            "rules": self.game.rules,
            "options": dict(self.options),
            "margin_us": self.margin_us,
            "rejections": self.rejections,
            "start_us": self.start_us,
            "seed": self.seed,
            "bots": {entrant.bot.name: entrant_json(entrant) for entrant in self.entrants},
        }


def read_header(value: dict[str, Any]) -> dict[str, Any]:
    """The first line of a run's records, as far as others build on it. Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
    if fields.text("kind") != "tournament":
        raise fields.wrong("kind", "`tournament` in the first line")
    if fields.number("record") != FORMAT:
        raise fields.wrong("record", f"{FORMAT}: this referee reads no other records")
    fields.text("seed")
    fields.object("bots")
    _check_additions(fields)
    return {name: what for name, what in value.items() if name not in ("prev", "hash")}


def seats_of(header: dict[str, Any]) -> int:
    """How many sit at a table of the run that a header describes. Raises `RecordError`."""
    fields = Fields(header, "", RecordError)
    try:
        game = game_named(fields.text("game"))
        return game.seats(game.settle(fields.scalars("options")))
    except UsageError as error:
        raise RecordError(str(error)) from None


def apply_change(header: dict[str, Any], change: dict[str, Any]) -> None:
    """Adds what a later line says was added. Raises `RecordError`."""
    fields = Fields(change, "", RecordError)
    _check_additions(fields)
    for name in ("bots", "files"):
        if fields.has(name):
            header[name] = {**header.get(name, {}), **change[name]}
    if fields.has("rounds"):
        header["rounds"] = fields.number("rounds", 1)


def _check_additions(fields: Fields) -> None:
    """What a first line and a change have in common."""
    if fields.has("bots"):
        bots = fields.object("bots")
        for name in bots.names():
            if not NAME.fullmatch(name):
                raise fields.wrong("bots", "names of bots")
            bots.object(name).text("clock")
    if fields.has("files"):
        for name in fields.object("files").names():
            fields.object("files").object(name)
    if fields.has("rounds"):
        fields.number("rounds", 1)


def check_against(header: dict[str, Any], game: dict[str, Any]) -> None:
    """Raises `RecordError` where a game is not one of the run that the header describes."""
    for name in ("game", "rules", "options", "margin_us", "rejections"):
        if game.get(name) != header.get(name):
            raise RecordError(
                f"{name} is {shown(str(game.get(name)), 60)}, "
                f"and in the first line {shown(str(header.get(name)), 60)}"
            )
    fields = Fields(game, "", RecordError)
    game_id, bots = fields.text("id"), fields.texts("bots")
    for name, clock in zip(bots, fields.texts("clocks"), strict=False):
        entrant = header["bots"].get(name)
        if entrant is None or entrant.get("clock") != clock:
            raise RecordError(f"bot {shown(name, 80)} with the clock {shown(clock, 40)} is not in this run")
    seeds = (fields.hex("seed"), fields.hex("shared_seed"))
    expected = (game_seed(header["seed"], game_id), shared_seed(header["seed"], game_id))
    if game_id.split(":")[1:] != list(bots) or seeds != expected:
        raise RecordError("its id, bots and seed do not belong together in this run")


def entrant_json(entrant: Entrant) -> dict[str, Any]:
    """An entrant as records have it."""
    bot = entrant.bot
    value: dict[str, Any] = {
        "command": list(bot.command),
        "cwd": entrant.folder,
        "env": dict(bot.env),
        "pass_env": list(bot.pass_env),
        "clock": str(entrant.control),
        "fresh": entrant.fresh,
    }
    # Only what is not as it is by default, so that older runs can be continued.
    if limits := bot.limits.changed():
        value["limits"] = limits
    if bot.pty:
        value["pty"] = True
    return value


def game_seed(seed: str, game_id: str) -> bytes:
    """The seed of one game of a run."""
    return derive(seed.encode(), "game", game_id)


def shared_seed(seed: str, game_id: str) -> bytes:
    """The seed of what a game shares: with the games of its encounter, or, where a bot plays alone, with
    the games of the other bots in its round.
    """
    number, *bots = encounter_of(game_id)
    return derive(seed.encode(), "shared", ":".join([number, *bots] if len(bots) > 1 else [number]))


def checked_seed(seed: str | None) -> str:
    """A run's seed: the one that was given, or a fresh one. Raises `UsageError`."""
    if seed is None:
        return fresh_seed().hex()
    if not seed or len(seed) > 100 or shown(seed) != seed:
        raise UsageError(
            "the seed is empty, too long or has control characters, expected 1 to 100 characters"
        )
    return seed


def checked_options(game: Game[Any], given: Mapping[str, str], bots: int) -> Options:
    """A game's options, for so many bots that fill its seats or meet at it. Raises `UsageError`."""
    options = game.settle(given)
    if bots < game.seats(options):
        raise UsageError(f"`{game.slug}` has {game.seats(options)} seats, expected more bots than {bots}")
    return options
