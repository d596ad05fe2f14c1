"""Tables of some formats: who met whom, round by round. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from referee.core.rows import Column, Grid

FORMAT_TABLES = {
    "rounds": "Swiss tournaments have it: the opponents and points of each bot, round by round",
    "pairings": "Swiss tournaments and knockouts have it: who meets whom in the current round or stage",
    "bracket": "knockouts have it: the series of all stages",
    "stages": "tournaments in stages have it: the groups of each stage, and which bots advance",
    "parameters": "tuning has it: the start and the tuned value of each parameter",
    "course": "tuning has it: the values after more and more pairs of games",
    "failures": "tuning in which the bot failed has it: how often, and from which to which value",
}
"""Their names, and which formats have them."""


LAST_SERIES = "last series"
"""The heading of the column of a knockout's standings with the score of a bot's last series."""

DECIDED_BY_SEED = ", by seed"
"""What follows the score of a series that ended level, and was decided by the seeds."""


class FormatTable(NamedTuple):
    """A table of a format, as text and as data."""

    name: str  # one of `FORMAT_TABLES`
    grid: Grid  # of texts
    data: Sequence[Mapping[str, Any]]  # its rows as members of JSON and columns of CSV
    fixed: int = 0
    """How many columns stand in each part where it is too wide and is printed in parts; 0 where columns are
    left out instead.
    """
    title: str = ""  # its title on pages; empty where its name says enough

    @classmethod
    def of(cls, name: str, grid: Grid) -> FormatTable:
        """A table whose texts and data are those of a grid of values."""
        columns = [column._replace(text=str) for column in grid.columns]
        return cls(name, Grid(columns, grid.texts), grid.data)


RANK = Column("rank", "#")


def name_column(heading: str, name: str = "") -> Column:
    """A column of names of bots."""
    return Column(name or heading, heading, left=True, shorten=True)


def halves(value: float) -> str:
    """A number of points: whole, or with ½."""
    whole, half = divmod(round(2 * value), 2)
    return f"{whole or '' if half else whole}{'½' * half}"
