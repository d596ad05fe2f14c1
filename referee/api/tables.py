"""Tables as values: rows for programs, text for terminals, HTML for notebooks, data frames of pandas."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api.notebook import as_html
from referee.core.errors import UsageError
from referee.core.text import WIDTH
from referee.ratings.data import flat_rows
from referee.ratings.standings import Facts, Standings
from referee.ratings.table import TableText, drawn

if TYPE_CHECKING:
    import pandas

Rows = list[dict[str, Any]]
"""The rows of a table: texts, numbers, flags and None by the names of their columns."""


class ComputedTables(NamedTuple):
    """What the tables of a run are made of."""

    whole: Standings
    sections: Sequence[Standings]  # those of each section, where there are several
    facts: Facts


class Table:
    """A table of a run. `print` shows it as the command `referee table` does, and a notebook as HTML."""

    def __init__(self, computed: ComputedTables, show: tuple[str, ...] = ()) -> None:
        """`show`: which tables, as `parse_show` gives them; the usual ones where none is named."""
        self._computed = computed
        self._show = show

    @cached_property
    def rows(self) -> Rows:
        """The rows, best first, as plain values; of a run of several games those of each section, and then
        those over all, of which the `section` is empty. Of several tables, those of the first.

        The columns are those of `referee table --format csv`, which TABLE.md describes; without the results
        against each other bot, which a crosstable has. Ratings are in Elo, times in microseconds.
        """
        whole, sections, facts = self._computed
        return flat_rows(whole, sections, facts, "".join(self._show[:1]), with_results=False)

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas. Raises `UsageError` where that is not installed."""
        return frame_of(self.rows)

    def __str__(self) -> str:
        return self._drawn("simple", shutil.get_terminal_size((WIDTH, 24)).columns)

    def __repr__(self) -> str:
        return f"<Table of {len(self._computed.whole.rows)} bots>"

    def _repr_html_(self) -> str:
        return as_html(self._drawn("html", 0))

    def _drawn(self, form: str, width: int) -> str:
        view = TableText(show=self._show, width=width, by_command=False)
        whole, sections, facts = self._computed
        return drawn(whole, sections, form, view, facts)


def frame_of(rows: Iterable[Mapping[str, object]]) -> pandas.DataFrame:
    """Rows as a data frame. Raises `UsageError` where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise UsageError(
            "`to_frame` needs pandas, which is not installed (`pip install pandas`); `rows` has the same "
            "as a list of dicts"
        ) from None
    return pandas.DataFrame([*rows])
