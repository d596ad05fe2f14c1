"""How the check puts things."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def ms(us: int) -> str:
    """Microseconds for people."""
    if us < 1000:
        return f"{us} µs"
    if us < 10_000:
        return f"{us // 1000}.{us // 100 % 10} ms"
    return f"{us // 1000} ms" if us < 1_000_000 else f"{us // 1_000_000}.{us // 100_000 % 10} s"


def megabytes(count: int) -> str:
    """Bytes for people."""
    return f"{count >> 20} MB" if count >= 10 << 20 else f"{count / (1 << 20):.1f} MB"


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
