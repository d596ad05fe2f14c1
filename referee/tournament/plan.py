"""The plan of a section: the game, the bots, the clocks, the seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.pairing import Pairing
from referee.core.seeds import fresh_seed, game_seed, seed_hash, shared_seed
from referee.core.settings import MARGIN_US, REJECTIONS, START_US
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.gameplay.openings import NO_OPENINGS, Openings
from referee.gameplay.terms import Terms
from referee.games import origin_of
from referee.games.api import Game, Options
from referee.processes import cpu
from referee.processes.program import Program
from referee.tuning.parameters import Values

PROCESSES = ("game", "encounter", "worker")
"""How long a bot's process is kept: for a game, for an encounter, or by its worker from one encounter to the
next.
"""


@dataclass(frozen=True, slots=True)
class BotOrigin:
    """Where a bot comes from: what its table says of its files, for machines that do not have them."""

    files: tuple[str, ...] | None = None
    """The files and folders that it consists of, and patterns, relative to its folder; None where these are
    not listed.
    """
    shared: bool = False  # whether each machine has the bot already
    needs: tuple[str, ...] = ()  # programs that a machine must have
    build: tuple[str, ...] = ()  # the command that builds it; empty where there is none
    has_cwd: bool = False  # whether its folder is named
    build_network: bool = False  # whether it has a network as it is built


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot with its own settings."""

    bot: Program
    control: TimeControl
    processes: str = "encounter"  # how long its process is kept; one of `PROCESSES`
    folder: str = "."  # its working directory as written in the tournament file: a run may move with its file
    origin: BotOrigin = BotOrigin()

    def check(self) -> None:
        """Raises `UsageError` where its program is missing or a person would have to play,
        `EnvironmentLacksError` where its clock does not work on this machine.
        """
        self.bot.check()
        self.check_clock()

    def check_clock(self) -> None:
        """Raises `EnvironmentLacksError` where its clock does not work on this machine."""
        if self.control.by_cpu and not cpu.AVAILABLE:
            raise EnvironmentLacksError(
                f"bot `{self.bot.name}`: the clock `{self.control}` counts processor time, which needs Linux"
            )
        if self.bot.forgive_waiting and not cpu.COUNTS_WAITING:
            raise EnvironmentLacksError(f"bot `{self.bot.name}`: `forgive_waiting` {cpu.WAITING_NEEDED}")


@dataclass(frozen=True)
class Plan:
    """The terms of the games of a section. All of them stand in the first line of the run's records."""

    game: Game[Any]
    options: Options
    entrants: tuple[Entrant, ...]
    seed: str
    margin_us: int = MARGIN_US
    rejections: int = REJECTIONS
    start_us: int = START_US
    seed_is_hidden: bool = False
    """Whether the records have only the hash of the seed until all its games are over: that of every seed
    that the referee draws. One that the user gave is known to whoever reads the tournament file.
    """
    openings: Openings = NO_OPENINGS
    shared_seed: bytes | None = None
    """The shared seed of the games that the plan is for, where a game that has the same was played already:
    the seed may have been another one then.
    """
    section: str = ""  # the name of the section; empty where the tournament has only one

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the order in which they were given."""
        return tuple(entrant.bot.name for entrant in self.entrants)

    @property
    def seats(self) -> int:
        """How many bots play a game."""
        return self.game.seats(self.options)

    def check_seats(self) -> None:
        """Raises `UsageError` where there are fewer bots than seats."""
        if (bots := len(self.entrants)) < self.seats:
            there_are = "there is 1 bot" if bots == 1 else f"there are {bots} bots"
            raise UsageError(
                f"{there_are}, expected at least {self.seats}, one for each seat of `{self.game.slug}`"
            )

    def among(self, names: Iterable[str], shared_seed: bytes | None = None) -> Plan:
        """The plan reduced to some of its bots, for their games; `shared_seed` as in the class."""
        entrants = tuple(self._by_name[name] for name in names)
        return replace(self, entrants=entrants, shared_seed=shared_seed)

    def for_encounter(self, pairing: Pairing, shared_seed: bytes | None = None) -> Plan:
        """The plan reduced to what the encounter of a game needs: its bots, and of a list of openings its
        line; `shared_seed` as in the class.
        """
        plan = self.among(sorted(pairing.bots), shared_seed)
        return replace(plan, openings=plan.openings.of_encounter(pairing.id, plan._shared_seed_of(pairing)))

    @cached_property
    def _by_name(self) -> dict[str, Entrant]:
        return {entrant.bot.name: entrant for entrant in self.entrants}

    def with_bots(self, bots: Sequence[Program]) -> Plan:
        """The plan with other settings of its bots, which are given in the same order."""
        entrants = zip(self.entrants, bots, strict=True)
        return replace(self, entrants=tuple(replace(entrant, bot=bot) for entrant, bot in entrants))

    def with_values(self, values: Mapping[str, Values]) -> Plan:
        """The plan where bots, by name, play with these values of their parameters."""
        return self.with_bots(
            [
                replace(entrant.bot, parameters=values.get(entrant.bot.name, entrant.bot.parameters))
                for entrant in self.entrants
            ]
        )

    def terms(self, pairing: Pairing) -> Terms:
        """The terms of one game."""
        shared = self._shared_seed_of(pairing)
        return Terms(
            pairing.id,
            self.game,
            self.options,
            pairing.bots,
            tuple(self._by_name[name].control for name in pairing.bots),
            game_seed(self.seed, pairing.id),
            shared,
            self.margin_us,
            self.rejections,
            self.openings.line(self.game, self.options, pairing.id, shared),
            self.openings.start_events,
        )

    def _shared_seed_of(self, pairing: Pairing) -> bytes:
        return self.shared_seed or shared_seed(self.seed, pairing.id)

    def game_json(self) -> dict[str, Any]:
        """The game as it stands in the header of a run."""
        origin = origin_of(self.game)
        return {
            "game": self.game.slug,
            "rules": self.game.rules,
            **({"origin": origin} if origin else {}),
            "options": dict(self.options),
            **self.openings.header(),
        }

    def terms_json(self) -> dict[str, Any]:
        """Formats what the plans of all sections have in common, as it stands in the header of a run."""
        seed = {"seed": self.seed}
        if self.seed_is_hidden:  # guard: hidden-seed
            seed = {"seed_sha256": seed_hash(self.seed)}
        return {
            "margin_us": self.margin_us,
            "rejections": self.rejections,
            "start_us": self.start_us,
            **seed,
        }


def entrant_json(entrant: Entrant, clocks: Mapping[str, Any]) -> dict[str, Any]:
    """An entrant as it stands in the header of a run; `clocks` has the member for its clocks."""
    bot = entrant.bot
    value: dict[str, Any] = {
        "command": list(bot.command),
        "cwd": entrant.folder,
        "env": dict(bot.env),
        "pass_env": list(bot.pass_env),
        **clocks,
        "fresh": entrant.processes == "game",
    }
    # Only what differs from the default, which keeps headers short.
    if bot.is_person:
        value["person"] = True
    if limits := bot.limits.changed():
        value["limits"] = limits
    if bot.pty:
        value["pty"] = True
    if bot.pause:
        value["pause"] = True
    if bot.forgive_waiting:
        value["forgive_waiting"] = True
    if entrant.processes == "worker":
        value["processes"] = entrant.processes
    return value


def checked_seed(seed: str | None) -> str:
    """A run's seed: the one that was given, or a fresh one. Raises `UsageError`."""
    if seed is None:
        return fresh_seed().hex()
    if not seed or len(seed) > 100 or shown(seed) != seed:
        raise UsageError(
            "the seed is empty, too long or has control characters, expected 1 to 100 characters, "
            "without control characters"
        )
    return seed
