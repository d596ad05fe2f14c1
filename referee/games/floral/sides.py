"""One seat: how its flowers grow, its runes, its score, and what its casts do. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

from referee.core.computed import Computed
from referee.core.value import value
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


Influence = tuple[int, bool, bool]
"""What affects a flower in one turn: the weather, and whether it is watered and fertilized."""

INFLUENCES: tuple[Influence, ...] = tuple(product(WEATHERS, (False, True), (False, True)))


def _after_turn(flower: Flower, number: int) -> Flower | None:
    after = flower.grown(*INFLUENCES[number])
    return None if after.blooms else after


_AFTER = Computed[Flower, Computed[int, Flower | None]](lambda flower: Computed(partial(_after_turn, flower)))
"""By flower and the number of an influence, what is in its pot after a turn: nothing where it bloomed."""

Pots = tuple[Flower | None, ...]  # the pots of one seat, from left to right

Bloom = tuple[int, str]  # A pot, counted from 1, and the kind of the flower that bloomed in it


def with_flower(pots: Pots, kind: str) -> Pots:
    """The pots with a new flower in the leftmost empty one. Raises `ValueError` where none is empty."""
    at = pots.index(None)
    return (*pots[:at], Flower(kind), *pots[at + 1 :])


def _influences(effects: tuple[int, int, int, int]) -> tuple[int, ...]:
    weather, water, fertilize, sabotaged = effects
    found: list[Influence] = [
        (weather, pot != sabotaged and (weather == RAINY or pot <= water), pot == fertilize != sabotaged)
        for pot in range(1, POTS + 1)
    ]
    return tuple(map(INFLUENCES.index, found))


_INFLUENCES = Computed(_influences)
"""By the arguments of `pots_after_turn`, the numbers of the influences on each pot."""


def pots_after_turn(pots: Pots, weather: int, water: int, fertilize: int, sabotaged: int) -> Pots:
    """The pots after a turn, empty where a flower bloomed.

    Pots 1 to `water` are watered; `fertilize` and `sabotaged` are one pot each, 0 is none.
    """
    one, two, three = pots
    if one or two or three:
        a, b, c = _INFLUENCES[weather, water, fertilize, sabotaged]
        return one and _AFTER[one][a], two and _AFTER[two][b], three and _AFTER[three][c]
    return pots


def blooms(before: Pots, after: Pots) -> tuple[Bloom, ...]:
    """The flowers that bloomed in a turn, from the pots before and after it."""
    both = enumerate(zip(before, after, strict=True), 1)
    return tuple((pot, flower.kind) for pot, (flower, left) in both if flower and not left)


SYMBOLS = ("ABCDEFGH", "STUVWXYZ")  # the symbols of each seat

STALL = 0
NO_RUNE = -1  # the value of `previous` after a declaration, and before the first cast

CHAIN = 5  # maximum number of runes that a spell depends on

Runes = tuple[int, ...]  # identities, oldest first

Brought = tuple[int, int, int, int]
"""What a cast brings: 1 or 0 for each of Water, Fertilize and Weather, and the pot of the other seat that it
sabotages, 0 for none.
"""

NOTHING: Brought = (0, 0, 0, 0)

FIRST_GUESS = 6  # how many different runes the first guessing spell takes

SABOTAGE = {8: 1, 10: 2, 12: 3}  # by the sum of two runes, the pot that they sabotage


@value
class RuneMapping:
    """The symbols of a seat, and the identities that they stand for."""

    symbols: str
    runes: Runes  # the identity of each symbol; empty before they are drawn
    identity: Mapping[str, int]  # by symbol
    legal: tuple[tuple[str, str], tuple[str, str]]
    """What may be cast, by whether rune 0 was cast in the turn before, and by whether there is a charge: own
    symbols in order, then the other's.
    """

    @classmethod
    @lru_cache(maxsize=1024)  # a search imagines the same ones again and again
    def of(cls, symbols: str, runes: Runes) -> RuneMapping:
        """The mapping of symbols to runes, in their order."""
        identity = dict(zip(symbols, runes, strict=False))
        others = SYMBOLS[1 - SYMBOLS.index(symbols)]
        barred = "".join(symbol for symbol in symbols if identity.get(symbol) != STALL)
        return cls(symbols, runes, identity, ((symbols, symbols + others), (barred, barred + others)))


@dataclass(slots=True, eq=False)
class Side:
    """The runes, garden and score of a seat. It changes in place."""

    mapping: RuneMapping
    chain: Runes
    """Its last runes since its last declaration, without the stall spell, at most five: for spells."""
    row: Runes
    """Its last runes since its last declaration as far as they all differ: for the guessing spell."""
    pots: Pots
    planted: str
    picked: int
    points: int
    wrong: int  # wrong declarations since the last right one
    needed: int  # how many different runes in a row cast the guessing spell
    charge: bool
    guessed: str  # the other's symbols that it has guessed right

    @classmethod
    def begun(cls, symbols: str, runes: Runes = ()) -> Side:
        """The side at the start; without runes, before they are drawn."""
        return cls(
            RuneMapping.of(symbols, runes), (), (), (None,) * POTS, "", 0, 0, 0, FIRST_GUESS, False, ""
        )

    def copy(self) -> Side:
        """Another side that is the same."""
        return Side(
            self.mapping,
            self.chain,
            self.row,
            self.pots,
            self.planted,
            self.picked,
            self.points,
            self.wrong,
            self.needed,
            self.charge,
            self.guessed,
        )

    @property
    def symbols(self) -> str:
        """Its symbols."""
        return self.mapping.symbols

    @property
    def runes(self) -> Runes:
        """The identity of each of its symbols, in their order."""
        return self.mapping.runes

    @property
    def previous(self) -> int:
        """The rune that it cast in the turn before."""
        return self.row[-1] if self.row else NO_RUNE

    @property
    def can_plant(self) -> bool:
        """Whether it is asked in a planting phase."""
        return None in self.pots and len(self.planted) < len(FLOWERS)

    @property
    def casts_guessing(self) -> bool:
        """Whether the last cast is the guessing spell, after growth: flowers picked in this turn count."""
        return self.picked > self.points and len(self.row) >= self.needed

    def identity(self, symbol: str) -> int:
        """Which rune a symbol of this side's stands for."""
        return self.mapping.identity[symbol]

    def plant(self, kind: str) -> None:
        """Puts a flower into its leftmost empty pot; `-` is none."""
        if kind != NONE:
            self.pots = with_flower(self.pots, kind)
            self.planted += kind

    def cast(self, symbol: str, other: RuneMapping, brings: Mapping[Runes, Brought]) -> Brought:
        """Casts a rune. Returns what it brings."""
        rune = self.mapping.identity.get(symbol)
        if rune is None:
            self._declare(symbol, other)
            return NOTHING
        row = self.row
        if rune in row:
            row = row[row.index(rune) + 1 :]
        self.row = (*row, rune)
        if rune == STALL:
            return NOTHING
        chain = self.chain = (*self.chain[1 - CHAIN :], rune)
        return brings[chain]

    def _declare(self, symbol: str, other: RuneMapping) -> None:
        """Guesses that a symbol of the other stands for the rune cast in the turn before. It takes the charge
        and clears the earlier runes.
        """
        if other.identity[symbol] == self.previous and symbol not in self.guessed:
            self.points += 1
            self.wrong = 0
            self.guessed += symbol
        else:
            self.wrong += 1
        self.needed = needed(self.points, self.wrong)
        self.charge = False
        self.chain = self.row = ()

    def grow(self, weather: int, water: int, fertilize: int, sabotaged: int) -> None:
        """Grows the flowers and picks those that bloom, see `pots_after_turn`. Then a guessing spell gives a
        charge.
        """
        before = self.pots
        pots = self.pots = pots_after_turn(before, weather, water, fertilize, sabotaged)
        self.picked += pots.count(None) - before.count(None)
        # `casts_guessing`, which a call would take as long as the rest.
        if self.picked > self.points and len(self.row) >= self.needed:
            self.charge = True


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

    @classmethod
    def of(cls, brought: Brought, x: int, guessing: bool) -> Effects:
        """The effects of what is brought on a turn with the number X."""
        water, fertilize, weather, sabotage = brought
        return cls(x * water, x * fertilize, x * weather, sabotage, guessing)


@lru_cache(maxsize=4)  # a table has up to 20,000 chains
def brought_by(spells: Spells) -> Mapping[Runes, Brought]:
    """By chain, what its last rune brings."""
    return Computed(partial(_brought, spells))


def _brought(spells: Spells, chain: Runes) -> Brought:
    water, fertilize, weather = spells
    sabotage = SABOTAGE.get(chain[-1] + chain[-2], 0) if len(chain) > 1 else 0
    return int(water.holds(chain)), int(fertilize.holds(chain)), int(weather.holds(chain)), sabotage
