"""The settings of a check, which all steps share: the bot, the game, the clocks, the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.check.remarks import Remarks
from referee.check.tested_bot import NewConnection, TestedBot
from referee.check.wires import HouseWire
from referee.core.errors import GameOptionError
from referee.core.seeds import game_seed
from referee.core.units import TimeControl
from referee.gameplay.events import Moved
from referee.gameplay.terms import Terms
from referee.games.api import ChoiceOption, Game, Option, Options, Seat
from referee.processes.bot import Bot
from referee.wire.connection import BotConnection

_MAX_TRIES = 50  # how many games are tried to find one in which the bot is asked often enough


@dataclass(frozen=True, eq=False)
class CheckSettings:
    """The bot under test and everything that is fixed before the first step."""

    bot: Bot
    game: Game[Any]
    given_options: Mapping[str, str]  # the options of the game that the user gave
    seed: str
    clocks: tuple[TimeControl, ...]
    """The clocks that the bot must keep; steps that do not test time use the first one."""
    start_us: int
    memory_bytes: int | None  # the limit for the bot's largest process; None is no limit
    scale: int = 0
    """By which the game's own clock was divided for the first of the clocks; 0 where clocks were given."""
    remarks: Remarks = field(default_factory=Remarks)
    """What was noticed that is no failure, from where the runner takes it."""

    @property
    def options(self) -> Options:
        """The game's options."""
        return self.game.settle(self.given_options)

    @property
    def seats(self) -> int:
        """The number of seats."""
        return self.game.seats(self.options)

    def start(self, new_connection: NewConnection = BotConnection) -> TestedBot:
        """A new process of the bot."""
        return TestedBot(self.bot, self.start_us, self.remarks, new_connection)

    def terms(self, name: str, options: Options | None = None, control: TimeControl | None = None) -> Terms:
        """The terms of a game; the same name gives the same game."""
        options = self.options if options is None else options
        seats = self.game.seats(options)
        return Terms(
            name,
            self.game,
            options,
            (self.bot.name,) * seats,
            (control or self.clocks[0],) * seats,
            game_seed(self.seed, name),
            game_seed(self.seed, f"{name} shared"),
        )

    def terms_with_questions(
        self, name: str, seat: Seat, questions: int, control: TimeControl | None = None
    ) -> Terms:
        """The terms of a game in which this seat gets this many questions if the house player has all seats.

        Several games are tried, as a seat may be asked rarely in a game with chance.
        """
        for number in range(_MAX_TRIES):
            terms = self.terms(f"{name} {number}", control=control)
            if len(house_moves(terms, seat)) >= questions:
                break
        return terms

    def option_sets(self) -> Iterator[Options]:
        """The options as given; if none were given, also values next to each option's default."""
        yield self.options
        if not self.given_options:
            for option in self.game.options:
                for value in _neighbours(option):
                    yield self.game.settle({option.name: value})


def house_moves(terms: Terms, seat: Seat) -> list[Moved]:
    """The moves of a seat in a game in which the house player plays all seats."""
    wire = HouseWire(terms)
    wire.play()
    return [event for event in wire.events if isinstance(event, Moved) and event.seat == seat]


def _neighbours(option: Option) -> Iterator[str]:
    """Values next to an option's default: the next lower and the next higher number, or the other words."""
    if isinstance(option, ChoiceOption):
        yield from option.values[1:]
    elif isinstance(option.default, int):
        for side in (-1, 1):
            for far in (1, 2):  # some options take odd numbers only
                value = str(option.default + side * far)
                if _is_valid(option, value):
                    yield value
                    break


def _is_valid(option: Option, value: str) -> bool:
    try:
        option.read(value)
    except GameOptionError:
        return False
    return True
