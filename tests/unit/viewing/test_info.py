"""What a bot says of its move: documented keys are read, and everything else stays text."""

from __future__ import annotations

import pytest

from referee.viewing.info import Info, read_info


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
    ],
)
def test_a_line_is_read(line: str, value: float | None, said: dict[str, str], text: str) -> None:
    assert read_info(line) == Info(value, tuple(said.items()), text)


def test_long_numbers_are_text() -> None:
    assert read_info(f"depth {'9' * 4000}").text.startswith("depth 999")
