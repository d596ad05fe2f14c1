"""`referee match`: plays games between a few bots and prints their table: a tournament given by options."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.colour import can_draw
from referee.cli.options import (
    START,
    bots_argument,
    check_workers,
    cluster_option,
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
from referee.core.defaults import MARGIN_US, REJECTIONS
from referee.core.errors import StorageError, UsageError
from referee.core.text import listed, meant, shown
from referee.core.units import LONGEST_US, PERIOD, parse_period, show_period

if TYPE_CHECKING:
    from referee.tournament.encounter import ShowEvent
    from referee.wire.dialogue import Tap

GAMES = 2
"""How many games a match has where nothing is said."""

UNLIMITED = show_period(LONGEST_US)
"""The start allowance and the margin where there are no time limits."""

MARGIN = f"{MARGIN_US // 1000}ms"

MAX_GAMES = 20_000
"""How many games a match with a sequential test has at most where nothing is said."""


class _Match(click.Command):
    """`match`, whose option `--watch` has a value only where the next word is a time: it may be a BOT."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives every `--watch` a value."""
        return super().parse_args(ctx, with_delays(args))


def with_delays(args: Sequence[str]) -> list[str]:
    """The words of a command line where each `--watch` has its delay, which is 0 if none was given."""
    words = list(args)
    end = words.index("--") if "--" in words else len(words)
    for at in range(end - 1, -1, -1):
        if words[at] == "--watch":
            delay = words.pop(at + 1) if at + 1 < end and re.fullmatch(PERIOD, words[at + 1]) else "0s"
            words[at] = f"--watch={delay}"
    return words


@click.command(cls=_Match)
@game_argument
@bots_argument
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 1_000_000),
    help=f"Number of games; with --sprt, the most. Default: {GAMES}, with --sprt {MAX_GAMES}.",
)
@click.option(
    "--sprt",
    metavar="ELO0,ELO1[,ALPHA,BETA][,MODEL]",
    help="Stop when a sequential test of the first bot against the second is decided: 0,10 or "
    "0,10,0.05,0.05,normalized.",
)
@click.option(
    "--repeats",
    type=click.Choice(("cluster", "count")),
    default="cluster",
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
@cluster_option
@click.option(
    "--watch",
    metavar="[TIME]",
    help="Show the board after every move, on stderr; with a time such as 0.5s, wait so long after each, and "
    "draw it in its place on a terminal.",
)
@click.option(
    "--dialogue",
    is_flag=True,
    help="Show every line to and from the bots, and what they write to stderr, on stderr.",
)
@click.option(
    "--input-of",
    metavar="SEAT FILE",
    type=(click.IntRange(1), click.Path(path_type=Path)),
    help="Write what the bot in a seat of the first game is sent to a file, byte for byte.",
)
@click.option(
    "--no-clock",
    is_flag=True,
    help="Wait for bots without limit, at their start, for moves and at their end: for a debugger.",
)
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
    default=MARGIN,
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
@click.option(
    "--forgive-waiting",
    is_flag=True,
    help="Do not charge a bot while it is ready to run and gets no processor. Linux only.",
)
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
    cluster: str,
    watch: str | None,
    dialogue: bool,
    input_of: tuple[int, Path] | None,
    no_clock: bool,
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
    forgive_waiting: bool,
    json_lines: bool,
    strict: bool,
) -> None:
    """Plays games of GAME between as many bots as the game has seats, and prints a table.

    BOT is [name=]command, the command as one argument. {python} in it is the interpreter that runs the
    referee. The bots change seats after every game. Ctrl-C stops after the games in progress, a second
    Ctrl-C at once; with -o, the same command continues the match.

    \b
    Examples:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
      referee match blooms -n 1 --watch 0.5s './mine' 'node mine.js'
      referee match blooms -n 1 --dialogue --input-of 1 input.txt './mine' 'node mine.js'
      referee match blooms -n 2 --from results 7@12 './mine' 'node mine.js'
    """
    from referee.cli.playing import Conduct, conduct
    from referee.core.timecontrol import TimeControl
    from referee.games import game_given
    from referee.processes import owned
    from referee.processes.limits import Limits
    from referee.records.run_files import TOML
    from referee.tournament.config import config_of
    from referee.tournament.stopping import Sprt
    from referee.tournament.task import Observer
    from referee.wire.dialogue import Dialogue

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
        count = GAMES if sprt is None else MAX_GAMES
    for period in (margin, start):
        parse_period(period)
    if no_clock:
        if (margin, start) != (MARGIN, START):
            raise UsageError("`--margin` or `--start` is given with `--no-clock`, expected no time limits")
        control, margin, start = control or "none", UNLIMITED, UNLIMITED
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
            **({} if repeats == "cluster" else {"repeats": repeats}),
            "margin": margin,
            "start": start,
            "rejections": rejections,
            **(start_given or openings_table(openings, chosen, settled)),
            **({"user": user} if user else {}),
            **({"pause": True} if pause else {}),
            **({"forgive_waiting": True} if forgive_waiting else {}),
        },
        **({"options": given} if given else {}),
        **({"limits": limits_given} if limits else {}),
        "bot": entrants,
    }
    looking = {
        "--watch": watch is not None,
        "--dialogue": dialogue,
        "--input-of": input_of is not None,
        "--no-clock": no_clock,
    }
    check_workers(workers, cluster)
    if any(looking.values()) and (workers or cluster):
        given_with = listed(f"`{name}`" for name, is_given in looking.items() if is_given)
        if cluster:
            raise UsageError(f"`--cluster` is `{shown(cluster)}`, expected none with {given_with}")
        raise UsageError(f"`--workers` is {workers}, expected 0 with {given_with}")
    if input_of and input_of[0] > seats:
        raise UsageError(f"`--input-of` has seat {input_of[0]}, expected 1 to {seats}")
    delay_us = parse_period(watch or "0s")
    with contextlib.ExitStack() as stack:
        taps: list[Tap] = []
        if dialogue:
            shown_dialogue = Dialogue(say)
            stack.callback(shown_dialogue.close)
            taps.append(shown_dialogue)
        if input_of:
            taps.append(stack.enter_context(_input_written(*input_of)))
        show = watching(delay_us, alone=not dialogue, stack=stack) if watch else None
        observer = Observer(show, taps, patient=no_clock) if any(looking.values()) else None
        if no_clock:
            say(
                "no time limits: bots are waited for, at their end too; "
                "a second Ctrl-C ends the match at once"
            )
        stored = folder is not None
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=owned.prefix("match"))))
        config = config_of(folder / TOML, tables, Path.cwd())
        how = Conduct(
            folder,
            0 if observer else config.workers if workers is None else workers,
            isolation,
            strict,
            observer,
            stored,
            json_lines,
            cluster,
        )
        conduct(config, how)


def _bots(texts: tuple[str, ...], ptys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The bots as tables of a tournament file."""
    from referee.processes.bot import Bot, distinct

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


def watching(delay_us: int, alone: bool, stack: contextlib.ExitStack) -> ShowEvent:
    """What shows the board; it is redrawn where it is to be watched and nothing else is shown."""
    from referee.cli.watching import Redrawing, Scrolling

    if not (delay_us and alone and can_draw(sys.stderr)):
        return Scrolling(delay_us)
    redrawing = Redrawing(delay_us)
    stack.callback(redrawing.close)
    return redrawing


@contextlib.contextmanager
def _input_written(seat: int, path: Path) -> Iterator[Tap]:
    """A tap that writes what the bot in a seat is sent to a file. Raises `UsageError` where that cannot be
    written or is something else, and `StorageError` where it cannot be written any more.
    """
    from referee.core.whole_file import write_whole
    from referee.wire.bot_input import BotInput

    write_whole(path, b"", b"hello ", "the input of a bot")
    with path.open("ab", buffering=0) as file:

        def write(data: bytes) -> None:
            try:
                file.write(data)
            except OSError as error:
                raise StorageError(f"cannot write `{shown(str(path))}`: {error.strerror}") from None

        bot_input = BotInput(seat, write)
        yield bot_input
    if not bot_input.bot:
        say(f"no bot in seat {seat} was told of a game, so `{shown(str(path))}` is empty")
