"""What the tools that make a page from the code do with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def print_or_write(made: str, page: Path, words: Sequence[str]) -> None:
    """Replaces the page if the words of the command are `--write`, else prints what it would be."""
    if words == ["--write"]:
        page.write_text(made)
    else:
        print(made, end="")
