"""The tables on pages, to be compared in both directions with the lists of the code that they describe."""

from __future__ import annotations

import re

from tests.command import ROOT

_CELL = re.compile(r"(?<!\\)\|")


def rows(page: str, head: str, at: int = 0) -> list[list[str]]:
    """The cells of a table: of those on the page with this head row, such as `word | what happened`, the one
    at this place, counted from 0.
    """
    tables = re.findall(r"(?:^\|.*\|\n)+", (ROOT / page).read_text(), re.MULTILINE)
    found = [[_cells(line) for line in table.splitlines()] for table in tables]
    _, _, *cells = [table for table in found if table[0] == _cells(f"| {head} |")][at]
    return cells


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line)[1:-1]]


def words(text: str) -> list[str]:
    """The names in backticks: single words."""
    return re.findall(r"`([a-z_0-9]+)`", text)


def listed(page: str, head: str, at: int = 0) -> set[str]:
    """The names in the first column of a table, each of which stands there once."""
    found = [word for first, *_ in rows(page, head, at) for word in words(first)]
    assert len(found) == len(set(found)), f"{page}: a name stands twice in {found}"
    return set(found)
