"""Chance in positions that are looked at: outcomes that are given, then those from seeds. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from referee.core.seeds import Stream, chance_stream
from referee.games.api import CHANCE, SHARED_CHANCE, Seat, State


@dataclass(frozen=True, slots=True)
class Chance:
    """What chance decides from a position on. Immutable: every line of moves from there has the same chance,
    as if it were a game of its own.
    """

    streams: Mapping[Seat, Stream]
    """By the actor, `CHANCE` or `SHARED_CHANCE`; what is drawn is drawn from copies."""
    given: tuple[str, ...] = ()  # the next outcomes, each in place of the one that would be drawn
    decided: tuple[str, ...] = ()  # all outcomes so far

    @classmethod
    def of_seeds(cls, own: bytes, shared: bytes, given: Sequence[str] = ()) -> Chance:
        """The chance of a game from its own seed and the shared one, as in the game loop."""
        streams = {CHANCE: chance_stream(own), SHARED_CHANCE: chance_stream(shared)}
        return cls(streams, tuple(given))

    def after(self, text: str) -> Chance:
        """The chance after an outcome that neither was given nor is drawn, such as one of an earlier game."""
        return replace(self, decided=(*self.decided, text))

    def settled(self, state: State[Any]) -> tuple[State[Any], Chance]:
        """The position when chance has decided all that it decides next, and the chance from there on.

        Raises `BadChance` where an outcome that is given is not possible.
        """
        chance = self
        while (acting := state.to_act()) and acting[0] < 0:
            state, chance = chance.once(state)
        return state, chance

    def once(self, state: State[Any]) -> tuple[State[Any], Chance]:
        """The position after one decision of chance, which acts in it, and the chance from there on.

        Raises `BadChance` where an outcome that is given is not possible.
        """
        actor = state.to_act()[0]
        stream = copy(self.streams[actor])
        text = state.draw(stream)
        if self.given:
            text = self.given[0]
        after = Chance({**self.streams, actor: stream}, self.given[1:], (*self.decided, text))
        return state.chance(text), after
