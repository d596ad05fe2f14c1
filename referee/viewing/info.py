"""The text of an `info` line: values under documented keys, numbers of a bot's own, then free text; and the
moves that it expects, as positions. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from referee.core.text import shown
from referee.games.api import Refusal, State

_NUMBER = re.compile(r"[+-]?\d{1,12}(\.\d{1,12})?", re.ASCII)

_NUMBERS = ("score", "depth", "nodes")  # the keys, besides `value`, that a number follows

METRIC = "metric"  # the key that the name of a number of the bot's own follows, and then the number

METRIC_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,23}", re.ASCII)

MOST_METRICS = 8  # so many numbers of its own a bot says of a move; further ones are free text


class Info(NamedTuple):
    """An `info` line, read: `value 0.62 depth 4 nodes 12000 pv L:A1; D:B2 L:C3` or free text."""

    value: float | None = None  # the bot's own chance to win, from 0 to 1; None where it does not say
    said: tuple[tuple[str, str], ...] = ()
    """The other keys with their texts, in the order of the bot; `pv` has the moves that it expects, with `;`
    between them, and `metric NAME` a number of its own.
    """
    text: str = ""  # the rest: it begins with the first word that is neither a key nor belongs to one

    @property
    def metrics(self) -> dict[str, float]:
        """The bot's own numbers by their names."""
        begin = f"{METRIC} "
        return {key.removeprefix(begin): float(text) for key, text in self.said if key.startswith(begin)}


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
        if key == METRIC:
            name, _, after = after.partition(" ")
            key, after = f"{METRIC} {name}", after.lstrip()
            if not METRIC_NAME.fullmatch(name) or (key not in said and _count_metrics(said) == MOST_METRICS):
                break
        word, _, behind = after.partition(" ")
        if not _NUMBER.fullmatch(word):
            break
        if key == "value" and 0 <= float(word) <= 1:
            value = float(word)
        elif key in _NUMBERS or key.startswith(f"{METRIC} "):
            said[key] = word
        else:
            break
        rest = behind.lstrip()
    return Info(value, tuple(said.items()), rest)


def _count_metrics(said: Mapping[str, str]) -> int:
    return sum(key.startswith(METRIC) for key in said)


MOST_MOVES = 8  # how many of the expected moves are followed


class Expected(NamedTuple):
    """A move that is expected after others."""

    text: str  # in canonical spelling
    state: State[Any]  # the position after it


def expected_moves(state: State[Any], line: str) -> list[Expected]:
    """Follows the moves of a `pv`, with `;` between them, from the position before the first of them: as
    far as they are legal, and neither chance nor several seats at once would act.
    """
    return _followed(state, line)[0]


def refused_move(state: State[Any], line: str) -> str:
    """Why a `pv` cannot be played from a position: which of the moves that are followed is not legal, and the
    reason. Empty where all are legal.
    """
    return _followed(state, line)[1]


def _followed(state: State[Any], line: str) -> tuple[list[Expected], str]:
    found: list[Expected] = []
    for text in line.rstrip("; ").split(";")[:MOST_MOVES]:
        acting = state.to_act()
        if len(acting) > 1 or (acting and acting[0] < 0):
            break
        move, why = None, "the game is over"
        if acting:
            try:
                move = state.read(acting[0], text.strip())
            except Refusal as refusal:
                why = refusal.sentence
        if move is None:
            return found, f"move {len(found) + 1} `{shown(text.strip(), 60)}`: {shown(why, 120)}"
        written = state.write(move)
        state = state.play({acting[0]: move})
        found.append(Expected(written, state))
    return found, ""
