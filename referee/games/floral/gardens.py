"""Both sides of a game, and the order of a turn. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.core.value import value
from referee.games.api import CHANCE, SHARED_CHANCE, Seat
from referee.games.floral.news import TURNS
from referee.games.floral.sides import (
    FLOWERS,
    NONE,
    STALL,
    SUNNY,
    SYMBOLS,
    Brought,
    Runes,
    Side,
    brought_by,
)
from referee.games.floral.spells import Spells

_BOTH: tuple[Seat, ...] = (0, 1)


@value
class FloralRules:
    """What the positions of one game share."""

    spells: Spells | None  # none before they are drawn
    goal: int
    max_turns: int
    brings: Mapping[Runes, Brought]  # by chain, what its last rune brings by these spells

    @classmethod
    def of(cls, spells: Spells | None, goal: int, max_turns: int) -> FloralRules:
        """The rules with these spells."""
        return cls(spells, goal, max_turns, brought_by(spells) if spells else {})


@dataclass(slots=True, eq=False)
class Gardens:
    """All that decides how a game goes on. It changes in place: a playout has one of its own, and a position
    has one that is never changed again.
    """

    rules: FloralRules
    sides: tuple[Side, Side]
    turn: int  # the number of turns played
    weather: int
    planting: bool
    ahead: Seat | None  # the seat that had more points when they last differed; None if they never did
    acting: tuple[Seat, ...]  # who acts, if no seat has left

    @classmethod
    def begun(cls, rules: FloralRules, runes: tuple[Runes, Runes] = ((), ())) -> Gardens:
        """Nothing planted, and no runes before they are drawn."""
        one, other = map(Side.begun, SYMBOLS, runes)
        drawn = bool(one.runes)
        acting = _BOTH if drawn else (CHANCE,) if rules.spells else (SHARED_CHANCE,)
        return cls(rules, (one, other), 0, SUNNY, drawn, None, acting)

    def copy(self) -> Gardens:
        """Others that are the same."""
        one, other = self.sides
        return Gardens(
            self.rules,
            (one.copy(), other.copy()),
            self.turn,
            self.weather,
            self.planting,
            self.ahead,
            self.acting,
        )

    def legal(self, seat: Seat) -> str:
        """What may be submitted, each a character: when planting, the kinds by letter, then none; when
        casting, own symbols in order, then guesses.
        """
        side = self.sides[seat]
        if self.planting:
            return "".join(kind for kind in FLOWERS if kind not in side.planted) + NONE
        row, legal = side.row, side.mapping.legal
        return (legal[1] if row and row[-1] == STALL else legal[0])[side.charge]

    def submit(self, moves: Mapping[Seat, str]) -> None:
        """Takes the submissions of all seats that act."""
        if self.planting:
            for seat, kind in moves.items():
                self.sides[seat].plant(kind)
            self.planting = False
            self.acting = _BOTH
            return
        self._turn(moves[0], moves[1])
        rules, turn = self.rules, self.turn
        one, other = self.sides
        if one.points != other.points:
            self.ahead = 0 if one.points > other.points else 1
        if one.points >= rules.goal or other.points >= rules.goal or turn == rules.max_turns:
            self.acting = ()
        elif turn % TURNS == 0 and (one.can_plant or other.can_plant):
            self.planting = True
            self.acting = tuple(seat for seat in _BOTH if self.sides[seat].can_plant)

    def _turn(self, symbol: str, other_symbol: str) -> None:
        """A turn in which these are cast."""
        one, other = self.sides
        brings = self.rules.brings
        x = self.turn % 3 + 1
        self.turn += 1
        water, fertilize, changes, sabotage = one.cast(symbol, other.mapping, brings)
        other_water, other_fertilize, other_changes, other_sabotage = other.cast(
            other_symbol, one.mapping, brings
        )
        if changes or other_changes:
            self.weather = x
        weather = self.weather
        one.grow(weather, x * water, x * fertilize, other_sabotage)
        other.grow(weather, x * other_water, x * other_fertilize, sabotage)
