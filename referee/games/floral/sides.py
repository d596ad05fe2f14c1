"""A seat of Floral Extract: how its flowers grow, its runes, its score, and what its casts do. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from referee.games.floral.spells import Spells

FLOWERS = {"A": "Azalea", "C": "Chrysanthemum", "H": "Hyacinth", "W": "Wisteria", "X": "Xanthium"}
BLOOMS_AT = {"A": 8, "C": 30, "H": 15, "W": 7, "X": 6}
"""The stage at which a flower blooms; none is reached within one casting phase."""

NONE = "-"  # the text for planting nothing and for an empty pot

POTS = 3

SUNNY, CHILLY, RAINY = 1, 2, 3
WEATHERS = {SUNNY: "sunny", CHILLY: "chilly", RAINY: "rainy"}


class Flower(NamedTuple):
    """A flower in its pot."""

    kind: str
    stage: int = 0
    watered: bool = False  # for an azalea: whether it was watered in the turn before
    grew: bool = True  # for an azalea: whether it grew in the turn before; true for a new flower
    known: int = 0  # for a xanthium: the triples of weather, water and fertilizer that it has had, a bit each

    def __str__(self) -> str:
        return f"{self.kind}{self.stage}"

    @property
    def blooms(self) -> bool:
        """Whether it blooms, and so leaves its pot."""
        return self.stage >= BLOOMS_AT[self.kind]

    def grown(self, weather: int, watered: bool, fertilized: bool) -> Flower:
        """The flower after a turn."""
        kind, stage, watered_before, grew_before, known = self
        grows = 0
        match kind:
            case "A":
                grew = weather != CHILLY and not (watered and watered_before)
                grows = 1 if grew else 0 if grew_before else -1
                return Flower(kind, max(0, stage + grows), watered, grew)
            case "C":
                grows = 1 + 2 * watered + 3 * fertilized
            case "H":
                grows = 2 if weather == SUNNY else -1 if weather == CHILLY else 0
            case "W":
                held = stage > 0 and ((stage % 2 == 0 and not watered) or (stage % 3 == 0 and not fertilized))
                grows = int(weather != CHILLY and not held)
            case "X":
                triple = 1 << (4 * (weather - 1) + 2 * watered + fertilized)
                return Flower(kind, stage + (not known & triple), False, True, known | triple)
        return Flower(kind, max(0, stage + grows))


Pots = tuple[Flower | None, ...]  # the pots of one seat, from left to right

Bloom = tuple[int, str]  # A pot, counted from 1, and the kind of the flower that bloomed in it


def with_flower(pots: Pots, kind: str) -> Pots:
    """The pots with a new flower in the leftmost empty one. Raises `ValueError` where none is empty."""
    at = pots.index(None)
    return (*pots[:at], Flower(kind), *pots[at + 1 :])


def pots_after_turn(
    pots: Pots, weather: int, water: int, fertilize: int, sabotaged: int
) -> tuple[Pots, tuple[Bloom, ...]]:
    """The pots after a turn, and what bloomed in them.

    Pots 1 to `water` are watered; `fertilize` and `sabotaged` are one pot each, 0 is none.
    """
    after: list[Flower | None] = []
    bloomed = []
    for pot, flower in enumerate(pots, 1):
        if flower is not None:
            watered = pot != sabotaged and (weather == RAINY or pot <= water)
            flower = flower.grown(weather, watered, pot == fertilize != sabotaged)
            if flower.blooms:
                bloomed.append((pot, flower.kind))
                flower = None
        after.append(flower)
    return tuple(after), tuple(bloomed)


SYMBOLS = ("ABCDEFGH", "STUVWXYZ")  # the symbols of each seat

STALL = 0
NO_RUNE = -1  # the value of `previous` after a declaration, and before the first cast

CHAIN = 5  # maximum number of runes that a spell depends on

FIRST_GUESS = 6  # how many different runes the first guessing spell takes

SABOTAGE = {8: 1, 10: 2, 12: 3}  # by the sum of two runes, the pot that they sabotage


class Side(NamedTuple):
    """The runes, garden and score of a seat."""

    symbols: str
    runes: tuple[int, ...] = ()  # the identity of each of its symbols, in their order
    chain: tuple[int, ...] = ()
    """Its last runes since its last declaration, without the stall spell, at most five: for spells."""
    row: tuple[int, ...] = ()
    """Its last runes since its last declaration, at most six: for the guessing spell."""
    previous: int = NO_RUNE  # the rune that it cast in the turn before
    pots: Pots = (None,) * POTS
    planted: str = ""
    picked: int = 0
    points: int = 0
    wrong: int = 0  # wrong declarations since the last right one
    charge: bool = False
    guessed: str = ""  # the other's symbols that it has guessed right

    def identity(self, symbol: str) -> int:
        """Which rune a symbol of this side's stands for."""
        return self.runes[self.symbols.index(symbol)]

    @property
    def needed(self) -> int:
        """How many different runes in a row cast the guessing spell."""
        return needed(self.points, self.wrong)

    @property
    def can_plant(self) -> bool:
        """Whether it is asked in a planting phase."""
        return None in self.pots and len(self.planted) < len(FLOWERS)

    def after_planting(self, kind: str | None) -> Side:
        """The side with a flower in its leftmost empty pot."""
        if kind is None or kind == NONE:
            return self
        return self._replace(pots=with_flower(self.pots, kind), planted=self.planted + kind)

    def after_cast(self, symbol: str) -> Side:
        """The side after a cast, before its effects. A declaration clears the earlier runes."""
        if symbol not in self.symbols:
            return self._replace(chain=(), row=(), previous=NO_RUNE)
        rune = self.identity(symbol)
        row = (*self.row[1 - FIRST_GUESS :], rune)
        chain = self.chain if rune == STALL else (*self.chain[1 - CHAIN :], rune)
        return self._replace(chain=chain, row=row, previous=rune)

    def after_turn(
        self, before: Side, pots: Pots, blooming: int, symbol: str, other: Side
    ) -> tuple[Side, bool]:
        """The side after growth and scoring, and whether it cast the guessing spell.

        A declaration uses the charge and the rune from before this turn; the flowers picked on this turn
        already count for the guessing spell.
        """
        picked = self.picked + blooming
        points, wrong, charge, guessed = self.points, self.wrong, self.charge, self.guessed
        guessing = False
        if self.previous == NO_RUNE:
            charge = False
            if other.identity(symbol) == before.previous and symbol not in guessed:
                points, wrong, guessed = points + 1, 0, guessed + symbol
            else:
                wrong += 1
        else:
            guessing = picked > points and is_guessing_spell(self.row, self.needed)
            charge = charge or guessing
        scored = Side(
            *(self.symbols, self.runes, self.chain, self.row, self.previous, pots),
            *(self.planted, picked, points, wrong, charge, guessed),
        )
        return scored, guessing


def needed(points: int, wrong: int) -> int:
    """How many different runes in a row cast the guessing spell, by the points of a seat and its wrong
    declarations since the last right one.
    """
    return max(1, FIRST_GUESS - points - wrong)


def is_guessing_spell(row: Sequence[Hashable], needed: int) -> bool:
    """Whether the last `needed` runes since a declaration are all different."""
    last = row[-needed:]
    return len(last) == needed == len(set(last))


class Effects(NamedTuple):
    """The effects of a cast."""

    water: int = 0  # pots 1 to this one are watered
    fertilize: int = 0  # this pot is fertilized; 0 is none
    weather: int = 0
    sabotage: int = 0  # this pot of the other seat is sabotaged; 0 is none
    guessing: bool = False


def effects(side: Side, spells: Spells, x: int) -> Effects:
    """The effects of the spells that its last cast completed, except the guessing spell."""
    if side.previous in (STALL, NO_RUNE):
        return Effects()
    chain = side.chain
    return Effects(
        x if spells.water.holds(chain) else 0,
        x if spells.fertilize.holds(chain) else 0,
        x if spells.weather.holds(chain) else 0,
        SABOTAGE.get(chain[-1] + chain[-2], 0) if len(chain) > 1 else 0,
    )
