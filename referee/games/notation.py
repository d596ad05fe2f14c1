"""The common form of moves as text: parts separated by blanks."""

from __future__ import annotations


def parts_of(text: str) -> list[str]:
    """The parts of a move's text, none of them empty. Any number of blanks is accepted before, after and
    between them; other white space does not separate parts.
    """
    parts = text.split(" ")
    return [part for part in parts if part] if "" in parts else parts
