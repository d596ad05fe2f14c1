"""`referee match`: plays games between a few bots and prints their table: a tournament given by options."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import click

from referee.cli.options import (
    bots_argument,
    game_argument,
    game_options_option,
    isolation_option,
    json_lines_option,
    key_values,
    openings_option,
    openings_table,
    start_option,
    start_table,
    user_option,
    workers_option,
)
from referee.cli.output import say
from referee.cli.playing import Conduct, conduct
from referee.core.defaults import MARGIN_US, REJECTIONS
from referee.core.errors import UsageError
from referee.core.text import meant, shown
from referee.core.timecontrol import TimeControl
from referee.core.units import parse_period
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.games import game_given
from referee.games.api import State
from referee.processes.bot import Bot, distinct
from referee.processes.limits import Limits
from referee.records.header import REPEATS
from referee.records.run_files import TOML
from referee.tournament.config import config_of
from referee.tournament.stopping import Sprt
from referee.tournament.task import Observer
from referee.viewing.words import frame, heading
from referee.wire.dialogue import Dialogue

GAMES = 2
"""How many games a match has where nothing is said."""

MOST_GAMES = 20_000
"""How many games a match with a sequential test has at most where nothing is said."""


@click.command()
@game_argument
@bots_argument
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 1_000_000),
    help=f"Number of games; with --sprt, the most. Default: {GAMES}, with --sprt {MOST_GAMES}.",
)
@click.option(
    "--sprt",
    metavar="ELO0,ELO1[,ALPHA,BETA][,MODEL]",
    help="Stop when a sequential test of the first bot against the second is decided: 0,10 or "
    "0,10,0.05,0.05,normalized.",
)
@click.option(
    "--repeats",
    type=click.Choice(REPEATS),
    default=REPEATS[0],
    show_default=True,
    help="Games that are the same as others are no new evidence (cluster), or each counts by itself (count).",
)
@click.option(
    "--time",
    "control",
    metavar="TC",
    help="Each bot's clock, MOVE[+RESERVE[/STEP]][^INCREMENT] or none. Default: that of the game.",
)
@game_options_option
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of all random choices. Default: random, and secret until the games are over.",
)
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the records; games that are there already are not played again.",
)
@workers_option
@click.option("--watch", is_flag=True, help="Show the board after every move, on stderr.")
@click.option("--dialogue", is_flag=True, help="Show every line to and from the bots, on stderr.")
@click.option(
    "--rejections",
    type=click.IntRange(1, 1000),
    default=REJECTIONS,
    show_default=True,
    help="A bot with this many rejected moves in a game loses it.",
)
@click.option(
    "--margin",
    metavar="TIME",
    default=f"{MARGIN_US // 1000}ms",
    show_default=True,
    help="How late an answer is still accepted; this time is not charged.",
)
@start_option
@openings_option
@click.option(
    "--from",
    "begin",
    metavar="DIR ID@N",
    type=(click.Path(path_type=Path), str),
    help="Begin after move N of a recorded game, as `replay DIR ID --move N` shows it, chance included.",
)
@click.option(
    "--limit", "limits", metavar="K=V", multiple=True, help="A resource limit for each bot: memory=512MB."
)
@click.option(
    "--pty", "ptys", metavar="NAME", multiple=True, help="Give this bot a terminal instead of pipes."
)
@isolation_option
@user_option
@click.option("--pause", is_flag=True, help="Stop the processes of a bot while it is not asked.")
@json_lines_option
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault.")
def match(
    game: str,
    bots: tuple[str, ...],
    count: int | None,
    sprt: str | None,
    repeats: str,
    control: str | None,
    options: tuple[str, ...],
    seed: str | None,
    folder: Path | None,
    workers: int | None,
    watch: bool,
    dialogue: bool,
    rejections: int,
    margin: str,
    start: str,
    openings: tuple[str, ...],
    begin: tuple[Path, str] | None,
    limits: tuple[str, ...],
    ptys: tuple[str, ...],
    isolation: str | None,
    user: str,
    pause: bool,
    json_lines: bool,
    strict: bool,
) -> None:
    """Plays games of GAME between as many bots as the game has seats, and prints a table.

    BOT is [name=]command, the command as one argument. {python} in it is the interpreter that runs the
    referee. The bots change seats after every game. Ctrl-C stops after the games in progress, a second
    Ctrl-C at once; with -o, the same command continues the match.

    \b
    Example:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
    """
    chosen = game_given(game, Path.cwd())
    given = key_values("option", options)
    start_given: dict[str, Any] = {}
    if begin:
        if openings:
            raise UsageError("`--openings` is given with `--from`, expected one of them")
        start_given, given = start_table(*begin, chosen, given)
    settled = chosen.settle(given)
    seats = chosen.seats(settled)
    if len(bots) != seats:
        raise UsageError(f"`{chosen.slug}` has {seats} seats, expected as many bots, not {len(bots)}")
    if control is not None:
        TimeControl.parse(control)  # an error names what was given, not the key of a tournament file
    if sprt is not None:
        try:
            Sprt.parse(sprt)
        except UsageError as error:
            raise UsageError(f"`--sprt`: {error}") from None
    if count is None:
        count = GAMES if sprt is None else MOST_GAMES
    for period in (margin, start):
        parse_period(period)
    limits_given = key_values("limit", limits)
    Limits.parse(limits_given)
    entrants = _bots(bots, ptys)
    tables: dict[str, Any] = {
        "tournament": {
            "game": game,
            "format": "pairings",
            "pairings": [[bot["name"] for bot in entrants]],
            "rounds": -(-count // seats),
            "budget": count,
            **({} if control is None else {"clock": control}),
            **({} if seed is None else {"seed": seed}),
            **({} if sprt is None else {"sprt": sprt}),
            **({} if repeats == REPEATS[0] else {"repeats": repeats}),
            "margin": margin,
            "start": start,
            "rejections": rejections,
            **(start_given or openings_table(openings, chosen, settled)),
            **({"user": user} if user else {}),
            **({"pause": True} if pause else {}),
        },
        **({"options": given} if given else {}),
        **({"limits": limits_given} if limits else {}),
        "bot": entrants,
    }
    observer = Observer(_Watch() if watch else None, Dialogue(say) if dialogue else None)
    looks_on = watch or dialogue
    if looks_on and workers:
        raise UsageError(f"`--workers` is {workers}, expected 0 with `--watch` or `--dialogue`")
    with contextlib.ExitStack() as stack:
        stored = folder is not None
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="referee-match-")))
        config = config_of(folder / TOML, tables, Path.cwd())
        how = Conduct(
            folder,
            0 if looks_on else config.workers if workers is None else workers,
            isolation,
            strict,
            observer if looks_on else None,
            stored,
            json_lines,
        )
        conduct(config, how)


def _bots(texts: tuple[str, ...], ptys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The bots as tables of a tournament file."""
    parsed = [Bot.parse(text, Path.cwd()) for text in texts]
    given = [text.startswith(f"{bot.name}=") for text, bot in zip(texts, parsed, strict=True)]
    bots = distinct(parsed, given)
    names = [bot.name for bot in bots]
    for name in ptys:
        if name not in names:
            raise UsageError(f"`--pty` names `{shown(name, 80)}`, expected {meant(name, names)}")
    return [
        {
            "name": bot.name,
            "cmd": list(bot.command),
            **({"pty": True} if bot.name in ptys else {}),
        }
        for bot in bots
    ]


class _Watch:
    """Shows the board after every event of a game."""

    def __init__(self) -> None:
        self._id = ""
        self._number = 0

    def __call__(self, terms: Terms, event: Event, state: State[Any]) -> None:
        if terms.id != self._id:
            self._id, self._number = terms.id, 0
            say(heading(terms))
        self._number += 1
        say(frame(self._number, event, state, terms))
