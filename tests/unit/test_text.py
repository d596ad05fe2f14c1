"""Texts for people."""

from __future__ import annotations

import pytest

from referee.core.text import without_folders


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
