"""`referee docs`: shows the documents, and searches them."""

from __future__ import annotations

import shutil
import sys

import click

from referee.cli.output import can_draw, in_colour, say, show_data
from referee.core.errors import UsageError
from referee.core.rows import Grid, text_columns
from referee.core.text import counted, nearest, shown
from referee.pages.documents import Hit, documents, plain, search, text_of, title_of, with_pages_named

MAX_WIDTH = 100  # maximum number of characters of a line of a document in a terminal

MAX_HITS = 40  # maximum number of sections that a search lists


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in documents() if name.startswith(incomplete)]


@click.command()
@click.argument("words", metavar="[PAGE | WORD...]", nargs=-1, shell_complete=_complete)
def docs(words: tuple[str, ...]) -> None:
    """Lists the pages; with PAGE, shows one; with any other WORDs, lists the sections that contain all of
    them.

    The start of a page's name is enough. In a terminal, a page is formatted and shown by the pager (`PAGER`,
    else less); otherwise it is printed as Markdown.

    \b
    Examples:
      referee docs
      referee docs first-bot
      referee docs reserve clock
      referee docs protocol > PROTOCOL.md
    """
    if not words:
        rows = [[name, plain(title_of(name))] for name in documents()]
        show_data(Grid(text_columns("page", "title"), rows).drawn())
    elif len(words) == 1 and (page := _page(words[0])):
        _show(page)
    elif hits := search(words):
        _list_hits(hits)
    else:
        raise UsageError(_unknown(words))


def _page(word: str) -> str | None:
    """The page with this name, or the only one whose name begins so."""
    name = word.lower().removesuffix(".md").replace("_", "-")
    if name in documents():
        return name
    begun = [page for page in documents() if page.startswith(name)]
    return begun[0] if len(begun) == 1 and name else None


def _unknown(words: tuple[str, ...]) -> str:
    wanted = shown(" ".join(words), 80)
    if near := nearest(wanted, documents()):
        return f"there is no page `{wanted}`, expected `{near}`"
    return f"no page is named `{wanted}` or contains it; `referee docs` lists the pages"


def _show(page: str) -> None:
    text = text_of(page)
    if can_draw(sys.stdout):
        # None lets click decide by the pager: less shows colours only if it is told to, others may not.
        click.echo_via_pager(_laid_out(text), color=None if in_colour(sys.stdout) else False)
    else:
        show_data(text.removesuffix("\n"))


def _list_hits(hits: list[Hit]) -> None:
    rows = [
        [hit.section.page, shown(plain(hit.section.title), 40), shown(hit.line, 60)]
        for hit in hits[:MAX_HITS]
    ]
    show_data(Grid(text_columns("page", "section", "text"), rows).drawn())
    if len(hits) > MAX_HITS:
        say(f"{counted(len(hits) - MAX_HITS, 'more section')}: add a word to narrow the search")


def _laid_out(text: str) -> str:
    from rich.console import Console  # only a terminal needs it
    from rich.markdown import Markdown

    width = min(MAX_WIDTH, shutil.get_terminal_size().columns)
    console = Console(
        width=width, force_terminal=True, no_color=not in_colour(sys.stdout), legacy_windows=False
    )
    with console.capture() as laid_out:
        console.print(Markdown(with_pages_named(text), hyperlinks=False))
    return laid_out.get()
