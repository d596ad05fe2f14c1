"""`referee match`: plays games between a few bots and prints their table: a tournament given by options."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from referee.cli import completion
from referee.cli.options import (
    fresh_option,
    game_argument,
    game_options_option,
    group,
    isolation_option,
    json_lines_option,
    notes_option,
    start_option,
    workers_option,
)
from referee.cli.output import say
from referee.core.errors import UsageError
from referee.core.settings import MATCH_GAMES, MAX_SPRT_GAMES
from referee.core.units import PERIOD
from referee.processes import owned
from referee.records.run_files import TOML


class _Match(click.Command):
    """`match`, whose option `--watch` has a value only where the next word is a time: it may be a BOT."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
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
@click.argument("bots", metavar="BOT...", nargs=-1, required=True, shell_complete=completion.bot)
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
@click.option(
    "--watch",
    metavar="[TIME]",
    help="Show the board after every move, on stderr; with a time such as 0.5s, pause that long after "
    "each move.",
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
@start_option
@click.option(
    "--openings",
    metavar="K=V",
    multiple=True,
    help="Opening moves that the referee plays: plies=4, or file=PATH; also order=random, seed=TEXT.",
)
@click.option(
    "--from",
    "begin",
    metavar="RUN ID@N",
    type=(click.Path(path_type=Path), str),
    help="Start from the position after move N of a recorded game, as shown by `replay RUN ID --move N`, "
    "chance included.",
)
@click.option(
    "--pty", "ptys", metavar="NAME", multiple=True, help="Give this bot a terminal instead of pipes."
)
@isolation_option
@fresh_option
@json_lines_option
@notes_option
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault or an SPRT accepted H0.")
def match(**given: Any) -> None:
    """Plays games of GAME between bots, one for each seat, and prints a table.

    A tournament file has more settings, and `run` plays it (`referee docs tournament`).

    BOT is [name=]command, quoted as one argument. {python} in it stands for the interpreter that runs the
    referee, and @NAME is a sample bot. The bots change seats after every game. Ctrl-C stops after the games
    in progress, a second Ctrl-C stops at once; with -o, the same command continues the match.

    \b
    Examples:
      referee match blooms -n 10 --time 1s+10s @greedy 'node mine.js'
      referee match blooms -n 1 --watch 0.5s './mine' 'node mine.js'
      referee match blooms -n 1 --dialogue --input-of 1 input.txt './mine' 'node mine.js'
      referee match blooms -n 2 --from results 7@12 './mine' 'node mine.js'
    """
    from referee.cli.match_tables import MatchSettings
    from referee.cli.playing import run_and_report
    from referee.cli.watching import Views
    from referee.running import RunOptions
    from referee.tournament.file.config import tournament_of

    settings, views = group(MatchSettings, given), group(Views, given)
    tables = settings.tables()
    views.check(given["workers"], len(settings.bots))
    folder: Path | None = given["folder"]
    if given["fresh"] and folder is None:
        raise UsageError("`--fresh` is given without `-o`, expected the folder with the results so far")
    with contextlib.ExitStack() as stack:
        stored = folder is not None
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=owned.prefix("match"))))
        tournament = tournament_of(folder / TOML, tables, Path.cwd(), settings.given_by)
        observer = views.observer(stack) if views.given else None
        if views.no_clock:
            say(
                "no time limits: the referee waits for bots indefinitely, even when they should exit; press "
                "Ctrl-C twice to end the match at once"
            )
        workers = tournament.workers if given["workers"] is None else given["workers"]
        how = RunOptions(
            folder,
            0 if observer else workers,
            given["isolation"],
            fresh=given["fresh"],
            stored=stored,
            observer=observer,
        )
        run_and_report(tournament, how, **{name: given[name] for name in ("strict", "json_lines", "notes")})
