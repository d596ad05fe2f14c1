"""`referee match`: games between two bots, to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from referee import journal
from referee.bots import Bot, distinct
from referee.cli.output import say, show_data
from referee.clock import TimeControl, parse_period
from referee.encounter import play_encounter
from referee.errors import BotFaulted, Stopped, UsageError
from referee.events import Event, Left
from referee.games import game_named
from referee.games.api import State
from referee.match import MARGIN_US, REJECTIONS, Terms
from referee.record import FORMAT, GameRecord, to_json
from referee.report import match_table
from referee.rng import derive, fresh_seed
from referee.show import Dialogue, advice, frame, heading, result, told
from referee.stop import Stop
from referee.text import shown
from referee.wire.pipes import START_US


@click.command()
@click.argument("game")
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@click.option("-n", "count", type=click.IntRange(1, 1_000_000), default=2, show_default=True, help="Games.")
@click.option(
    "--time",
    "control",
    metavar="TC",
    help="Each bot's clock, MOVE[+RESERVE[/STEP]][^INCREMENT] or none. Default: the game's own.",
)
@click.option("--option", "options", metavar="K=V", multiple=True, help="An option of the game.")
@click.option("--seed", metavar="TEXT", help="Makes the match the same again. Default: drawn.")
@click.option(
    "-o",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="A new folder for the records.",
)
@click.option("--watch", is_flag=True, help="Show the board after every move, on stderr.")
@click.option("--dialogue", is_flag=True, help="Show every line to and from the bots, on stderr.")
@click.option(
    "--rejections",
    type=click.IntRange(1, 1_000_000),
    default=REJECTIONS,
    show_default=True,
    help="With so many rejected moves in a game a bot loses it.",
)
@click.option(
    "--margin",
    metavar="TIME",
    default=f"{MARGIN_US // 1000}ms",
    show_default=True,
    help="How much too late an answer may be; nothing is charged for it.",
)
@click.option(
    "--start",
    metavar="TIME",
    default=f"{START_US // 1_000_000}s",
    show_default=True,
    help="A bot's time to start, and to get ready for a game.",
)
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault.")
def match(
    game: str,
    bots: tuple[str, ...],
    count: int,
    control: str | None,
    options: tuple[str, ...],
    seed: str | None,
    folder: Path | None,
    watch: bool,
    dialogue: bool,
    rejections: int,
    margin: str,
    start: str,
    strict: bool,
) -> None:
    """Plays games of GAME between two bots and prints a table.

    BOT is [name=]command, the command as one argument. {python} in it is the interpreter that runs the
    referee. The bots change seats after every game. Ctrl-C lets the game that is on finish; a second
    one ends it.

    \b
    Example:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
    """
    plan = _Plan(game, bots, control, options, seed, rejections, parse_period(margin))
    start_us = parse_period(start)
    records: list[GameRecord] = []
    log = journal.Journal(folder) if folder else None
    try:
        if log:
            log.append(plan.header(count))
        else:
            say(f"seed {plan.seed}; nothing is stored without -o FOLDER")
        show = _Watch() if watch else None
        tap = Dialogue(say) if dialogue else None
        with Stop(say) as stop:
            for terms in plan.encounters(count):
                for record in play_encounter(plan.bots, terms, show, tap, start_us):
                    if log:
                        log.append(to_json(record))
                    records.append(record)
                    _tell(record)
                    if stop.asked:
                        raise Stopped(f"stopped by {stop.asked} after {len(records)} of {count} games")
    finally:
        if log:
            log.close()
        if records:
            show_data(match_table([bot.name for bot in plan.bots], records))
    if strict and any(_faults(record) for record in records):
        raise BotFaulted("a bot was at fault")


class _Plan:
    """Who plays what, how often, checked before anything is started."""

    def __init__(
        self,
        game: str,
        bots: tuple[str, ...],
        control: str | None,
        options: tuple[str, ...],
        seed: str | None,
        rejections: int,
        margin_us: int,
    ) -> None:
        self.game = game_named(game)
        self.options = self.game.settle(_options(options))
        seats = self.game.seats(self.options)
        if len(bots) != seats:
            raise UsageError(f"`{game}` has {seats} seats, expected as many bots, not {len(bots)}")
        self.bots = _bots(bots)
        self.control = TimeControl.parse(control) if control is not None else self.game.clock
        self.seed = seed if seed is not None else fresh_seed().hex()
        if len(self.seed) > 100 or shown(self.seed) != self.seed:
            raise UsageError(
                "the seed is too long or has control characters, expected 100 characters at most"
            )
        self.rejections = rejections
        self.margin_us = margin_us

    def header(self, count: int) -> dict[str, Any]:
        """The first line of the file of records."""
        return {
            "kind": "tournament",
            "record": FORMAT,
            "game": self.game.slug,
            "rules": self.game.rules,
            "options": dict(self.options),
            "bots": [{"name": bot.name, "command": list(bot.command)} for bot in self.bots],
            "clock": str(self.control),
            "margin_us": self.margin_us,
            "rejections": self.rejections,
            "games": count,
            "seed": self.seed,
        }

    def encounters(self, count: int) -> Iterator[list[Terms]]:
        """The games in pairs, each pair with both seatings."""
        for first in range(0, count, 2):
            both = [self._terms(first // 2 + 1, swapped) for swapped in (False, True)]
            yield both[: count - first]

    def _terms(self, number: int, swapped: bool) -> Terms:
        names = tuple(bot.name for bot in self.bots)
        if swapped:
            names = names[::-1]
        game_id = ":".join((str(number), *names))
        return Terms(
            game_id,
            self.game,
            self.options,
            names,
            (self.control,) * len(names),
            derive(self.seed.encode(), "game", game_id),
            self.margin_us,
            self.rejections,
        )


def _bots(texts: tuple[str, ...]) -> list[Bot]:
    parsed = [Bot.parse(text, Path.cwd()) for text in texts]
    given = [text.startswith(f"{bot.name}=") for text, bot in zip(texts, parsed, strict=True)]
    bots = distinct(parsed, given)
    for bot in bots:
        bot.check()
    return bots


def _options(texts: tuple[str, ...]) -> dict[str, str]:
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"option `{shown(text, 80)}` has no value, expected K=V")
        if name in options:
            raise UsageError(f"option `{shown(name, 80)}` is given twice, expected once")
        options[name] = value
    return options


class _Watch:
    """Shows a game while it is on."""

    def __init__(self) -> None:
        self._id = ""
        self._number = 0

    def __call__(self, terms: Terms, event: Event, state: State[Any]) -> None:
        if terms.id != self._id:
            self._id, self._number = terms.id, 0
            say(heading(terms))
        self._number += 1
        say(frame(self._number, event, state, terms, colour=sys.stderr.isatty()))


def _faults(record: GameRecord) -> list[Left]:
    return [event for event in record.events if isinstance(event, Left) and event.ending.is_fault]


def _tell(record: GameRecord) -> None:
    """A finished game, in a line; a fault with what its author needs to know."""
    terms = record.terms
    say(f"{terms.id}: {result(terms, record.verdict)}")
    for left in _faults(record):
        say(f"  {told(left, terms.bots, terms.controls)}")
        stderr = record.measured["seats"][left.seat].get("stderr", {})
        for when in ("starting", "playing"):
            lines = stderr.get(when, {}).get("text", "").rstrip().split("\n")
            for line in lines[-5:]:
                if line:
                    say(f"  stderr: {shown(line)}")
        say(f"  {advice(left.ending)}")
