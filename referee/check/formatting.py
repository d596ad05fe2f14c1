"""Shell words, quoted for the messages of the check."""

from __future__ import annotations

import shlex


def shell_quoted(word: str) -> str:
    """A word quoted for a shell, with as few quotes as possible."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)
