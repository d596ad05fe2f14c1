"""Untrusted text, escaped for display: bounded, and without control characters."""

from __future__ import annotations


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


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
