"""The moves that a bot expects, as positions. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from referee.games.api import Refusal, State

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
