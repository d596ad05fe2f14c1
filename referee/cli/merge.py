"""`referee merge`: makes one run of several that were played on different machines."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.options import runs_argument, tournament_format_option
from referee.cli.output import count_text, say
from referee.core.errors import UsageError
from referee.core.text import counted, shown


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@runs_argument
@click.option(
    "--prefer",
    type=click.Choice(["first"]),
    help="If a game has different moves in several runs, take it from the run that is named first.",
)
@tournament_format_option
def merge(out: Path, paths: tuple[Path, ...], prefer: str | None) -> None:
    """Writes a new run to the folder OUT with the games of several runs of the same tournament, each game
    once.

    RUN is a run's folder or its tournament file. The runs must have the same settings, but may have different
    bots; they are not changed. Continue the new run with `referee run TOML -o OUT`.

    \b
    Examples:
      referee merge both here there
    """
    from referee.tournament.run import merging
    from referee.tournament.run.reading import read_runs
    from referee.tournament.run.run import read_run

    runs = read_runs(paths).runs
    if len(runs) < 2:
        raise UsageError("only 1 run is given, expected at least 2 to merge")
    merging.check_mergeable(runs)
    choice = merging.choose(runs)
    if prefer is None:
        merging.check_choice(runs, choice)
    merging.merge(out, runs, choice)
    for number, run in enumerate(runs):
        count = sum(owner == number for owner in choice.owner.values())
        say(f"{counted(count, 'game')} of `{shown(str(run.folder))}`")
    if choice.repeated:
        say(f"{counted(len(choice.repeated), 'game')} identical in several runs, taken once")
    if choice.contradicting:
        say(f"{counted(len(choice.contradicting), 'game')} different from an earlier run, left out")
    merged = read_run(out)
    say(f"{count_text(len(merged.games), merged.games_in_all)}, head hash {merged.last_hash}")
