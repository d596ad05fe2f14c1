"""Tables as text, JSON and CSV."""

from __future__ import annotations

import json

from referee.core.rows import Column, Grid, text_columns


def test_programs_read_values_and_people_read_texts() -> None:
    columns = [*text_columns("how it ended"), Column("moves", "moves", text=lambda value: f"{value:,}")]
    grid = Grid(columns, [["=1", 1000]])
    assert json.loads(grid.drawn("json")) == [{"how_it_ended": "=1", "moves": 1000}]
    assert grid.drawn("csv") == "how_it_ended,moves\n'=1,1000", "no spreadsheet takes it for a formula"
    assert grid.drawn("tsv") == "how_it_ended\tmoves\n'=1\t1000"
    assert grid.drawn("github").splitlines()[-1].split("|")[1:3] == [" =1             ", "   1,000 "]
    assert "<td>=1            </td>" in grid.drawn("html")
    numbers = Grid([*text_columns("id"), Column("moves", "moves")], [["007", "1e3"]])
    assert numbers.drawn() == "id      moves\n----  -------\n007       1e3", "no text is taken for a number"
    assert Grid(text_columns("id"), []).drawn() == "id\n----"
