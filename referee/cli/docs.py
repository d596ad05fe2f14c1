"""`referee docs`: shows the documents, which are installed with the program."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

import referee
from referee.cli.colour import can_draw, in_colour
from referee.cli.output import columns, show_data
from referee.core.errors import UsageError
from referee.core.text import meant, shown

PACKAGE = Path(referee.__file__).parent

FOLDERS = (
    "docs",
    "protocol",
    "protocol/games",
    "games",
    "tournament",
    "processes",
    "viewing",
    "ratings",
    "",
)
"""The folders of the package that have documents, those for users first."""

FIRST = "FIRST_BOT.md"
"""The page to begin with."""

WIDEST = 100
"""Maximum number of characters of a line of a document in a terminal."""


def documents() -> dict[str, Path]:
    """The documents by name: that of their file in small letters, with hyphens."""
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).glob("*.md"))]
    paths.sort(key=lambda path: path.name != FIRST)
    return {path.stem.lower().replace("_", "-"): path for path in paths}


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip("# \n")


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in documents() if name.startswith(incomplete)]


@click.command()
@click.argument("page", required=False, shell_complete=_complete)
def docs(page: str | None) -> None:
    """Lists the documents; with PAGE, shows one.

    In a terminal a page is laid out and shown by the pager (`PAGER`, less or more); elsewhere it is printed
    as it is, in Markdown.

    \b
    Examples:
      referee docs
      referee docs first-bot
      referee docs protocol > PROTOCOL.md
    """
    found = documents()
    if page is None:
        show_data(columns(["page", "title"], [[name, _title(path)] for name, path in found.items()]))
        return
    path = found.get(page.lower().removesuffix(".md").replace("_", "-"))
    if path is None:
        raise UsageError(f"there is no page `{shown(page, 80)}`, expected {meant(page, found)}")
    text = path.read_text(encoding="utf-8")
    if can_draw(sys.stdout):
        click.echo_via_pager(_laid_out(text), color=in_colour(sys.stdout))
    else:
        show_data(text.removesuffix("\n"))


def _laid_out(text: str) -> str:
    """A document in Markdown as a terminal shows it."""
    from rich.console import Console  # only a terminal needs it
    from rich.markdown import Markdown

    width = min(WIDEST, shutil.get_terminal_size().columns)
    console = Console(
        width=width, force_terminal=True, no_color=not in_colour(sys.stdout), legacy_windows=False
    )
    with console.capture() as laid_out:
        console.print(Markdown(text, hyperlinks=False))
    return laid_out.get()
