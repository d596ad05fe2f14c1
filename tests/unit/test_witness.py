"""The witness of a check keeps little of what passes."""

from __future__ import annotations

from referee.check.witness import Witness


def test_the_witness_keeps_little_however_much_passes() -> None:
    witness = Witness()
    for _ in range(1000):
        witness("bot", ">", b"x" * 4096)
    witness("bot", "<", b"ask 1 2 3\n")
    for number in range(1000):
        witness("bot", ">", f"log {number}\n".encode())
    witness("bot", ">", b"move 1 \x1b[2J")
    lines = witness.lines()
    assert lines[:2] == ("BOT: " + "x" * 100 + "…", "# … without a newline")
    assert lines[2:] == (
        "REF: ask 1 2 3",
        "BOT: log 0",
        "# … 998 more such lines",
        "BOT: log 999",
        "BOT: move 1 \\x1b[2J",
        "# … without a newline",
    )
