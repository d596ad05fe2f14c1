"""The end of a dialogue takes bounded memory, however long the dialogue is."""

from __future__ import annotations

from referee.check.dialogue_tail import DialogueTail


def test_the_end_of_a_dialogue_takes_bounded_memory() -> None:
    dialogue = DialogueTail()
    for _ in range(1000):
        dialogue("bot", ">", b"x" * 4096)
    dialogue("bot", "<", b"ask 1 2 3\n")
    for number in range(1000):
        dialogue("bot", ">", f"log {number}\n".encode())
    dialogue("bot", ">", b"move 1 \x1b[2J")
    lines = dialogue.lines()
    assert lines[:2] == ("BOT: " + "x" * 100 + "…", "# … without a newline")
    assert lines[2:] == (
        "REF: ask 1 2 3",
        "BOT: log 0",
        "# … 998 more such lines",
        "BOT: log 999",
        "BOT: move 1 \\x1b[2J",
        "# … without a newline",
    )
