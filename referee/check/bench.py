"""What all steps share: the bot, the game, the clocks, the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.check.subject import NewLink, Subject
from referee.check.table import House
from referee.core.errors import GameOptionError
from referee.core.seeds import game_seed
from referee.core.timecontrol import TimeControl
from referee.gameplay.events import Moved, Seat
from referee.gameplay.terms import Terms
from referee.games.api import ChoiceOption, Game, Option, Options
from referee.processes.bot import Bot
from referee.wire.link import Link

_TRIES = 50
"""Games that are looked through for one in which the bot is asked often enough."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A bot with all that is decided beforehand."""

    bot: Bot
    game: Game[Any]
    given: Mapping[str, str]
    """Options, as the user gave them."""
    seed: str
    clocks: tuple[TimeControl, ...]
    """Those under which it must keep time; where time is not the point the first one holds."""
    start_us: int
    memory_bytes: int | None
    """What its largest process may take; None is as much as it likes."""

    @property
    def options(self) -> Options:
        """The game's options."""
        return self.game.settle(self.given)

    @property
    def seats(self) -> int:
        """How many sit at the table."""
        return self.game.seats(self.options)

    def start(self, new_link: NewLink = Link) -> Subject:
        """A fresh process of the bot."""
        return Subject(self.bot, self.start_us, new_link)

    def terms(self, name: str, options: Options | None = None, control: TimeControl | None = None) -> Terms:
        """A game's terms; the same name gives the same game."""
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

    def lively(self, name: str, seat: Seat, questions: int, control: TimeControl | None = None) -> Terms:
        """The terms of a game in which this seat would be asked so often if the house played it. Where chance
        decides, there are games in which a seat is hardly asked at all.
        """
        for number in range(_TRIES):
            terms = self.terms(f"{name} {number}", control=control)
            if len(house_moves(terms, seat)) >= questions:
                break
        return terms

    def settings(self) -> Iterator[Options]:
        """The options as they were given; if none were, also others that are near to the usual ones."""
        yield self.options
        if not self.given:
            for option in self.game.options:
                for value in _near(option):
                    yield self.game.settle({option.name: value})


def house_moves(terms: Terms, seat: Seat) -> list[Moved]:
    """The moves of a seat where the house plays all seats."""
    house = House(terms)
    house.play()
    return [event for event in house.events if isinstance(event, Moved) and event.seat == seat]


def _near(option: Option) -> Iterator[str]:
    """Values beside an option's default: the next lower and the next higher number, or the other words."""
    if isinstance(option, ChoiceOption):
        yield from option.values[1:]
    elif isinstance(option.default, int):
        for side in (-1, 1):
            for far in (1, 2):  # some options take odd numbers only
                value = str(option.default + side * far)
                if _takes(option, value):
                    yield value
                    break


def _takes(option: Option, value: str) -> bool:
    try:
        option.read(value)
    except GameOptionError:
        return False
    return True
