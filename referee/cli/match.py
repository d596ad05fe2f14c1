"""`referee match`: plays games between a few bots and prints their table: a tournament given by options."""

from __future__ import annotations

import contextlib
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from referee.cli import completion
from referee.cli.options import (
    START,
    fresh_option,
    game_argument,
    game_options_option,
    group,
    isolation_option,
    json_lines_option,
    key_values,
    notes_option,
    only_one,
    place_in_game,
    start_option,
    workers_option,
)
from referee.cli.output import say
from referee.core.errors import UsageError
from referee.core.settings import MATCH_GAMES, MAX_SPRT_GAMES
from referee.core.text import counted, meant, shown
from referee.core.units import LONGEST_US, PERIOD, show_period
from referee.games import game_given
from referee.games.api import Game
from referee.processes import owned
from referee.processes.bot import Bot, distinct, is_interpreter
from referee.records.run_files import TOML
from referee.tournament.file.config import tournament_of
from referee.tournament.file.opening_table import recorded_game
from referee.tournament.run.reading import records_at


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
    "each move and redraw the board in place on a terminal.",
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
    referee. The bots change seats after every game. Ctrl-C stops after the games in progress, a second Ctrl-C
    stops at once; with -o, the same command continues the match.

    \b
    Examples:
      referee match blooms -n 10 --time 1s+10s '{python} sample_bots/greedy_bot.py' 'node mine.js'
      referee match blooms -n 1 --watch 0.5s './mine' 'node mine.js'
      referee match blooms -n 1 --dialogue --input-of 1 input.txt './mine' 'node mine.js'
      referee match blooms -n 2 --from results 7@12 './mine' 'node mine.js'
    """
    from referee.cli.playing import run_and_report
    from referee.cli.watching import Views
    from referee.run import RunOptions

    settings, views = group(_MatchSettings, given), group(Views, given)
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


_UNLIMITED = show_period(LONGEST_US)  # the start allowance and the margin where there are no time limits


@dataclass(frozen=True, slots=True)
class _MatchSettings:
    game: str
    bots: tuple[str, ...]
    count: int | None
    sprt: str | None
    control: str | None
    options: tuple[str, ...]
    seed: str | None
    no_clock: bool
    start: str
    openings: tuple[str, ...]
    begin: tuple[Path, str] | None
    ptys: tuple[str, ...]

    @property
    def given_by(self) -> Mapping[str, str]:
        """The options by the paths of what they set."""
        return {
            "tournament.clock": "--time",
            "tournament.sprt": "--sprt",
            "tournament.start": "--start",
            "tournament.openings": "--from" if self.begin else "--openings",
        }

    def tables(self) -> dict[str, Any]:
        """The tables of a tournament file for this match; their values are checked only as far as others
        follow from them. Raises `UsageError`.
        """
        game = game_given(self.game, Path.cwd())
        openings, options = self._start(game)
        seats = game.seats(game.settle(options))
        _check_quotes(self.game, self.bots, seats)
        bots = _bots(self.bots, self.ptys)
        if len(bots) != seats:
            names = ", ".join(bot["name"] for bot in bots)
            more = "; `referee run` plays more bots" if len(bots) > seats else ""
            raise UsageError(
                f"`{game.slug}` has {counted(seats, 'seat')}, expected {counted(seats, 'bot')}, "
                f"not {len(bots)} ({shown(names)}){more}"
            )
        count = self.count or (MATCH_GAMES if self.sprt is None else MAX_SPRT_GAMES)
        settings = {
            "game": self.game,
            "format": "pairings",
            "pairings": [[bot["name"] for bot in bots]],
            "rounds": -(-count // seats),
            "budget": count,
            "clock": (self.control or "none") if self.no_clock else self.control,
            "seed": self.seed,
            "sprt": self.sprt,
            **self._allowances(),
            "openings": openings or None,
        }
        tables = {
            "tournament": {name: value for name, value in settings.items() if value is not None},
            "options": options,
            "bot": bots,
        }
        return {name: table for name, table in tables.items() if table}

    def _start(self, game: Game[Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Makes the table `openings` and the options of the game."""
        openings, options = _openings(self.openings), key_values("option", self.options)
        if not self.begin:
            return openings, options
        only_one({"--openings": openings, "--from": self.begin})
        return _start(*self.begin, game, options)

    def _allowances(self) -> dict[str, str]:
        only_one({"--start": self.start != START, "--no-clock": self.no_clock})
        if not self.no_clock:
            return {"start": self.start}
        return {"margin": _UNLIMITED, "start": _UNLIMITED}


def _openings(texts: tuple[str, ...]) -> dict[str, Any]:
    """The table `openings` as `--openings` gives it; empty without the option."""
    given: dict[str, Any] = {**key_values("openings", texts)}
    plies = given.get("plies", "")
    if plies.isascii() and plies.isdecimal() and len(plies) < 10:
        given["plies"] = int(plies)
    if given.get("file"):
        given["file"] = str(Path.cwd() / given["file"])
    return given


def _start(
    path: Path, at: str, game: Game[Any], given: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The table `openings` as `--from` gives it, and the options of the game, which are those of the earlier
    game. Raises `UsageError`, also where `given` options differ from these.
    """
    game_id, move = place_in_game(at)
    file = records_at(path).absolute()
    record = recorded_game(file, game_id, game)
    options = {name: str(value) for name, value in record.terms.options.items()}
    for name, value in game.settle({**options, **given}).items():
        if value != record.terms.options[name]:
            raise UsageError(
                f"option `{name}` is `{value}`, expected `{options[name]}` as "
                "in the game of `--from`, or none"
            )
    return {"from": str(file), "game": record.terms.id, "move": move}, options


def _check_quotes(game: str, texts: Sequence[str], seats: int) -> None:
    """Raises `UsageError` where words that together would be this many bots are arguments of their own."""
    joined: list[str] = []
    for text in texts:
        before = joined[-1] if joined else ""
        if "=" in (before[-1:], text[:1]):
            joined[-1:] = [before + text]
        elif is_interpreter(before.partition("=")[2] or before):
            joined[-1:] = [f"{before} {text}"]
        else:
            joined.append(text)
    if len(joined) == seats != len(texts):
        command = shlex.join(["referee", "match", game, *joined])
        raise UsageError(f"each bot is one argument in quotes, expected `{shown(command, 400)}`")


def _bots(texts: tuple[str, ...], ptys: tuple[str, ...]) -> list[dict[str, Any]]:
    parsed = [Bot.parse(text, Path.cwd()) for text in texts]
    given = [text.startswith(f"{bot.name}=") for text, bot in zip(texts, parsed, strict=True)]
    bots = distinct(parsed, given)
    names = [bot.name for bot in bots]
    for name in ptys:
        if name not in names:
            raise UsageError(f"`--pty` names `{shown(name, 80)}`, expected {meant(name, names)}")
    return [
        {"name": bot.name, "cmd": list(bot.command), **({"pty": True} if bot.name in ptys else {})}
        for bot in bots
    ]
