"""What a bot says of its move in an `info` line: values under documented keys, then free text; and the moves
that it expects, as positions. Pure.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from referee.games.api import Refusal, State

_NUMBER = re.compile(r"[+-]?\d{1,12}(\.\d{1,12})?", re.ASCII)

_NUMBERS = ("score", "depth", "nodes")  # the keys, besides `value`, that a number follows


class Info(NamedTuple):
    """An `info` line, read: `value 0.62 depth 4 nodes 12000 pv L:A1; D:B2 L:C3` or free text."""

    value: float | None = None  # the bot's own chance to win, from 0 to 1; None where it does not say
    said: tuple[tuple[str, str], ...] = ()
    """The other keys with their texts, in the order of the bot; `pv` has the moves that it expects, with `;`
    between them.
    """
    text: str = ""  # the rest: it begins with the first word that is neither a key nor belongs to one


def read_info(line: str) -> Info:
    """Reads an `info` line. It never fails: what does not follow the convention is free text."""
    value: float | None = None
    said: dict[str, str] = {}
    rest = line.strip()
    while rest:
        key, _, after = rest.partition(" ")
        after = after.lstrip()
        if key == "pv" and after:
            said[key] = after
            rest = ""
            break
        word, _, behind = after.partition(" ")
        if not _NUMBER.fullmatch(word):
            break
        if key == "value" and 0 <= float(word) <= 1:
            value = float(word)
        elif key in _NUMBERS:
            said[key] = word
        else:
            break
        rest = behind.lstrip()
    return Info(value, tuple(said.items()), rest)


MOST_MOVES = 8  # how many of the expected moves are followed


class Expected(NamedTuple):
    """A move that is expected after others."""

    text: str  # in canonical spelling
    state: State[Any]  # the position after it


def expected_moves(state: State[Any], line: str) -> list[Expected]:
    """Follows the moves of a `pv`, with `;` between them, from the position before the first of them: as
    far as they are legal, and neither chance nor several seats at once would act.
    """
    found: list[Expected] = []
    for text in line.split(";")[:MOST_MOVES]:
        acting = state.to_act()
        if len(acting) != 1 or acting[0] < 0:
            break
        try:
            move = state.read(acting[0], text.strip())
        except Refusal:
            break
        written = state.write(move)
        state = state.play({acting[0]: move})
        found.append(Expected(written, state))
    return found
