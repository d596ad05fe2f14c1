"""What the texts of all games' moves have in common: parts with blanks between them."""

from __future__ import annotations


def parts_of(text: str) -> list[str]:
    """The parts of a move's text, none of them empty. Any number of blanks is forgiven before, behind and
    between them; other white space is no blank.
    """
    parts = text.split(" ")
    return [part for part in parts if part] if "" in parts else parts
