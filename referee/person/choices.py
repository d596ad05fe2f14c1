"""The moves that a person can make: whether a text is one, and why not. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from referee.core.seeds import Random
from referee.core.text import shown
from referee.games.api import Refusal, Seat, State
from referee.person.commands import MAX_LINE

LOOKED_AT = 20_000
"""How many legal moves are looked at: some positions have millions, and these take a tenth of a second."""

SAMPLED = 300  # how many random moves are looked at besides, where there are more legal ones


class FoundMoves(NamedTuple):
    """Moves with a beginning."""

    moves: list[str]
    more: int | None
    """How many more there are; None if that is unknown, since not all legal moves were looked at."""


class Choices:
    """The choices of one seat in one position. They are made from what the rules tell this seat of its own
    moves, so they say nothing of what is hidden from it.
    """

    def __init__(self, state: State[Any], seat: Seat, rng: Random) -> None:
        """Moves are looked for when they are first asked for; `rng` is used where not all can be."""
        self._state = state
        self._seat = seat
        self._rng = rng
        self._moves: list[tuple[str, str]] | None = None  # each as it is compared, and as it is written
        self._is_whole = True

    def why_not(self, text: str) -> str:
        """Why a text is not a legal move, as a sentence; empty for a legal move."""
        if len(text) > MAX_LINE:
            return f"a move has at most {MAX_LINE:,} characters"
        try:
            self._state.read(self._seat, text)
        except Refusal as refusal:
            return shown(refusal.sentence, 300)
        return ""

    def starting(self, beginning: str, most: int) -> FoundMoves:
        """At most this many legal moves that have this beginning, whatever the case of its letters."""
        wanted = _plain(beginning)
        moves = self._all()
        fitting = [move for plain, move in moves if plain.startswith(wanted)]
        return FoundMoves(fitting[:most], max(0, len(fitting) - most) if self._is_whole else None)

    def _all(self) -> list[tuple[str, str]]:
        if self._moves is None:
            self._moves = [(_plain(move), move) for move in dict.fromkeys(self._looked_for())]
        return self._moves

    def _looked_for(self) -> Iterator[str]:
        state, seat = self._state, self._seat
        moves = list(islice(state.legal(seat), LOOKED_AT + 1))
        self._is_whole = len(moves) <= LOOKED_AT
        yield from map(state.write, moves[:LOOKED_AT])
        if not self._is_whole:
            yield from (state.write(state.sample(seat, self._rng)) for _ in range(SAMPLED))


def _plain(text: str) -> str:
    """A text as it is compared: in small letters, with single blanks, and none before it."""
    plain = " ".join(text.lower().split())
    return f"{plain} " if plain and text.endswith(" ") else plain
