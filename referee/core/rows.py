"""Tables of columns and rows. Text in each form of tabulate's, JSON and CSV are made from them here. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MARKDOWN = ("github", "pipe")

_SEPARATED = {"csv": ",", "tsv": "\t"}


def _cell_text(value: object) -> str:
    return "" if value is None else str(value)


class Column(NamedTuple):
    """A column of a table."""

    name: str  # what programs call it, and by which it is chosen and told when it is left out
    heading: str  # what people read above it
    left: bool = False  # whether its cells are aligned to the left: texts; else to the right: numbers
    weight: int = 0
    """Where the table is too wide, columns with the least weight are left out first; those with 0 stay."""
    shorten: bool = False  # whether its cells may be shortened when there is nothing left to leave out: names
    text: Callable[[Any], str] = _cell_text  # how people are shown one of its values


def text_columns(*headings: str) -> list[Column]:
    """Columns of texts; programs call them by their headings with `_` for blanks."""
    return [Column(heading.replace(" ", "_"), heading, left=True) for heading in headings]


class Grid(NamedTuple):
    """A table."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]

    @property
    def texts(self) -> list[list[str]]:
        """The rows as people are shown them."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    @property
    def data(self) -> list[dict[str, object]]:
        """The rows as programs read them: values by the names of their columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def drawn(self, form: str = "simple") -> str:
        """The table as `csv`, `json` or in a form of tabulate's, in which no text is taken for a number."""
        if form == "json":
            return json.dumps(self.data, indent=1, ensure_ascii=False)
        if form in _SEPARATED:
            return as_csv(self.data, [column.name for column in self.columns], _SEPARATED[form])
        rows = self.texts
        from tabulate import tabulate  # importing it takes longer than most commands

        if form in MARKDOWN:
            rows = [[markdown(cell) for cell in row] for row in rows]
        headings = [column.heading for column in self.columns]
        align = ["left" if column.left else "right" for column in self.columns] if rows else None
        return tabulate(rows, headings, tablefmt=form, disable_numparse=True, colalign=align)


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
        writer.writerow({name: _no_formula(at) if isinstance(at, str) else at for name, at in row.items()})
    return text.getvalue().rstrip("\n")


def _no_formula(text: str) -> str:
    return f"'{text}" if text[:1] in ("+", "-", "=", "@") else text


_SPECIAL = re.compile(r"([\\*_<>|\[\]~#]|(?<=\bwww)\.)")


def markdown(text: str) -> str:
    """A text as Markdown, so that it is shown as it is; what stands between backticks is code already."""
    pieces = text.split("`")
    return "`".join(_SPECIAL.sub(r"\\\1", piece) if at % 2 == 0 else piece for at, piece in enumerate(pieces))
