"""`referee match`: plays games between a few bots and prints their table: a tournament given by options."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import (
    MARGIN,
    bots_argument,
    check_workers,
    cluster_option,
    fresh_option,
    game_argument,
    game_options_option,
    group,
    isolation_option,
    json_lines_option,
    notes_option,
    openings_option,
    start_option,
    user_option,
    workers_option,
)
from referee.cli.output import say
from referee.core.defaults import MATCH_GAMES, MAX_SPRT_GAMES, REJECTIONS
from referee.core.errors import UsageError
from referee.core.text import listed, shown
from referee.core.units import PERIOD

if TYPE_CHECKING:
    from referee.cli.match_tables import MatchSettings
    from referee.cli.observing import Views


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
    help=f"Number of games; with --sprt, the maximum. Default: {MATCH_GAMES}, or {MAX_SPRT_GAMES} with "
    "--sprt.",
)
@click.option(
    "--sprt",
    metavar="ELO0,ELO1[,ALPHA,BETA][,MODEL]",
    help="Stop when a sequential test of the first bot against the second is decided; for example 0,10 or "
    "0,10,0.05,0.05,normalized.",
)
@click.option(
    "--repeats",
    type=click.Choice(("cluster", "count")),
    default="cluster",
    show_default=True,
    help="How to count games that repeat an earlier one move by move: together as one (cluster), or each as "
    "independent (count).",
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
    help="Folder for the records; games already in it are not played again.",
)
@workers_option
@cluster_option
@click.option(
    "--watch",
    metavar="[TIME]",
    help="Show the board after every move, on stderr; with a time such as 0.5s, pause that long after "
    "each move and redraw the board in place on a "
    "terminal.",
)
@click.option(
    "--dialogue",
    is_flag=True,
    help="Show on stderr every line to and from the bots, and what they write to their stderr.",
)
@click.option(
    "--input-of",
    metavar="SEAT FILE",
    type=(click.IntRange(1), click.Path(path_type=Path)),
    help="Write everything that is sent to the bot in this seat, in the first game, to a file, byte for "
    "byte.",
)
@click.option(
    "--no-clock",
    is_flag=True,
    help="No time limits, not even for starting and exiting: for use with a debugger.",
)
@click.option(
    "--rejections",
    type=click.IntRange(1, 1000),
    default=REJECTIONS,
    show_default=True,
    help="Number of rejected moves at which a bot loses the game.",
)
@click.option(
    "--margin",
    metavar="TIME",
    default=MARGIN,
    show_default=True,
    help="How late an answer may be and still be accepted; this time is not charged.",
)
@start_option
@openings_option
@click.option(
    "--from",
    "begin",
    metavar="RUN ID@N",
    type=(click.Path(path_type=Path), str),
    help="Start from the position after move N of a recorded game, as shown by `replay RUN ID --move N`, "
    "chance included.",
)
@click.option(
    "--limit",
    "limits",
    metavar="K=V",
    multiple=True,
    help="A resource limit for each bot, such as memory=512MB.",
)
@click.option(
    "--pty", "ptys", metavar="NAME", multiple=True, help="Give this bot a terminal instead of pipes."
)
@isolation_option
@user_option
@click.option("--pause", is_flag=True, help="Suspend the processes of each bot outside its own turns.")
@click.option(
    "--forgive-waiting",
    is_flag=True,
    help="Do not charge a bot for time in which it waits for a processor. Linux only.",
)
@fresh_option
@json_lines_option
@notes_option
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault or an SPRT accepted H0.")
def match(**given: Any) -> None:
    """Plays games of GAME between bots, one for each seat, and prints a table.

    BOT is [name=]command, quoted as one argument. {python} in it stands for the interpreter that runs the
    referee. The bots change seats after every game. Ctrl-C stops after the games in progress, a second Ctrl-C
    stops at once; with -o, the same command continues the match.

    \b
    Examples:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
      referee match blooms -n 1 --watch 0.5s './mine' 'node mine.js'
      referee match blooms -n 1 --dialogue --input-of 1 input.txt './mine' 'node mine.js'
      referee match blooms -n 2 --from results 7@12 './mine' 'node mine.js'
    """
    from referee.cli.match_tables import MatchSettings
    from referee.cli.observing import Views

    _match(group(MatchSettings, given), group(Views, given), given)


def _match(settings: MatchSettings, views: Views, given: dict[str, Any]) -> None:
    """Plays a match; what is `given` beside the settings says how."""
    from referee.cli.playing import run_and_report
    from referee.processes import owned
    from referee.records.run_files import TOML
    from referee.run import RunOptions
    from referee.tournament.file.config import config_of

    tables = settings.tables()
    _check_views(views, given["workers"], given["cluster"], len(settings.bots))
    folder: Path | None = given["folder"]
    if given["fresh"] and folder is None:
        raise UsageError("`--fresh` is given without `-o`, expected the folder with the results so far")
    with contextlib.ExitStack() as stack:
        stored = folder is not None
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=owned.prefix("match"))))
        config = config_of(folder / TOML, tables, Path.cwd(), settings.given_by)
        observer = views.observer(stack) if views.given else None
        if views.no_clock:
            say(
                "no time limits: the referee waits for bots indefinitely, even when they should exit; press "
                "Ctrl-C twice to end the match at once"
            )
        workers = config.workers if given["workers"] is None else given["workers"]
        how = RunOptions(
            folder,
            0 if observer else workers,
            given["isolation"],
            given["cluster"],
            fresh=given["fresh"],
            stored=stored,
            observer=observer,
        )
        run_and_report(config, how, **{name: given[name] for name in ("strict", "json_lines", "notes")})


def _check_views(views: Views, workers: int | None, cluster: str, seats: int) -> None:
    """Raises `UsageError` where what is to be shown is not played in this process, or not there."""
    check_workers(workers, cluster)
    if views.given and (workers or cluster):
        given_with = listed(f"`{name}`" for name in views.given)
        if cluster:
            raise UsageError(f"`--cluster` is `{shown(cluster)}`, expected none with {given_with}")
        raise UsageError(f"`--workers` is {workers}, expected 0 with {given_with}")
    if views.input_of and views.input_of[0] > seats:
        raise UsageError(f"`--input-of` names seat {views.input_of[0]}, expected 1 to {seats}")
