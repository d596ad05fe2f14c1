"""Texts for people."""

from __future__ import annotations

import pytest

from referee.core.text import by_name, without_folders


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('File "/home/me/bots/main.py", line 3', 'File "main.py", line 3'),
        ("at choose (/home/me/bot/main.js:4:2)", "at choose (main.js:4:2)"),
        ("open `/tmp/x/weights.json`: no such file", "open `weights.json`: no such file"),
        ("see https://example.org/a/b/c", "see https://example.org/a/b/c"),
        ("src/main.rs:4, and/or 1/2/3", "src/main.rs:4, and/or 1/2/3"),
        ("</b></script>", "</b></script>"),
        ("/dev/null", "null"),
    ],
)
def test_paths_are_cut_to_the_names_of_files(text: str, shown: str) -> None:
    assert without_folders(text) == shown


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("seat 2 made the last move, every flower is dead", "b made the last move, every flower is dead"),
        ("finished in this order: seats 3, 1; seat 2 is out", "finished in this order: c, a; b is out"),
        ("seat 1 did not start, seat 2 did not start", "a did not start, b did not start"),
        ("both seats reached 4 on one turn", "both seats reached 4 on one turn"),
        ("seat 4 left, seat 12 left", "seat 4 left, seat 12 left"),
    ],
)
def test_sentences_name_the_bots_of_the_seats(sentence: str, told: str) -> None:
    assert by_name(sentence, ("a", "b", "c")) == told
