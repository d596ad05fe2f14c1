"""What is given on the command line as text."""

from __future__ import annotations

from referee.errors import UsageError
from referee.text import shown


def pairs(what: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Names with their values, from `K=V`. Raises `UsageError`, in which they are called `what`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{what} `{shown(text, 80)}` has no value, expected K=V")
        if name in found:
            raise UsageError(f"{what} `{shown(name, 80)}` is given twice, expected once")
        found[name] = value
    return found
