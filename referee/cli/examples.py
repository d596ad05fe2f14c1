"""`referee examples`: copies the sample bots and tournaments, which are installed with the program."""

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
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def examples(folder: Path) -> None:
    """Copies the sample bots and tournaments into DIR, which is made where it does not exist.

    Nothing is overwritten. Prints the tournaments.

    \b
    Examples:
      referee examples here
      referee run here/tournaments/blooms.toml
    """
    names = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    for name in names:
        if os.path.lexists(folder / name):
            raise UsageError(f"`{shown(str(folder / name))}` exists, expected a folder without `{name}`")
    try:
        for name in names:
            shutil.copytree(EXAMPLES / name, folder / name, ignore=_not_ours)
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(folder))}`: {error}") from None
    say("a tournament is played by `referee run FILE`")
    show_data("\n".join(shown(str(path)) for path in sorted((folder / "tournaments").glob("*.toml"))))


def _not_ours(folder: str, names: list[str]) -> set[str]:
    """Lists what others put there, in a checkout: results of tournaments, and programs that were built."""
    return {
        name
        for name in names
        if name.endswith(("-results", "__pycache__"))
        or not (Path(name).suffix or Path(folder, name).is_dir())
    }
