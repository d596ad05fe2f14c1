"""Rows of values as text, in the forms of tabulate, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence


def as_text(
    rows: Iterable[Sequence[str]],
    headings: Sequence[str] = (),
    form: str = "simple",
    align: Sequence[str] | None = None,
) -> str:
    """A table of texts, which are never taken for numbers. `align` has `left` or `right` for each column."""
    from tabulate import tabulate  # importing it takes longer than most commands

    return tabulate(list(rows), headings, tablefmt=form, disable_numparse=True, colalign=align)


def as_csv(rows: Iterable[Mapping[str, object]], names: Sequence[str] = (), delimiter: str = ",") -> str:
    """Lines for spreadsheets, after one with the `names` of the columns, by default those that the rows have;
    what a row lacks is empty. Texts that would be read as formulas are quoted.
    """
    rows = list(rows)
    names = names or list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(at) if isinstance(at, str) else at for name, at in row.items()})
    return text.getvalue().rstrip("\n")


def _cell(text: str) -> str:
    """A text as a cell of a table for spreadsheets: what they would read as a formula is quoted."""
    return f"'{text}" if text[:1] in ("+", "-", "=", "@") else text
