"""What a bot says of its move: documented keys are read, and everything else stays text."""

from __future__ import annotations

import pytest

from referee.viewing.info import MOST_METRICS, Info, read_info


@pytest.mark.parametrize(
    ("line", "value", "said", "text"),
    [
        ("", None, {}, ""),
        ("value 0.62", 0.62, {}, ""),
        ("value 1 depth 4 nodes 1200 score -3.5", 1.0, {"depth": "4", "nodes": "1200", "score": "-3.5"}, ""),
        ("depth 4 pv L:A1 D:B2; L:C3", None, {"depth": "4", "pv": "L:A1 D:B2; L:C3"}, ""),
        ("value 0.5 of 20 tries", 0.5, {}, "of 20 tries"),
        ("0.62 of 20 tries", None, {}, "0.62 of 20 tries"),
        ("depth four", None, {}, "depth four"),
        ("depth", None, {}, "depth"),
        ("pv", None, {}, "pv"),
        ("value 1.01 depth 2", None, {}, "value 1.01 depth 2"),
        ("value -0.1", None, {}, "value -0.1"),
        ("value nan", None, {}, "value nan"),
        ("value 1e-1", None, {}, "value 1e-1"),
        ("value ٠", None, {}, "value ٠"),
        ("value 0.1 value 0.9", 0.9, {}, ""),
        ("VALUE 0.1", None, {}, "VALUE 0.1"),
        (
            "metric cuts 0.9 depth 3 metric t.t -2",
            None,
            {"metric cuts": "0.9", "depth": "3", "metric t.t": "-2"},
            "",
        ),
        ("depth 3 metric cuts many", None, {"depth": "3"}, "metric cuts many"),
        ("metric <b> 1", None, {}, "metric <b> 1"),
        (f"metric {'x' * 25} 1", None, {}, f"metric {'x' * 25} 1"),
        ("metric pv 1 pv L:A1", None, {"metric pv": "1", "pv": "L:A1"}, ""),
    ],
)
def test_a_line_is_read(line: str, value: float | None, said: dict[str, str], text: str) -> None:
    assert read_info(line) == Info(value, tuple(said.items()), text)


def test_long_numbers_are_text() -> None:
    assert read_info(f"depth {'9' * 4000}").text.startswith("depth 999")


def test_so_many_numbers_of_its_own_are_read() -> None:
    names = [f"n{number}" for number in range(MOST_METRICS + 1)]
    found = read_info(" ".join(f"metric {name} 2" for name in [*names[:-1], names[0], names[-1]]))
    assert found.metrics == dict.fromkeys(names[:-1], 2.0) and found.text == f"metric {names[-1]} 2"
