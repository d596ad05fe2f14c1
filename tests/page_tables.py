"""The tables on pages, to be compared in both directions with the lists of the code that they describe."""

from __future__ import annotations

import re
from collections.abc import Iterable

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


def require_listed(page: str, head: str, names: Iterable[str], at: int = 0) -> None:
    """Fails unless these are the names in the first column of a table, and says on which page it is."""
    require_same(f"{page}, table `{head}`", listed(page, head, at), names)


def require_same(place: str, written: Iterable[object], of_code: Iterable[object]) -> None:
    """Fails unless this place on a page has what the code has, and says what is missing or too much there."""
    here, there = set(written), set(of_code)
    assert there <= here, f"{place}: missing {_in_order(there - here)}"
    assert here <= there, f"{place}: {_in_order(here - there)} is not in the code"


def _in_order(values: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, values)))
