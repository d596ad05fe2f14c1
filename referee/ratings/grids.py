"""Tables narrowed to a terminal, and headings and notes in the form of tables. Pure."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable

from referee.core.rows import MARKDOWN, Grid, markdown

HTML = ("html", "unsafehtml")
LATEX = ("latex", "latex_booktabs", "latex_longtable", "latex_raw")
_MARKUP = (
    *MARKDOWN,
    *HTML,
    *LATEX,
    "asciidoc",
    "jira",
    "mediawiki",
    "moinmoin",
    "textile",
    "tsv",
    "youtrack",
)
"""Forms that are not read in a terminal as they are, and so need not fit one."""

SHORTEST_NAME = 8  # names of bots are not shortened beyond this number of characters


def limit(form: str, width: int) -> int:
    """The width that a table in this form has to fit; 0 where it has to fit none."""
    return 0 if form in _MARKUP else width


def size(grid: Grid, form: str) -> int:
    """Returns the width of the table in characters."""
    widest = [max(len(cell) for cell in column) for column in zip(*grid.texts, strict=True)]
    row = ["x" * max(1, most) for most in widest]
    return max(map(len, grid._replace(rows=[row] if row else []).drawn(form).splitlines()), default=0)


def fitted(grid: Grid, form: str, width: int) -> tuple[Grid, list[str]]:
    """The table without the columns that do not fit, and their names.

    Columns are left out, those of the least weight first, and then names are shortened. With a width of 0
    everything fits.
    """
    left_out: list[str] = []
    while width and size(grid, form) > width:
        spare = [column for column in grid.columns if column.weight]
        if not spare:
            return _shortened(grid, size(grid, form) - width), left_out
        # Of columns that weigh the same, the last goes first.
        least = min(reversed(spare), key=lambda column: column.weight)
        left_out.append(least.name)
        at = grid.columns.index(least)
        grid = grid._replace(
            columns=[*grid.columns[:at], *grid.columns[at + 1 :]],
            rows=[[*row[:at], *row[at + 1 :]] for row in grid.rows],
        )
    return grid, left_out


def parts(grid: Grid, form: str, width: int, fixed: int) -> list[Grid]:
    """The table as several that fit the width: each has the first `fixed` columns and some of the others."""
    if not width or size(grid, form) <= width:
        return [grid]
    grid = _shortened(grid, 64, at_least=max(SHORTEST_NAME, width // 3))
    found: list[Grid] = []
    begin = fixed
    while begin < len(grid.columns):
        end = begin + 1
        while end < len(grid.columns) and size(_slice(grid, fixed, begin, end + 1), form) <= width:
            end += 1
        found.append(_slice(grid, fixed, begin, end))
        begin = end
    return found


def _slice(grid: Grid, fixed: int, begin: int, end: int) -> Grid:
    return grid._replace(
        columns=[*grid.columns[:fixed], *grid.columns[begin:end]],
        rows=[[*row[:fixed], *row[begin:end]] for row in grid.rows],
    )


def _shortened(grid: Grid, by: int, at_least: int = SHORTEST_NAME) -> Grid:
    """The table with its longest names shortened by this many characters, as far as they may be."""
    rows = grid.texts
    for at, column in enumerate(grid.columns):
        if not column.shorten or not rows:
            continue
        longest = max(len(row[at]) for row in rows)
        most = max(at_least, longest - by)
        by -= max(0, longest - most)
        for row in rows:
            if len(row[at]) > most:
                row[at] = f"{row[at][: most - 1]}…"
    return grid._replace(rows=rows)


def headed(text: str, form: str) -> str:
    """A heading over several tables."""
    if form in MARKDOWN:
        return f"### {markdown(text)}"
    if form in HTML:
        return f"<h3>{html.escape(text)}</h3>"
    if form in LATEX:
        return f"% {text}"
    return f"{text}\n{'=' * len(text)}"


def said(lines: Iterable[str], form: str, width: int) -> str:
    """Notes under or over a table: each is one line, wrapped at the width where the form has one."""
    if form in MARKDOWN:
        return "\n".join(["", *(f"- {markdown(line)}" for line in lines)])
    if form in HTML:
        return "\n".join(f"<p>{html.escape(line)}</p>" for line in lines)
    if form in LATEX:
        return "\n".join(f"% {line}" for line in lines)
    if not width or form in _MARKUP:
        return "\n".join(lines)
    return "\n".join(
        textwrap.fill(
            line, max(20, width), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for line in lines
    )
