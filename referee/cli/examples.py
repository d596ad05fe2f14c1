"""`referee examples`: copies the sample bots, tournaments, suites and a notebook that are installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

import referee
from referee.cli.output import say, show_data
from referee.core.errors import StorageError, UsageError
from referee.core.text import shown

EXAMPLES = Path(referee.__file__).parent / "examples"


@click.command()
@click.argument("name", metavar="DIR", type=click.Path(file_okay=False))
def examples(name: str) -> None:
    """Copies the sample bots, tournaments, suites of positions and a notebook to DIR, which is created if it
    does not exist.

    No file is overwritten. Prints the names of the tournament files.

    \b
    Examples:
      referee examples here
      referee run here/tournaments/blooms.toml
    """
    if not name:  # as a script may give it by mistake
        raise UsageError("DIR is empty, expected a folder; `.` is the current folder")
    folder = Path(name)
    names = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    for part in names:
        if os.path.lexists(folder / part):
            raise UsageError(
                f"`{shown(str(folder / part))}` already exists, expected a folder without `{part}`"
            )
    try:
        for part in names:
            shutil.copytree(EXAMPLES / part, folder / part, ignore=_not_ours)
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(folder))}`: {error}") from None
    say("play a tournament with `referee run TOML`")
    show_data("\n".join(shown(str(path)) for path in sorted((folder / "tournaments").glob("*.toml"))))


def _not_ours(folder: str, names: list[str]) -> set[str]:
    """Lists what others put there, in a checkout: results, caches, and programs that were built."""
    return {
        name
        for name in names
        if name.endswith(("-results", "__pycache__", ".ipynb_checkpoints"))
        or not (Path(name).suffix or Path(folder, name).is_dir())
    }
