"""Tables as text, JSON and CSV."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tabulate import tabulate

from referee.core.rows import Column, Grid, text_columns

CELLS = st.sampled_from(["x", "10", "-1", "two\nlines", "a  b", "–", "longer than its heading"])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1))
def test_the_usual_form_is_that_of_tabulate(rows: list[tuple[str, ...]]) -> None:
    grid = Grid([Column("a", "", True), Column("b", "id", True), Column("c", "a number")], rows)
    align = ("left", "left", "right")
    assert grid.drawn() == tabulate(rows, ["", "id", "a number"], disable_numparse=True, colalign=align)


def test_programs_read_values_and_people_read_texts() -> None:
    columns = [*text_columns("how it ended"), Column("moves", "moves", text=lambda value: f"{value:,}")]
    grid = Grid(columns, [["=1", 1000]])
    assert json.loads(grid.drawn("json")) == [{"how_it_ended": "=1", "moves": 1000}]
    assert grid.drawn("csv") == "how_it_ended,moves\n'=1,1000", "no spreadsheet takes it for a formula"
    assert grid.drawn("tsv") == "how_it_ended\tmoves\n'=1\t1000"
    assert grid.drawn("github").splitlines()[-1].split("|")[1:3] == [" =1             ", "   1,000 "]
    assert "<td>=1            </td>" in grid.drawn("html")
    assert Grid(text_columns("id"), []).drawn() == "id\n----"
