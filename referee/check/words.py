"""How the check puts things."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """`1 game`, `2 games`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(things: Iterable[object]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = map(str, things)
    return f"{', '.join(first)} and {last}" if first else last


def quoted(word: str) -> str:
    """A word as it is typed in a shell, with as few quotes as can be."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
