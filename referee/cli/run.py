"""`referee run`: plays a tournament, or continues it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from referee.cli.options import (
    fresh_option,
    group,
    isolation_option,
    json_lines_option,
    notes_option,
    only_one,
    workers_option,
)
from referee.cli.output import say, show_data
from referee.core.errors import UsageError

_OPTIONS = (
    click.argument("file", metavar="TOML", type=click.Path(path_type=Path)),
    click.option(
        "-o",
        "folder",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Folder for the results. Default: NAME-results beside NAME.toml.",
    ),
    workers_option,
    click.option(
        "--cluster",
        metavar="ADDRESS",
        default="",
        help="Play on a Dask cluster: tcp://HOST:PORT of its scheduler, or local:N for N workers on this "
        "machine.",
    ),
    click.option(
        "--serve",
        is_flag=True,
        help="Show the games in play and the standings in a browser until the run ends: print the address, "
        "which only this machine can reach. Later, `referee serve` shows the run.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print what is left to play and how long it will take, or what is wrong with the file; write "
        "nothing.",
    ),
    fresh_option,
    json_lines_option,
    notes_option,
    isolation_option,
    click.option(
        "--strict",
        is_flag=True,
        help="Exit with 8 if a bot was at fault or left out, or an SPRT accepted H0.",
    ),
)


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of `run`, which are the fields of `RunWords`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@run_options
def run(**given: Any) -> None:
    """Plays the tournament in a TOML file, or continues it where it stopped, and prints its table.

    A finished game counts as soon as it is stored and is not played again. Ctrl-C stops after the games in
    progress, a second Ctrl-C stops at once; the same command continues the tournament.

    \b
    Examples:
      referee run tournament.toml
      referee run tournament.toml --dry-run
      referee run tournament.toml --workers 4 -o results
      referee run tournament.toml --serve
      referee run tournament.toml --cluster tcp://192.168.1.10:8786
    """
    play(group(RunWords, given))


@dataclass(frozen=True, slots=True)
class RunWords:
    """The options and arguments of `run`."""

    file: Path
    folder: Path | None
    workers: int | None
    cluster: str
    serve: bool
    dry_run: bool
    fresh: bool
    json_lines: bool
    notes: bool
    isolation: str | None
    strict: bool


def play(options: RunWords, *, tunes: bool = False) -> None:
    """Plays a tournament as the options say; one that tunes a bot, if it `tunes`. Raises what
    `run_and_report` raises.
    """
    from referee.cli.dry_run import dry_run
    from referee.cli.playing import run_and_report
    from referee.running import RunOptions, say_before
    from referee.tournament.file.config import load
    from referee.tournament.formats.tuning import Tuning

    if options.cluster and options.workers is not None:
        raise UsageError(
            f"`--workers` is {options.workers}, expected none: each machine of a cluster has its own"
        )
    is_here = options.workers is not None  # whatever the file says
    tournament = load(options.file, elsewhere=True if options.cluster else False if is_here else None)
    if tunes and not isinstance(tournament.format, Tuning):
        with tournament.file.named():
            raise UsageError("there are no `[[parameter]]` tables, expected one for each number to tune")
    cluster = options.cluster or ("" if is_here else tournament.cluster)
    if cluster and not options.cluster:
        from referee.cluster.connecting import checked_address  # few tournaments need it

        with tournament.file.named():
            checked_address(cluster)
    folder = options.folder or tournament.file.folder
    count = tournament.workers if options.workers is None else options.workers
    only_one({"--fresh": options.fresh, "--dry-run": options.dry_run})
    only_one({"--serve": options.serve, "--dry-run": options.dry_run})
    how = RunOptions(
        folder,
        count,
        options.isolation,
        cluster,
        leaves_out=not isinstance(tournament.format, Tuning),
        fresh=options.fresh,
    )
    if options.dry_run:
        say_before(tournament, None if cluster else count, say)
        show_data(dry_run(tournament, how))
        return
    with ExitStack() as stack:
        if options.serve:
            from referee.serving.beside import served  # few runs need it

            say(f"the games can be watched at {stack.enter_context(served(folder))} until the run ends")
        given = {"strict": options.strict, "json_lines": options.json_lines, "notes": options.notes}
        run_and_report(tournament, how, **given)
