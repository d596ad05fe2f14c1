"""Text for people: untrusted text, escaped and bounded, and numbers and lists in words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence

_SEATS = re.compile(r"\bseats? ([1-9](?:, [1-9])*)\b")
_FOLDERS = re.compile(r"(?<![\w/:.<])/(?:[\w.+@-]+/)+(?=[\w.+@-])")

WIDTH = 80  # how many characters a line of a table may have where no terminal says otherwise


def shown(raw: bytes | str, most: int = 200) -> str:
    """A text that is safe in a terminal, a table or a record: cut to `most` characters and escaped.

    Control characters, bytes that are not UTF-8, and characters that change the direction of text become
    escapes such as `\\x1b`: all that `str.isprintable` does not accept.
    """
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    cut = len(text) > most
    text = text[:most]
    if not text.isprintable():  # guard: escaping
        text = "".join(c if c.isprintable() else _escape(c) for c in text)
    return f"{text}…" if cut else text


def by_name(sentence: str, bots: Sequence[str]) -> str:
    """A sentence about a game with the names of its bots in place of `seat 1` and `seats 2, 3`."""

    def names(match: re.Match[str]) -> str:
        seats = [int(number) for number in match[1].split(", ")]
        return ", ".join(bots[seat - 1] for seat in seats) if max(seats) <= len(bots) else match[0]

    return _SEATS.sub(names, sentence)


def without_folders(text: str) -> str:
    """A text in which absolute paths are cut to the names of their files: for pages that are published."""
    return _FOLDERS.sub("", text)


def meant(name: str, known: Iterable[str]) -> str:
    """Suggests known names instead of an unknown one: the most similar one, or all."""
    names = list(known)
    if close := nearest(name, names):
        return f"`{close}`"
    return f"one of {', '.join(names)}" if names else "none"


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like another one; empty where none is."""
    return next(iter(difflib.get_close_matches(name[:100], list(known), 1)), "")


def value_text(value: object) -> str:
    """A value of JSON or TOML as it is written there, but texts without quotes; not bounded, nor escaped."""
    if value is None or isinstance(value, bool | list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def counted(number: int, noun: str) -> str:
    """A number with its noun, for people: `1 game`, `2,486 games`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def signed(value: float) -> str:
    """A number rounded, with its sign, for people: `+12`, `−43`."""
    return true_minus(f"{round(value):+,d}")


def true_minus(number: str) -> str:
    """A number for people: with a minus in the place of each hyphen."""
    return number.replace("-", "−")


def listed(things: Iterable[object]) -> str:
    """Things as a list in words: `a`, `a and b`, `a, b and c`; empty for nothing."""
    *first, last = [*map(str, things)] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
