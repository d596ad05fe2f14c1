"""Counts, lists and shell words, formatted for the messages of the check."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 game`, `2 games`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(things: Iterable[object]) -> str:
    """Things as a list in words: `a`, `a and b`, `a, b and c`."""
    *first, last = map(str, things)
    return f"{', '.join(first)} and {last}" if first else last


def shell_quoted(word: str) -> str:
    """A word quoted for a shell, with as few quotes as possible."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
