"""`referee match`: plays games between a few bots and prints their table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from referee.cli.game_text import frame, heading
from referee.cli.options import isolation_option, key_values, start_option, user_option
from referee.cli.output import count_text, say, say_now, show_data, table_width
from referee.cli.progress import report_game, report_off_turn, report_stoppages
from referee.core.control_groups import usable_memory
from referee.core.errors import BotFaulted, Stopped, UsageError
from referee.core.isolation import AUTO
from referee.core.stop import Stop
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.core.units import parse_period
from referee.gameplay.events import Event
from referee.gameplay.terms import MARGIN_US, REJECTIONS, Terms
from referee.games import game_given
from referee.games.api import State
from referee.processes.bot import Bot, distinct
from referee.processes.exit_report import ExitReport
from referee.processes.limits import Limits
from referee.ratings.table import View, rendered
from referee.records import journal
from referee.records.header import change_line
from referee.records.record import Summary, off_turn_times, summary_of, timed_moves, to_json
from referee.tournament.encounter import FailedStarts, left_behind, play_encounter
from referee.tournament.isolating import isolated
from referee.tournament.plan import Entrant, Plan, checked_seed
from referee.tournament.schedule import encounter
from referee.wire.dialogue import Dialogue


@click.command(short_help="Plays games between a few bots.")
@click.argument("game")
@click.argument("bots", metavar="BOT...", nargs=-1, required=True)
@click.option(
    "-n", "count", type=click.IntRange(1, 1_000_000), default=2, show_default=True, help="Number of games."
)
@click.option(
    "--time",
    "control",
    metavar="TC",
    help="Each bot's clock, MOVE[+RESERVE[/STEP]][^INCREMENT] or none. Default: that of the game.",
)
@click.option("--option", "options", metavar="K=V", multiple=True, help="An option of the game.")
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of all random choices. Default: random, and secret until the games are over.",
)
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
@click.option(
    "--limit", "limits", metavar="K=V", multiple=True, help="A resource limit for each bot: memory=512MB."
)
@click.option(
    "--pty", "ptys", metavar="NAME", multiple=True, help="Give this bot a terminal instead of pipes."
)
@isolation_option
@user_option
@click.option("--pause", is_flag=True, help="Stop the processes of a bot while it is not asked.")
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
    limits: tuple[str, ...],
    ptys: tuple[str, ...],
    isolation: str | None,
    user: str,
    pause: bool,
    strict: bool,
) -> None:
    """Plays games of GAME between as many bots as the game has seats, and prints a table.

    BOT is [name=]command, the command as one argument. {python} in it is the interpreter that runs the
    referee. The bots change seats after every game. Ctrl-C stops after the current game; a second Ctrl-C
    stops at once.

    \b
    Example:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
    """
    entrants = _bots(bots, Limits.parse(key_values("limit", limits)), ptys, pause)
    entrants = [replace(bot, isolation=isolation or AUTO, user=user) for bot in entrants]
    plan = _plan(
        game, entrants, control, options, seed, rejections, parse_period(margin), parse_period(start)
    ).sharing(usable_memory(), games=1)
    plan = isolated(plan, [folder] if folder else [])
    records: list[Summary] = []
    timed: Counter[str] = Counter()
    off_turn: Counter[tuple[str, str]] = Counter()
    log = journal.Journal.create(folder) if folder else None
    try:
        if log:
            log.append(plan.header())
        else:
            say("nothing is stored without -o FOLDER")
        show = _Watch() if watch else None
        tap = Dialogue(say) if dialogue else None
        starts = FailedStarts()
        everyone = [entrant.bot for entrant in plan.entrants]
        with Stop(say_now) as stop:
            for terms in _encounters(plan, count):
                played = play_encounter(
                    everyone,
                    terms,
                    show,
                    tap,
                    plan.start_us,
                    given_up=starts.among(plan.names),
                    on_exit=_on_exit,
                )
                for record in played:
                    value = to_json(record)
                    if log:
                        log.append(value)
                    records.append(summary_of(record))
                    timed.update(timed_moves(value))
                    off_turn.update(off_turn_times(value))
                    starts.note(records[-1])
                    report_game(record)
                    if stop.asked and len(records) < count:
                        raise Stopped(f"stopped by {stop.asked} after {len(records)} of {count} games")
    finally:
        report_stoppages(timed)
        report_off_turn(off_turn)
        if log:
            _close(log, plan)  # no table of games that are not stored
        else:
            say(f"seed {plan.seed}")
        if records:
            show_data(rendered(plan.names, records, "simple", plan.seats, View(width=table_width())))
        if log:
            say(f"{count_text(len(records), count)}, head hash {log.head}")
    if strict and any(any(game.faults) for game in records):
        raise BotFaulted("a bot was at fault")


def _close(log: journal.Journal, plan: Plan) -> None:
    """Reveals the seed where it was hidden, checks the records, and closes them: a match is not continued.

    Raises `StorageError` where the records are not what was written.
    """
    try:
        if plan.seed_is_hidden and log.is_whole:
            log.append(change_line({"seed": plan.seed}))
        log.check()
    finally:
        log.close()


def _plan(
    named: str,
    bots: list[Bot],
    clock: str | None,
    options: tuple[str, ...],
    seed: str | None,
    rejections: int,
    margin_us: int,
    start_us: int,
) -> Plan:
    """The plan of the match, checked before anything is started."""
    game = game_given(named, Path.cwd())
    settled = game.settle(key_values("option", options))
    seats = game.seats(settled)
    if len(bots) != seats:
        raise UsageError(f"`{game.slug}` has {seats} seats, expected as many bots, not {len(bots)}")
    control = TimeControl.parse(clock) if clock is not None else game.clock
    entrants = tuple(Entrant(bot, control) for bot in bots)
    for entrant in entrants:
        entrant.check()
    return Plan(
        game,
        settled,
        entrants,
        checked_seed(seed),
        margin_us,
        rejections,
        start_us,
        seed_is_hidden=seed is None,
    )


def _encounters(plan: Plan, count: int) -> Iterator[list[Terms]]:
    """The terms of `count` games, by encounter: each has all rotations of the seats."""
    for number in range(1, count + 1):
        games = [plan.terms(pairing) for pairing in encounter(number, plan.names).games]
        yield games[:count]
        count -= len(games)
        if count <= 0:
            return


def _bots(texts: tuple[str, ...], limits: Limits, ptys: tuple[str, ...], pause: bool) -> list[Bot]:
    parsed = [Bot.parse(text, Path.cwd()) for text in texts]
    given = [text.startswith(f"{bot.name}=") for text, bot in zip(texts, parsed, strict=True)]
    bots = [replace(bot, limits=limits, pty=bot.name in ptys, pause=pause) for bot in distinct(parsed, given)]
    for name in ptys:
        if name not in {bot.name for bot in bots}:
            raise UsageError(f"`--pty` names `{shown(name, 80)}`, expected the name of a bot of this match")
    return bots


def _on_exit(name: str, report: ExitReport) -> None:
    for found in left_behind(report).values():
        say(f"bot `{name}` left processes behind, which were ended: {', '.join(found)}")


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
        say(frame(self._number, event, state, terms, colour=sys.stderr.isatty()))
